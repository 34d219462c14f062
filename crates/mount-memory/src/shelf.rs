//! One store in memory: what an edit does to it, and the feed that tells of it.

use loci_model::{Attributes, Content, Expect, MemoryId, MemoryPath, Operation, VersionId};
use loci_mount::port::{Act, At, Change, Done, Edit, Edition, Entry, Refusal};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// One version and its text.
#[derive(Clone)]
pub(crate) struct Version {
    pub(crate) edition: Edition,
    pub(crate) text: Option<Arc<str>>,
}

/// The memories of one store.
#[derive(Clone, Default)]
pub(crate) struct Shelf {
    pub(crate) live: BTreeMap<String, Entry>,
    pub(crate) paths: HashMap<MemoryId, String>,
    pub(crate) versions: HashMap<MemoryId, Vec<Version>>,
    pub(crate) feed: Vec<Change>,
    /// What exists and is not shown.
    pub(crate) sealed: HashSet<MemoryId>,
    /// Whether a new memory whose text is known becomes the one that has it.
    pub(crate) merges: bool,
}

impl Shelf {
    pub(crate) fn find(&self, memory: MemoryId) -> Option<&Entry> {
        self.live.get(self.paths.get(&memory)?).filter(|_| !self.sealed.contains(&memory))
    }

    fn with_text(&self, text: &str) -> Option<&Entry> {
        let digest = self.merges.then(|| Content::Text(text.to_owned()).digest())?;
        self.live.values().find(|entry| entry.digest == digest)
    }

    pub(crate) fn apply(
        &mut self,
        edit: &Edit,
        id: u128,
        now: loci_model::Timestamp,
        limit: u64,
    ) -> Result<Done, Refusal> {
        let found = match &edit.at {
            At::Memory(memory) => self.find(*memory).cloned(),
            At::Path(path) => self.live.get(path.as_str()).cloned(),
        };
        let Some(before) = found else {
            return self.create(edit, id, now, limit);
        };
        let is_expected = match edit.expect {
            Expect::Anything | Expect::Present => true,
            Expect::Absent => {
                let (path, memory) = (Some(before.path.clone()), Some(before.memory));
                return Err(Refusal::Taken { path, memory });
            }
            Expect::Digest(digest) => digest == before.digest,
            Expect::Revision(revision) => revision == before.revision,
        };
        let text = self.versions[&before.memory].last().and_then(|it| it.text.clone());
        let text = text.unwrap_or_else(|| "".into());
        let mut after = before.clone();
        let new = match &edit.act {
            Act::Remove if !is_expected => return Err(Refusal::ExpectFailed),
            Act::Remove => {
                self.live.remove(before.path.as_str());
                after.revision += 1;
                after.version = VersionId::from_u128(id);
                self.record(&after, Operation::Deleted, None, now);
                return Ok(Done { entry: before, operation: Some(Operation::Deleted) });
            }
            Act::Append { text: added, is_own_line } => {
                let is_apart = !is_own_line || text.is_empty() || text.ends_with('\n');
                let between = if is_apart { "" } else { "\n" };
                format!("{text}{between}{added}")
            }
            Act::Put { text: new, to, attributes } => {
                after.path = to.clone().unwrap_or(after.path);
                after.attributes = attributes.apply_to(&after.attributes);
                new.clone().unwrap_or_else(|| text.to_string())
            }
        };
        if *new == *text && after == before {
            return Ok(Done { entry: before, operation: None });
        }
        if !is_expected {
            return Err(Refusal::ExpectFailed);
        }
        after.attributes.validate().map_err(|it| Refusal::Invalid(it.to_string()))?;
        self.check_size(&new, limit)?;
        self.live.remove(before.path.as_str());
        if let Err(refusal) = self.check_free(&after.path) {
            self.live.insert(before.path.as_str().to_owned(), before);
            return Err(refusal);
        }
        after.revision += 1;
        after.version = VersionId::from_u128(id);
        after.updated_at = now;
        after.digest = Content::Text(new.clone()).digest();
        after.size_bytes = new.len() as u64;
        self.live.insert(after.path.as_str().to_owned(), after.clone());
        self.record(&after, Operation::Modified, Some(new), now);
        Ok(Done { entry: after, operation: Some(Operation::Modified) })
    }

    fn create(
        &mut self,
        edit: &Edit,
        id: u128,
        now: loci_model::Timestamp,
        limit: u64,
    ) -> Result<Done, Refusal> {
        let is_expected = matches!(edit.expect, Expect::Anything | Expect::Absent);
        let (At::Path(path), Act::Put { text: Some(text), to: None, attributes }, true) =
            (&edit.at, &edit.act, is_expected)
        else {
            return Err(Refusal::NotFound);
        };
        self.check_size(text, limit)?;
        self.check_free(path)?;
        if let Some(known) = self.with_text(text) {
            return Ok(Done { entry: known.clone(), operation: None });
        }
        let entry = Entry {
            memory: MemoryId::from_u128(id),
            version: VersionId::from_u128(id),
            revision: 1,
            path: path.clone(),
            digest: Content::Text(text.clone()).digest(),
            size_bytes: text.len() as u64,
            created_at: now,
            updated_at: now,
            attributes: attributes.apply_to(&Attributes::default()),
            is_own: true,
        };
        self.live.insert(path.as_str().to_owned(), entry.clone());
        self.record(&entry, Operation::Created, Some(text.clone()), now);
        Ok(Done { entry, operation: Some(Operation::Created) })
    }

    fn check_size(&self, text: &str, limit: u64) -> Result<(), Refusal> {
        if text.len() as u64 > limit { Err(Refusal::TooLarge) } else { Ok(()) }
    }

    fn check_free(&self, path: &MemoryPath) -> Result<(), Refusal> {
        let (low, high) = path.descendants();
        let above = path.ancestors().find_map(|it| self.live.get(it));
        let there = self.live.get(path.as_str()).or(above);
        match there.or_else(|| self.live.range(low..high).next().map(|(_, it)| it)) {
            Some(it) => {
                Err(Refusal::Taken { path: Some(it.path.clone()), memory: Some(it.memory) })
            }
            None => Ok(()),
        }
    }

    fn record(
        &mut self,
        entry: &Entry,
        operation: Operation,
        text: Option<String>,
        now: loci_model::Timestamp,
    ) {
        if operation == Operation::Deleted {
            self.paths.remove(&entry.memory);
        } else {
            self.paths.insert(entry.memory, entry.path.as_str().to_owned());
        }
        let edition = Edition {
            version: entry.version,
            revision: entry.revision,
            operation,
            size_bytes: text.as_ref().map(|it| it.len() as u64),
            created_at: now,
            actor: "tester".into(),
        };
        self.versions
            .entry(entry.memory)
            .or_default()
            .push(Version { edition, text: text.map(Into::into) });
        self.feed.push(Change {
            seq: self.feed.len() as u64 + 1,
            memory: entry.memory,
            version: entry.version,
            path: Some(entry.path.clone()),
            revision: entry.revision,
            is_removal: operation == Operation::Deleted,
        });
    }
}
