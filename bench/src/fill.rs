//! Fills a data directory with many memories, by the storage engine itself: a hundred edits to a
//! commit, spread over stores of ten thousand.

use loci_model::policy::System;
use loci_model::{
    Cause, Edit, MemoryId, MemoryPath, PrincipalId, Store, StoreId, StorePolicy, Timestamp,
    VersionId, WorkspaceId,
};
use loci_storage::{Batch, Mutation, StampedEdit, Storage};
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use std::collections::BTreeMap;
use std::path::Path;

const PER_STORE: u64 = 10_000;
pub(crate) const PER_BATCH: u64 = 100;

/// A text like a memory: a few hundred bytes of words that repeat as words do.
pub(crate) fn text(n: u64) -> String {
    const WORDS: [&str; 32] = [
        "the", "user", "prefers", "short", "answers", "in", "the", "morning", "project",
        "deadline", "moved", "to", "friday", "because", "review", "found", "a", "bug", "database",
        "region", "is", "north", "and", "backup", "runs", "at", "night", "coffee", "without",
        "sugar", "please", "remember",
    ];
    let mut state = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = format!("note {n}:");
    while text.len() < 300 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push(' ');
        if state.is_multiple_of(5) {
            text.push_str(&format!("item{}", state % 60_000));
        } else {
            text.push_str(WORDS[(state >> 8) as usize % WORDS.len()]);
        }
    }
    text
}

/// Adds `count` memories; answers some of their addresses. The directory must have been opened by
/// loci before, so that its workspace exists.
pub(crate) fn run(directory: &Path, count: u64) -> anyhow::Result<Vec<(StoreId, MemoryId)>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let storage = SqliteStorage::open(directory, SqliteOptions::default())?;
        let workspace = storage.default_workspace().await?;
        let workspace = workspace.ok_or_else(|| anyhow::anyhow!("no workspace"))?;
        let mut samples = Vec::new();
        let mut next = 0;
        while next < count {
            let store = make_store(&storage, workspace, next).await?;
            let end = count.min(next + PER_STORE);
            while next < end {
                let upto = end.min(next + PER_BATCH);
                let path = |n: u64| format!("/filled/{}/{n}", n % 100);
                put(&storage, &store, next..upto, path, text).await?;
                samples.push((store.id, memory_id(next)));
                next = upto;
            }
            if next.is_multiple_of(100_000) {
                println!("  {next} memories");
            }
        }
        storage.close();
        Ok(samples)
    })
}

/// Adds one store with so many memories. The directory must have been opened by loci before.
pub(crate) fn one_store(directory: &Path, count: u64) -> anyhow::Result<StoreId> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let storage = SqliteStorage::open(directory, SqliteOptions::default())?;
        let workspace = storage.default_workspace().await?;
        let workspace = workspace.ok_or_else(|| anyhow::anyhow!("no workspace"))?;
        let store = make_store(&storage, workspace, 0).await?;
        for first in (0..count).step_by(PER_BATCH as usize) {
            let range = first..count.min(first + PER_BATCH);
            put(&storage, &store, range, |n| format!("/filled/{}/{n}", n % 1000), text).await?;
        }
        storage.close();
        Ok(store.id)
    })
}

pub(crate) fn memory_id(n: u64) -> MemoryId {
    MemoryId::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 | u128::from(n))
}

pub(crate) fn version_id(n: u64) -> VersionId {
    VersionId::from_u128(memory_id(n).as_u128())
}

pub(crate) async fn make_store(
    storage: &SqliteStorage,
    workspace: WorkspaceId,
    n: u64,
) -> anyhow::Result<Store> {
    let now = Timestamp::from_micros(1_700_000_000_000_000 + n as i64);
    let store = Store {
        id: StoreId::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 | u128::from(n)),
        workspace,
        address: None,
        owner: PrincipalId::from_u128(1),
        name: format!("filled {n}"),
        description: String::new(),
        metadata: BTreeMap::new(),
        policy: StorePolicy::default(),
        created_at: now,
        updated_at: now,
        archived_at: None,
    };
    storage.write(Mutation::CreateStore(store.clone()), None).await?;
    Ok(store)
}

/// Writes some memories in one commit.
pub(crate) async fn put(
    storage: &SqliteStorage,
    store: &Store,
    range: std::ops::Range<u64>,
    path_of: impl Fn(u64) -> String,
    text_of: impl Fn(u64) -> String,
) -> anyhow::Result<()> {
    let now = Timestamp::from_micros(1_700_000_000_000_000 + range.start as i64);
    let pass = System::because("the benchmark needs a full store").write(
        store.workspace,
        store.id,
        PrincipalId::from_u128(1),
        now,
    );
    let edits = range
        .map(|n| {
            let path = MemoryPath::parse(&path_of(n))?;
            anyhow::Ok(StampedEdit {
                edit: Edit::put_text(path, text_of(n)),
                new_memory: memory_id(n),
                version: version_id(n),
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let batch = Batch { edits, cause: Cause::new(None, "api") };
    storage.write(Mutation::Commit(pass, batch), None).await?;
    Ok(())
}
