//! What a mount may do with each store while it runs. The feed of a store says it: access that was
//! lowered makes the store read-only, access that was taken back closes it, for caches and open files
//! alike, and access that was given back opens it again.
//!
//! A closed store keeps its inodes and its bytes that are not saved, so that everything goes on where
//! it was when access comes back; the contents that were read are dropped, and the kernel is told to
//! drop its own. Nothing of it can be read meanwhile.

use crate::node::{Body, Ino};
use crate::tree::Tree;
use crate::volume::{Outdated, Volume};
use fuser::Errno;
use loci_model::{Access, StoreId};
use std::sync::Arc;

/// Whether a store can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// As far as its access goes.
    Open,
    /// Its directory is there, and what is in it is refused.
    Closed,
    /// Its directory is not there: the store was deleted or is shared no more.
    Gone,
}

/// What may be done where both of these allow it.
fn within(most: Access, told: Access) -> Access {
    if most == Access::ReadOnly { most } else { told }
}

impl Tree {
    /// Refuses whatever reaches into a store that is closed.
    pub(crate) fn check_open(&self, ino: Ino) -> Result<(), Errno> {
        if self.is_above_stores(ino) {
            return Ok(());
        }
        self.check_store(self.get(ino)?.store)
    }

    /// The same of a store.
    pub(crate) fn check_store(&self, store: usize) -> Result<(), Errno> {
        match self.places[store].state {
            State::Open => Ok(()),
            State::Closed | State::Gone => Err(Errno::EACCES),
        }
    }

    /// Refuses to change what is in a closed or read-only store, or in none.
    pub(crate) fn check_writable(&self, ino: Ino) -> Result<usize, Errno> {
        let store = self.get(ino)?.store;
        if self.is_above_stores(ino) {
            return Err(Errno::EROFS);
        }
        self.check_store(store)?;
        match self.places[store].seen.access {
            Access::ReadWrite => Ok(store),
            Access::ReadOnly => Err(Errno::EROFS),
        }
    }

    /// Whether this is the directory of a store, which can be looked at also while that is closed.
    pub(crate) fn is_place(&self, ino: Ino) -> bool {
        self.get(ino).is_ok_and(|node| self.places[node.store].root == ino)
    }

    /// The place of a store that was ever shown.
    pub(crate) fn place_of(&self, store: StoreId) -> Option<usize> {
        self.places.iter().position(|place| place.seen.id == store)
    }

    /// The server says what the mount may do with a store; says whether that is news.
    pub(crate) fn set_access(&mut self, store: usize, told: Access) -> bool {
        let place = &mut self.places[store];
        let before = (place.state, place.told);
        place.told = told;
        place.seen.access = within(place.seen.most, told);
        if place.state == State::Closed {
            place.state = State::Open;
        }
        before != (place.state, told)
    }

    /// Closes a store that is open; gives what the kernel must not believe any more.
    pub(crate) fn close(&mut self, store: usize) -> Vec<Outdated> {
        if self.places[store].state != State::Open {
            return Vec::new();
        }
        self.places[store].state = State::Closed;
        let root = self.places[store].root;
        let (mut open, mut outdated) = (Vec::new(), Vec::new());
        for node in self.nodes.values_mut().filter(|node| node.store == store && node.ino != root) {
            let is_known = node.lookups > 0;
            match &mut node.body {
                Body::Directory(_) if is_known => outdated.push(Outdated::Attributes(node.ino)),
                Body::Directory(_) => {}
                Body::File(file) => {
                    if !file.is_dirty && file.source.is_some() {
                        file.held = None;
                    }
                    let told = if file.opens > 0 { &mut open } else { &mut outdated };
                    if is_known {
                        told.push(Outdated::Node(node.ino));
                    }
                    if is_known && node.is_linked {
                        told.push(Outdated::Name(node.parent, Arc::clone(&node.name)));
                    }
                }
            }
        }
        outdated
            .retain(|one| !matches!(one, Outdated::Attributes(ino) if self.is_above_stores(*ino)));
        // What is read at this moment goes first.
        open.extend(outdated);
        open
    }
}

impl Volume {
    /// The server has answered for a store: this may be done with it.
    pub(crate) fn hear_access(&self, store: usize, told: Access) {
        if self.tree().set_access(store, told) {
            tracing::info!(store = %self.stores[store], access = ?told, "access to the store");
        }
    }

    /// The server lets the mount read a store no more.
    pub(crate) fn close(&self, store: usize) {
        let mut outdated = {
            let mut tree = self.tree();
            if tree.places[store].state != State::Open {
                return;
            }
            tree.close(store)
        };
        tracing::warn!(store = %self.stores[store], "access to the store has ended");
        self.cache().clear();
        outdated.extend(self.history.close(store));
        self.outdate(outdated);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_never_rises_above_what_was_asked_for() {
        use Access::{ReadOnly, ReadWrite};
        assert_eq!(within(ReadWrite, ReadWrite), ReadWrite);
        for (most, told) in [(ReadOnly, ReadWrite), (ReadWrite, ReadOnly), (ReadOnly, ReadOnly)] {
            assert_eq!(within(most, told), ReadOnly);
        }
    }
}
