//! Readings: one for each memory and reader, naming the version that was read. A reading goes with
//! the text of that version and counts while the head has the same content.

use super::state::{Shelf, State};
use loci_model::policy::{AdminPass, SearchPass};
use loci_model::{Memory, MemoryId, StoreId, VersionId};
use loci_storage::{
    NewReading, NewlyRead, ReadablePage, Reading, ReadingBatch, ReadingEnd, ReadingLag,
    ReadingMark, Receipt, Result, Spent, check_reader,
};
use std::collections::BTreeMap;

/// What was read in one store.
#[derive(Clone, Default)]
pub(super) struct Readings {
    /// Each with its number.
    pub(super) kept: BTreeMap<(MemoryId, String), (u64, Reading)>,
    pub(super) marks: BTreeMap<String, ReadingMark>,
    number: u64,
    forgotten: u64,
}

impl Readings {
    /// Drops what was read in a version.
    pub(super) fn drop_version(&mut self, version: VersionId) {
        self.kept.retain(|_, (_, reading)| reading.version != version);
    }
}

impl State {
    pub(super) fn put_readings(&mut self, batch: ReadingBatch) -> Result<Receipt> {
        batch.check()?;
        match self.shelf_mut(batch.store) {
            Ok(shelf) if shelf.store.workspace == batch.workspace => {
                Ok(Receipt::ReadingsPut(shelf.put_readings(batch)))
            }
            Ok(_) | Err(_) => Ok(Receipt::ReadingsPut(0)),
        }
    }

    pub(super) fn forget_readings(
        &mut self,
        pass: &AdminPass,
        reader: &str,
        limit: usize,
    ) -> Result<Receipt> {
        check_reader(reader)?;
        let (mut left, mut is_done) = (limit, true);
        let own = |shelf: &&mut Shelf| shelf.store.workspace == pass.workspace();
        for shelf in self.shelves.values_mut().filter(own) {
            let readings = &mut shelf.readings;
            let of_it = readings.kept.keys().filter(|(_, by)| by == reader).cloned();
            let of_it: Vec<_> = of_it.collect();
            is_done &= of_it.len() <= left;
            let doomed: Vec<_> = of_it.into_iter().take(left).collect();
            left -= doomed.len();
            if !doomed.is_empty() {
                readings.number += 1;
                readings.forgotten = readings.number;
            }
            for key in doomed {
                readings.kept.remove(&key);
            }
        }
        Ok(Receipt::Purged { is_done })
    }

    pub(super) fn reading_ends(&self, pass: &SearchPass) -> Vec<ReadingEnd> {
        let shelves = pass.stores().iter().filter_map(|store| self.shelf(*store).ok());
        let end = |shelf: &Shelf| {
            let Readings { number, forgotten, .. } = shelf.readings;
            ReadingEnd { store: shelf.store.id, number, forgotten }
        };
        shelves.map(end).filter(|end| end.number > 0).collect()
    }

