//! A folder that is kept in memory, for servers that are not asked to be durable.
//!
//! Most tests have a database of their own, and a database is some three hundred files: on a disk it
//! takes longer to make than most tests to run. Only where there is plenty of room; the guard of
//! [`crate::scratch`] removes what is in it however we end.

use std::path::{Path, PathBuf};

use rustix::fs::{statfs, statvfs};

use crate::account::Account;

/// Where Linux has a file system in memory that everybody may use.
const SHARED: &str = "/dev/shm";
/// What such a file system calls itself.
const TMPFS: u64 = 0x0102_1994;
/// All databases and logs of a run take less than half of it.
const ROOM_MIN: u64 = 4 << 30;

/// The folder, if the account can use it and there is room.
pub(crate) fn folder(account: &Account) -> Option<PathBuf> {
    let path = Path::new(SHARED);
    (account.reaches(path) && is_in_memory(path) && room(path) >= ROOM_MIN).then(|| path.to_owned())
}

fn is_in_memory(path: &Path) -> bool {
    statfs(path).is_ok_and(|found| u64::try_from(found.f_type).is_ok_and(|kind| kind == TMPFS))
}

fn room(path: &Path) -> u64 {
    statvfs(path).map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_the_kernel_is_neither_in_memory_nor_roomy() {
        assert!(!is_in_memory(Path::new("/proc")));
        assert_eq!(room(Path::new("/proc")), 0);
        assert_eq!(room(Path::new("/nowhere/at/all")), 0);
    }
}
