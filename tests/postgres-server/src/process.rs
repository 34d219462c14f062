//! Signals to one server: its first process, the postmaster, and the processes that one started.
//!
//! A postmaster's children are in sessions of their own, so there is no group to signal; they are
//! read from `/proc`. What a killed server leaves in the kernel is found and released here too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

const PAUSE: Duration = Duration::from_millis(5);

/// Whether the child ended, and was reaped, within this time.
pub(crate) fn ended_within(child: &mut Child, limit: Duration) -> bool {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(_)) | Err(_) => return true,
        }
        if began.elapsed() >= limit {
            return false;
        }
        thread::sleep(PAUSE);
    }
}

/// Signals one process; one that is gone already needs no signal.
pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// The processes this one started and that still run.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Waits until none of these runs any more; false if some still do after this time.
pub(crate) fn gone_within(pids: &[u32], limit: Duration) -> bool {
    let began = Instant::now();
    while pids.iter().any(|pid| runs(*pid)) {
        if began.elapsed() >= limit {
            return false;
        }
        thread::sleep(PAUSE);
    }
    true
}

fn runs(pid: u32) -> bool {
    let known = raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok());
    known && !is_zombie(pid)
}

/// A dead process that nobody reaped yet, which in a bare container may be for ever.
fn is_zombie(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

fn raw(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Shared memory that outlives a killed server; a new start on the same data releases it itself.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    segment: Option<String>,
    files: BTreeSet<PathBuf>,
}

impl Leftovers {
    /// What would be left if these processes on this data were killed now.
    pub(crate) fn of(pids: &[u32], data: &Path) -> Self {
        let lock = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        let maps =
            pids.iter().filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/maps")).ok());
        let files = maps.flat_map(|maps| shared_files(&maps)).collect();
        Self { segment: segment(&lock), files }
    }

    pub(crate) fn release(self) {
        if let Some(id) = self.segment {
            let mut command = Command::new("ipcrm");
            command.args(["-m", &id]).stdout(Stdio::null()).stderr(Stdio::null());
            // Fifty bytes stay behind on a machine without the command.
            let _ = command.status();
        }
        for file in self.files {
            let _ = fs::remove_file(file);
        }
    }
}

/// The identifier of the System V segment: the second number of the lock file's seventh line.
fn segment(lock: &str) -> Option<String> {
    let id = lock.lines().nth(6)?.split_whitespace().nth(1)?;
    id.parse::<u32>().is_ok().then(|| id.to_owned())
}

fn shared_files(maps: &str) -> BTreeSet<PathBuf> {
    let paths = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    paths.filter(|path| path.starts_with("/dev/shm/PostgreSQL.")).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_found_by_name() {
        let lock = "17\n/x/data\n1763\n5432\n\n127.0.0.1\n  5432101     32771\nready   \n";
        assert_eq!(segment(lock).as_deref(), Some("32771"));
        assert_eq!(segment("17\n/x/data\n"), None);
        let maps = "7f00-7f01 rw-s 00000000 00:19 3 /dev/shm/PostgreSQL.12\n\
                    7f02-7f03 rw-s 00000000 00:01 4 /dev/zero (deleted)\n7f04-7f05 rw-p 0 0:0 0\n";
        assert_eq!(shared_files(maps), BTreeSet::from(["/dev/shm/PostgreSQL.12".into()]));
    }

    #[test]
    fn a_child_is_seen_and_its_end_too() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        assert!(!gone_within(&[pid], Duration::ZERO));
        signal(pid, Signal::KILL);
        assert!(gone_within(&[pid], Duration::from_secs(10)));
        assert!(ended_within(&mut child, Duration::from_secs(10)));
    }
}
