//! What is known of one store: entities, facts in time and communities, derived from the claims of
//! its memories.
//!
//! Each memory's claims are kept beside the matter they are about, and what is known of a matter is
//! resolved anew whenever a claim about it comes or goes ([`timeline`]). So a memory that is gone
//! leaves nothing behind: facts only it supported go with it, others lose a supporter, and what it
//! had closed is open again.

mod entity;
mod fact;
mod filter;
mod group;
mod name;
mod phrase;
mod seek;
mod theme;
mod timeline;

#[cfg(test)]
mod tests;

pub use entity::Entity;
pub use fact::Fact;
pub use filter::{Comparison, Dates, Filter, Operator};
pub use name::{CommunityId, EntityId, FactId, key, words};
pub use seek::{Ranked, Scores, Seeking};
pub use theme::{Community, Theme};

use crate::claim::{Aspect, Claim};
use crate::ontology::Relation;
use entity::{Entities, Mentioned};
use group::Groups;
use loci_model::{MemoryId, StoreId, Timestamp};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use timeline::{Resolved, Stated, resolve};

/// A memory as the graph needs to know it.
#[derive(Debug, Clone)]
pub struct Source {
    /// Which.
    pub memory: MemoryId,
    /// When it was said.
    pub said: Timestamp,
    /// When it stops existing.
    pub expires_at: Option<Timestamp>,
    /// Facts somebody removed although it says them, by [`Fact::mark`].
    pub dismissed: Vec<u64>,
}

/// What several claims are about: of a relation that has one value, the relation; else one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Matter {
    subject: u32,
    family: Relation,
    part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    One(Aspect),
    Of(u32, Aspect),
}

#[derive(Debug)]
struct Known {
    matters: Vec<Matter>,
    mentions: Vec<Mentioned>,
    expires_at: Option<Timestamp>,
}

/// What is known of one store.
#[derive(Debug)]
pub struct Graph {
    store: u128,
    sources: HashMap<MemoryId, Known>,
    groups: Groups,
    entities: Entities,
    expiring: BTreeSet<(Timestamp, MemoryId)>,
    unsettled: HashSet<Matter>,
    readers: HashSet<Arc<str>>,
    facts: usize,
}

impl Graph {
    /// Nothing is known of a store yet.
    pub fn new(store: StoreId) -> Self {
        Self {
            store: store.as_u128(),
            sources: HashMap::new(),
            groups: Groups::default(),
            entities: Entities::default(),
            expiring: BTreeSet::new(),
            unsettled: HashSet::new(),
            readers: HashSet::new(),
            facts: 0,
        }
    }

    /// Takes in what a memory claims, instead of what it claimed before.
    pub fn put(&mut self, source: &Source, claims: Vec<Claim>) {
        self.remove(source.memory);
        if claims.is_empty() {
            return;
        }
        let mut known =
            Known { matters: Vec::new(), mentions: Vec::new(), expires_at: source.expires_at };
        for claim in claims {
            self.state(source, claim, &mut known);
        }
        if let Some(end) = source.expires_at {
            self.expiring.insert((end, source.memory));
        }
        self.sources.insert(source.memory, known);
    }

    fn state(&mut self, source: &Source, claim: Claim, known: &mut Known) {
        let names = [key(&claim.subject.name), key(&claim.object.name)];
        let mark = fact::mark(&names[0], claim.relation, &names[1], claim.is_negated);
        if names.iter().any(String::is_empty) || source.dismissed.contains(&mark) {
            return;
        }
        let [subject_key, object_key] = names;
        let mentions = [
            self.entities.mention(subject_key, &claim.subject),
            self.entities.mention(object_key, &claim.object),
        ];
        let [subject, object] = [mentions[0].entity, mentions[1].entity];
        known.mentions.extend(mentions);
        let matter = matter(subject, object, &claim);
        let reader = match self.readers.get(claim.reader.as_str()) {
            Some(reader) => Arc::clone(reader),
            None => {
                let reader: Arc<str> = claim.reader.into();
                self.readers.insert(Arc::clone(&reader));
                reader
            }
        };
        let (number, group) = self.groups.of(matter);
        group.stated.push(Stated {
            memory: source.memory,
            said: source.said,
            relation: claim.relation,
            object,
            is_negated: claim.is_negated,
            valid_at: claim.valid_at,
            invalid_at: claim.invalid_at,
            is_additional: claim.is_additional,
            confidence: claim.confidence,
            reader,
            trust: claim.trust,
        });
        for end in [subject, object] {
            self.entities.touch(end, number);
        }
        self.unsettled.insert(matter);
        known.matters.push(matter);
    }

