//! What goes on in other stores while there is a race in one: an import in pieces, and large
//! batches. One caller each, so the order is known; what is tried is that they do not disturb.

use super::copy::export;
use super::pair::{OWNER, WORKSPACE};
use super::race::{new_store, owner};
use loci_model::policy::System;
use loci_model::{Cause, Edit, MemoryId, MemoryPath, StoreId, Timestamp, VersionId};
use loci_storage::{Applied, Batch, Mutation, Result, StampedEdit, Storage};
use loci_storage_memory::MemStorage;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const START: i64 = 1_800_000_000_000_000;
const BATCHES: u64 = 12;
const BATCH: u64 = 9;
/// Items in one piece of an import.
const PIECE: usize = 7;

/// A store of its own and what is done to it, one after the other.
pub(super) struct Side {
    number: usize,
    store: StoreId,
    mutations: Vec<Mutation>,
}

/// The same with what each was answered.
pub(super) struct Told {
    store: StoreId,
    told: Vec<(Mutation, Result<Applied>)>,
}

impl Side {
    /// Batches of edits of a few dozen memories, some of them more than once in a batch.
    pub(super) fn batches(seed: u64, ids: &AtomicU64) -> Self {
        let now = Timestamp::from_micros(START);
        let store = new_store(ids, now);
        let id = store.id;
        let mut mutations = vec![Mutation::CreateStore(store)];
        for batch in 0..BATCHES {
            let edits = (0..BATCH).map(|number| {
                let path = format!("/side/{}", (seed + batch * 5 + number * number) % 30);
                let path = MemoryPath::parse(&path).unwrap();
                let text = format!("{batch} {number}");
                stamped(ids, Edit::put_text(path, &text))
            });
            let edits = edits.collect();
            let batch = Batch { edits, cause: Cause::new(None, "side") };
            let pass = System::because("races").write(WORKSPACE, id, OWNER, now);
            mutations.push(Mutation::Commit(pass, batch));
        }
        Self { number: 1, store: id, mutations }
    }

    /// The same as history from elsewhere.
    pub(super) async fn imports(seed: u64, ids: &AtomicU64) -> Self {
        let now = Timestamp::from_micros(START);
        let Self { store, mutations, .. } = Self::batches(seed, ids);
        let elsewhere = MemStorage::new();
        let first =
            [Mutation::CreateWorkspace(WORKSPACE, now), Mutation::CreatePrincipal(owner(now))];
        for mutation in first.into_iter().chain(mutations) {
            elsewhere.write(mutation, None).await.unwrap();
        }
        let items = export(&elsewhere, WORKSPACE, &[store], now).await;
        let pieces = items.chunks(PIECE).map(|piece| {
            let pass = System::because("races").administer(WORKSPACE, now);
            Mutation::Import(pass, piece.to_vec())
        });
        Self { number: 0, store, mutations: pieces.collect() }
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    pub(super) async fn run(self, server: Arc<dyn Storage>) -> Told {
        let mut told = Vec::new();
        for mutation in self.mutations {
            let applied = server.write(mutation.clone(), None).await;
            told.push((mutation, applied));
        }
        Told { store: self.store, told }
    }
}

impl Told {
    /// Gives all of it to the oracle, which must say the same.
    pub(super) async fn assert_as_told(self, oracle: &MemStorage) -> StoreId {
        for (mutation, found) in self.told {
            let expected = oracle.write(mutation.clone(), None).await;
            assert_eq!(
                format!("{found:?}"),
                format!("{expected:?}"),
                "the engine (left) and the oracle disagree about {mutation:?}"
            );
        }
        self.store
    }
}

fn stamped(ids: &AtomicU64, edit: Edit) -> StampedEdit {
    let next = || ids.fetch_add(1, Ordering::Relaxed).into();
    StampedEdit {
        edit,
        new_memory: MemoryId::from_u128(next()),
        version: VersionId::from_u128(next()),
    }
}
