//! What search indexes are made of, by looking at everything. A memory's place among its store's
//! texts is the feed number it was created at; pages go on after it.

use super::state::{Kept, Shelf, State, is_expired, is_shown_to, memory_in};
use loci_model::policy::{Facts, ReadPass, SearchPass};
use loci_model::{Audience, Caller, Memory, MemoryId, StoreId, Timestamp, View};
use loci_storage::{AsOf, ChangedTexts, FeedEnd, Result, StorageError, TextPage};

impl State {
    pub(super) fn all_facts(&self, caller: &Caller) -> Vec<Facts> {
        let mut known: Vec<Facts> = self
            .shelves
            .keys()
            .filter_map(|store| {
                self.facts(caller.workspace, *store, caller.principal, caller.session)
            })
            .filter(|facts| match caller.session {
                Some(_) => facts.attachment.is_some(),
                None => caller.is_admin || facts.concern(caller.principal),
            })
            .collect();
        known.sort_by_key(|facts| (facts.store.created_at, facts.store.id));
        known
    }

    pub(super) fn feed_ends(&self, pass: &SearchPass) -> Vec<FeedEnd> {
        let shelves = pass.stores().iter().filter_map(|store| self.shelf(*store).ok());
        let end = |shelf: &Shelf| FeedEnd {
            store: shelf.store.id,
            seq: shelf.feed.len() as u64,
            vectors: shelf.marks.iter().map(|(id, through)| (*id, *through)).collect(),
        };
        shelves.map(end).collect()
    }

    /// A store that the pass reaches.
    pub(super) fn searched(&self, pass: &SearchPass, store: StoreId) -> Result<&Shelf> {
        if !pass.stores().contains(&store) {
            return Err(StorageError::NotFound("memory store"));
        }
        self.shelf(store)
    }

    pub(super) fn texts(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<TextPage> {
        let shelf = self.searched(pass, store)?;
        let texts = shelf.texts(pass.audience(), pass.now());
        let mut texts: Vec<(u64, Memory)> = texts
            .map(|memory| (shelf.memories[&memory.id].birth(), memory))
            .filter(|(birth, _)| *birth > after)
            .collect();
        texts.sort_by_key(|(birth, _)| *birth);
        Ok(page(texts, limit))
    }

    pub(super) fn changed_texts(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<ChangedTexts> {
        let shelf = self.searched(pass, store)?;
        let (through, changed) = shelf.changed(after, limit);
        let as_now = |id: MemoryId| {
            let mut texts = shelf.texts(pass.audience(), pass.now());
            (id, texts.find(|memory| memory.id == id))
        };
        Ok(ChangedTexts { through, memories: changed.into_iter().map(as_now).collect() })
    }

    pub(super) fn texts_at(
        &self,
        pass: &ReadPass,
        at: AsOf,
        after: u64,
        limit: usize,
    ) -> Result<TextPage> {
        let shelf = self.shelf(pass.store())?;
        let Some((seq, moment)) = shelf.moment(pass, at)? else {
            return Ok(TextPage::default());
        };
        let by_birth = |kept: &&Kept| kept.birth() == after;
        let start = shelf.memories.values().find(by_birth).map(|kept| kept.last().memory);
        let later = shelf.memories.iter().filter(|(id, _)| Some(**id) > start);
        let texts = later.filter_map(|(_, kept)| {
            let version = kept.versions.iter().rev().find(|version| version.seq <= seq)?;
            let memory = kept.as_of(version)?;
            let is_shown = is_shown_to(pass.audience(), memory.attributes.visibility)
                && is_shown_to(pass.audience(), kept.visibility());
            (is_shown && !memory.is_sealed && !is_expired(&memory, moment))
                .then(|| (kept.birth(), memory))
        });
        Ok(page(texts.collect(), limit))
    }

    pub(super) fn found(
        &self,
        pass: &SearchPass,
        ids: &[(StoreId, MemoryId)],
        view: View,
    ) -> Vec<Memory> {
        let find = |(store, id): &(StoreId, MemoryId)| {
            let mut texts = self.searched(pass, *store).ok()?.texts(pass.audience(), pass.now());
            texts.find(|memory| memory.id == *id).map(|memory| memory_in(view, memory))
        };
        ids.iter().filter_map(find).collect()
    }
}

impl Shelf {
    /// Text memories that a reader sees at a moment, with content.
    pub(super) fn texts(&self, audience: Audience, now: Timestamp) -> impl Iterator<Item = Memory> {
        self.visible(audience, now).filter(|memory| !memory.is_sealed)
    }

    /// The memories that the next entries of the feed are about, each once, and the last of these
    /// entries.
    pub(super) fn changed(&self, after: u64, limit: usize) -> (u64, Vec<MemoryId>) {
        let later = self.feed.iter().filter(|change| change.seq > after);
        let mut through = after;
        let mut changed = Vec::new();
        for change in later.take(limit) {
            through = change.seq;
            if !changed.contains(&change.memory) {
                changed.push(change.memory);
            }
        }
        (through, changed)
    }

    /// The last feed number of a moment, and its time; none before the first entry.
    fn moment(&self, pass: &ReadPass, at: AsOf) -> Result<Option<(u64, Timestamp)>> {
        match at {
            AsOf::Time(time) => {
                let mut before = self.feed.iter().filter(|change| change.at <= time);
                Ok(before.next_back().map(|change| (change.seq, time)))
            }
            AsOf::Seq(seq) => {
                let mut before = self.feed.iter().filter(|change| change.seq <= seq);
                Ok(before.next_back().map(|change| (change.seq, change.at)))
            }
            AsOf::Version(id) => {
                let mut versions = self.versions();
                let version = versions
                    .find(|version| version.id == id && self.shows_history(pass, version.memory))
                    .ok_or(StorageError::NotFound("memory version"))?;
                Ok(Some((version.seq, version.created_at)))
            }
        }
    }
}

impl Kept {
    /// The feed number the memory was created at.
    fn birth(&self) -> u64 {
        self.versions[0].seq
    }
}

/// The first texts of those that are left, and where to go on.
fn page(mut texts: Vec<(u64, Memory)>, limit: usize) -> TextPage {
    let limit = limit.max(1);
    let next = (texts.len() > limit).then(|| texts[limit - 1].0);
    texts.truncate(limit);
    TextPage { memories: texts.into_iter().map(|(_, memory)| memory).collect(), next }
}
