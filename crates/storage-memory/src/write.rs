//! Every mutation that is not about the content of memories: workspaces, principals, keys, stores,
//! grants and sessions.

use super::state::{Shelf, State};
use loci_model::policy::{AdminPass, ManagePass, SharePass};
use loci_model::store::PolicyPatch;
use loci_model::{
    ApiKey, Grant, GrantId, KeyId, Principal, Session, SessionId, Store, StorePatch, Timestamp,
    WorkspaceId,
};
use loci_storage::ground::{concerned, told};
use loci_storage::{Mutation, Receipt, Result, SessionChange, StorageError};

impl State {
    pub(super) fn apply(&mut self, mutation: Mutation) -> Result<Receipt> {
        match mutation {
            Mutation::CreateWorkspace(id, at) => self.create_workspace(id, at),
            Mutation::CreatePrincipal(principal) => self.create_principal(principal),
            Mutation::Recast(pass, id, kind, is_admin) => self.recast(&pass, id, kind, is_admin),
            Mutation::SwitchMemory(pass, id, memory) => self.switch_memory(&pass, id, memory),
            Mutation::AddMember(pass, membership) => self.add_member(&pass, membership),
            Mutation::RemoveMember { pass, group, member } => {
                self.remove_member(&pass, group, member)
            }
            Mutation::CreateKey(key) => self.create_key(key),
            Mutation::RevokeKey(pass, id) => self.revoke_key(&pass, id),
            Mutation::CreateStore(store) => self.create_store(store),
            Mutation::DescribeStore(pass, patch) => self.describe_store(&pass, &patch),
            Mutation::SetPolicy(pass, patch) => self.set_policy(&pass, patch),
            Mutation::ArchiveStore(pass) => self.archive_store(&pass),
            Mutation::RemoveStore(pass) => {
                self.shelf_mut(pass.store())?.is_removed = true;
                Ok(Receipt::StoreRemoved(pass.store()))
            }
            Mutation::PurgeStore { pass, limit } => self.purge_store(&pass, limit),
            Mutation::Commit(pass, batch) => self.commit(&pass, &batch),
            Mutation::Expire { pass, memory, version } => self.expire(&pass, memory, version),
            Mutation::Redact(pass, version) => self.redact(&pass, version),
            Mutation::Erase { pass, memory, version } => self.erase(&pass, memory, version),
            Mutation::Share(pass, grant) => self.share(&pass, &grant),
            Mutation::Revoke(pass, id) => self.revoke(&pass, id),
            Mutation::CreateSession(session) => self.create_session(session),
            Mutation::ChangeSession { workspace, session, change, now } => {
                self.change_session(workspace, session, &change, now)
            }
            Mutation::RemoveSession(workspace, id) => self.remove_session(workspace, id),
            Mutation::Import(pass, items) => self.import(&pass, items),
            Mutation::OpenGeneration { model, dims, is_fresh, now } => {
                self.open_generation(model, dims, is_fresh, now)
            }
            Mutation::PutVectors(batch) => self.put_vectors(batch),
            Mutation::DropGeneration { generation, limit } => {
                Ok(self.drop_generation(generation, limit))
            }
            Mutation::PutReadings(batch) => self.put_readings(batch),
            Mutation::ForgetReadings { pass, reader, limit } => {
                self.forget_readings(&pass, &reader, limit)
            }
            Mutation::ForgetKeys { before } => {
                let known = self.idempotency.len();
                self.idempotency.retain(|_, seen| seen.at >= before);
                let forgotten = known - self.idempotency.len();
                Ok(Receipt::KeysForgotten(forgotten as u64))
            }
            Mutation::Record(happening) => Ok(Receipt::Recorded(self.record(happening)?)),
            Mutation::Audited(mutation, happening) => {
                self.taken.clear();
                let receipt = self.apply(*mutation)?;
                let others = told(&happening, &std::mem::take(&mut self.taken));
                self.record(happening)?;
                for other in others {
                    self.record(other)?;
                }
                Ok(receipt)
            }
        }
    }

    fn create_workspace(&mut self, id: WorkspaceId, at: Timestamp) -> Result<Receipt> {
        if self.workspaces.iter().any(|(known, _)| *known == id) {
            return Err(StorageError::Taken("workspace"));
        }
        self.workspaces.push((id, at));
        Ok(Receipt::Workspace(id))
    }

    pub(super) fn create_principal(&mut self, principal: Principal) -> Result<Receipt> {
        let is_taken = |known: &Principal| {
            let has_name = known.workspace == principal.workspace && known.name == principal.name;
            has_name || known.id == principal.id
        };
        if self.principals.iter().any(is_taken) {
            return Err(StorageError::Taken("name"));
        }
        self.principals.push(principal.clone());
        Ok(Receipt::Principal(principal))
    }

