//! Taking in exported data as it was. What is there already, equal, is passed over; a store's
//! history is taken in order only, from where the store stands.

use super::scrub::empty;
use super::state::{Kept, Shelf, State};
use crate::log::{ImportItem, LogEntry};
use crate::{Receipt, Result, StorageError};
use loci_model::policy::AdminPass;
use loci_model::version::Redaction;
use loci_model::{ChangeOp, Grant, Invalid, Principal, PrincipalId, Store, Timestamp, Version};

impl State {
    pub(super) fn import(&mut self, pass: &AdminPass, items: Vec<ImportItem>) -> Result<Receipt> {
        let mut added = 0;
        for item in items {
            let is_new = match item {
                ImportItem::Principal(principal) => self.import_principal(pass, principal)?,
                ImportItem::Store(store) => self.import_store(pass, *store)?,
                ImportItem::Grant(grant) => self.import_grant(pass, grant)?,
                ImportItem::Entry(store, entry) => {
                    let shelf = self.shelf_mut(store)?;
                    require_workspace(pass, shelf)?;
                    shelf.import_entry(entry)?
                }
            };
            added += u64::from(is_new);
        }
        Ok(Receipt::Imported(added))
    }

    fn import_principal(&mut self, pass: &AdminPass, principal: Principal) -> Result<bool> {
        if self.principal(principal.id) == Some(&principal) {
            return Ok(false);
        }
        if principal.workspace != pass.workspace() {
            return Err(StorageError::NotFound("workspace"));
        }
        self.create_principal(principal)?;
        Ok(true)
    }

    fn import_store(&mut self, pass: &AdminPass, store: Store) -> Result<bool> {
        if self.shelf(store.id).is_ok_and(|shelf| shelf.store == store) {
            return Ok(false);
        }
        if store.workspace != pass.workspace() {
            return Err(StorageError::NotFound("workspace"));
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
        match entry {
            LogEntry::Version { version, partition, owner } => {
                self.import_version(*version, partition, owner)?
            }
            LogEntry::Redaction { memory, version, actor, at, reason, .. } => {
                let known = self.memories.get(&memory);
                let mut versions = known.into_iter().flat_map(|kept| &kept.versions);
                let found = versions.find(|known| known.id == version);
                let revision = found.ok_or_else(|| invalid("redacts what is unknown"))?.revision;
                self.require_later(at)?;
                let redacted = self.version_mut(memory, revision);
                if redacted.redaction.is_none() {
                    empty(redacted, Redaction { at, by: actor });
                }
                let redacted = redacted.clone();
                self.push_change(&redacted, ChangeOp::Redacted, actor, at, &reason);
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
        self.require_later(version.created_at)?;
        if version.store != self.store.id {
            return Err(invalid("belongs to another store"));
        }
        if self.versions().any(|known| known.id == version.id) {
            return Err(StorageError::Taken("memory version"));
        }
        let content_digest = version.content.as_ref().map(|content| content.digest());
        if content_digest != version.digest {
            return Err(invalid("has content that is not what its digest says"));
        }
        let kept = self.memories.entry(version.memory).or_insert(Kept {
            partition,
            owner,
            versions: Vec::new(),
            erase_at: None,
        });
        if version.revision != kept.versions.len() as u64 + 1 {
            return Err(invalid("is not the next revision of its memory"));
        }
        self.push_version(version);
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
            LogEntry::Version { version, .. } => {
                let op: ChangeOp = version.operation.into();
                known.version == version.id && known.op == op && known.at == version.created_at
            }
            LogEntry::Redaction { version, at, .. } => {
                known.op == ChangeOp::Redacted && known.version == *version && known.at == *at
            }
        }
    }
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
