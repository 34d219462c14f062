//! Fills a data directory with memories and their vectors, by the storage engine itself, with the
//! marks at the ends of the feeds: the server finds nothing left to embed.

use super::corpus::{self, Corpus};
use super::meaning::Meanings;
use crate::fill::{self, PER_BATCH};
use anyhow::{bail, ensure};
use loci_model::{Store, StoreId, Timestamp};
use loci_search::embed::Embedder;
use loci_search::vector;
use loci_storage::{GenerationId, Mutation, Receipt, Storage, VectorBatch, VectorSource};
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use std::ops::Range;
use std::path::Path;

/// Vectors put in one commit.
const VECTORS_AT_ONCE: u64 = 500;

/// Spreads memories evenly over stores; those of one store are in a row. The directory must have
/// been opened by loci before, so that its workspace exists.
pub(crate) fn fill(
    directory: &Path,
    memories: u64,
    stores: u64,
    corpus: &Corpus,
    meanings: &Meanings,
) -> anyhow::Result<Vec<StoreId>> {
    ensure!(stores > 0 && memories >= stores, "{memories} memories do not fill {stores} stores");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let storage = SqliteStorage::open(directory, SqliteOptions::default())?;
        let workspace = storage.default_workspace().await?;
        let workspace = workspace.ok_or_else(|| anyhow::anyhow!("no workspace"))?;
        let generation = generation(&storage, meanings).await?;
        let mut ids = Vec::new();
        for at in 0..stores {
            let store = fill::make_store(&storage, workspace, at).await?;
            let range = at * memories / stores..(at + 1) * memories / stores;
            put_texts(&storage, &store, range.clone(), corpus).await?;
            put_vectors(&storage, &store, generation, range, meanings).await?;
            ids.push(store.id);
        }
        storage.close();
        Ok(ids)
    })
}

async fn generation(storage: &SqliteStorage, meanings: &Meanings) -> anyhow::Result<GenerationId> {
    let opened = Mutation::OpenGeneration {
        model: meanings.embedder.model().to_owned(),
        dims: u32::try_from(meanings.embedder.dims())?,
        is_fresh: false,
        now: Timestamp::from_micros(1_700_000_000_000_000),
    };
    match storage.write(opened, None).await?.receipt {
        Receipt::Generation(generation) => Ok(generation.id),
        _ => bail!("a generation was opened, and something else came back"),
    }
}

async fn put_texts(
    storage: &SqliteStorage,
    store: &Store,
    range: Range<u64>,
    corpus: &Corpus,
) -> anyhow::Result<()> {
    for start in range.clone().step_by(PER_BATCH as usize) {
        let some = start..range.end.min(start + PER_BATCH);
        fill::put(storage, store, some, corpus::path, |n| corpus.text(n)).await?;
    }
    Ok(())
}

async fn put_vectors(
    storage: &SqliteStorage,
    store: &Store,
    generation: GenerationId,
    range: Range<u64>,
    meanings: &Meanings,
) -> anyhow::Result<()> {
    for start in range.clone().step_by(VECTORS_AT_ONCE as usize) {
        let end = range.end.min(start + VECTORS_AT_ONCE);
        let made = |n: u64| {
            let bytes = vector::encode(&[meanings.vector(n)]);
            (fill::version_id(n), VectorSource::Made(bytes))
        };
        // One memory, one entry of the feed: the mark goes as far as the vectors do.
        let through = end - range.start;
        let vectors = (start..end).map(made).collect();
        let (workspace, store) = (store.workspace, store.id);
        let batch =
            VectorBatch { workspace, generation, store, through, vectors, words: Vec::new() };
        let receipt = storage.write(Mutation::PutVectors(batch), None).await?.receipt;
        ensure!(receipt == Receipt::VectorsPut(end - start), "not all vectors were taken");
    }
    Ok(())
}