    /// Forgets what a memory claimed.
    pub fn remove(&mut self, memory: MemoryId) {
        let Some(known) = self.sources.remove(&memory) else { return };
        if let Some(end) = known.expires_at {
            self.expiring.remove(&(end, memory));
        }
        for matter in known.matters {
            if let Some(group) = self.groups.get_mut(&matter) {
                group.stated.retain(|stated| stated.memory != memory);
            }
            self.unsettled.insert(matter);
        }
        for mentioned in &known.mentions {
            self.entities.unmention(mentioned);
        }
    }

    /// Forgets what memories claimed whose time is over.
    pub fn expire(&mut self, now: Timestamp) {
        while let Some((end, memory)) = self.expiring.first().copied() {
            if end > now {
                break;
            }
            self.remove(memory);
            self.expiring.remove(&(end, memory));
        }
    }

    /// Whether [`Self::expire`] has something to do.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expiring.first().is_some_and(|(end, _)| *end <= now)
    }

    /// When the first of the memories that claim something expires.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.expiring.first().map(|(end, _)| *end)
    }

    /// Resolves whatever claims came or went for. To be called after a run of changes, before
    /// anything is asked.
    pub fn settle(&mut self) {
        for matter in std::mem::take(&mut self.unsettled) {
            let Some(group) = self.groups.get_mut(&matter) else { continue };
            self.facts -= group.facts.len();
            if group.stated.is_empty() {
                let Some(number) = self.groups.remove(&matter) else { continue };
                let object = match matter.part {
                    Part::Of(object, _) => Some(object),
                    Part::One(_) => None,
                };
                for end in [Some(matter.subject), object].into_iter().flatten() {
                    self.entities.untouch(end, number);
                }
                continue;
            }
            group.stated.sort_by_key(|one| (one.said, one.memory, Reverse(one.trust)));
            let facts = resolve(&group.stated, matches!(matter.part, Part::One(_)));
            group.facts = facts.into_iter().collect();
            self.facts += group.facts.len();
        }
        self.entities.settle();
    }

    /// How many facts there are, those that are over included.
    pub fn len(&self) -> usize {
        self.facts
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.facts == 0
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.groups.bytes()
            + self.facts * 32
            + self.sources.len() * (size_of::<Known>() + 96)
            + self.entities.bytes()
    }

    /// One fact.
    pub fn fact(&self, id: FactId) -> Option<Fact> {
        self.all().map(|fact| self.show(fact)).find(|fact| fact.id == id)
    }

    fn all(&self) -> impl Iterator<Item = FactRef<'_>> {
        self.groups.iter().flat_map(|(_, group)| {
            group.facts.iter().map(|fact| FactRef { matter: group.matter, fact })
        })
    }
}

/// A fact and what it is about.
#[derive(Debug, Clone, Copy)]
struct FactRef<'a> {
    matter: Matter,
    fact: &'a Resolved,
}

/// What a claim is about. Where only one thing can be true at a time it is the relation; liking and
/// disliking are one matter, and so are being and having been.
fn matter(subject: u32, object: u32, claim: &Claim) -> Matter {
    let family = match claim.relation {
        Relation::Dislikes => Relation::Likes,
        Relation::WasPreviously => Relation::CurrentlyIs,
        other => other,
    };
    let part = match (family, claim.aspect) {
        (Relation::LivesAt | Relation::EmployedAt, _) => Part::One(Aspect::Other),
        (Relation::CurrentlyIs, Aspect::Other) => Part::Of(object, Aspect::Other),
        (Relation::CurrentlyIs, aspect) => Part::One(aspect),
        (_, aspect) => Part::Of(object, aspect),
    };
    Matter { subject, family, part }
}
