//! A file of zeros that is given up when the disk is full. In a write-ahead log even deleting needs
//! room, so without it nobody could erase their way out of a full disk.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const NAME: &str = "ballast";
/// Filling it again at once would take back the room that was just made.
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

    /// Gives the room up; tells whether there was any.
    pub(crate) fn release(&mut self) -> bool {
        self.tried_at = Instant::now();
        let had_any = self.is_there && fs::remove_file(&self.path).is_ok();
        self.is_there = false;
        had_any
    }

    /// Makes the file again, some time after it was given up and if there is plenty of room.
    pub(crate) fn refill(&mut self) {
        if !self.is_there && self.tried_at.elapsed() >= REFILL_WAIT {
            self.tried_at = Instant::now();
            self.fill();
        }
    }

    fn fill(&mut self) {
        if self.is_there || self.bytes == 0 || !self.has_room() {
            return;
        }
        self.is_there = self.write().is_ok();
        if !self.is_there {
            // Half a ballast only takes room; that it cannot be removed changes nothing.
            let _ = fs::remove_file(&self.path);
        }
    }

    fn has_room(&self) -> bool {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        rustix::fs::statvfs(dir)
            .is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) / 2 > self.bytes)
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
    fn given_up_and_not_taken_back_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(NAME);
        let mut ballast = Ballast::new(dir.path(), 100_000);
        assert_eq!(fs::metadata(&file).unwrap().len(), 100_000);
        assert!(ballast.release());
        assert!(!file.exists());
        ballast.refill();
        assert!(!file.exists(), "too soon");
        assert!(!ballast.release(), "nothing left to give");
    }
}
