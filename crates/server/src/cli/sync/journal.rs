//! What a pass did since the state was last saved, line by line, so that a sync that is killed does not
//! take its own work for somebody's change. A text that comes down is noted before it gets its name, and
//! counts if the file looks as noted; one that went up is noted once the store has it.
//!
//! A line that is missing or cut off costs a `.conflict` that nobody needed, never a text.

use super::folder::{Folder, Stamp};
use super::state::{Base, State};
use loci_model::{Digest, MemoryId, MemoryPath};
use serde::{Deserialize, Serialize};
use std::io;

/// The name of the file.
const FILE: &str = ".loci-sync.journal";
const BYTES_MAX: usize = 256 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Line {
    path: String,
    id: String,
    sha256: String,
    mtime_ns: i64,
    size: u64,
    is_sent: bool,
}

/// Which way a text went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Went {
    /// To the store, which has it.
    Up,
    /// To the directory, which will have it when the file looks as noted.
    Down,
}

/// Notes that both sides have this text now, or will have it in a moment.
pub(super) fn note(
    folder: &Folder,
    path: &str,
    memory: MemoryId,
    digest: Digest,
    stamp: Stamp,
    went: Went,
) -> io::Result<()> {
    let line = Line {
        path: path.to_owned(),
        id: memory.to_string(),
        sha256: digest.to_string(),
        mtime_ns: stamp.mtime_ns,
        size: stamp.size,
        is_sent: went == Went::Up,
    };
    let mut bytes = serde_json::to_vec(&line)?;
    bytes.push(b'\n');
    folder.append_own(FILE, &bytes)
}

/// Takes in what an interrupted pass had done.
pub(super) fn replay(folder: &Folder, state: &mut State) -> io::Result<()> {
    let Some(bytes) = folder.read_own(FILE, BYTES_MAX)? else { return Ok(()) };
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<Line>(line) else { continue };
        let (Ok(path), Ok(memory), Ok(digest)) =
            (MemoryPath::parse(&line.path), line.id.parse(), line.sha256.parse())
        else {
            continue;
        };
        let noted = Stamp { mtime_ns: line.mtime_ns, size: line.size };
        if line.is_sent || folder.stamp(&path)? == Some(noted) {
            // That it looks so is enough to know whose text it is, but not that it was not touched.
            state.bases.insert(line.path, Base { memory, digest, stamp: None });
        }
    }
    Ok(())
}

/// Forgets all of it: the state has it.
pub(super) fn clear(folder: &Folder) -> io::Result<()> {
    folder.remove_own(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_there_as_noted_counts() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path()).unwrap();
        std::fs::write(temporary.path().join("a"), "text").unwrap();
        let path = MemoryPath::parse("/a").unwrap();
        let stamp = folder.stamp(&path).unwrap().unwrap();
        let (memory, digest) = (MemoryId::from_u128(1), Digest::from_bytes([1; 32]));
        note(&folder, "/a", memory, digest, stamp, Went::Down).unwrap();
        note(&folder, "/b", memory, digest, stamp, Went::Down).unwrap();
        note(&folder, "/c", memory, digest, stamp, Went::Up).unwrap();
        let other = Stamp { size: stamp.size + 1, ..stamp };
        note(&folder, "/a", memory, Digest::from_bytes([2; 32]), other, Went::Down).unwrap();
        folder.append_own(FILE, b"{\"path\": \"/a").unwrap();
        let mut state = State::default();
        replay(&folder, &mut state).unwrap();
        assert_eq!(state.bases.keys().collect::<Vec<_>>(), ["/a", "/c"]);
        assert_eq!(state.bases["/a"].digest, digest);
        clear(&folder).unwrap();
        let mut state = State::default();
        replay(&folder, &mut state).unwrap();
        assert_eq!(state, State::default());
    }
}
