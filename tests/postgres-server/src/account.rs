//! Who runs PostgreSQL. It refuses to run as root, so root hands it to an account without
//! privileges; anybody else runs it as themselves.
//!
//! Handing over means two things: the account owns the files, and it can reach them, which a
//! folder below root's home would prevent.

use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use rustix::process::geteuid;

/// Accounts root may hand a server to, best first; the first comes with Debian's packages.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

/// The account a server runs as; nothing inside when it is our own.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    other: Option<(u32, u32)>,
}

impl Account {
    /// Ourselves, or an unprivileged account when we are root.
    pub fn choose() -> Result<Self> {
        if !geteuid().is_root() {
            return Ok(Self { other: None });
        }
        let accounts = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
        let other = UNPRIVILEGED.iter().find_map(|name| ids(&accounts, name));
        let other = other.context("neither `postgres` nor `nobody` is an account here")?;
        Ok(Self { other: Some(other) })
    }

    /// Makes the command run as this account.
    pub(crate) fn run_as<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if let Some((uid, gid)) = self.other {
            command.uid(uid).gid(gid);
        }
        command
    }

    /// Gives one file or folder to this account.
    pub(crate) fn give(&self, path: &Path) -> Result<()> {
        if let Some((uid, gid)) = self.other {
            chown(path, Some(uid), Some(gid))
                .with_context(|| format!("cannot give {} away", path.display()))?;
        }
        Ok(())
    }

    /// Whether this account can use what lies at `path`: every folder above lets it pass, and the
    /// path itself can be read and entered or run. Judged by the modes, as nobody's groups matter.
    pub fn reaches(&self, path: &Path) -> bool {
        let Ok(real) = path.canonicalize() else {
            return false;
        };
        real.ancestors().enumerate().all(|(above, part)| {
            let wanted = if above == 0 { 0o5 } else { 0o1 };
            fs::metadata(part).is_ok_and(|found| self.may(&found, wanted))
        })
    }

    fn may(&self, found: &Metadata, wanted: u32) -> bool {
        let mode = found.permissions().mode();
        match self.other {
            // We got here, so the kernel let us pass; the programs themselves say the rest.
            None => true,
            Some((uid, _)) if found.uid() == uid => (mode >> 6) & wanted == wanted,
            Some(_) => mode & wanted == wanted,
        }
    }
}

/// User and group of `name` in the text of `/etc/passwd`.
fn ids(accounts: &str, name: &str) -> Option<(u32, u32)> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some(name) {
            return None;
        }
        let mut numbers = fields.skip(1).map_while(|field| field.parse().ok());
        Some((numbers.next()?, numbers.next()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_from_the_right_line() {
        let text = "root:x:0:0:root:/root:/bin/sh\npostgres:x:101:104:,,,:/var/lib:/bin/bash\n";
        assert_eq!(ids(text, "postgres"), Some((101, 104)));
        assert_eq!(ids(text, "postgre"), None);
        assert_eq!(ids("nobody:x:65534:wrong:", "nobody"), None);
    }

    #[test]
    fn a_closed_folder_above_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("inside");
        fs::create_dir(&inside).unwrap();
        fs::set_permissions(&inside, fs::Permissions::from_mode(0o755)).unwrap();
        let stranger = Account { other: Some((u32::MAX - 1, u32::MAX - 1)) };
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert!(!stranger.reaches(&inside));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).unwrap();
        assert!(stranger.reaches(&inside));
        assert!(!stranger.reaches(&inside.join("absent")));
    }
}
