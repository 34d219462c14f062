//! Who is in which group, what stands on it, and the audit log.

use super::state::{Shelf, State};
use loci_model::event::LogEnd;
use loci_model::policy::{AdminPass, ConvenePass, Relation};
use loci_model::query::Amount;
use loci_model::{
    Address, Event, Grant, GrantId, Happening, Invalid, Membership, MemorySwitches, PrincipalId,
    PrincipalKind, Store, StoreId, WorkspaceId, limit,
};
use loci_storage::ground::{Ledger, Person, is_home, people};
use loci_storage::{Receipt, Result, StorageError};
use std::collections::BTreeMap;

impl State {
    pub(super) fn store_at(&self, workspace: WorkspaceId, address: &Address) -> Option<&Shelf> {
        let mut shelves = self.shelves.values().filter(|shelf| !shelf.is_removed);
        shelves.find(|shelf| {
            shelf.store.workspace == workspace && shelf.store.address.as_ref() == Some(address)
        })
    }

    /// What live stores hold whose addresses begin so, of one owner or of all.
    pub(super) fn kept(
        &self,
        workspace: WorkspaceId,
        owner: Option<PrincipalId>,
        addresses: &str,
    ) -> Amount {
        let begins = |address: &Address| address.as_str().starts_with(addresses);
        let shelves = self.shelves.values().filter(|shelf| {
            !shelf.is_removed
                && shelf.store.workspace == workspace
                && owner.is_none_or(|owner| shelf.store.owner == owner)
                && shelf.store.address.as_ref().is_some_and(begins)
        });
        shelves.fold(Amount::default(), |sum, shelf| {
            let stats = shelf.stats();
            sum.and(Amount { memories: stats.memories, bytes: stats.content_bytes })
        })
    }

    /// How somebody stands to the owner of a store.
    pub(super) fn relation(&self, who: PrincipalId, owner: PrincipalId) -> Option<Relation> {
        if self.is_in(owner, who) {
            return Some(Relation::Member);
        }
        let is_user = self.principal(owner)?.kind == PrincipalKind::User;
        let is_agent = self.principal(who)?.kind == PrincipalKind::Agent;
        (is_user && is_agent && self.meet(who, owner)).then_some(Relation::Companion)
    }

    fn is_in(&self, group: PrincipalId, who: PrincipalId) -> bool {
        self.memberships.iter().any(|one| one.group == group && one.member == who)
    }

    fn meet(&self, one: PrincipalId, other: PrincipalId) -> bool {
        let groups = self.memberships.iter().filter(|membership| membership.member == one);
        groups.map(|membership| membership.group).any(|group| self.is_in(group, other))
    }

    pub(super) fn members(&self, pass: &ConvenePass, group: PrincipalId) -> Vec<Membership> {
        let mut members = self.memberships_of(pass.workspace());
        members.retain(|membership| membership.group == group);
        members.sort_by_key(|membership| (membership.since, membership.member));
        members
    }

    pub(super) fn memberships_after(
        &self,
        pass: &ConvenePass,
        after: Option<(PrincipalId, PrincipalId)>,
        limit: usize,
    ) -> Vec<Membership> {
        let key = |one: &Membership| (one.group, one.member);
        let mut members = self.memberships_of(pass.workspace());
        members.retain(|one| after.is_none_or(|after| key(one) > after));
        members.sort_by_key(key);
        members.truncate(limit);
        members
    }

    fn memberships_of(&self, workspace: WorkspaceId) -> Vec<Membership> {
        let is_own = |one: &&Membership| {
            self.principal(one.group).is_some_and(|group| group.workspace == workspace)
        };
        self.memberships.iter().filter(is_own).copied().collect()
    }

    pub(super) fn recast(
        &mut self,
        pass: &AdminPass,
        id: PrincipalId,
        kind: PrincipalKind,
        is_admin: bool,
    ) -> Result<Receipt> {
        let is_somebody = self.keys.iter().any(|key| key.principal == id)
            || self.shelves.values().any(|shelf| shelf.store.owner == id)
            || self.memberships.iter().any(|one| one.member == id)
            || self.shelves.values().flat_map(|shelf| &shelf.grants).any(|one| one.given_by == id);
        let mut principals = self.principals.iter_mut();
        let principal = principals
            .find(|principal| principal.id == id && principal.workspace == pass.workspace())
            .ok_or(StorageError::NotFound("principal"))?;
        if is_somebody || principal.kind != PrincipalKind::Agent || principal.is_admin {
            return Err(StorageError::Taken("name"));
        }
        (principal.kind, principal.is_admin) = (kind, is_admin);
        Ok(Receipt::Principal(principal.clone()))
    }

    pub(super) fn switch_memory(
        &mut self,
        pass: &AdminPass,
        id: PrincipalId,
        memory: MemorySwitches,
    ) -> Result<Receipt> {
        let mut principals = self.principals.iter_mut();
        let principal = principals
            .find(|principal| principal.id == id && principal.workspace == pass.workspace())
            .ok_or(StorageError::NotFound("principal"))?;
        principal.memory = memory;
        Ok(Receipt::Principal(principal.clone()))
    }

