//! What the operator says about this door.

use std::collections::{BTreeMap, BTreeSet};

/// Who this server is, and which oracles are known.
#[derive(Debug, Clone, Default)]
pub struct QiforgeOptions {
    /// What tokens must be made out to; without it there is no document that says so.
    pub did: Option<String>,
    /// Whether all rooms of a user with an oracle are one place.
    pub ignores_room: bool,
    /// What is known about oracles, by their DIDs.
    pub oracles: BTreeMap<String, Oracle>,
}

/// An oracle.
#[derive(Debug, Clone, Default)]
pub struct Oracle {
    /// What its knowledge is kept under; its own DID unless it has another.
    pub entity_did: Option<String>,
    /// Who may add to its knowledge and see what is private in it.
    pub owners: BTreeSet<String>,
    /// Whether everybody may search its public knowledge, whichever oracle they come through.
    pub is_open: bool,
}

impl QiforgeOptions {
    /// What the knowledge of an oracle is kept under.
    pub(super) fn entity_of<'a>(&'a self, oracle: &'a str) -> &'a str {
        let known = self.oracles.get(oracle);
        known.and_then(|known| known.entity_did.as_deref()).unwrap_or(oracle)
    }

    /// Whether somebody may add to the knowledge of an oracle: those named, and the oracle in person.
    pub(super) fn owns(&self, user: &str, oracle: &str) -> bool {
        let is_named = self.oracles.get(oracle).is_some_and(|known| known.owners.contains(user));
        is_named || user == oracle || user == self.entity_of(oracle)
    }

    /// The oracle that a request names by either of its DIDs, if everybody may search it.
    pub(super) fn open(&self, did: &str) -> Option<&str> {
        let is_it = |(oracle, known): &(&String, &Oracle)| {
            known.is_open && (*oracle == did || known.entity_did.as_deref() == Some(did))
        };
        self.oracles.iter().find(is_it).map(|(oracle, _)| oracle.as_str())
    }
}
