//! The steps of a history that are about vectors: generations, the worker's round, and batches as
//! no worker would make them.

use super::pair::{Pair, WORKSPACE};
use super::plan::VectorPlan;
use super::stamp::pick;
use loci_model::VersionId;
use loci_model::policy::System;
use loci_storage::{
    GenerationId, Mutation, Receipt, Storage, StorageError, VectorBatch, VectorSource,
};

const DIMS: u32 = 2;

impl Pair {
    pub(super) fn generation(&self, number: usize) -> GenerationId {
        pick(&self.generations, number, GenerationId(99))
    }

    pub(super) async fn open_generation(&mut self, model: u8, is_fresh: bool, key: Option<u8>) {
        let model = ["", "small", "large"][usize::from(model)].to_owned();
        let open = Mutation::OpenGeneration { model, dims: DIMS, is_fresh, now: self.now };
        if let Ok(Receipt::Generation(opened)) = self.write(open, key).await
            && !self.generations.contains(&opened.id)
        {
            self.generations.push(opened.id);
        }
    }

    /// One round of the worker: both engines ask for the same, and get it.
    pub(super) async fn embed(&mut self, store: usize, generation: usize, limit: usize) {
        let (store, generation) = (self.stores[store], self.generation(generation));
        let pass = System::because("random histories").search(WORKSPACE, vec![store], self.now);
        let lags = self.oracle.vector_lags(generation, 10).await.unwrap();
        assert_eq!(self.engine.vector_lags(generation, 10).await.unwrap(), lags);
        let lag = lags.iter().find(|lag| lag.store == store);
        let after = lag.map_or(0, |lag| lag.through);
        let found = self.engine.embeddable(&pass, store, generation, after, limit).await;
        let page = match self.oracle.embeddable(&pass, store, generation, after, limit).await {
            Ok(page) => page,
            Err(StorageError::NotFound(_)) => return assert!(found.is_err()),
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!(found.unwrap(), page);
        let vectors = page.texts.into_iter().map(|needed| {
            let source = match needed.same_as {
                Some(other) => VectorSource::SameAs(other),
                None => VectorSource::Made(vec![needed.text.len().to_le_bytes()[0]; 4]),
            };
            (needed.version, source)
        });
        let vectors = vectors.collect();
        let batch = VectorBatch {
            workspace: WORKSPACE,
            generation,
            store,
            through: page.through,
            vectors,
            words: Vec::new(),
        };
        let _ = self.write(Mutation::PutVectors(batch), None).await;
    }

    pub(super) async fn put_vectors(
        &mut self,
        store: usize,
        generation: usize,
        through: u64,
        plans: &[VectorPlan],
    ) {
        let version = |number| pick(&self.versions, number, VersionId::from_u128(7));
        let vectors = plans.iter().map(|plan| match plan {
            VectorPlan::Made { version: number, bytes } => {
                (version(*number), VectorSource::Made(vec![9; *bytes]))
            }
            VectorPlan::SameAs { version: number, other } => {
                (version(*number), VectorSource::SameAs(version(*other)))
            }
        });
        let batch = VectorBatch {
            workspace: WORKSPACE,
            generation: self.generation(generation),
            store: self.stores[store],
            through,
            vectors: vectors.collect(),
            words: Vec::new(),
        };
        let _ = self.write(Mutation::PutVectors(batch), None).await;
    }
}
