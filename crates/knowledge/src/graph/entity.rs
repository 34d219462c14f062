//! The people and things facts are about. Two mentions are one entity when their names are the same
//! ([`super::name::key`]); it is called what it is called most often.

use super::name::{self, EntityId};
use super::timeline::Resolved;
use super::{FactRef, Graph};
use crate::claim::Mention;
use crate::ontology::Label;
use foldhash::{HashMap, HashSet};
use loci_model::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Characters of a summary.
const SUMMARY_CHARS_MAX: usize = 400;
/// Facts of a summary.
const SUMMARY_FACTS_MAX: usize = 6;

/// An entity, as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    /// Which.
    pub id: EntityId,
    /// What it is called.
    pub name: String,
    /// What sort of thing it is, the likeliest first; may be empty.
    pub labels: Vec<Label>,
    /// What is true of it now, in a few words.
    pub summary: String,
    /// When it was first heard of.
    pub created_at: Timestamp,
    /// How many facts it is an end of.
    pub facts: usize,
}

#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) key: Box<str>,
    names: Vec<(Arc<str>, u32)>,
    pub(super) labels: Vec<(Label, u32)>,
    mentions: u32,
    /// The groups of facts it is an end of, by their numbers; some may be gone, or another's by now.
    groups: BTreeSet<u32>,
    words: Vec<u64>,
}

/// One mention that was counted.
#[derive(Debug)]
pub(super) struct Mentioned {
    pub(super) entity: u32,
    name: Arc<str>,
    label: Option<Label>,
}

/// All entities of a store, numbered.
#[derive(Debug, Default)]
pub(super) struct Entities {
    pub(super) rows: Vec<Row>,
    by_key: HashMap<Box<str>, u32>,
    by_word: HashMap<u64, BTreeSet<u32>>,
    free: Vec<u32>,
    unsettled: HashSet<u32>,
}

impl Entities {
    /// Counts a mention; what is needed to take it back.
    pub(super) fn mention(&mut self, key: String, mention: &Mention) -> Mentioned {
        let number = match self.by_key.get(key.as_str()) {
            Some(number) => *number,
            None => {
                let words: Vec<u64> = name::words(&key).collect();
                let row = Row { key: key.clone().into(), words, ..Row::default() };
                let number = match self.free.pop() {
                    Some(number) => {
                        self.rows[number as usize] = row;
                        number
                    }
                    None => {
                        self.rows.push(row);
                        u32::try_from(self.rows.len() - 1)
                            .expect("fewer names than bytes in memory")
                    }
                };
                for word in &self.rows[number as usize].words {
                    self.by_word.entry(*word).or_default().insert(number);
                }
                self.by_key.insert(key.into(), number);
                number
            }
        };
        let row = &mut self.rows[number as usize];
        row.mentions += 1;
        let name = match row.names.iter_mut().find(|(name, _)| **name == *mention.name) {
            Some((name, count)) => {
                *count += 1;
                Arc::clone(name)
            }
            None => {
                let name: Arc<str> = mention.name.as_str().into();
                row.names.push((Arc::clone(&name), 1));
                name
            }
        };
        if let Some(label) = mention.label {
            match row.labels.iter_mut().find(|(known, _)| *known == label) {
                Some((_, count)) => *count += 1,
                None => row.labels.push((label, 1)),
            }
        }
        Mentioned { entity: number, name, label: mention.label }
    }

    /// Takes a mention back, and the name it used: nothing of a memory that is gone is shown.
    pub(super) fn unmention(&mut self, mentioned: &Mentioned) {
        let row = &mut self.rows[mentioned.entity as usize];
        row.mentions = row.mentions.saturating_sub(1);
        let label = |(label, _): &&mut (Label, u32)| Some(*label) == mentioned.label;
        if let Some((_, count)) = row.labels.iter_mut().find(label) {
            *count = count.saturating_sub(1);
        }
        row.labels.retain(|(_, count)| *count > 0);
        let name = |(name, _): &&mut (Arc<str>, u32)| *name == mentioned.name;
        if let Some((_, count)) = row.names.iter_mut().find(name) {
            *count = count.saturating_sub(1);
        }
        row.names.retain(|(_, count)| *count > 0);
        if row.mentions == 0 {
            self.unsettled.insert(mentioned.entity);
        }
    }

    pub(super) fn touch(&mut self, number: u32, group: u32) {
        self.rows[number as usize].groups.insert(group);
    }

    pub(super) fn untouch(&mut self, number: u32, group: u32) {
        self.rows[number as usize].groups.remove(&group);
    }

