//! What goes when a store holds more than it should: a pure plan that compaction carries out and
//! tests compare with a model of the rules.
//!
//! Episodes go first, then summaries, then the rest; within each the least important first, then
//! what changed longest ago. What is pinned never goes. Episodes that go are merged into a summary
//! where at least two of them lie together; nothing is merged across a line that keeps readers
//! apart (partition, directory, visibility, scope), because a summary is read by whoever may read
//! where it lies.

use crate::{Memory, MemoryId, PrincipalId, Timestamp, Visibility};
use std::collections::BTreeMap;

/// The kind of what happened once; merged before anything else goes.
pub const EPISODE: &str = "episode";
/// The kind of what other memories were merged into.
pub const SUMMARY: &str = "summary";
/// What counts for a memory that says nothing about its importance.
pub const IMPORTANCE_DEFAULT: u8 = 50;
/// How many memories one step takes away at most; each step is one batch.
pub const STEP_MAX: usize = 500;

/// What compaction looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The memory.
    pub memory: MemoryId,
    /// Where it lies.
    pub place: Place,
    /// How soon it goes.
    class: Class,
    importance: u8,
    updated_at: Timestamp,
    is_pinned: bool,
    /// Whether a summary can quote it.
    is_text: bool,
}

/// Where a memory lies, as far as readers are kept apart by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Whose partition.
    pub partition: Option<PrincipalId>,
    /// The directory, with its trailing slash.
    pub directory: String,
    /// Who sees it.
    pub visibility: Visibility,
    /// Its grouping label.
    pub scope: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Episode,
    Summary,
    Lasting,
}

/// One batch: what is taken away together, and where a summary of it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// These become one summary, which lies where they lay.
    Merge(Place, Vec<MemoryId>),
    /// These go without one.
    Evict(Vec<MemoryId>),
}

impl Candidate {
    /// A memory as compaction sees it.
    pub fn of(memory: &Memory) -> Self {
        let attributes = &memory.attributes;
        let path = memory.path.as_str();
        let directory = path.rfind('/').map_or("/", |at| &path[..=at]);
        Self {
            memory: memory.id,
            place: Place {
                partition: memory.partition,
                directory: directory.to_owned(),
                visibility: attributes.visibility,
                scope: attributes.scope.clone(),
            },
            class: match attributes.kind.as_deref() {
                Some(EPISODE) => Class::Episode,
                Some(SUMMARY) => Class::Summary,
                _ => Class::Lasting,
            },
            importance: attributes.importance.unwrap_or(IMPORTANCE_DEFAULT),
            updated_at: memory.updated_at,
            is_pinned: attributes.pinned,
            is_text: !memory.is_sealed,
        }
    }

    fn may_merge(&self) -> bool {
        self.class == Class::Episode && self.is_text
    }

    /// Smaller goes sooner.
    fn rank(&self) -> (Class, u8, Timestamp, MemoryId) {
        (self.class, self.importance, self.updated_at, self.memory)
    }
}

/// What to do so that `keep` memories are left, or as few more as the pinned ones demand.
///
/// Merging so many episodes of one place frees one fewer, so the plan takes as many more as it writes
/// summaries. An episode that would go alone takes the next one of its place with it: a summary of
/// both frees as much, and says more than nothing.
pub fn plan(memories: &[Candidate], keep: usize) -> Vec<Step> {
    let mut going: Vec<&Candidate> = memories.iter().filter(|one| !one.is_pinned).collect();
    going.sort_by_key(|one| one.rank());
    let over = memories.len().saturating_sub(keep);
    let mut taken = over.min(going.len());
    loop {
        let (mut merged, mut evicted) = split(&going[..taken]);
        let freed = taken - merged.len();
        if freed >= over || taken == going.len() {
            pair_up(&mut merged, &mut evicted, &going[taken..]);
            return steps(&merged, evicted);
        }
        taken += 1;
    }
}

