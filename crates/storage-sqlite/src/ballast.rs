//! A file of zeros that is given up when the disk is full. In a write-ahead log even deleting needs
//! room, so without it nobody could erase their way out of a full disk, nor take access away from
//! whoever fills it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const NAME: &str = "ballast";
/// Trying more often would only write and remove the same bytes on a disk that stays full.
const REFILL_WAIT: Duration = Duration::from_secs(10);
static CHUNK: [u8; 64 * 1024] = [0; 64 * 1024];

/// The file, or where it will be again.
pub(crate) struct Ballast {
    path: PathBuf,
    bytes: u64,
    is_there: bool,
    tried_at: Instant,
}

impl Ballast {
    /// Looks for the file and makes it when there is room.
    pub(crate) fn new(dir: &Path, bytes: u64) -> Self {
        let path = dir.join(NAME);
        let is_there = fs::metadata(&path).is_ok_and(|file| file.len() == bytes);
        let mut ballast = Self { path, bytes, is_there, tried_at: Instant::now() };
        ballast.fill();
        ballast
    }

    /// Gives the room up.
    pub(crate) fn release(&mut self) {
        if self.is_there {
            // When it cannot be removed, the disk has troubles that a ballast does not help with.
            let _ = fs::remove_file(&self.path);
            self.is_there = false;
        }
    }

    /// Makes the file again, now and then, if it is missing.
    pub(crate) fn refill(&mut self) {
        if !self.is_there && self.tried_at.elapsed() >= REFILL_WAIT {
            self.fill();
        }
    }

    /// Makes the file if it is missing and there is room for it.
    pub(crate) fn fill(&mut self) {
        if self.is_there || self.bytes == 0 {
            return;
        }
        self.tried_at = Instant::now();
        self.is_there = self.has_room() && self.write().is_ok();
        if !self.is_there {
            // Half a ballast only takes room; that it cannot be removed changes nothing.
            let _ = fs::remove_file(&self.path);
        }
    }

    fn has_room(&self) -> bool {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        rustix::fs::statvfs(dir)
            .is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) > self.bytes)
    }

    fn write(&self) -> io::Result<()> {
        let mut file = File::create(&self.path)?;
        let mut left = self.bytes;
        while left > 0 {
            let part = left.min(CHUNK.len() as u64);
            file.write_all(&CHUNK[..usize::try_from(part).expect("at most one chunk")])?;
            left -= part;
        }
        file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_up_and_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(NAME);
        let mut ballast = Ballast::new(dir.path(), 100_000);
        assert_eq!(fs::metadata(&file).unwrap().len(), 100_000);
        ballast.release();
        assert!(!file.exists());
        ballast.refill();
        assert!(!file.exists(), "too soon to try by itself");
        ballast.fill();
        assert_eq!(fs::metadata(&file).unwrap().len(), 100_000);
    }

    #[test]
    fn none_when_there_is_no_room() {
        let dir = tempfile::tempdir().unwrap();
        Ballast::new(dir.path(), u64::MAX);
        assert!(!dir.path().join(NAME).exists());
    }
}
