//! `.history`: hidden in the directory of each store, read-only, the same tree with each file as a
//! directory of its versions, `0001.created`, `0002.modified` and so on. Versions without content
//! (removals, redacted ones) are not there.
//!
//! Its inodes are made when somebody looks and forgotten with the mount.

use crate::errno;
use crate::node::{BLOCK_BYTES, Body, Ino, Looks, Times, attr, moment};
use crate::port::Edition;
use crate::volume::{Outdated, Volume};
use foldhash::HashMap;
use fuser::{Errno, FileAttr, FileType};
use loci_model::{MemoryId, Operation, VersionId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The name of the directory.
pub(crate) const NAME: &str = ".history";
/// Numbers of these inodes have the highest bit, which others never have.
const MARK: Ino = 1 << 63;
/// How long a list of versions is believed.
const FRESH: Duration = Duration::from_millis(500);
/// Lists of versions to remember.
const LISTS_MAX: usize = 1024;

/// What an inode of the history shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Shown {
    /// A directory of the store, by its inode.
    Directory(Ino),
    /// The versions of a memory.
    Versions(usize, MemoryId),
    /// One version.
    Version(usize, MemoryId, VersionId),
}

#[derive(Debug, Clone)]
struct Leaf {
    size: u64,
    at: SystemTime,
}

#[derive(Default)]
struct Known {
    by_ino: HashMap<Ino, Shown>,
    by_shown: HashMap<Shown, Ino>,
    leaves: HashMap<VersionId, Leaf>,
    lists: HashMap<MemoryId, (Instant, Arc<Vec<Edition>>)>,
}

/// One line of a directory of the history.
pub(crate) struct Line {
    pub(crate) ino: Ino,
    pub(crate) kind: FileType,
    pub(crate) name: Arc<str>,
}

/// The inodes of all histories.
pub(crate) struct History {
    known: Mutex<Known>,
    looks: Looks,
    started: SystemTime,
}

/// Whether an inode is one of these.
pub(crate) fn is_history(ino: Ino) -> bool {
    ino & MARK != 0
}

/// The file name of a version.
fn name(edition: &Edition) -> String {
    let what = match edition.operation {
        Operation::Created => "created",
        Operation::Modified => "modified",
        Operation::Deleted => "deleted",
    };
    format!("{:04}.{what}", edition.revision)
}

impl History {
    pub(crate) fn new(looks: Looks, started: SystemTime) -> Self {
        Self { known: Mutex::default(), looks, started }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ino(&self, shown: Shown) -> Ino {
        let mut known = self.known();
        if let Some(ino) = known.by_shown.get(&shown) {
            return *ino;
        }
        let bits = match shown {
            Shown::Directory(ino) => ino,
            Shown::Versions(_, memory) => fold(memory.as_u128()) ^ 1,
            Shown::Version(_, _, version) => fold(version.as_u128()),
        };
        let mut ino = bits | MARK;
        while known.by_ino.contains_key(&ino) {
            ino = ino.wrapping_add(1) | MARK;
        }
        known.by_ino.insert(ino, shown);
        known.by_shown.insert(shown, ino);
        ino
    }

    fn shown(&self, ino: Ino) -> Result<Shown, Errno> {
        self.known().by_ino.get(&ino).copied().ok_or(Errno::ESTALE)
    }

    /// Forgets the versions of a store that is closed; gives what the kernel has read of them.
    pub(crate) fn close(&self, store: usize) -> Vec<Outdated> {
        let mut known = self.known();
        // Which lists are of that store they do not say, and all of them can be asked for again.
        known.lists.clear();
        let read = known.by_ino.iter().filter_map(|(ino, shown)| match shown {
            Shown::Version(at, ..) if *at == store => Some(Outdated::Node(*ino)),
            _ => None,
        });
        read.collect()
    }

    /// The history of a store, given the store's directory.
    pub(crate) fn root(&self, directory: Ino) -> Ino {
        self.ino(Shown::Directory(directory))
    }

    pub(crate) fn attr(&self, ino: Ino) -> Result<FileAttr, Errno> {
        let shown = self.shown(ino)?;
        let Shown::Version(_, _, version) = shown else {
            let looks = self.looks.of_directory().of_past();
            let size = u64::from(BLOCK_BYTES);
            return Ok(attr(ino, FileType::Directory, size, 2, looks, &Times::all(self.started)));
        };
        let leaf = self.known().leaves.get(&version).cloned().ok_or(Errno::ESTALE)?;
        let looks = self.looks.of_past();
        Ok(attr(ino, FileType::RegularFile, leaf.size, 1, looks, &Times::all(leaf.at)))
    }
}

fn fold(bits: u128) -> u64 {
    (bits >> 64) as u64 ^ bits as u64
}

impl Volume {
    /// Refuses whatever reaches into the history of a store that is closed.
    pub(crate) fn check_history(&self, ino: Ino) -> Result<(), Errno> {
        match self.history.shown(ino)? {
            Shown::Directory(directory) => self.tree().check_open(directory),
            Shown::Versions(store, _) | Shown::Version(store, ..) => self.tree().check_store(store),
        }
    }