/// Episodes that lie together, in batches, and everything else.
fn split<'a>(going: &[&'a Candidate]) -> (Vec<Vec<&'a Candidate>>, Vec<&'a Candidate>) {
    let mut places: BTreeMap<&Place, Vec<&Candidate>> = BTreeMap::new();
    let mut evicted = Vec::new();
    for one in going {
        match one.may_merge() {
            true => places.entry(&one.place).or_default().push(one),
            false => evicted.push(*one),
        }
    }
    let mut merged = Vec::new();
    for together in places.into_values() {
        for batch in together.chunks(STEP_MAX) {
            match batch {
                [alone] => evicted.push(alone),
                batch => merged.push(batch.to_vec()),
            }
        }
    }
    (merged, evicted)
}

/// Gives each episode that goes alone the next of its place among those that would stay.
fn pair_up<'a>(
    merged: &mut Vec<Vec<&'a Candidate>>,
    evicted: &mut Vec<&'a Candidate>,
    staying: &[&'a Candidate],
) {
    let mut next: BTreeMap<&Place, &Candidate> = BTreeMap::new();
    for one in staying.iter().rev().filter(|one| one.may_merge()) {
        next.insert(&one.place, one);
    }
    evicted.retain(|one| {
        let other = one.may_merge().then(|| next.remove(&one.place)).flatten();
        merged.extend(other.map(|other| vec![*one, other]));
        other.is_none()
    });
}

