//! `loci umount`: asks the process of a mount to save everything and end, waits for that, and where it
//! cannot or does not, takes the mount away from under it. It always works, also when the process died.

use super::super::output::Format;
use super::table::{self, Mounted, Top};
use crate::exit::Failure;
use clap::Args;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, geteuid, kill_process, test_kill_process};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a process may take to save what it has.
const SAVE_MAX: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(20);
/// Mounts that lie on each other at one place.
const LAYERS_MAX: usize = 16;

#[derive(Debug, Args)]
pub(crate) struct UmountArgs {
    /// Where the mount is
    dir: PathBuf,
}

/// Ends the mount at a place.
pub(crate) async fn run(format: Format, args: &UmountArgs) -> Result<(), Failure> {
    let place = table::resolve(&args.dir).map_err(|error| {
        Failure::not_found(format!("{} is not there: {error}", args.dir.display()))
    })?;
    let Top::Ours(mounted) = table::look(&place)? else {
        return Err(Failure::not_found(format!("no store is mounted at {}", place.display())));
    };
    let is_clean = end(&place, &mounted).await?;
    let shown = json!({"type": "umount", "directory": place, "is_clean": is_clean});
    format.show(&shown, || match is_clean {
        true => format!("{} is unmounted", place.display()),
        false => format!("{} is detached; its process did not end by itself", place.display()),
    })
}

/// Ends a mount; whether its process did so by itself.
async fn end(place: &Path, mounted: &Mounted) -> Result<bool, Failure> {
    let process = mounted.pid.filter(|pid| is_loci(*pid)).and_then(Pid::from_raw);
    if let Some(process) = process
        && kill_process(process, Signal::TERM).is_ok()
    {
        let deadline = Instant::now() + SAVE_MAX;
        while Instant::now() < deadline {
            let is_gone = test_kill_process(process).is_err() || is_zombie(process);
            if is_gone && !matches!(table::look(place)?, Top::Ours(_)) {
                return Ok(true);
            }
            if is_gone {
                break;
            }
            sleep(POLL).await;
        }
    }
    detach(place)?;
    Ok(false)
}

/// Takes away every mount of ours at a place, whoever still uses it.
pub(super) fn detach(place: &Path) -> Result<(), Failure> {
    for _ in 0..LAYERS_MAX {
        let Top::Ours(_) = table::look(place)? else { return Ok(()) };
        detach_top(place)?;
    }
    Err(Failure::failed(format!("over {LAYERS_MAX} mounts lie on {}", place.display())))
}

fn detach_top(place: &Path) -> Result<(), Failure> {
    let direct = unmount(place, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    let Err(error) = direct else { return Ok(()) };
    if geteuid().is_root() {
        return Err(Failure::io(format_args!("cannot detach {}", place.display()), &error.into()));
    }
    for program in ["fusermount3", "fusermount"] {
        let mut command = Command::new(program);
        command.args(["-u", "-z", "--"]).arg(place).stdin(Stdio::null());
        match command.output() {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ");
                return Err(Failure::failed(format!("cannot detach {}: {said}", place.display())));
            }
            Err(_) => {}
        }
    }
    Err(Failure::failed(format!(
        "cannot detach {}: it needs root, or fusermount3 of the package fuse3",
        place.display()
    )))
}

/// Whether a process is one of this program, and not another that got its number since.
fn is_loci(pid: i32) -> bool {
    let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}"));
    read("comm").is_ok_and(|comm| comm.trim_end() == "loci")
}

/// Whether a process has ended and nobody has asked how.
fn is_zombie(process: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    let state = stat.ok().and_then(|stat| {
        stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
    });
    state == Some('Z')
}
