//! One store as one audience may find it: words, neighbours, authors and vectors of its live text
//! memories, and nothing of any other.
//!
//! The index is derived: it is made from the store's texts, follows the store's feed, and can be
//! dropped at any time. Documents are numbered as they come and never change; a changed memory is a
//! new document, and numbers of the old ones are given back all at once when many are gone.

mod authors;
mod filter;
#[cfg(test)]
pub(crate) mod fixture;
mod postings;
mod siblings;
mod terms;
mod vectors;
mod whole;

pub(crate) use authors::{Authors, NOBODY};
pub(crate) use filter::{Filtered, Sieve};
pub(crate) use postings::{Places, Postings};
pub(crate) use siblings::{NONE, Siblings};
pub use terms::{cut, terms_of};
pub(crate) use vectors::DocVectors;
pub use whole::Whole;

use crate::text::Analyzer;
use crate::text::author::header;
use foldhash::fast::RandomState;
use loci_model::{Digest, Memory, MemoryId, Timestamp, VersionId};
use std::collections::{BTreeSet, HashMap};

/// Up to this many characters a memory is short: indexed as one piece, and read together with its
/// neighbours.
pub(crate) const SHORT_CHARS_MAX: usize = 400;
/// Words of a piece of a long memory.
pub(crate) const PIECE_WORDS: usize = 150;
/// Documents that are gone before it is worth giving their numbers back.
const GONE_MIN: usize = 1024;

/// What neighbours add to a short memory, in tenths of their own words: the one before it, the one
/// after it, and those two away.
pub(crate) const WINDOW_PREVIOUS: u32 = 4;
pub(crate) const WINDOW_NEXT: u32 = 1;
pub(crate) const WINDOW_TWO_AWAY: u32 = 2;
/// A memory's own words, in tenths.
pub(crate) const WINDOW_OWN: u32 = 10;

/// The pieces around a short memory: the one before it, the one after it, the one two before and
/// the one two after; none where there is no neighbour or a long one.
pub(crate) type Around = [u32; 4];
/// What it takes from each, and what it gives to each: for the one before, it is the one after.
const TAKEN: Around = [WINDOW_PREVIOUS, WINDOW_NEXT, WINDOW_TWO_AWAY, WINDOW_TWO_AWAY];
pub(crate) const GIVEN: Around = [WINDOW_NEXT, WINDOW_PREVIOUS, WINDOW_TWO_AWAY, WINDOW_TWO_AWAY];
const ALONE: Around = [NONE; 4];

/// One memory in the index.
#[derive(Debug)]
pub(crate) struct Doc {
    pub(crate) id: MemoryId,
    pub(crate) head: VersionId,
    digest: Digest,
    pub(crate) path: Box<str>,
    labels: Box<[u64]>,
    created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    expires_at: Option<Timestamp>,
    pub(crate) importance: Option<u8>,
    pub(crate) pinned: bool,
}

/// What ranking asks of every memory it passes: kept apart and small, so that a pass over all of
/// them stays in the processor's cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) author: u32,
    pub(crate) is_short: bool,
    is_blank: bool,
    is_live: bool,
    first_unit: u32,
    unit_count: u32,
}

impl Mark {
    pub(crate) fn units(self) -> std::ops::Range<u32> {
        self.first_unit..self.first_unit + self.unit_count
    }

    /// Whether somebody said it: short, and labelled with who did.
    pub(crate) fn is_said(self) -> bool {
        self.is_short && self.author != NOBODY
    }
}