    pub(super) fn newly_read(
        &self,
        pass: &SearchPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<NewlyRead> {
        let readings = &self.searched(pass, store)?.readings;
        let later = readings.kept.values().filter(|(number, _)| *number > after);
        let mut later: Vec<_> = later.map(|(number, reading)| (*number, reading.memory)).collect();
        later.sort_unstable();
        let is_cut = later.len() > limit;
        later.truncate(limit);
        let last = later.last().map_or(after, |(number, _)| *number);
        let through = if is_cut { last } else { readings.number.max(after) };
        Ok(NewlyRead { through, memories: later.into_iter().map(|(_, memory)| memory).collect() })
    }

    pub(super) fn readings(
        &self,
        pass: &SearchPass,
        store: StoreId,
        memories: &[MemoryId],
    ) -> Result<Vec<Reading>> {
        let shelf = self.searched(pass, store)?;
        let shown: Vec<Memory> = shelf.texts(pass.audience(), pass.now()).collect();
        let of = |id: &MemoryId| {
            let memory = shown.iter().find(|memory| memory.id == *id);
            memory.into_iter().flat_map(|memory| shelf.readings_of(memory)).cloned()
        };
        Ok(memories.iter().flat_map(of).collect())
    }

    pub(super) fn reading_marks(
        &self,
        pass: &SearchPass,
        store: StoreId,
    ) -> Result<Vec<ReadingMark>> {
        Ok(self.searched(pass, store)?.readings.marks.values().cloned().collect())
    }

    pub(super) fn reading_lags(
        &self,
        reader: &str,
        stores: Option<&[StoreId]>,
        limit: usize,
    ) -> Vec<ReadingLag> {
        let is_asked = |shelf: &&Shelf| {
            !shelf.is_removed && stores.is_none_or(|stores| stores.contains(&shelf.store.id))
        };
        let lag = |shelf: &Shelf| {
            let through = shelf.readings.marks.get(reader).map_or(0, |mark| mark.through);
            let behind = shelf.feed.len() as u64 - through;
            let (workspace, store) = (shelf.store.workspace, shelf.store.id);
            (behind, ReadingLag { workspace, store, through })
        };
        let mut lags: Vec<_> = self.shelves.values().filter(is_asked).map(lag).collect();
        lags.retain(|(behind, _)| *behind > 0);
        lags.sort_by_key(|(behind, lag)| (*behind, lag.store));
        lags.into_iter().map(|(_, lag)| lag).take(limit).collect()
    }

    pub(super) fn readable(
        &self,
        pass: &SearchPass,
        store: StoreId,
        reader: &str,
        after: u64,
        limit: usize,
    ) -> Result<ReadablePage> {
        let shelf = self.searched(pass, store)?;
        let (through, changed) = shelf.changed(after, limit);
        let unread = |id: MemoryId| {
            let mut texts = shelf.texts(pass.audience(), pass.now());
            let memory = texts.find(|memory| memory.id == id)?;
            let is_read = shelf.readings_of(&memory).any(|reading| reading.reader == reader);
            (!is_read).then_some(memory)
        };
        Ok(ReadablePage { through, memories: changed.into_iter().filter_map(unread).collect() })
    }

    pub(super) fn spent(&self, reader: &str, day: u32) -> Spent {
        let marks = self.shelves.values().filter_map(|shelf| shelf.readings.marks.get(reader));
        let of_day = marks.map(|mark| mark.spent).filter(|spent| spent.day == day);
        of_day.fold(Spent { day, ..Spent::default() }, Spent::and)
    }
}

impl Shelf {
    fn put_readings(&mut self, batch: ReadingBatch) -> u64 {
        let mut written = 0;
        for NewReading { version, claims, at } in batch.readings {
            let Some(memory) = self.text_version(version).map(|version| version.memory) else {
                continue;
            };
            self.readings.number += 1;
            let reader = batch.reader.clone();
            let reading = Reading { memory, version, reader, claims, at };
            let key = (memory, batch.reader.clone());
            self.readings.kept.insert(key, (self.readings.number, reading));
            written += 1;
        }
        let through = batch.through.min(self.feed.len() as u64);
        let reader = batch.reader;
        let none = ReadingMark { reader: reader.clone(), through: 0, spent: Spent::default() };
        let mark = self.readings.marks.entry(reader).or_insert(none);
        mark.through = mark.through.max(through);
        mark.spent = mark.spent.and(batch.spent);
        written
    }

    /// What was read in the content that a memory has.
    fn readings_of(&self, memory: &Memory) -> impl Iterator<Item = &Reading> {
        let (id, digest) = (memory.id, memory.digest);
        let is_current = move |reading: &&Reading| {
            reading.memory == id && self.version(reading.version).digest == Some(digest)
        };
        self.readings.kept.values().map(|(_, reading)| reading).filter(is_current)
    }
}
