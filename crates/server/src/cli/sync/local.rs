//! What the files hold. A file that looks as it did when it was last read is not read again; one that
//! no memory can hold is named once and left alone until it changes.

use super::folder::{Folder, Stamp};
use super::plan::Local;
use super::report::Report;
use super::state::Base;
use loci_engine::seam::Seams;
use loci_model::{Content, Digest, MemoryPath};
use std::collections::BTreeMap;

/// A file changed within this time may change again without looking different.
const RACY_NS: i64 = 2_000_000_000;

/// What was learned about files.
pub(super) struct Locals {
    bytes_max: usize,
    /// Files that cannot be stored as they are.
    unfit: BTreeMap<String, Stamp>,
    /// Texts that were read in this pass.
    digests: BTreeMap<String, Digest>,
}

impl Locals {
    /// For memories of at most this size.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, unfit: BTreeMap::new(), digests: BTreeMap::new() }
    }

    /// What a file holds.
    pub(super) fn look(
        &mut self,
        folder: &Folder,
        path: &MemoryPath,
        stamp: Stamp,
        base: Option<Base>,
        report: &mut Report,
    ) -> Local {
        if let Some(base) = base
            && base.stamp == Some(stamp)
        {
            return Local::Text(base.digest);
        }
        if self.unfit.get(path.as_str()) == Some(&stamp) {
            return Local::Unfit;
        }
        match self.text(folder, path) {
            Ok(Some((text, _))) => {
                let digest = Content::Text(text).digest();
                self.digests.insert(path.as_str().to_owned(), digest);
                Local::Text(digest)
            }
            // It changes right now: the next pass will see.
            Ok(None) => Local::Unfit,
            Err(why) => {
                self.set_unfit(path, stamp);
                report.warn(path.as_str(), &why);
                Local::Unfit
            }
        }
    }

    /// The text of a file and how the file looks; none if it is just changing.
    pub(super) fn text(
        &self,
        folder: &Folder,
        path: &MemoryPath,
    ) -> Result<Option<(String, Stamp)>, String> {
        let read = folder.read(path, self.bytes_max).map_err(|error| error.to_string())?;
        let Some((bytes, stamp)) = read else { return Ok(None) };
        if bytes.len() > self.bytes_max {
            return Err(format!("it is over {} bytes", self.bytes_max));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some((text, stamp))),
            Err(_) => Err("it is not UTF-8 text".to_owned()),
        }
    }

    /// The digest of a text that was read.
    pub(super) fn digest(&self, path: &MemoryPath) -> Option<Digest> {
        self.digests.get(path.as_str()).copied()
    }

    /// Leaves a file alone until it looks different.
    pub(super) fn set_unfit(&mut self, path: &MemoryPath, stamp: Stamp) {
        self.unfit.insert(path.as_str().to_owned(), stamp);
    }
}

/// How a file looks, if that is enough to know it by: one that was changed just now may be changed
/// again within the same tick of the clock.
pub(super) fn settled(stamp: Stamp) -> Option<Stamp> {
    let now_ns = Seams::real().now().as_micros().saturating_mul(1000);
    let is_old = now_ns.saturating_sub(stamp.mtime_ns) > RACY_NS;
    is_old.then_some(stamp)
}
