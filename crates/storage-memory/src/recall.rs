//! Requests that come twice. What the first one did is told again, as it is to be told now: the
//! things it made or changed as they are, the memories as it left them. What was redacted or removed
//! since does not come back this way; it is not found.

use super::state::{Seen, Shelf, State, memory_in};
use loci_model::policy::AdminPass;
use loci_model::{KeyId, Outcome, PrincipalId, SessionId, View, WorkspaceId};
use loci_storage::{
    Idempotency, OutcomeRefs, Receipt, ReceiptRefs, Remembered, Result, StorageError,
};
use std::ops::Bound;

impl State {
    pub(super) fn recall(&self, idempotency: &Idempotency) -> Result<Option<Receipt>> {
        let key = (idempotency.scope, idempotency.key.clone());
        match self.idempotency.get(&key) {
            None => Ok(None),
            Some(seen) if seen.fingerprint != idempotency.fingerprint => {
                Err(StorageError::KeyReused)
            }
            Some(seen) => self.tell_again(&seen.refs).map(Some),
        }
    }

    pub(super) fn remember(&mut self, Remembered { idempotency, refs }: Remembered) {
        let Idempotency { workspace, scope, key, fingerprint, now } = idempotency;
        self.idempotency.insert((scope, key), Seen { workspace, fingerprint, refs, at: now });
    }

    pub(super) fn remembered(
        &self,
        pass: &AdminPass,
        after: Option<(u128, String)>,
        limit: usize,
    ) -> Vec<Remembered> {
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let seen = self.idempotency.range((after, Bound::Unbounded));
        seen.filter(|((scope, _), _)| self.is_credential(pass.workspace(), *scope))
            .map(|((scope, key), seen)| seen.tell(*scope, key))
            .take(limit)
            .collect()
    }

    /// What is remembered under a scope and key.
    pub(super) fn remembered_under(&self, scope: u128, key: &str) -> Option<Remembered> {
        let seen = self.idempotency.get(&(scope, key.to_owned()))?;
        Some(seen.tell(scope, key))
    }

    /// Whether these are the bits of a principal, key or session of the workspace.
    fn is_credential(&self, workspace: WorkspaceId, bits: u128) -> bool {
        let key = |id| self.keys.iter().any(|key| key.id == id && key.workspace == workspace);
        let principal = self.principal(PrincipalId::from_u128(bits));
        principal.is_some_and(|found| found.workspace == workspace)
            || key(KeyId::from_u128(bits))
            || self.session(workspace, SessionId::from_u128(bits)).is_some()
    }

    fn tell_again(&self, refs: &ReceiptRefs) -> Result<Receipt> {
        Ok(match refs {
            ReceiptRefs::Workspace(id) => Receipt::Workspace(*id),
            ReceiptRefs::Principal(id) => {
                let found = self.principal(*id).cloned();
                Receipt::Principal(found.ok_or(StorageError::NotFound("principal"))?)
            }
            ReceiptRefs::Key(id) => {
                let found = self.keys.iter().find(|key| key.id == *id).cloned();
                Receipt::Key(found.ok_or(StorageError::NotFound("key"))?)
            }
            ReceiptRefs::Store(id) => {
                let shelf = self.shelves.get(id).ok_or(StorageError::NotFound("memory store"))?;
                Receipt::Store(shelf.store.clone())
            }
            ReceiptRefs::StoreRemoved(id) => Receipt::StoreRemoved(*id),
            ReceiptRefs::Purged(is_done) => Receipt::Purged { is_done: *is_done },
            ReceiptRefs::Committed(outcomes) => {
                let outcomes: Result<_> = outcomes.iter().map(|one| self.outcome(one)).collect();
                Receipt::Committed(outcomes?)
            }
            ReceiptRefs::Redacted(store, id) => {
                let shelf = self.shelves.get(store);
                let mut versions = shelf.into_iter().flat_map(Shelf::versions);
                let found = versions.find(|version| version.id == *id).cloned();
                let found = found.ok_or(StorageError::NotFound("memory version"))?;
                Receipt::Redacted(Box::new(found))
            }
            ReceiptRefs::Erased(memory, versions) => {
                Receipt::Erased { memory: *memory, versions: *versions }
            }
            ReceiptRefs::Grant(id, revoked) => {
                let mut grants = self.shelves.values().flat_map(|shelf| &shelf.grants);
                let found = grants.find(|grant| grant.id == *id).cloned();
                let grant = found.ok_or(StorageError::NotFound("grant"))?;
                Receipt::Grant { grant, revoked: revoked.clone() }
            }
            ReceiptRefs::Revoked(ids) => Receipt::Revoked(ids.clone()),
            ReceiptRefs::Session(workspace, id) => {
                let found = self.session(*workspace, *id).cloned();
                Receipt::Session(Box::new(found.ok_or(StorageError::NotFound("session"))?))
            }
            ReceiptRefs::SessionRemoved(id) => Receipt::SessionRemoved(*id),
            ReceiptRefs::Imported(added) => Receipt::Imported(*added),
            ReceiptRefs::KeysForgotten(forgotten) => Receipt::KeysForgotten(*forgotten),
            ReceiptRefs::Generation(id) => {
                let found = self.generations.iter().find(|one| one.id == *id).cloned();
                Receipt::Generation(found.ok_or(StorageError::NotFound("generation"))?)
            }
            ReceiptRefs::VectorsPut(written) => Receipt::VectorsPut(*written),
            ReceiptRefs::ReadingsPut(written) => Receipt::ReadingsPut(*written),
            ReceiptRefs::Member(membership) => Receipt::Member(*membership),
            ReceiptRefs::MemberRemoved(group, member, revoked) => {
                Receipt::MemberRemoved { group: *group, member: *member, revoked: revoked.clone() }
            }
            ReceiptRefs::Recorded(seq) => Receipt::Recorded(*seq),
        })
    }

    fn outcome(&self, known: &OutcomeRefs) -> Result<Outcome> {
        let kept = self.shelves.get(&known.store).and_then(|shelf| {
            let mut memories = shelf.memories.values();
            memories.find_map(|kept| {
                let mut versions = kept.versions.iter();
                let version = versions.find(|version| version.id == known.head)?;
                Some((kept, version))
            })
        });
        let memory = kept.and_then(|(kept, version)| kept.as_of(version));
        Ok(Outcome {
            memory: memory_in(View::Basic, memory.ok_or(StorageError::NotFound("memory"))?),
            operation: known.operation,
        })
    }
}

impl Seen {
    fn tell(&self, scope: u128, key: &str) -> Remembered {
        let idempotency = Idempotency {
            workspace: self.workspace,
            scope,
            key: key.to_owned(),
            fingerprint: self.fingerprint,
            now: self.at,
        };
        Remembered { idempotency, refs: self.refs.clone() }
    }
}