    pub(super) fn create_key(&mut self, key: ApiKey) -> Result<Receipt> {
        let is_taken = |known: &ApiKey| known.id == key.id || known.secret_hash == key.secret_hash;
        if self.keys.iter().any(is_taken) {
            return Err(StorageError::Taken("key"));
        }
        if self.principal(key.principal).is_none() {
            return Err(StorageError::NotFound("principal"));
        }
        self.keys.push(key.clone());
        Ok(Receipt::Key(key))
    }

    fn revoke_key(&mut self, pass: &AdminPass, id: KeyId) -> Result<Receipt> {
        let mut keys = self.keys.iter_mut();
        let key = keys
            .find(|key| key.id == id && key.workspace == pass.workspace())
            .ok_or(StorageError::NotFound("key"))?;
        key.revoked_at.get_or_insert(pass.now());
        Ok(Receipt::Key(key.clone()))
    }

    pub(super) fn create_store(&mut self, store: Store) -> Result<Receipt> {
        if self.shelves.contains_key(&store.id) {
            return Err(StorageError::Taken("memory store"));
        }
        let address = store.address.as_ref();
        if let Some(there) = address.and_then(|one| self.store_at(store.workspace, one)) {
            return Ok(Receipt::Store(there.store.clone()));
        }
        self.shelves.insert(store.id, Shelf::new(store.clone()));
        Ok(Receipt::Store(store))
    }

    fn describe_store(&mut self, pass: &ManagePass, patch: &StorePatch) -> Result<Receipt> {
        let store = &mut self.shelf_mut(pass.store())?.store;
        if store.archived_at.is_some() {
            return Err(StorageError::Archived);
        }
        let next = patch.apply_to(store)?;
        if next != *store {
            *store = next;
            store.updated_at = pass.now();
        }
        Ok(Receipt::Store(store.clone()))
    }

    fn set_policy(&mut self, pass: &ManagePass, patch: PolicyPatch) -> Result<Receipt> {
        let store = &mut self.shelf_mut(pass.store())?.store;
        if store.archived_at.is_some() {
            return Err(StorageError::Archived);
        }
        let next = patch.apply_to(store.policy)?;
        if store.policy != next {
            store.policy = next;
            store.updated_at = pass.now();
        }
        Ok(Receipt::Store(store.clone()))
    }

    fn archive_store(&mut self, pass: &ManagePass) -> Result<Receipt> {
        let store = &mut self.shelf_mut(pass.store())?.store;
        if store.archived_at.is_none() {
            store.archived_at = Some(pass.now());
            store.updated_at = pass.now();
        }
        Ok(Receipt::Store(store.clone()))
    }

    fn share(&mut self, pass: &SharePass, grant: &Grant) -> Result<Receipt> {
        let mut ledger = self.ledger(pass.store(), concerned(pass, grant))?;
        let (grant, taken) = ledger.share(pass, grant)?;
        self.shelf_mut(pass.store())?.grants = ledger.grants;
        Ok(Receipt::Grant { grant, revoked: self.gone(taken) })
    }

    fn revoke(&mut self, pass: &SharePass, id: GrantId) -> Result<Receipt> {
        let mut ledger = self.ledger(pass.store(), [pass.giver()])?;
        let taken = ledger.revoke(pass, id)?;
        self.shelf_mut(pass.store())?.grants = ledger.grants;
        Ok(Receipt::Revoked(self.gone(taken)))
    }

    pub(super) fn create_session(&mut self, session: Session) -> Result<Receipt> {
        if self.sessions.contains_key(&session.id) {
            return Err(StorageError::Taken("session"));
        }
        self.sessions.insert(session.id, session.clone());
        Ok(Receipt::Session(Box::new(session)))
    }

    fn change_session(
        &mut self,
        workspace: WorkspaceId,
        id: SessionId,
        change: &SessionChange,
        now: Timestamp,
    ) -> Result<Receipt> {
        let known = self.sessions.get_mut(&id);
        let session = known
            .filter(|session| session.workspace == workspace)
            .ok_or(StorageError::NotFound("session"))?;
        *session = change.apply_to(session, now)?;
        Ok(Receipt::Session(Box::new(session.clone())))
    }

    fn remove_session(&mut self, workspace: WorkspaceId, id: SessionId) -> Result<Receipt> {
        if self.session(workspace, id).is_none() {
            return Err(StorageError::NotFound("session"));
        }
        self.sessions.remove(&id);
        self.keys.retain(|key| key.session != Some(id));
        Ok(Receipt::SessionRemoved(id))
    }
}
