//! Who holds a data directory, for messages and for deciding whether waiting makes sense.
//!
//! The truth is the lock; this file is only a label on it. It is written after the lock is taken and
//! removed before it is given back, so without a lock it means nothing.

use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

const FILE: &str = "loci.holder";

/// What the holding process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A server: it stays.
    Serve,
    /// A server that reads a replica of a database.
    Replica,
    /// A single command: it is gone in a moment.
    Command,
}

/// The label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    pub(crate) pid: u32,
    pub(crate) kind: Kind,
}

/// Labels the directory as held by this process.
pub(crate) fn write(data: &Path, kind: Kind) {
    let holder = Holder { pid: std::process::id(), kind };
    // A full disk must not keep anybody from reading: nothing depends on the label.
    if let Ok(text) = serde_json::to_vec(&holder) {
        let _ = fs::write(data.join(FILE), text);
    }
}

/// Takes the label away.
pub(crate) fn remove(data: &Path) {
    let _ = fs::remove_file(data.join(FILE));
}

/// The label, if there is one.
pub(crate) fn read(data: &Path) -> Option<Holder> {
    let text = fs::read(data.join(FILE)).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_comes_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), None);
        write(folder.path(), Kind::Serve);
        let found = read(folder.path()).unwrap();
        assert_eq!((found.pid, found.kind), (std::process::id(), Kind::Serve));
        remove(folder.path());
        assert_eq!(read(folder.path()), None);
        fs::write(folder.path().join(FILE), "{").unwrap();
        assert_eq!(read(folder.path()), None, "a torn label is no label");
    }
}
