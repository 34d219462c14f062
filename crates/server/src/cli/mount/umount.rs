//! `loci umount`: asks the process of a mount to save everything and end, waits for that, and where it
//! cannot or does not, takes the mount away from under it. It always works, also when the process died.
//! What the process could not save it says, and fails then.

use super::super::output::{Format, say, text};
use super::ended::LastWord;
use super::{all_saved, lost};
use crate::exit::Failure;
use clap::Args;
use loci_mount::Mounted;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
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
    let place = loci_mount::full(&args.dir).map_err(|error| {
        Failure::not_found(format!("{} is not there: {error}", args.dir.display()))
    })?;
    let Some(mounted) = top(&place)? else {
        return Err(Failure::not_found(format!("no store is mounted at {}", place.display())));
    };
    let ended = end(&mounted).await?;
    let unsaved = match &ended {
        Ended::Itself(unsaved) => unsaved.as_deref(),
        Ended::Before => Some(&[][..]),
        Ended::Forced => None,
    };
    let is_clean = matches!(ended, Ended::Itself(_));
    let shown = json!({
        "type": "umount", "directory": place, "is_clean": is_clean, "unsaved": unsaved,
    });
    let name = place.display();
    format.show(&shown, || match ended {
        Ended::Itself(_) => format!("{name} is unmounted"),
        Ended::Before => format!("{name} is detached; its process had ended before"),
        Ended::Forced => format!("{name} is detached; its process did not end by itself"),
    })?;
    let Some(unsaved) = unsaved else {
        let why = "the mount did not tell what it could not save; its log, if it has one, does";
        return Err(Failure::failed(why));
    };
    for one in unsaved {
        say(&lost(text(one, "path"), text(one, "why")));
    }
    all_saved(unsaved.len())
}

/// How the process of a mount ended.
enum Ended {
    /// When it was asked to; and what it said that it could not save, if it said anything.
    Itself(Option<Vec<Value>>),
    /// It was dead already, and whatever it had is long gone.
    Before,
    /// It did not.
    Forced,
}

/// Our mount at a place; the one on top if there are several.
fn top(place: &Path) -> Result<Option<Mounted>, Failure> {
    let mounted = loci_mount::mounted();
    let mounted = mounted.map_err(|error| Failure::io("cannot see what is mounted", &error))?;
    Ok(mounted.into_iter().rfind(|one| one.directory == place))
}

/// Ends a mount; says how its process ended.
async fn end(mounted: &Mounted) -> Result<Ended, Failure> {
    let place = &mounted.directory;
    let is_running = |pid: &i32| is_loci(*pid) && !Pid::from_raw(*pid).is_none_or(is_zombie);
    let pid = mounted.pid.filter(is_running);
    // Asked for while the process runs.
    let last_word = pid.and_then(LastWord::of);
    let told = || last_word.as_ref().and_then(LastWord::take);
    let mut ended = Ended::Before;
    if let Some(process) = pid.and_then(Pid::from_raw)
        && kill_process(process, Signal::TERM).is_ok()
    {
        ended = Ended::Forced;
        let deadline = Instant::now() + SAVE_MAX;
        while Instant::now() < deadline {
            let is_gone = test_kill_process(process).is_err() || is_zombie(process);
            if is_gone {
                ended = Ended::Itself(told());
                break;
            }
            sleep(POLL).await;
        }
    }
    for _ in 0..LAYERS_MAX {
        if top(place)?.is_none() {
            return Ok(ended);
        }
        loci_mount::detach(place).map_err(|error| {
            Failure::io(format_args!("cannot detach {}", place.display()), &error)
        })?;
    }
    Err(Failure::failed(format!("over {LAYERS_MAX} mounts lie on {}", place.display())))
}

/// Whether a process is one of this program, and not another that got its number since.
fn is_loci(pid: i32) -> bool {
    let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}"));
    read("comm").is_ok_and(|comm| comm.trim_end() == "loci")
}

/// Whether a process has ended and nobody has asked how.
fn is_zombie(process: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    let state =
        stat.ok().and_then(|stat| stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()));
    state == Some('Z')
}