    /// Gives back the numbers of entities nobody mentions any more.
    pub(super) fn settle(&mut self) {
        for number in std::mem::take(&mut self.unsettled) {
            let row = &mut self.rows[number as usize];
            if row.mentions == 0 {
                self.by_key.remove(&row.key);
                for word in &row.words {
                    if let Some(named) = self.by_word.get_mut(word) {
                        named.remove(&number);
                        if named.is_empty() {
                            self.by_word.remove(word);
                        }
                    }
                }
                *row = Row::default();
                self.free.push(number);
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let row = |row: &Row| {
            let names: usize = row.names.iter().map(|(name, _)| name.len() + 24).sum();
            let groups = row.groups.len() * 8;
            2 * row.key.len() + names + groups + row.words.len() * 24 + size_of::<Row>() + 48
        };
        self.rows.iter().map(row).sum()
    }

    /// How much of each name was asked for, and the numbers of those of which something was.
    pub(super) fn overlaps(&self, asked: &HashSet<u64>) -> (Vec<f32>, Vec<u32>) {
        let mut shares = vec![0.0; self.rows.len()];
        let mut named = Vec::new();
        for number in asked.iter().filter_map(|word| self.by_word.get(word)).flatten() {
            let share: &mut f32 = &mut shares[*number as usize];
            if *share == 0.0 {
                let words = &self.rows[*number as usize].words;
                let found = words.iter().filter(|word| asked.contains(word)).count();
                *share = found as f32 / words.len() as f32;
                named.push(*number);
            }
        }
        (shares, named)
    }

    pub(super) fn by_key(&self, key: &str) -> Option<u32> {
        self.by_key.get(key).copied()
    }
}

impl Row {
    /// What it is called most often; of names as often as each other the first in the alphabet.
    pub(super) fn name(&self) -> &str {
        let best = self
            .names
            .iter()
            .max_by(|(a, times_a), (b, times_b)| times_a.cmp(times_b).then_with(|| b.cmp(a)));
        best.map_or("", |(name, _)| name)
    }

    pub(super) fn labels(&self) -> Vec<Label> {
        let mut labels = self.labels.clone();
        labels.sort_by_key(|(label, count)| (std::cmp::Reverse(*count), *label));
        labels.into_iter().map(|(label, _)| label).collect()
    }

    pub(super) fn is_there(&self) -> bool {
        self.mentions > 0
    }
}

impl Graph {
    pub(super) fn entity_id(&self, number: u32) -> EntityId {
        EntityId::of(self.store, &[self.entities.rows[number as usize].key.as_bytes()])
    }

    /// An entity by what it is called.
    pub fn entity_called(&self, name: &str) -> Option<Entity> {
        self.entities.by_key(&name::key(name)).map(|number| self.entity(number))
    }

    pub(super) fn entity(&self, number: u32) -> Entity {
        let row = &self.entities.rows[number as usize];
        // What is true now, best supported and newest first.
        let rank = |one: &FactRef<'_>| {
            let is_about = one.matter.subject == number;
            let place = (one.fact.created_at, one.matter, one.fact.object, one.fact.ordinal);
            (is_about, one.fact.sources.len(), place)
        };
        let mut best: Vec<FactRef<'_>> = Vec::with_capacity(SUMMARY_FACTS_MAX + 1);
        let (mut created_at, mut count) = (None, 0);
        for one in self.touching(number) {
            let first = created_at.get_or_insert(one.fact.created_at);
            *first = one.fact.created_at.min(*first);
            count += 1;
            let is_full = best.len() == SUMMARY_FACTS_MAX;
            let is_worse = best.last().is_some_and(|last| is_full && rank(&one) < rank(last));
            if one.fact.invalid_at.is_none() && !is_worse {
                let at = best.partition_point(|better| rank(better) > rank(&one));
                best.insert(at, one);
                best.truncate(SUMMARY_FACTS_MAX);
            }
        }
        let mut summary = String::new();
        for fact in best {
            let text = self.sentence(fact);
            if summary.chars().count() + text.chars().count() + 2 > SUMMARY_CHARS_MAX {
                break;
            }
            if !summary.is_empty() {
                summary.push_str("; ");
            }
            summary.push_str(&text);
        }
        Entity {
            id: self.entity_id(number),
            name: row.name().to_owned(),
            labels: row.labels(),
            summary,
            created_at: created_at.unwrap_or(Timestamp::from_micros(0)),
            facts: count,
        }
    }

    /// The facts an entity is an end of, in no order.
    pub(super) fn touching(&self, number: u32) -> impl Iterator<Item = FactRef<'_>> {
        let groups = self.entities.rows[number as usize].groups.iter();
        groups.filter_map(|group| self.groups.at(*group)).flat_map(move |group| {
            let matter = group.matter;
            let is_end = move |fact: &&Resolved| matter.subject == number || fact.object == number;
            group.facts.iter().filter(is_end).map(move |fact| FactRef { matter, fact })
        })
    }
}