    /// What is in a directory of the history.
    pub(crate) async fn history_lines(self: &Arc<Self>, ino: Ino) -> Result<Vec<Line>, Errno> {
        self.check_history(ino)?;
        let shown = self.history.shown(ino)?;
        if let Shown::Directory(directory) = shown {
            self.ensure_listed(directory).await?;
        }
        match shown {
            Shown::Version(..) => Err(Errno::ENOTDIR),
            Shown::Directory(directory) => {
                let tree = self.tree();
                let node = tree.get(directory)?;
                let children = node.directory()?.children.iter();
                let lines = children.filter_map(|(name, child)| {
                    let shown = match &tree.nodes.get(child)?.body {
                        Body::Directory(_) => Shown::Directory(*child),
                        Body::File(file) => {
                            Shown::Versions(node.store, file.saved.as_ref()?.memory)
                        }
                    };
                    let ino = self.history.ino(shown);
                    Some(Line { ino, kind: FileType::Directory, name: Arc::clone(name) })
                });
                Ok(lines.collect())
            }
            Shown::Versions(store, memory) => {
                let editions = self.editions(store, memory).await?;
                let with_content = editions.iter().filter(|it| it.size_bytes.is_some());
                Ok(with_content
                    .map(|edition| {
                        let ino = self.history.ino(Shown::Version(store, memory, edition.version));
                        Line { ino, kind: FileType::RegularFile, name: name(edition).into() }
                    })
                    .collect())
            }
        }
    }

    async fn editions(&self, store: usize, memory: MemoryId) -> Result<Arc<Vec<Edition>>, Errno> {
        let head = {
            let tree = self.tree();
            let ino = tree.by_memory.get(&memory);
            ino.and_then(|ino| Some(tree.file(*ino).ok()?.saved.as_ref()?.version))
        };
        // What was saved here is there at once.
        if let Some((at, editions)) = self.history.known().lists.get(&memory)
            && at.elapsed() < FRESH
            && editions.last().map(|edition| edition.version) == head
        {
            return Ok(Arc::clone(editions));
        }
        let editions = self.ask(self.port.versions(self.stores[store], memory)).await;
        let editions = Arc::new(editions.map_err(|refusal| errno::of(&refusal))?);
        let mut known = self.history.known();
        if known.lists.len() >= LISTS_MAX {
            known.lists.clear();
        }
        for edition in editions.iter() {
            if let Some(size) = edition.size_bytes {
                let leaf = Leaf { size, at: moment(edition.created_at) };
                known.leaves.insert(edition.version, leaf);
            }
        }
        known.lists.insert(memory, (Instant::now(), Arc::clone(&editions)));
        Ok(editions)
    }

    /// The inode of a name in a directory of the history.
    pub(crate) async fn history_lookup(
        self: &Arc<Self>,
        ino: Ino,
        name: &str,
    ) -> Result<Ino, Errno> {
        let lines = self.history_lines(ino).await?;
        lines.iter().find(|line| *line.name == *name).map(|line| line.ino).ok_or(Errno::ENOENT)
    }

    /// The content of a version.
    pub(crate) async fn history_bytes(&self, ino: Ino) -> Result<Arc<Vec<u8>>, Errno> {
        let Shown::Version(store, memory, version) = self.history.shown(ino)? else {
            return Err(Errno::EISDIR);
        };
        self.tree().check_store(store)?;
        if let Some(bytes) = self.cache().get(version) {
            return Ok(bytes);
        }
        let text = self.text(store, memory, version).await;
        let bytes = Arc::new(text.map_err(|refusal| errno::of(&refusal))?.into_bytes());
        self.cache().put(version, Arc::clone(&bytes));
        Ok(bytes)
    }
}
