//! The pages of a database that may be damaged, read past SQLite: from the file, and from the log as
//! far as its checksums hold. Nothing is locked, written or made. A page that cannot be read at all
//! counts as one of zeros.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const MAGIC: &[u8] = b"SQLite format 3\0";
/// What SQLite takes when it is not told otherwise, as it is here.
const PAGE_BYTES: usize = 4096;
const FRAME_HEADER: usize = 24;
const LOG_HEADER: usize = 32;

/// The pages of one database.
pub(super) struct Pages {
    database: File,
    /// The log, and where in it the newest committed copy of a page is.
    log: Option<(File, HashMap<u32, u64>)>,
    bytes: usize,
    count: u32,
    /// Pages that the disk did not give.
    pub(super) unreadable: u64,
}

impl Pages {
    /// Opens a database with the log beside it.
    pub(super) fn open(database: &Path, log: &Path) -> io::Result<Self> {
        let file = File::open(database)?;
        let mut header = [0; 100];
        let has_header = file.read_exact_at(&mut header, 0).is_ok() && header.starts_with(MAGIC);
        let log = match File::open(log) {
            Ok(log) => Some(log),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let log = log.and_then(|log| Log::read(&log).map(|read| (log, read)));
        let of_header = usize::from(u16::from_be_bytes([header[16], header[17]]));
        let bytes = match (has_header, &log) {
            (_, Some((_, read))) => read.page_bytes,
            (true, None) if is_page_size(of_header) => of_header,
            (true, None) if of_header == 1 => 65536,
            _ => PAGE_BYTES,
        };
        let in_file = file.metadata()?.len().div_ceil(bytes as u64);
        let in_log = log.as_ref().map_or(0, |(_, read)| u64::from(read.pages));
        let count = u32::try_from(in_file.max(in_log)).unwrap_or(u32::MAX);
        let log = log.map(|(log, read)| (log, read.frames));
        Ok(Self { database: file, log, bytes, count, unreadable: 0 })
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Bytes of one page.
    pub(super) fn page_bytes(&self) -> usize {
        self.bytes
    }

    /// Four bytes of the header of the database, as a number; 0 when there is no header.
    pub(super) fn header_number(&mut self, at: usize) -> u32 {
        let first = self.page(1);
        match first.starts_with(MAGIC) {
            true => be32(&first, at).unwrap_or(0),
            false => 0,
        }
    }

    /// A page, by its number from 1.
    pub(super) fn page(&mut self, number: u32) -> Vec<u8> {
        let mut page = vec![0; self.bytes];
        let in_log = self.log.as_ref().and_then(|(log, at)| Some((log, *at.get(&number)?)));
        let read = match in_log {
            Some((log, at)) => log.read_exact_at(&mut page, at),
            None => {
                let at = u64::from(number.saturating_sub(1)) * self.bytes as u64;
                self.database.read_exact_at(&mut page, at)
            }
        };
        if read.is_err() {
            self.unreadable += 1;
            page.fill(0);
        }
        page
    }
}

/// What the log says, up to the last whole commit whose checksums hold.
struct Log {
    page_bytes: usize,
    /// Where the newest copy of each page begins.
    frames: HashMap<u32, u64>,
    /// Pages of the database after that commit.
    pages: u32,
}

impl Log {
    /// Nothing when there is no log that could be read.
    fn read(file: &File) -> Option<Self> {
        let mut header = [0; LOG_HEADER];
        file.read_exact_at(&mut header, 0).ok()?;
        let is_big_endian = match be32(&header, 0)? {
            0x377f_0682 => false,
            0x377f_0683 => true,
            _ => return None,
        };
        let page_bytes = be32(&header, 8)? as usize;
        let mut sum = checksum((0, 0), &header[..24], is_big_endian);
        if !is_page_size(page_bytes) || !is_sum(sum, &header[24..]) {
            return None;
        }
        let mut read = Self { page_bytes, frames: HashMap::new(), pages: 0 };
        let mut pending = HashMap::new();
        let mut frame = vec![0; FRAME_HEADER + page_bytes];
        let mut at = LOG_HEADER as u64;
        while file.read_exact_at(&mut frame, at).is_ok() && frame[8..16] == header[16..24] {
            sum = checksum(sum, &frame[..8], is_big_endian);
            sum = checksum(sum, &frame[FRAME_HEADER..], is_big_endian);
            if !is_sum(sum, &frame[16..]) {
                break;
            }
            pending.insert(be32(&frame, 0)?, at + FRAME_HEADER as u64);
            let pages = be32(&frame, 4)?;
            if pages > 0 {
                read.frames.extend(pending.drain());
                read.pages = pages;
            }
            at += frame.len() as u64;
        }
        Some(read)
    }
}

fn checksum((mut a, mut b): (u32, u32), bytes: &[u8], is_big_endian: bool) -> (u32, u32) {
    let number = |word: &[u8]| {
        let word = [word[0], word[1], word[2], word[3]];
        if is_big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
    };
    for pair in bytes.chunks_exact(8) {
        a = a.wrapping_add(number(&pair[..4])).wrapping_add(b);
        b = b.wrapping_add(number(&pair[4..])).wrapping_add(a);
    }
    (a, b)
}

fn is_sum((a, b): (u32, u32), written: &[u8]) -> bool {
    be32(written, 0) == Some(a) && be32(written, 4) == Some(b)
}

fn is_page_size(bytes: usize) -> bool {
    bytes.is_power_of_two() && (512..=65536).contains(&bytes)
}

/// Four bytes as a number, if they are there.
pub(super) fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
}
