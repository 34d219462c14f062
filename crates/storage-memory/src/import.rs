//! Taking in exported data as it was. What is there already, equal, is passed over; a store's
//! history is taken in order only, from where the store stands.

use super::scrub::empty;
use super::state::{Kept, Shelf, State};
use loci_model::policy::AdminPass;
use loci_model::version::Redaction;
use loci_model::{
    ApiKey, Audience, ChangeOp, Grant, Invalid, MemoryId, Principal, PrincipalId, Session, Store,
    StoreId, Timestamp, Version, VersionId, WorkspaceId,
};
use loci_storage::log::{ImportItem, KnownMemory, LogEntry, check_next};
use loci_storage::{Receipt, Remembered, Result, StorageError};

impl State {
    pub(super) fn import(&mut self, pass: &AdminPass, items: Vec<ImportItem>) -> Result<Receipt> {
        let mut added = 0;
        for item in items {
            let is_new = match item {
                ImportItem::Principal(principal) => self.import_principal(pass, principal)?,
                ImportItem::Store(store) => self.import_store(pass, *store)?,
                ImportItem::Grant(grant) => self.import_grant(pass, grant)?,
                ImportItem::Entry(store, entry) => {
                    require_workspace(pass, self.shelf(store)?)?;
                    self.refuse_versions_of_others(store, &entry)?;
                    self.shelf_mut(store)?.import_entry(entry)?
                }
                ImportItem::Session(session) => self.import_session(pass, *session)?,
                ImportItem::Key(key) => self.import_key(pass, *key)?,
                ImportItem::Remembered(seen) => self.import_remembered(pass, *seen)?,
                ImportItem::Membership(membership) => self.import_membership(pass, membership)?,
                ImportItem::Event(event) => self.import_event(pass, *event)?,
            };
            added += u64::from(is_new);
        }
        Ok(Receipt::Imported(added))
    }

    /// A version's id is unique across stores.
    fn refuse_versions_of_others(&self, store: StoreId, entry: &LogEntry) -> Result<()> {
        let LogEntry::Version { version, .. } = entry else { return Ok(()) };
        let others = self.shelves.values().filter(|shelf| shelf.store.id != store);
        let mut versions = others.flat_map(Shelf::versions);
        if versions.any(|known| known.id == version.id) {
            return Err(StorageError::Taken("memory version"));
        }
        Ok(())
    }

    fn import_principal(&mut self, pass: &AdminPass, principal: Principal) -> Result<bool> {
        if self.principal(principal.id) == Some(&principal) {
            return Ok(false);
        }
        require_own(pass, principal.workspace)?;
        self.create_principal(principal)?;
        Ok(true)
    }

    fn import_store(&mut self, pass: &AdminPass, store: Store) -> Result<bool> {
        if self.shelf(store.id).is_ok_and(|shelf| shelf.store == store) {
            return Ok(false);
        }
        require_own(pass, store.workspace)?;
        let address = store.address.as_ref();
        if address.is_some_and(|one| self.store_at(store.workspace, one).is_some()) {
            return Err(StorageError::Taken("address"));
        }
        self.create_store(store)?;
        Ok(true)
    }

    fn import_grant(&mut self, pass: &AdminPass, grant: Grant) -> Result<bool> {
        let shelf = self.shelf_mut(grant.store)?;
        require_workspace(pass, shelf)?;
        if shelf.grants.contains(&grant) {
            return Ok(false);
        }
        let is_taken = |known: &Grant| known.grantee == grant.grantee || known.id == grant.id;
        if shelf.grants.iter().any(is_taken) {
            return Err(StorageError::Taken("grant"));
        }
        shelf.grants.push(grant);
        Ok(true)
    }

    fn import_session(&mut self, pass: &AdminPass, session: Session) -> Result<bool> {
        require_own(pass, session.workspace)?;
        if self.sessions.get(&session.id) == Some(&session) {
            return Ok(false);
        }
        self.create_session(session)?;
        Ok(true)
    }

    fn import_key(&mut self, pass: &AdminPass, key: ApiKey) -> Result<bool> {
        require_own(pass, key.workspace)?;
        if self.keys.contains(&key) {
            return Ok(false);
        }
        self.create_key(key)?;
        Ok(true)
    }

    fn import_remembered(&mut self, pass: &AdminPass, seen: Remembered) -> Result<bool> {
        require_own(pass, seen.idempotency.workspace)?;
        match self.remembered_under(seen.idempotency.scope, &seen.idempotency.key) {
            Some(known) if known == seen => Ok(false),
            Some(_) => Err(StorageError::Taken("idempotency key")),
            None => {
                self.remember(seen);
                Ok(true)
            }
        }
    }
}

