//! What readers found, brought over with the store: finding it again would cost money. What is stale
//! is left behind, for it is read anew anyway.

use super::Result;
use super::fold::{Fold, Folded};
use super::side::Side;
use loci_model::{Store, limit};
use loci_storage::{Mutation, NewReading, Reading, ReadingBatch, ReadingMark, Spent};
use std::collections::BTreeMap;

/// Memories whose readings are looked at together.
const MEMORIES_AT_ONCE: usize = 64;

/// Brings over what is not there yet; marks last, for they say that all before them is there.
pub(super) async fn copy(from: &Side, to: &Side, store: &Store) -> Result<()> {
    let memories = from.read_memories(store).await?;
    for some in memories.chunks(MEMORIES_AT_ONCE) {
        let (ours, theirs) = (from.readings(store, some).await?, to.readings(store, some).await?);
        let mut missing: BTreeMap<String, Vec<NewReading>> = BTreeMap::new();
        for reading in ours.into_iter().filter(|reading| !theirs.contains(reading)) {
            let Reading { version, reader, claims, at, .. } = reading;
            missing.entry(reader).or_default().push(NewReading { version, claims, at });
        }
        for (reader, readings) in missing {
            for part in readings.chunks(limit::READING_BATCH_MAX) {
                let mark =
                    ReadingMark { reader: reader.clone(), through: 0, spent: Spent::default() };
                put(to, store, mark, part.to_vec()).await?;
            }
        }
    }
    let there = to.reading_marks(store).await?;
    for mark in from.reading_marks(store).await? {
        if !there.contains(&mark) {
            put(to, store, mark, Vec::new()).await?;
        }
    }
    Ok(())
}

async fn put(to: &Side, store: &Store, mark: ReadingMark, readings: Vec<NewReading>) -> Result<()> {
    let batch = ReadingBatch {
        workspace: store.workspace,
        store: store.id,
        reader: mark.reader,
        through: mark.through,
        spent: mark.spent,
        readings,
    };
    to.write(Mutation::PutReadings(batch)).await?;
    Ok(())
}

/// All readings of a store and how far they reach, to be compared.
pub(super) async fn fold(side: &Side, store: &Store) -> Result<(Folded, Folded)> {
    let (mut readings, mut marks) = (Fold::default(), Fold::default());
    let memories = side.read_memories(store).await?;
    for some in memories.chunks(MEMORIES_AT_ONCE) {
        for reading in side.readings(store, some).await? {
            readings.add_row(&(&reading, &reading.reader), reading.claims.as_bytes());
        }
    }
    for mark in side.reading_marks(store).await? {
        marks.add(&mark);
    }
    Ok((readings.end(), marks.end()))
}
