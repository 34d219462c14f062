//! Whoever makes a system call: the user, the group and the umask of one thread.
//!
//! A thread of its own takes them on and ends with the work, so that nothing else in the process
//! ever runs as somebody else. The calls are the kernel's own, which are per thread on Linux.

use std::thread;

use anyhow::{Context, Result, anyhow};
use nix::sched::CloneFlags;
use rustix::fs::Mode;
use rustix::process::{Gid, Uid, umask};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

/// Somebody without privileges, or root itself.
#[derive(Clone, Copy, Debug)]
pub struct Person {
    pub uid: u32,
    pub gid: u32,
    pub umask: u32,
}

impl Person {
    pub const ROOT: Self = Self { uid: 0, gid: 0, umask: 0o022 };
    /// Owns what the cases give to them.
    pub const OWNER: Self = Self { uid: 65_533, gid: 65_533, umask: 0o022 };
    /// Owns nothing and is in nobody's group.
    pub const STRANGER: Self = Self { uid: 65_532, gid: 65_532, umask: 0o022 };
    /// In the owner's group.
    pub const MEMBER: Self = Self { uid: 65_531, gid: 65_533, umask: 0o022 };

    #[must_use]
    pub const fn with_umask(self, umask: u32) -> Self {
        Self { umask, ..self }
    }

    /// Does the work as this person.
    pub fn does<T: Send>(self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        thread::scope(|scope| {
            let acting = scope.spawn(move || {
                self.become_this().context("cannot take on another user: not root?")?;
                work()
            });
            acting.join().unwrap_or_else(|_| Err(anyhow!("the work panicked")))
        })
    }

    fn become_this(self) -> Result<()> {
        // The umask is part of what threads share, until they do not.
        nix::sched::unshare(CloneFlags::CLONE_FS)?;
        umask(Mode::from_raw_mode(self.umask));
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        if self.uid != 0 {
            set_thread_groups(&[])?;
            set_thread_res_gid(gid, gid, gid)?;
            set_thread_res_uid(uid, uid, uid)?;
        }
        Ok(())
    }
}