impl Shelf {
    fn import_entry(&mut self, entry: LogEntry) -> Result<bool> {
        let seq = entry.seq();
        if seq == 0 || seq > self.feed.len() as u64 + 1 {
            return Err(invalid("is not the next entry of the store's history"));
        }
        if seq <= self.feed.len() as u64 {
            return if self.holds(&entry) {
                Ok(false)
            } else {
                Err(StorageError::Taken("feed number"))
            };
        }
        let memory = entry.memory();
        let known = self.memories.get(&memory).map(|kept| KnownMemory {
            revision: kept.last().revision,
            operation: kept.last().operation,
            partition: kept.partition,
            owner: kept.owner,
        });
        check_next(&entry, self.store.id, known.as_ref())?;
        self.require_later(entry.at())?;
        match entry {
            LogEntry::Version { version, partition, owner } => {
                self.import_version(*version, partition, owner)?;
            }
            LogEntry::Damaged { .. } => return Err(invalid("is damaged")),
            LogEntry::Redaction { version, actor, at, reason, .. } => {
                self.import_redaction(memory, version, Redaction { at, by: actor }, &reason)?;
            }
        }
        Ok(true)
    }

    fn import_version(
        &mut self,
        version: Version,
        partition: Option<PrincipalId>,
        owner: PrincipalId,
    ) -> Result<()> {
        if self.versions().any(|known| known.id == version.id) {
            return Err(StorageError::Taken("memory version"));
        }
        if let Some(path) = version.path.as_ref().filter(|_| version.content.is_some()) {
            // Nothing has expired at the moment of its own writing.
            let itself = Some(version.memory);
            let now = Timestamp::from_micros(i64::MIN);
            self.check_free(partition, path, itself, Audience::Host, now)?;
        }
        let new = Kept { partition, owner, versions: Vec::new(), erase_at: None };
        self.memories.entry(version.memory).or_insert(new);
        self.push_version(version);
        Ok(())
    }

    fn import_redaction(
        &mut self,
        memory: MemoryId,
        version: VersionId,
        redaction: Redaction,
        reason: &str,
    ) -> Result<()> {
        let kept = self.memories.get(&memory);
        let mut versions = kept.into_iter().flat_map(|kept| &kept.versions);
        let found = versions.find(|known| known.id == version);
        let revision = found.ok_or_else(|| invalid("redacts what is unknown"))?.revision;
        if kept.and_then(Kept::live).is_some_and(|live| live.head == version) {
            return Err(invalid("redacts the head of a live memory"));
        }
        let redacted = self.version_mut(memory, revision);
        if redacted.redaction.is_none() {
            empty(redacted, redaction);
        }
        let redacted = redacted.clone();
        self.drop_derived(version);
        self.push_change(&redacted, ChangeOp::Redacted, redaction.by, redaction.at, reason);
        Ok(())
    }

    fn require_later(&self, at: Timestamp) -> Result<()> {
        if self.next_at(at) == at {
            Ok(())
        } else {
            Err(invalid("is not later than the entry before it"))
        }
    }

    /// Whether the history has this entry already. A version that was redacted here since it was
    /// exported is the same version.
    fn holds(&self, entry: &LogEntry) -> bool {
        let seq = usize::try_from(entry.seq()).expect("checked against the length of the feed");
        let known = &self.feed[seq - 1];
        match entry {
            LogEntry::Version { version, .. } | LogEntry::Damaged { version, .. } => {
                let op: ChangeOp = version.operation.into();
                known.version == version.id && known.op == op && known.at == version.created_at
            }
            LogEntry::Redaction { version, at, .. } => {
                known.op == ChangeOp::Redacted && known.version == *version && known.at == *at
            }
        }
    }
}

fn require_own(pass: &AdminPass, workspace: WorkspaceId) -> Result<()> {
    if workspace == pass.workspace() { Ok(()) } else { Err(StorageError::NotFound("workspace")) }
}

fn require_workspace(pass: &AdminPass, shelf: &Shelf) -> Result<()> {
    if shelf.store.workspace == pass.workspace() {
        Ok(())
    } else {
        Err(StorageError::NotFound("memory store"))
    }
}

fn invalid(why: &str) -> StorageError {
    Invalid::new("entry", why).into()
}
