//! What both sides had when they last agreed, kept in a hidden file of the directory. It tells a file
//! that was removed from one that was never seen, and an interrupted sync goes on from it.
//!
//! The file is replaced whole and synced, so it is never half a file. It may be behind: then what was
//! done already is found on both sides, alike, and remembered anew.

use super::folder::{Folder, Stamp};
use crate::exit::Failure;
use loci_model::{Digest, MemoryId, StoreId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the file.
pub(super) const FILE: &str = ".loci-sync";
const VERSION: u32 = 1;
/// Bytes of the file; a memory takes about two hundred.
const BYTES_MAX: usize = 512 * 1024 * 1024;

/// One file and memory as both sides had it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) memory: MemoryId,
    pub(super) digest: Digest,
    /// How the file looked; none if it has to be read again to be sure.
    pub(super) stamp: Option<Stamp>,
}

/// Everything both sides agreed on.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) bases: BTreeMap<String, Base>,
}

#[derive(Serialize, Deserialize)]
struct StateFile {
    version: u32,
    memory_store_id: String,
    files: BTreeMap<String, Record>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    id: String,
    sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mtime_ns: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
}

impl State {
    /// Reads the state of a directory; a new one if there is none.
    pub(super) fn load(folder: &Folder, store: StoreId) -> Result<Self, Failure> {
        let Some(bytes) = folder
            .read_own(FILE, BYTES_MAX)
            .map_err(|error| Failure::io(format_args!("cannot read {FILE}"), &error))?
        else {
            return Ok(Self::default());
        };
        let wrong = |why: &str| {
            Failure::failed(format!(
                "{FILE} {why}; remove it to begin anew: what differs is then kept on both sides"
            ))
        };
        let file: StateFile =
            serde_json::from_slice(&bytes).map_err(|_| wrong("is not one of ours"))?;
        if file.version != VERSION {
            return Err(wrong("is of another version"));
        }
        if file.memory_store_id != store.to_string() {
            return Err(wrong(&format!("belongs to {}", file.memory_store_id)));
        }
        let mut bases = BTreeMap::new();
        for (path, record) in file.files {
            let stamp = record.mtime_ns.zip(record.size);
            let base = Base {
                memory: record.id.parse().map_err(|_| wrong("names no memory"))?,
                digest: record.sha256.parse().map_err(|_| wrong("has no digest"))?,
                stamp: stamp.map(|(mtime_ns, size)| Stamp { mtime_ns, size }),
            };
            bases.insert(path, base);
        }
        Ok(Self { bases })
    }

    /// Writes it.
    pub(super) fn save(&self, folder: &Folder, store: StoreId) -> Result<(), Failure> {
        let record = |base: &Base| Record {
            id: base.memory.to_string(),
            sha256: base.digest.to_string(),
            mtime_ns: base.stamp.map(|stamp| stamp.mtime_ns),
            size: base.stamp.map(|stamp| stamp.size),
        };
        let files = self.bases.iter().map(|(path, base)| (path.clone(), record(base))).collect();
        let file = StateFile { version: VERSION, memory_store_id: store.to_string(), files };
        let bytes = serde_json::to_vec(&file).expect("the keys are texts");
        let saved = folder.write_own(FILE, &bytes);
        saved.map_err(|error| Failure::io(format_args!("cannot write {FILE}"), &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_loaded() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path()).unwrap();
        let store = StoreId::from_u128(7);
        assert_eq!(State::load(&folder, store).unwrap(), State::default());
        let base = Base {
            memory: MemoryId::from_u128(1),
            digest: Digest::from_bytes([4; 32]),
            stamp: Some(Stamp { mtime_ns: 12, size: 3 }),
        };
        let bases = [("/a".to_owned(), base), ("/b".to_owned(), Base { stamp: None, ..base })];
        let state = State { bases: bases.into() };
        state.save(&folder, store).unwrap();
        assert_eq!(State::load(&folder, store).unwrap(), state);

        let other = State::load(&folder, StoreId::from_u128(8)).unwrap_err();
        assert!(other.message.contains("belongs to"), "{}", other.message);
        std::fs::write(temporary.path().join(FILE), "{").unwrap();
        assert!(State::load(&folder, store).unwrap_err().message.contains("begin anew"));
    }
}
