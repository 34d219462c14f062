//! What the grants of a store stand on. One rule for every engine: whoever gave a grant that is left
//! must be able to give it as things stand; what nobody can give any more goes.
//!
//! An engine reads a [`Ledger`] in the transaction of the write, lets it decide, and writes down what
//! it says. So a grant cannot be given by somebody who loses the right to in the same moment.

use crate::{Result, StorageError};
use loci_model::event::kind;
use loci_model::policy::{Facts, Relation, SharePass, ends_within};
use loci_model::{
    Grant, GrantId, Grantee, Happening, Level, PrincipalId, PrincipalKind, SessionUser, Store,
    Timestamp, limit,
};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Everything that decides about the grants of one store.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// The store.
    pub store: Store,
    /// What sort of owner has its home here, if the store is a home.
    pub home_of: Option<PrincipalKind>,
    /// All its grants.
    pub grants: Vec<Grant>,
    /// Those who gave, give or are given something; see [`people`].
    pub people: HashMap<PrincipalId, Person>,
}

/// Somebody, as far as it is about what they may give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Person {
    /// Whether they administer the workspace.
    pub is_admin: bool,
    /// How they stand to the owner of the store.
    pub relation: Option<Relation>,
}

/// Whom a ledger has to know: everybody who gave something, and those whom a change is about.
pub fn people(
    grants: &[Grant],
    concerned: impl IntoIterator<Item = PrincipalId>,
) -> BTreeSet<PrincipalId> {
    grants.iter().map(|grant| grant.given_by).chain(concerned).collect()
}

/// Whom a grant that is about to be given concerns.
pub fn concerned(pass: &SharePass, grant: &Grant) -> Vec<PrincipalId> {
    let grantee = match grant.grantee {
        Grantee::Principal(id) => Some(id),
        Grantee::Everyone => None,
    };
    [pass.giver()].into_iter().chain(grantee).collect()
}

/// Whether a store is the home of its owner.
pub fn is_home(store: &Store) -> bool {
    store.address.as_ref().is_some_and(|address| address.is_home_of(store.owner))
}

impl Ledger {
    /// Gives a grant, or replaces the one to the same grantee, and tells the grant as it is now and
    /// which others went because their giver was left with less.
    pub fn share(&mut self, pass: &SharePass, grant: &Grant) -> Result<(Grant, Vec<Grant>)> {
        let pass = self.renewed(pass)?;
        let mut grant = Grant { store: self.store.id, ..grant.clone() };
        if !pass.may_give(grant.level, grant.expires_at) {
            return Err(StorageError::ExceedsGiver);
        }
        if let Grantee::Principal(id) = grant.grantee
            && !pass.may_lower()
            && Some(grant.level) < self.without_grant(id, pass.now())
        {
            return Err(StorageError::ExceedsGiver);
        }
        let is_full = self.grants.len() >= limit::GRANTS_PER_STORE_MAX;
        match self.grants.iter_mut().find(|known| known.grantee == grant.grantee) {
            Some(known) if !pass.may_replace(known) => return Err(StorageError::ExceedsGiver),
            Some(known) => {
                grant.id = known.id;
                known.clone_from(&grant);
            }
            None if is_full => return Err(StorageError::TooMany("grants")),
            None => self.grants.push(grant.clone()),
        }
        // Only who gave something can have given too much.
        let lowers = match grant.grantee {
            Grantee::Principal(id) => self.grants.iter().any(|known| known.given_by == id),
            Grantee::Everyone => true,
        };
        let taken = if lowers { self.settle(pass.now()) } else { Vec::new() };
        if taken.iter().any(|taken| taken.id == grant.id) {
            return Err(StorageError::ExceedsGiver);
        }
        Ok((grant, taken))
    }

    /// Takes a grant back, and tells which ones went, it first.
    pub fn revoke(&mut self, pass: &SharePass, id: GrantId) -> Result<Vec<Grant>> {
        let pass = self.renewed(pass)?;
        let place = self.grants.iter().position(|grant| grant.id == id);
        let place = place.filter(|place| pass.may_revoke(&self.grants[*place]));
        let mut taken = vec![self.grants.remove(place.ok_or(StorageError::NotFound("grant"))?)];
        taken.extend(self.settle(pass.now()));
        Ok(taken)
    }

    /// Takes out what nobody can have given as things stand, oldest first.
    pub fn settle(&mut self, now: Timestamp) -> Vec<Grant> {
        let standing = self.standing(now);
        let (kept, mut taken): (Vec<Grant>, Vec<Grant>) =
            self.grants.drain(..).partition(|grant| standing.contains(&grant.id));
        self.grants = kept;
        taken.sort_by_key(|grant| (grant.created_at, grant.id));
        taken
    }