impl Doc {
    pub(crate) fn filtered(&self) -> Filtered<'_> {
        Filtered {
            path: &self.path,
            labels: &self.labels,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

/// A piece of a memory that is scored by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    /// Whose it is; nobody's once that is gone.
    pub(crate) doc: u32,
    length: u32,
}

/// The index of one store for one audience.
#[derive(Debug, Default)]
pub struct StoreIndex {
    analyzer: Analyzer,
    ids: HashMap<MemoryId, u32, RandomState>,
    docs: Vec<Doc>,
    marks: Vec<Mark>,
    units: Vec<Unit>,
    /// How long each unit is with its share of its neighbours, in tenths.
    windows: Vec<u32>,
    around: Vec<Around>,
    /// Words of the texts, by unit.
    words: Postings,
    /// Words of paths and tags, by document.
    names: Postings,
    siblings: Siblings,
    authors: Authors,
    vectors: DocVectors,
    expiry: BTreeSet<(Timestamp, u32)>,
    live_units: u64,
    /// The sum of the live units' windows.
    window_sum: u64,
    path_bytes: usize,
    /// What it is a part of, if it is not the whole store.
    whole: Option<Whole>,
}

impl StoreIndex {
    /// An empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many memories it holds.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Takes a memory in, in the place of what was known about it. One without text is taken out.
    /// Searching needs [`Self::settle`] afterwards.
    pub fn put(&mut self, memory: &Memory) {
        let text = memory.content.as_ref().and_then(|content| content.text());
        let kept = self.take_out(memory.id, text.map(|_| memory.digest));
        let Some(text) = text else { return };
        let doc = u32::try_from(self.docs.len()).expect("fewer documents than a store may hold");
        let is_blank = text.trim().is_empty();
        let is_short = terms::is_short(text);
        let first_unit = u32::try_from(self.units.len()).expect("fewer pieces than bytes of text");
        for piece in terms::pieces(text) {
            self.add_unit(doc, &text[piece]);
        }
        let path = memory.path.as_str();
        self.add_names(doc, path, &memory.attributes.names());
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        match memory.partition {
            None => self.siblings.add(doc, parent),
            Some(owner) => self.siblings.add(doc, &format!("{owner}{parent}")),
        }
        let author = header(text).map_or(NOBODY, |header| self.authors.add(header.author));
        if let Some(expires_at) = memory.attributes.expires_at {
            self.expiry.insert((expires_at, doc));
        }
        self.path_bytes += path.len();
        self.docs.push(Doc {
            id: memory.id,
            head: memory.head,
            digest: memory.digest,
            path: path.into(),
            labels: filter::labels(&memory.attributes),
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            expires_at: memory.attributes.expires_at,
            importance: memory.attributes.importance,
            pinned: memory.attributes.pinned,
        });
        let unit_count = u32::try_from(self.units.len()).expect("as above") - first_unit;
        let is_live = true;
        self.marks.push(Mark { author, is_short, is_blank, is_live, first_unit, unit_count });
        self.vectors.add_doc(kept, is_blank);
        self.ids.insert(memory.id, doc);
    }

    fn add_unit(&mut self, doc: u32, text: &str) {
        let unit = u32::try_from(self.units.len()).expect("fewer pieces than bytes of text");
        let mut length = 0;
        let words = &mut self.words;
        self.analyzer.terms(text, |term| {
            words.add(term.text, unit);
            length += 1;
        });
        let window = length * WINDOW_OWN;
        self.units.push(Unit { doc, length });
        self.windows.push(window);
        self.around.push(ALONE);
        self.live_units += 1;
        self.window_sum += u64::from(window);
    }

    fn add_names(&mut self, doc: u32, path: &str, others: &[String]) {
        let names = &mut self.names;
        self.analyzer.terms(terms::stem(path), |term| names.add(term.text, doc));
        for name in others {
            self.analyzer.terms(name, |term| names.add(term.text, doc));
        }
    }

    /// Takes a memory out.
    pub fn remove(&mut self, id: MemoryId) {
        self.take_out(id, None);
    }

    /// Takes out whatever has expired by now.
    pub fn expire(&mut self, now: Timestamp) {
        while let Some((at, doc)) = self.expiry.first().copied()
            && at <= now
        {
            self.remove(self.docs[doc as usize].id);
        }
    }

    /// Whether something has expired that is still in.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expiry.first().is_some_and(|(at, _)| *at <= now)
    }

    /// Takes a memory out; when the one to come has the same content, its vectors are given back.
    fn take_out(&mut self, id: MemoryId, next: Option<Digest>) -> Option<u32> {
        let number = self.ids.remove(&id)?;
        self.settle();
        let (docs, mut changed) = (&self.docs, Vec::new());
        let path = |doc: u32| &*docs[doc as usize].path;
        self.siblings.remove(number, path, |doc| changed.push(doc));
        let doc = &mut self.docs[number as usize];
        let mark = &mut self.marks[number as usize];
        mark.is_live = false;
        let is_same = next == Some(doc.digest);
        self.authors.remove(mark.author);
        self.path_bytes -= doc.path.len();
        if let Some(at) = doc.expires_at {
            self.expiry.remove(&(at, number));
        }
        for unit in mark.units() {
            self.live_units -= 1;
            self.window_sum -= u64::from(self.windows[unit as usize]);
            self.units[unit as usize].doc = NONE;
            self.around[unit as usize] = ALONE;
        }
        changed.into_iter().for_each(|doc| self.widen(doc));
        if is_same {
            return Some(number);
        }
        self.vectors.forget(number);
        None
    }