fn steps(merged: &[Vec<&Candidate>], mut evicted: Vec<&Candidate>) -> Vec<Step> {
    evicted.sort_by_key(|one| one.rank());
    let ids = |some: &[&Candidate]| some.iter().map(|one| one.memory).collect::<Vec<_>>();
    let merges = merged.iter().map(|some| Step::Merge(some[0].place.clone(), ids(some)));
    let evictions = evicted.chunks(STEP_MAX).map(|some| Step::Evict(ids(some)));
    merges.chain(evictions).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(id: u128, class: Class, importance: u8, at: i64, is_pinned: bool) -> Candidate {
        let place = Place {
            partition: None,
            directory: "/".into(),
            visibility: Visibility::Context,
            scope: None,
        };
        let memory = MemoryId::from_u128(id);
        let updated_at = Timestamp::from_micros(at);
        Candidate { memory, place, class, importance, updated_at, is_pinned, is_text: true }
    }

    fn ids(step: &Step) -> Vec<u128> {
        let (Step::Merge(_, ids) | Step::Evict(ids)) = step;
        ids.iter().map(|id| id.as_u128()).collect()
    }

    #[test]
    fn episodes_merge_before_anything_else_goes() {
        let all = [
            one(1, Class::Lasting, 1, 1, false),
            one(2, Class::Episode, 90, 9, false),
            one(3, Class::Episode, 10, 5, false),
            one(4, Class::Episode, 10, 4, false),
            one(5, Class::Episode, 0, 1, true),
        ];
        let steps = plan(&all, 4);
        assert_eq!(steps.len(), 1);
        assert!(matches!(&steps[0], Step::Merge(..)));
        assert_eq!(ids(&steps[0]), [4, 3]);
    }

    #[test]
    fn what_is_left_over_goes_by_importance_and_age() {
        let all = [
            one(1, Class::Lasting, 50, 7, false),
            one(2, Class::Lasting, 50, 3, false),
            one(3, Class::Lasting, 10, 9, false),
            one(4, Class::Summary, 99, 9, false),
            one(5, Class::Episode, 0, 1, false),
        ];
        assert_eq!(plan(&all, 2).iter().map(ids).collect::<Vec<_>>(), [vec![5, 4, 3]]);
        assert!(plan(&all, 5).is_empty());
    }

    #[test]
    fn nothing_is_merged_across_what_keeps_readers_apart() {
        let mut hidden = one(2, Class::Episode, 0, 2, false);
        hidden.place.visibility = Visibility::Internal;
        let mut elsewhere = one(3, Class::Episode, 0, 3, false);
        elsewhere.place.directory = "/:u:ana/".into();
        let all = [one(1, Class::Episode, 0, 1, false), hidden, elsewhere];
        assert_eq!(plan(&all, 0), [Step::Evict(all.iter().map(|one| one.memory).collect())]);
    }

    fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
        let class = prop_oneof![Just(Class::Episode), Just(Class::Summary), Just(Class::Lasting)];
        let place = (0u8..3).prop_map(|n| format!("/{n}/"));
        let any_one = (class, 0u8..4, 0i64..20, any::<bool>(), place, any::<bool>());
        proptest::collection::vec(any_one, 0..60).prop_map(|all| {
            let numbered = all.into_iter().enumerate();
            numbered
                .map(|(n, (class, importance, at, is_pinned, directory, is_text))| {
                    let mut one = one(n as u128, class, importance, at, is_pinned);
                    one.place.directory = directory;
                    one.is_text = is_text;
                    one
                })
                .collect()
        })
    }

    proptest! {
        /// The rules, said another way: look at the result instead of at how it was made.
        #[test]
        fn the_plan_keeps_the_rules(all in candidates(), keep in 0usize..70) {
            let steps = plan(&all, keep);
            let gone: Vec<MemoryId> = steps.iter().flat_map(|step| match step {
                Step::Merge(_, ids) | Step::Evict(ids) => ids.clone(),
            }).collect();
            let summaries = steps.iter().filter(|step| matches!(step, Step::Merge(..))).count();
            let left = all.len() - gone.len() + summaries;
            let is_gone = |one: &Candidate| gone.contains(&one.memory);
            let pinned = all.iter().filter(|one| one.is_pinned).count();

            // Nothing goes twice, nothing that is pinned goes, and nothing goes without need.
            let mut unique = gone.clone();
            unique.sort();
            unique.dedup();
            prop_assert_eq!(unique.len(), gone.len());
            prop_assert!(!all.iter().any(|one| one.is_pinned && is_gone(one)));
            prop_assert!(all.len() > keep || gone.is_empty());
            // Enough goes, unless everything that may go has gone.
            prop_assert!(left <= keep || gone.len() == all.len() - pinned);
            // Not much more than enough: at most one for each summary that was written.
            prop_assert!(gone.is_empty() || left + 1 + summaries > keep);
            // Whoever stays would have gone later than whoever went, but for those that were taken
            // along so that another did not go alone.
            let taken_along: Vec<MemoryId> = steps.iter().filter_map(|step| match step {
                Step::Merge(_, ids) if ids.len() == 2 => Some(ids[1]),
                _ => None,
            }).collect();
            let went = all.iter().filter(|one| is_gone(one) && !taken_along.contains(&one.memory));
            let last = went.map(Candidate::rank).max();
            let stayed = all.iter().filter(|one| !is_gone(one) && !one.is_pinned);
            let first = stayed.map(Candidate::rank).min();
            prop_assert!(last.is_none() || first.is_none() || last < first);
            // No episode goes without a summary while another of its place is left.
            for step in &steps {
                let Step::Evict(ids) = step else { continue };
                for one in all.iter().filter(|one| ids.contains(&one.memory) && one.may_merge()) {
                    let other = |other: &&Candidate| {
                        other.place == one.place && other.may_merge() && !other.is_pinned
                    };
                    prop_assert!(!all.iter().filter(other).any(|other| !is_gone(other)));
                }
            }
            // Only texts of episodes of one place are merged, never one alone.
            for step in &steps {
                if let Step::Merge(place, ids) = step {
                    prop_assert!(ids.len() > 1);
                    for id in ids {
                        let one = all.iter().find(|one| one.memory == *id).unwrap();
                        prop_assert_eq!(&one.place, place);
                        prop_assert!(one.class == Class::Episode && one.is_text);
                    }
                }
            }
        }
    }
}
