//! The statements about each matter and what follows from them, one beside the other and numbered: a
//! question looks at all of them, and whoever is talked about a lot is an end of nearly all.

use super::Matter;
use super::timeline::{Resolved, Stated};
use foldhash::HashMap;
use smallvec::SmallVec;

/// What is stated of one matter, and the facts that makes.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) matter: Matter,
    pub(super) stated: Vec<Stated>,
    /// Nearly always one, which then lies here.
    pub(super) facts: SmallVec<[Resolved; 1]>,
}

/// All groups of a store. The number of one that is gone goes to the next that comes.
#[derive(Debug, Default)]
pub(super) struct Groups {
    rows: Vec<Option<Group>>,
    by_matter: HashMap<Matter, u32>,
    free: Vec<u32>,
}

impl Groups {
    /// The group of a matter and its number; an empty one if nothing was stated of it yet.
    pub(super) fn of(&mut self, matter: Matter) -> (u32, &mut Group) {
        let Self { rows, by_matter, free } = self;
        let number = *by_matter.entry(matter).or_insert_with(|| {
            free.pop().unwrap_or_else(|| {
                rows.push(None);
                u32::try_from(rows.len() - 1).expect("fewer statements than bytes in memory")
            })
        });
        let group = || Group { matter, stated: Vec::new(), facts: SmallVec::new() };
        (number, rows[number as usize].get_or_insert_with(group))
    }

    pub(super) fn get_mut(&mut self, matter: &Matter) -> Option<&mut Group> {
        self.rows.get_mut(*self.by_matter.get(matter)? as usize)?.as_mut()
    }

    /// The group that has a number now.
    pub(super) fn at(&self, number: u32) -> Option<&Group> {
        self.rows.get(number as usize)?.as_ref()
    }

    /// Forgets a matter; the number that it had.
    pub(super) fn remove(&mut self, matter: &Matter) -> Option<u32> {
        let number = self.by_matter.remove(matter)?;
        self.rows[number as usize] = None;
        self.free.push(number);
        Some(number)
    }

    pub(super) fn number(&self, matter: &Matter) -> Option<u32> {
        self.by_matter.get(matter).copied()
    }

    /// All of them with their numbers, which are below [`Self::end`].
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Group)> {
        (0..).zip(&self.rows).filter_map(|(number, group)| Some((number, group.as_ref()?)))
    }

    pub(super) fn end(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn bytes(&self) -> usize {
        let stated: usize = self.iter().map(|(_, group)| group.stated.len()).sum();
        stated * size_of::<Stated>()
            + self.rows.len() * size_of::<Option<Group>>()
            + self.by_matter.len() * (size_of::<Matter>() + 8)
    }
}