    /// Finishes a row of changes: after this the index can be searched.
    pub fn settle(&mut self) {
        let (docs, mut changed) = (&self.docs, Vec::new());
        let path = |doc: u32| &*docs[doc as usize].path;
        self.siblings.settle(path, |doc| changed.push(doc));
        changed.into_iter().for_each(|doc| self.widen(doc));
    }

    /// Renews who is around a memory, and how long it is together with them.
    fn widen(&mut self, doc: u32) {
        if !self.marks[doc as usize].is_short {
            return;
        }
        let unit = self.marks[doc as usize].first_unit as usize;
        let around = self.short_around(doc);
        let mut window = self.units[unit].length * WINDOW_OWN;
        for (neighbour, weight) in around.into_iter().zip(TAKEN) {
            if neighbour != NONE {
                window += self.units[neighbour as usize].length * weight;
            }
        }
        self.around[unit] = around;
        let before = std::mem::replace(&mut self.windows[unit], window);
        self.window_sum = self.window_sum - u64::from(before) + u64::from(window);
    }

    fn short_around(&self, doc: u32) -> Around {
        let siblings = &self.siblings;
        let (previous, next) = (siblings.previous(doc), siblings.next(doc));
        let beyond = |near: u32, step: fn(&Siblings, u32) -> u32| {
            if near == NONE { NONE } else { step(siblings, near) }
        };
        let two_before = beyond(previous, Siblings::previous);
        let two_after = beyond(next, Siblings::next);
        [previous, next, two_before, two_after].map(|neighbour| {
            let is_short = neighbour != NONE && self.marks[neighbour as usize].is_short;
            if is_short { self.marks[neighbour as usize].first_unit } else { NONE }
        })
    }

    /// Gives the numbers of documents that are gone back, if they are many. Settle afterwards.
    pub fn make_compact(&mut self) {
        let gone = self.docs.len() - self.ids.len();
        if gone < GONE_MIN || gone < self.ids.len() {
            return;
        }
        let old = std::mem::take(self);
        let mut new_doc = vec![NONE; old.docs.len()];
        let mut new_unit = vec![NONE; old.units.len()];
        for ((number, doc), mut mark) in (0u32..).zip(old.docs).zip(old.marks) {
            if !mark.is_live {
                continue;
            }
            let new = u32::try_from(self.docs.len()).expect("no more than before");
            new_doc[number as usize] = new;
            let first_unit = u32::try_from(self.units.len()).expect("no more than before");
            for unit in mark.units() {
                new_unit[unit as usize] =
                    u32::try_from(self.units.len()).expect("no more than before");
                self.units.push(Unit { doc: new, ..old.units[unit as usize] });
                self.windows.push(old.windows[unit as usize]);
                self.around.push(ALONE);
            }
            mark.first_unit = first_unit;
            self.siblings.add(new, old.siblings.directory_key(number));
            if let Some(at) = doc.expires_at {
                self.expiry.insert((at, new));
            }
            self.ids.insert(doc.id, new);
            self.docs.push(doc);
            self.marks.push(mark);
        }
        let renumbered = |map: &[u32], at: u32| Some(map[at as usize]).filter(|new| *new != NONE);
        self.words = old.words;
        self.words.renumber(|unit| renumbered(&new_unit, unit));
        self.names = old.names;
        self.names.renumber(|doc| renumbered(&new_doc, doc));
        self.vectors = old.vectors;
        self.vectors.renumber(&new_doc, self.docs.len());
        self.authors = old.authors;
        self.analyzer = old.analyzer;
        self.live_units = old.live_units;
        self.window_sum = old.window_sum;
        self.path_bytes = old.path_bytes;
        self.whole = old.whole;
        self.settle();
    }

    /// Starts over with vectors of another space: those of different spaces are never compared.
    pub fn begin_vectors(&mut self, space: u32, dims: usize) {
        let needs_some = |(_, mark): &(u32, &Mark)| mark.is_live && !mark.is_blank;
        let docs = (0u32..).zip(&self.marks).filter(needs_some);
        let live = docs.map(|(number, _)| number).collect();
        self.vectors.begin(space, dims, self.docs.len(), live);
    }

    /// Gives a memory its vectors, one for each passage, if it still is what they were made from.
    pub fn set_vectors(&mut self, id: MemoryId, head: VersionId, vectors: &[Vec<f32>]) {
        if let Some(doc) = self.ids.get(&id)
            && self.docs[*doc as usize].head == head
        {
            self.vectors.set(*doc, vectors);
        }
    }

