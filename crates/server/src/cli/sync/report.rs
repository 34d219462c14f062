//! What a sync says: a line for each thing that it did, a warning for each thing that it did not, once.

use super::super::output::{plain, print, say};
use crate::exit::Failure;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What was done and what was not.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Whether lines are printed as things happen.
    pub(super) is_told: bool,
    pub(super) uploaded: usize,
    pub(super) fetched: usize,
    pub(super) removed: usize,
    pub(super) dropped: usize,
    pub(super) moved: usize,
    /// Where files went that lost a race.
    pub(super) conflicts: Vec<String>,
    /// Files that could not be stored.
    pub(super) skipped: BTreeSet<String>,
    /// Removals that were too many to be believed.
    pub(super) held_back: usize,
    /// Whether another pass would do more.
    pub(super) is_unfinished: bool,
    warned: BTreeSet<(String, String)>,
}

impl Report {
    pub(super) fn new(is_told: bool) -> Self {
        Self { is_told, ..Self::default() }
    }

    /// Says what was done.
    pub(super) fn tell(&self, what: &str, path: &str) -> Result<(), Failure> {
        match self.is_told {
            true => print(&format!("{what:<9} {}", plain(path))),
            false => Ok(()),
        }
    }

    /// Says what stays undone, once.
    pub(super) fn warn(&mut self, path: &str, why: &str) {
        self.skipped.insert(path.to_owned());
        if self.warned.insert((path.to_owned(), why.to_owned())) {
            say(&format!("{} is left alone: {}", plain(path), plain(why)));
        }
    }

    /// Says what is no file for a memory, once.
    pub(super) fn ignore(&mut self, path: &str, why: &str) {
        self.warn(path, why);
    }

    /// Says that files are missing, and that their memories stay.
    pub(super) fn hold_back(&mut self, count: usize) {
        if self.held_back != count {
            say(&format!(
                "{count} files are missing, which may be an accident; their memories stay. Say \
                 --allow-deletes if they shall go"
            ));
        }
        self.held_back = count;
    }

    /// The whole as JSON.
    pub(super) fn summary(&self) -> Value {
        json!({
            "type": "sync",
            "uploaded": self.uploaded,
            "downloaded": self.fetched,
            "moved": self.moved,
            "removed_from_store": self.removed,
            "removed_from_directory": self.dropped,
            "conflicts": self.conflicts,
            "skipped": self.skipped,
            "deletes_held_back": self.held_back,
        })
    }

    /// The whole as one line.
    pub(super) fn line(&self) -> String {
        format!(
            "{} up, {} down, {} moved, {} removed from the store, {} removed here, {} conflicts, {} \
             left alone",
            self.uploaded,
            self.fetched,
            self.moved,
            self.removed,
            self.dropped,
            self.conflicts.len(),
            self.skipped.len()
        )
    }
}
