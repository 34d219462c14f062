//! Vectors: rows that follow the feed. They hang on versions that still have their text, and go with
//! it.

use super::state::{Shelf, State, is_expired, is_shown_to};
use loci_model::policy::SearchPass;
use loci_model::{Content, MemoryId, StoreId, Timestamp, Version, VersionId};
use loci_storage::{
    EmbedPage, Embeddable, Generation, GenerationId, Receipt, Result, SAME_AS_REVISIONS_MAX,
    VectorBatch, VectorLag, VectorSource, check_generation,
};

impl State {
    pub(super) fn open_generation(
        &mut self,
        model: String,
        dims: u32,
        is_fresh: bool,
        created_at: Timestamp,
    ) -> Result<Receipt> {
        check_generation(&model, dims)?;
        let newest = self.generations.last();
        let is_same = |known: &&Generation| known.model == model && known.dims == dims;
        if let Some(known) = newest.filter(|_| !is_fresh).filter(is_same) {
            return Ok(Receipt::Generation(known.clone()));
        }
        self.last_generation += 1;
        let id = GenerationId(self.last_generation);
        let generation = Generation { id, model, dims, created_at };
        self.generations.push(generation.clone());
        Ok(Receipt::Generation(generation))
    }

    pub(super) fn put_vectors(&mut self, batch: VectorBatch) -> Result<Receipt> {
        let mut known = self.generations.iter();
        let Some(generation) = known.find(|known| known.id == batch.generation) else {
            return Ok(Receipt::VectorsPut(0));
        };
        batch.check(generation.dims)?;
        match self.shelf_mut(batch.store) {
            Ok(shelf) if shelf.store.workspace == batch.workspace => {
                Ok(Receipt::VectorsPut(shelf.put_vectors(batch)))
            }
            Ok(_) | Err(_) => Ok(Receipt::VectorsPut(0)),
        }
    }

    pub(super) fn drop_generation(&mut self, id: GenerationId, limit: usize) -> Receipt {
        let mut left = limit;
        let mut is_done = true;
        for shelf in self.shelves.values_mut() {
            let of_it = shelf.vectors.keys().filter(|(generation, _)| *generation == id);
            let of_it: Vec<_> = of_it.copied().collect();
            is_done &= of_it.len() <= left;
            for key in of_it.into_iter().take(left) {
                shelf.vectors.remove(&key);
                left -= 1;
            }
        }
        if is_done {
            self.generations.retain(|generation| generation.id != id);
            for shelf in self.shelves.values_mut() {
                shelf.marks.remove(&id);
            }
        }
        Receipt::Purged { is_done }
    }

    pub(super) fn vectors(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
        versions: &[VersionId],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let shelf = self.searched(pass, store)?;
        let shown = |id: &VersionId| {
            let vectors = shelf.vectors.get(&(generation, *id))?;
            let version = shelf.version(*id);
            let kept = &shelf.memories[&version.memory];
            let is_over =
                kept.live().is_some_and(|live| live.head == *id && is_expired(&live, pass.now()));
            let attributes = version.attributes.as_ref()?;
            let is_shown = is_shown_to(pass.audience(), kept.visibility())
                && is_shown_to(pass.audience(), attributes.visibility);
            (is_shown && !is_over).then(|| vectors.clone())
        };
        Ok(versions.iter().map(shown).collect())
    }

    pub(super) fn vector_lags(&self, generation: GenerationId, limit: usize) -> Vec<VectorLag> {
        if !self.generations.iter().any(|known| known.id == generation) {
            return Vec::new();
        }
        let present = self.shelves.values().filter(|shelf| !shelf.is_removed);
        let lag = |shelf: &Shelf| VectorLag {
            workspace: shelf.store.workspace,
            store: shelf.store.id,
            through: shelf.marks.get(&generation).copied().unwrap_or(0),
            end: shelf.feed.len() as u64,
        };
        let mut lags: Vec<_> = present.map(lag).filter(|lag| lag.through < lag.end).collect();
        lags.sort_by_key(|lag| (lag.end - lag.through, lag.store));
        lags.truncate(limit);
        lags
    }

    pub(super) fn embeddable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        generation: GenerationId,
        after: u64,
        limit: usize,
    ) -> Result<EmbedPage> {
        let shelf = self.searched(pass, store)?;
        let (through, changed) = shelf.changed(after, limit);
        let has_vectors = |version: VersionId| shelf.vectors.contains_key(&(generation, version));
        let needed = |id: MemoryId| {
            let mut texts = shelf.texts(pass.audience(), pass.now());
            let memory = texts.find(|memory| memory.id == id && !has_vectors(memory.head))?;
            let is_near = |version: &&Version| {
                version.revision < memory.revision
                    && version.revision + SAME_AS_REVISIONS_MAX >= memory.revision
            };
            let mut before = shelf.memories[&id].versions.iter().rev().filter(is_near);
            let same = before
                .find(|version| version.digest == Some(memory.digest) && has_vectors(version.id));
            let text = memory.content.as_ref().and_then(Content::text).expect("texts have text");
            Some(Embeddable {
                version: memory.head,
                text: text.to_owned(),
                path: memory.path.clone(),
                names: memory.attributes.names(),
                same_as: same.map(|version| version.id),
            })
        };
        Ok(EmbedPage { through, texts: changed.into_iter().filter_map(needed).collect() })
    }
}

impl Shelf {
    fn put_vectors(&mut self, batch: VectorBatch) -> u64 {
        let mut written = 0;
        let mut is_whole = true;
        for (id, source) in batch.vectors {
            let Some(digest) = self.text_version(id).and_then(|version| version.digest) else {
                continue;
            };
            let bytes = match source {
                VectorSource::Made(bytes) => Some(bytes),
                VectorSource::SameAs(other) => self
                    .text_version(other)
                    .filter(|version| version.digest == Some(digest))
                    .and_then(|_| self.vectors.get(&(batch.generation, other)).cloned()),
            };
            match bytes {
                Some(bytes) => {
                    self.vectors.insert((batch.generation, id), bytes);
                    written += 1;
                }
                None => is_whole = false,
            }
        }
        let through = batch.through.min(self.feed.len() as u64);
        if is_whole && through > self.marks.get(&batch.generation).copied().unwrap_or(0) {
            self.marks.insert(batch.generation, through);
        }
        written
    }

    /// A version that still has its text.
    pub(super) fn text_version(&self, id: VersionId) -> Option<&Version> {
        let has_text = |version: &&Version| {
            version.id == id && version.content.as_ref().is_some_and(|content| !content.is_sealed())
        };
        self.versions().find(has_text)
    }

    /// Drops what was made from the text of a version.
    pub(super) fn drop_derived(&mut self, version: VersionId) {
        self.vectors.retain(|(_, of), _| *of != version);
        self.readings.drop_version(version);
    }
}
