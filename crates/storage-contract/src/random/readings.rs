//! The steps of a history that are about readings: a reader's round, and forgetting it.

use super::pair::{Pair, WORKSPACE};
use super::stamp::pick;
use loci_model::policy::System;
use loci_model::{Memory, StoreId, VersionId};
use loci_storage::{Mutation, NewReading, ReadingBatch, Spent, Storage, StorageError};

const READERS: [&str; 3] = ["", "small", "large"];

impl Pair {
    /// One round of a reader: both engines ask for the same, and get it.
    pub(super) async fn read(&mut self, store: usize, reader: usize, limit: usize) {
        let (store, reader) = (self.stores[store], READERS[reader]);
        let pass = System::because("random histories").search(WORKSPACE, vec![store], self.now);
        let lags = self.oracle.reading_lags(reader, None, 10).await.unwrap();
        assert_eq!(self.engine.reading_lags(reader, None, 10).await.unwrap(), lags);
        let after = lags.iter().find(|lag| lag.store == store).map_or(0, |lag| lag.through);
        let found = self.engine.readable(&pass, store, reader, after, limit).await;
        let page = match self.oracle.readable(&pass, store, reader, after, limit).await {
            Ok(page) => page,
            Err(StorageError::NotFound(_)) => return assert!(found.is_err()),
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!(found.unwrap(), page);
        let found = |memory: &Memory| NewReading {
            version: memory.head,
            claims: format!("[{}]", memory.size_bytes),
            at: self.now,
        };
        let readings = page.memories.iter().map(found).collect();
        self.put_readings(store, reader, page.through, readings).await;
    }

    /// A reading as no reader would make it.
    pub(super) async fn misread(&mut self, store: usize, reader: usize, version: usize) {
        let version = pick(&self.versions, version, VersionId::from_u128(7));
        let (store, at) = (self.stores[store], self.now);
        let reading = NewReading { version, claims: "?".into(), at };
        self.put_readings(store, READERS[reader], 99, vec![reading]).await;
    }

    async fn put_readings(
        &mut self,
        store: StoreId,
        reader: &str,
        through: u64,
        readings: Vec<NewReading>,
    ) {
        let day = u32::try_from(self.now.as_micros() / 10_000_000 % 3).expect("below three");
        let batch = ReadingBatch {
            workspace: WORKSPACE,
            store,
            reader: reader.into(),
            through,
            spent: Spent { day, requests: 1, tokens: 7 },
            readings,
        };
        let _ = self.write(Mutation::PutReadings(batch), None).await;
    }

    /// All or nothing: which rows go first is up to the engine.
    pub(super) async fn forget_reader(&mut self, reader: usize, is_whole: bool) {
        let pass = System::because("random histories").administer(WORKSPACE, self.now);
        let limit = if is_whole { 1000 } else { 0 };
        let reader = READERS[reader].to_owned();
        let _ = self.write(Mutation::ForgetReadings { pass, reader, limit }, None).await;
    }
}
