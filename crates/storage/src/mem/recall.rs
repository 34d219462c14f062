//! Requests that come twice. What the first one did is told again, as it is to be told now: the
//! things it made or changed as they are, the memories as it left them. What was redacted or removed
//! since does not come back this way; it is not found.

use super::state::{State, memory_in};
use crate::{Idempotency, Receipt, Result, StorageError};
use loci_model::{Outcome, View};

impl State {
    pub(super) fn recall(&self, idempotency: &Idempotency) -> Result<Option<Receipt>> {
        let key = (idempotency.scope, idempotency.key.clone());
        match self.idempotency.get(&key) {
            None => Ok(None),
            Some(seen) if seen.fingerprint != idempotency.fingerprint => {
                Err(StorageError::KeyReused)
            }
            Some(seen) => self.tell_again(&seen.receipt).map(Some),
        }
    }

    fn tell_again(&self, receipt: &Receipt) -> Result<Receipt> {
        Ok(match receipt {
            Receipt::Principal(known) => {
                let found = self.principal(known.id).cloned();
                Receipt::Principal(found.ok_or(StorageError::NotFound("principal"))?)
            }
            Receipt::Key(known) => {
                let found = self.keys.iter().find(|key| key.id == known.id).cloned();
                Receipt::Key(found.ok_or(StorageError::NotFound("key"))?)
            }
            Receipt::Store(known) => {
                let shelf = self.shelves.get(&known.id);
                let shelf = shelf.ok_or(StorageError::NotFound("memory store"))?;
                Receipt::Store(shelf.store.clone())
            }
            Receipt::Committed(outcomes) => {
                let outcomes: Result<_> = outcomes.iter().map(|one| self.outcome(one)).collect();
                Receipt::Committed(outcomes?)
            }
            Receipt::Redacted(known) => {
                let shelf = self.shelves.get(&known.store);
                let mut versions = shelf.into_iter().flat_map(|shelf| shelf.versions());
                let found = versions.find(|version| version.id == known.id).cloned();
                let found = found.ok_or(StorageError::NotFound("memory version"))?;
                Receipt::Redacted(Box::new(found))
            }
            Receipt::Grant(known) => {
                let shelf = self.shelves.get(&known.store);
                let mut grants = shelf.into_iter().flat_map(|shelf| &shelf.grants);
                let found = grants.find(|grant| grant.id == known.id).cloned();
                Receipt::Grant(found.ok_or(StorageError::NotFound("grant"))?)
            }
            Receipt::Session(known) => {
                let found = self.sessions.get(&known.id).cloned();
                Receipt::Session(Box::new(found.ok_or(StorageError::NotFound("session"))?))
            }
            Receipt::Generation(known) => {
                let found = self.generations.iter().find(|one| one.id == known.id).cloned();
                Receipt::Generation(found.ok_or(StorageError::NotFound("generation"))?)
            }
            Receipt::Workspace(_)
            | Receipt::StoreRemoved(_)
            | Receipt::Purged { .. }
            | Receipt::Erased { .. }
            | Receipt::Revoked(_)
            | Receipt::SessionRemoved(_)
            | Receipt::Imported(_)
            | Receipt::VectorsPut(_)
            | Receipt::KeysForgotten(_) => receipt.clone(),
        })
    }

    fn outcome(&self, known: &Outcome) -> Result<Outcome> {
        let shelf = self.shelves.get(&known.memory.store);
        let kept = shelf.and_then(|shelf| shelf.memories.get(&known.memory.id));
        let memory = kept.and_then(|kept| {
            let mut versions = kept.versions.iter();
            let version = versions.find(|version| version.id == known.memory.head)?;
            kept.as_of(version)
        });
        Ok(Outcome {
            memory: memory_in(View::Basic, memory.ok_or(StorageError::NotFound("memory"))?),
            operation: known.operation,
        })
    }
}