    /// Memories that have no vectors yet, with their head versions.
    pub fn without_vectors(&self) -> Vec<(MemoryId, VersionId)> {
        let pair = |doc: u32| (self.docs[doc as usize].id, self.docs[doc as usize].head);
        self.vectors.missing().into_iter().map(pair).collect()
    }

    /// Whether every memory has its vectors.
    pub fn has_all_vectors(&self) -> bool {
        self.vectors.has_all()
    }

    /// About how many bytes of memory it takes.
    pub fn bytes(&self) -> usize {
        self.docs.len() * (size_of::<Doc>() + size_of::<Mark>() + 48)
            + self.path_bytes
            + self.units.len() * (size_of::<Unit>() + size_of::<u32>() + size_of::<Around>())
            + self.words.bytes()
            + self.names.bytes()
            + self.siblings.bytes()
            + self.vectors.bytes()
    }

    pub(crate) fn doc(&self, doc: u32) -> &Doc {
        &self.docs[doc as usize]
    }

    /// Live documents, oldest first.
    pub(crate) fn live(&self) -> impl Iterator<Item = u32> {
        (0u32..).zip(&self.marks).filter(|(_, mark)| mark.is_live).map(|(doc, _)| doc)
    }

    pub(crate) fn mark(&self, doc: u32) -> Mark {
        self.marks[doc as usize]
    }

    pub(crate) fn doc_slots(&self) -> usize {
        self.docs.len()
    }

    /// Whether entries of documents that are gone have to be told from the others.
    pub(crate) fn has_gone(&self) -> bool {
        self.docs.len() != self.ids.len()
    }

    pub(crate) fn is_live(&self, doc: u32) -> bool {
        self.marks[doc as usize].is_live
    }

    pub(crate) fn unit(&self, unit: u32) -> Unit {
        self.units[unit as usize]
    }

    /// How long units are with their share of their neighbours, in tenths.
    pub(crate) fn windows(&self) -> &[u32] {
        &self.windows
    }

    pub(crate) fn around(&self, unit: u32) -> Around {
        self.around[unit as usize]
    }

    pub(crate) fn unit_slots(&self) -> usize {
        self.units.len()
    }

    pub(crate) fn words(&self) -> &Postings {
        &self.words
    }

    pub(crate) fn names(&self) -> &Postings {
        &self.names
    }

    pub(crate) fn siblings(&self) -> &Siblings {
        &self.siblings
    }

    pub(crate) fn authors(&self) -> &Authors {
        &self.authors
    }

    pub(crate) fn vectors(&self) -> &DocVectors {
        &self.vectors
    }

    /// How many pieces there are, and the sum of their windows; those of the whole store.
    pub(crate) fn sizes(&self) -> (u64, u64) {
        let share = self.whole.as_ref().map_or(1.0, |whole| whole.times(self.ids.len()));
        let grown = |size: u64| (size as f64 * share).round() as u64;
        (grown(self.live_units), grown(self.window_sum))
    }

    /// Says that the index holds only some memories of a store, and what is known of all of them, so
    /// that a word counts for what it is worth in the store.
    pub fn be_part_of(&mut self, whole: Whole) {
        self.whole = Some(whole);
    }

    /// In how many pieces of the whole store a word is that is in so many pieces here.
    pub(crate) fn holding(&self, word: &str, terms: &[String], pieces: usize) -> u64 {
        let held = self.whole.as_ref().and_then(|whole| whole.holding(word));
        let Some(held) = held else { return pieces as u64 };
        let here = self.docs_with(terms).max(1);
        (pieces as f64 * (held as f64 / here as f64).max(1.0)).round() as u64
    }

    /// How many memories hold one of these terms themselves.
    fn docs_with(&self, terms: &[String]) -> usize {
        let words = terms.iter().filter_map(|term| self.words.get(term));
        let names = terms.iter().filter_map(|term| self.names.get(term));
        let mut docs: Vec<u32> = words
            .flat_map(|list| list.iter().map(|(unit, _)| self.units[unit as usize].doc))
            .chain(names.flat_map(|list| list.iter().map(|(doc, _)| doc)))
            .filter(|doc| *doc != NONE && self.is_live(*doc))
            .collect();
        docs.sort_unstable();
        docs.dedup();
        docs.len()
    }
}

#[cfg(test)]
mod tests;