    /// The pass, if its giver may still share.
    fn renewed(&self, pass: &SharePass) -> Result<SharePass> {
        let person = self.person(pass.giver());
        let facts = self.facts(pass.giver());
        pass.renewed(person.is_admin, &facts).map_err(|denied| match denied.may_know {
            true => StorageError::ExceedsGiver,
            false => StorageError::NotFound("memory store"),
        })
    }

    /// What policy would look at if somebody asked now.
    fn facts(&self, who: PrincipalId) -> Facts {
        let concern = [Grantee::Principal(who), Grantee::Everyone];
        let grants = self.grants.iter().filter(|grant| concern.contains(&grant.grantee));
        Facts {
            store: self.store.clone(),
            grants: grants.cloned().collect(),
            home_of: self.home_of,
            relation: self.person(who).relation,
            attachment: None,
        }
    }

    fn person(&self, who: PrincipalId) -> Person {
        self.people.get(&who).copied().unwrap_or_default()
    }

    /// Whether somebody reaches the store by being in a group.
    fn is_near(&self, who: PrincipalId) -> bool {
        Facts { grants: Vec::new(), ..self.facts(who) }.by_relation(SessionUser::Unsaid).is_some()
    }

    /// What somebody has if nothing is granted to them by name. The owner and administrators are
    /// not asked about: no grant changes what they have.
    fn without_grant(&self, who: PrincipalId, now: Timestamp) -> Option<Level> {
        if who == self.store.owner || self.person(who).is_admin {
            return None;
        }
        let mut facts = self.facts(who);
        facts.grants.retain(|grant| grant.grantee == Grantee::Everyone);
        facts.ground(who, now).map(|(_, level)| level)
    }

    /// The grants whose givers can give them: because they need no grant for it, or by one that
    /// stands itself, so that two who gave to each other do not hold each other up.
    fn standing(&self, now: Timestamp) -> HashSet<GrantId> {
        let mut by_giver: HashMap<PrincipalId, Vec<&Grant>> = HashMap::new();
        let mut to: HashMap<Grantee, &Grant> = HashMap::new();
        for grant in &self.grants {
            by_giver.entry(grant.given_by).or_default().push(grant);
            to.insert(grant.grantee, grant);
        }
        let needs_none: HashMap<PrincipalId, Option<bool>> = by_giver
            .keys()
            .map(|who| {
                let is_above = *who == self.store.owner || self.person(*who).is_admin;
                (*who, if is_above { Some(true) } else { self.is_near(*who).then_some(false) })
            })
            .collect();
        let mut standing: HashSet<GrantId> = HashSet::new();
        let mut due: Vec<PrincipalId> = by_giver.keys().copied().collect();
        while let Some(giver) = due.pop() {
            let own = to.get(&Grantee::Principal(giver)).copied();
            // A grant of one's own goes before everything but ownership, and so can lower.
            let most = own.filter(|own| own.is_valid_at(now)).map(|own| own.level);
            let holds = |held: Option<&Grant>, grant: &Grant| {
                held.is_some_and(|held| {
                    standing.contains(&held.id)
                        && held.id != grant.id
                        && grant.level <= held.level
                        && ends_within(grant.expires_at, held.expires_at)
                })
            };
            let can_give = |grant: &Grant| match needs_none[&giver] {
                Some(true) => true,
                _ if most.is_some_and(|most| grant.level > most) => false,
                Some(false) => true,
                None => holds(own, grant) || holds(to.get(&Grantee::Everyone).copied(), grant),
            };
            let given = by_giver[&giver].iter();
            let new: Vec<&Grant> = given
                .copied()
                .filter(|grant| !standing.contains(&grant.id) && can_give(grant))
                .collect();
            for grant in new {
                standing.insert(grant.id);
                match grant.grantee {
                    Grantee::Principal(id) if by_giver.contains_key(&id) => due.push(id),
                    Grantee::Principal(_) => {}
                    Grantee::Everyone => due.extend(by_giver.keys().copied()),
                }
            }
        }
        standing
    }
}

/// What the audit log is told of grants that went with what a happening tells of already.
pub fn told(happening: &Happening, taken: &[Grant]) -> Vec<Happening> {
    let others = taken.iter().filter(|grant| happening.subject != Some(grant.id.to_string()));
    others
        .map(|grant| Happening {
            kind: kind::GRANT_REVOKED,
            store: Some(grant.store),
            subject: Some(grant.id.to_string()),
            detail: Some(spelled(grant.grantee)),
            ..happening.clone()
        })
        .collect()
}

/// A grantee, as the audit log has it.
pub fn spelled(grantee: Grantee) -> String {
    match grantee {
        Grantee::Principal(id) => id.to_string(),
        Grantee::Everyone => "everyone".to_owned(),
    }
}

#[cfg(test)]
mod tests;