    pub(super) fn add_member(&mut self, pass: &ConvenePass, new: Membership) -> Result<Receipt> {
        let kind = |id| {
            let found = self.principal(id).filter(|found| found.workspace == pass.workspace());
            found.map(|found| found.kind).ok_or(StorageError::NotFound("principal"))
        };
        if kind(new.group)? != PrincipalKind::Group {
            return Err(Invalid::new("group", "is not a group").into());
        }
        if kind(new.member)? == PrincipalKind::Group {
            return Err(Invalid::new("member", "is a group").into());
        }
        let mut inside = self.memberships.iter().filter(|known| known.group == new.group);
        if let Some(known) = inside.clone().find(|known| known.member == new.member) {
            return Ok(Receipt::Member(*known));
        }
        if inside.by_ref().count() >= limit::MEMBERS_MAX {
            return Err(StorageError::TooMany("members"));
        }
        self.memberships.push(new);
        Ok(Receipt::Member(new))
    }

    pub(super) fn remove_member(
        &mut self,
        pass: &ConvenePass,
        group: PrincipalId,
        member: PrincipalId,
    ) -> Result<Receipt> {
        let is_own = self.principal(group).is_some_and(|one| one.workspace == pass.workspace());
        if !is_own || !self.is_in(group, member) {
            return Err(StorageError::NotFound("member"));
        }
        let others: Vec<PrincipalId> =
            self.members(pass, group).iter().map(|one| one.member).collect();
        self.memberships.retain(|one| (one.group, one.member) != (group, member));
        // Of whose stores somebody gave something, perhaps only because of this membership.
        let may_have_lost = |giver: PrincipalId, owner: PrincipalId| match owner == member {
            true => giver != member && others.contains(&giver),
            false => giver == member && (owner == group || others.contains(&owner)),
        };
        let stores = self.shelves.values().filter(|shelf| {
            let mut given = shelf.grants.iter();
            let owner = shelf.store.owner;
            !shelf.is_removed && given.any(|grant| may_have_lost(grant.given_by, owner))
        });
        let stores: Vec<StoreId> = stores.map(|shelf| shelf.store.id).collect();
        let mut taken = Vec::new();
        for store in stores {
            let mut ledger = self.ledger(store, [])?;
            taken.extend(ledger.settle(pass.now()));
            self.shelf_mut(store)?.grants = ledger.grants;
        }
        Ok(Receipt::MemberRemoved { group, member, revoked: self.gone(taken) })
    }

    /// Everything that decides about the grants of a store.
    pub(super) fn ledger(
        &self,
        store: StoreId,
        concerned: impl IntoIterator<Item = PrincipalId>,
    ) -> Result<Ledger> {
        let Shelf { store, grants, .. } = self.shelf(store)?;
        let person = |who: PrincipalId| Person {
            is_admin: self.principal(who).is_some_and(|who| who.is_admin),
            relation: self.relation(who, store.owner),
        };
        Ok(Ledger {
            store: store.clone(),
            home_of: self.home_of(store),
            grants: grants.clone(),
            people: people(grants, concerned).into_iter().map(|who| (who, person(who))).collect(),
        })
    }

    /// What sort of owner has its home in a store.
    pub(super) fn home_of(&self, store: &Store) -> Option<PrincipalKind> {
        let owner = self.principal(store.owner).filter(|_| is_home(store));
        owner.map(|owner| owner.kind)
    }

    /// Keeps grants that went for the audit log.
    pub(super) fn gone(&mut self, taken: Vec<Grant>) -> Vec<GrantId> {
        let ids = taken.iter().map(|grant| grant.id).collect();
        self.taken = taken;
        ids
    }

    pub(super) fn import_membership(&mut self, pass: &AdminPass, new: Membership) -> Result<bool> {
        if self.memberships.contains(&new) {
            return Ok(false);
        }
        if self.is_in(new.group, new.member) {
            return Err(StorageError::Taken("member"));
        }
        let convene = loci_model::policy::System::because("an administrator imports it");
        self.add_member(&convene.convene(pass.workspace(), pass.now()), new)?;
        Ok(true)
    }

    pub(super) fn record(&mut self, happening: Happening) -> Result<u64> {
        happening.validate()?;
        let event = Event::next(self.log_end(happening.workspace), happening);
        let seq = event.seq;
        self.events.push(event);
        Ok(seq)
    }

    pub(super) fn import_event(&mut self, pass: &AdminPass, event: Event) -> Result<bool> {
        if event.workspace != pass.workspace() {
            return Err(StorageError::NotFound("workspace"));
        }
        if self.events.contains(&event) {
            return Ok(false);
        }
        if !event.follows(self.log_end(event.workspace)) {
            return Err(Invalid::new("event", "does not follow the log as it stands").into());
        }
        self.events.push(event);
        Ok(true)
    }

    /// Where the log of each workspace ends.
    pub(super) fn log_ends(&self) -> Vec<(WorkspaceId, LogEnd)> {
        self.workspaces.iter().map(|(id, _)| (*id, self.log_end(*id))).collect()
    }

    fn log_end(&self, workspace: WorkspaceId) -> LogEnd {
        let mut own = self.events.iter().filter(|event| event.workspace == workspace);
        own.next_back().map_or_else(LogEnd::default, Event::end)
    }

    pub(super) fn problems_of_log(&self) -> Vec<String> {
        let mut ends: BTreeMap<WorkspaceId, LogEnd> = BTreeMap::new();
        let mut problems = Vec::new();
        for event in &self.events {
            let end = ends.entry(event.workspace).or_default();
            if !event.follows(*end) {
                problems.push(format!("event {} does not follow the one before", event.seq));
            }
            *end = event.end();
        }
        problems
    }
}
