//! What the test itself knows about its world, and who may get what of it: the rules once more, in
//! as few words as they take, sharing no code with policy or storage.

use crate::unseen::world::Step;
use loci_model::{
    Attributes, Audience, Caller, Grant, Grantee, KeyScope, Level, MemoryId, Power, Session, Store,
    StoreId, Timestamp, Visibility,
};
use std::collections::BTreeMap;

/// Everything that is there, hidden or not.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) stores: Vec<KnownStore>,
    /// Memories that were not removed; those whose time is over are among them until swept.
    pub(crate) memories: BTreeMap<MemoryId, KnownMemory>,
    pub(crate) sessions: Vec<Session>,
}

pub(crate) struct KnownStore {
    pub(crate) store: Store,
    pub(crate) is_removed: bool,
    pub(crate) grants: Vec<Grant>,
}

#[derive(Clone)]
pub(crate) struct KnownMemory {
    pub(crate) store: StoreId,
    pub(crate) path: String,
    /// None when sealed.
    pub(crate) text: Option<String>,
    pub(crate) attributes: Attributes,
}

impl KnownMemory {
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        self.attributes.expires_at.is_some_and(|end| end <= now)
    }
}

impl Known {
    /// How much a caller may do with a store: nothing, or up to a level.
    fn level(&self, caller: &Caller, id: StoreId, now: Timestamp) -> Option<Level> {
        let known = self.stores.iter().find(|known| known.store.id == id && !known.is_removed)?;
        if known.store.workspace != caller.workspace {
            return None;
        }
        let KeyScope { power, stores } = &caller.scope;
        if stores.as_ref().is_some_and(|stores| !stores.contains(&id)) {
            return None;
        }
        let holds = |grantee: Grantee| {
            let mut grants = known.grants.iter();
            let grant = grants.find(|grant| grant.grantee == grantee)?;
            grant.expires_at.is_none_or(|end| now < end).then_some(grant.level)
        };
        let by_right = if caller.is_admin || known.store.owner == caller.principal {
            Level::ReadWrite
        } else {
            holds(Grantee::Principal(caller.principal)).or_else(|| holds(Grantee::Everyone))?
        };
        let by_session = match caller.session {
            None => Level::ReadWrite,
            Some(id_of) => {
                let session = self.sessions.iter().find(|session| session.id == id_of)?;
                session.attachments.iter().find(|attached| attached.store == id)?;
                Level::Read
            }
        };
        let by_key = match power {
            Power::Full => Level::ReadWrite,
            Power::UpTo(level) => *level,
        };
        Some(by_right.min(by_session).min(by_key))
    }

    pub(crate) fn may_search(&self, caller: &Caller, store: StoreId, now: Timestamp) -> bool {
        self.level(caller, store, now).is_some()
    }

    pub(crate) fn may_read(&self, caller: &Caller, store: StoreId, now: Timestamp) -> bool {
        self.level(caller, store, now).is_some_and(|level| level >= Level::Read)
    }

    /// Whether the caller may see every number of the store's feed.
    pub(crate) fn may_follow(&self, caller: &Caller, store: StoreId, now: Timestamp) -> bool {
        caller.audience == Audience::Host && self.may_read(caller, store, now)
    }

    /// Whether the caller may get a memory now, by searching.
    pub(crate) fn may_get(&self, caller: &Caller, id: MemoryId, now: Timestamp) -> bool {
        let Some(memory) = self.memories.get(&id) else { return false };
        let is_meant = caller.audience == Audience::Host
            || memory.attributes.visibility == Visibility::Context;
        is_meant
            && memory.text.is_some()
            && !memory.is_over(now)
            && self.may_search(caller, memory.store, now)
    }

    /// What is left of a step in a world where only the caller's own things exist.
    pub(crate) fn kept(&self, step: &Step, caller: &Caller, now: Timestamp) -> Option<Step> {
        let is_there = |store: StoreId| self.may_search(caller, store, now);
        let concerns = |grantee: Grantee| {
            matches!(grantee, Grantee::Everyone) || grantee == Grantee::Principal(caller.principal)
        };
        let is_kept = match step {
            Step::CreateStore(store) => is_there(store.id),
            Step::RemoveStore(_) => false,
            Step::Share(grant) => is_there(grant.store) && concerns(grant.grantee),
            Step::Revoke(store, grantee, _) => is_there(*store) && concerns(*grantee),
            Step::OpenSession(session) if caller.session == Some(session.id) => {
                let mut session = session.clone();
                session.attachments.retain(|attached| is_there(attached.store));
                return Some(Step::OpenSession(session));
            }
            Step::OpenSession(_) => false,
            Step::Edit(_, memory, ..) | Step::Erase(_, memory, _) | Step::Expire(_, memory, _) => {
                self.may_get(caller, *memory, now)
            }
            Step::Follow => true,
        };
        is_kept.then(|| step.clone())
    }
}
