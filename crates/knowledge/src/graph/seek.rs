//! Finds what a question is about. Facts are compared by what sort of fact is asked for, by words,
//! and by how well the memories that support them fit; entities by the facts they are in.
//!
//! What fits a question by meaning is known of the 37 relations and labels, not of each fact: a fact
//! is a short sentence, and what tells it from others of its sort are its words and its memories.

use super::entity::Entity;
use super::fact::Fact;
use super::filter::Filter;
use super::name::{CommunityId, EntityId, words};
use super::theme::{Community, Theme};
use super::{FactRef, Graph};
use crate::ontology::{Label, Relation};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use loci_model::{MemoryId, Timestamp};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Facts whose ends are looked at for entities.
const ENTITY_FACTS: usize = 200;
/// The best facts, which nearly always are enough; only they are put in order.
const BEST_FACTS: usize = 1024;
/// Facts of a community, at least; and shown in its summary, at most.
const COMMUNITY_FACTS_MIN: usize = 3;
const COMMUNITY_FACTS_MAX: usize = 6;
const COMMUNITY_CHARS_MAX: usize = 300;
/// Entities reached from the one in the middle.
const AROUND_MAX: usize = 5000;

const WORDS_WEIGHT: f32 = 1.2;
const SORT_WEIGHT: f32 = 1.0;
const SOURCE_WEIGHT: f32 = 0.9;
const SUPPORT_WEIGHT: f32 = 0.1;
const AROUND_WEIGHT: f32 = 2.0;
const LABEL_WEIGHT: f32 = 0.4;

/// How well sorts of facts and memories fit a question, each from 0 to 1.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    /// For each of [`Relation::ALL`].
    pub relations: Vec<f32>,
    /// For each of [`Label::ALL`].
    pub labels: Vec<f32>,
    /// For the memories that fit.
    pub sources: HashMap<MemoryId, f32>,
}

/// A question.
#[derive(Debug, Clone)]
pub struct Seeking<'a> {
    /// Its words.
    pub text: &'a str,
    /// What fits it.
    pub scores: &'a Scores,
    /// What may be shown.
    pub filter: &'a Filter,
    /// What it is around, if anything.
    pub center: Option<EntityId>,
    /// How much newer is better, from 0 to 1.
    pub recency: f32,
    /// How much different is better, from 0 to 1.
    pub diversity: f32,
    /// The present.
    pub now: Timestamp,
    /// How many facts, entities and communities.
    pub limits: (usize, usize, usize),
}

/// What was found, best first.
#[derive(Debug, Clone, Default)]
pub struct Ranked {
    /// Facts.
    pub facts: Vec<(f32, Fact)>,
    /// Entities.
    pub entities: Vec<(f32, Entity)>,
    /// Communities.
    pub communities: Vec<(f32, Community)>,
}

/// What the words and the memories of a question lead to.
struct Asked {
    /// How much of the name of each entity was asked for.
    overlaps: Vec<f32>,
    /// The entities of whose names something was.
    named: Vec<u32>,
    /// The groups that a memory which fits states something in.
    fitting: Vec<bool>,
    /// Entities near the one in the middle.
    around: Option<HashMap<u32, u8>>,
}

/// An entity and how well it fits. The best is the greatest; of equals, the first in the alphabet.
struct Named<'a> {
    score: f32,
    key: &'a str,
    number: u32,
}

impl Ord for Named<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.key.cmp(self.key))
    }
}

impl PartialOrd for Named<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Named<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Named<'_> {}

/// A fact, how well it fits, and the theme it belongs to while it is so.
#[derive(Clone, Copy)]
struct Scored<'a> {
    score: f32,
    theme: Option<Theme>,
    at: FactRef<'a>,
}

impl<'a> Scored<'a> {
    fn new(score: f32, at: FactRef<'a>) -> Self {
        let is_so = at.fact.invalid_at.is_none();
        Self { score, theme: is_so.then(|| Theme::of(at.fact.relation)), at }
    }

    /// The community that it belongs to.
    fn community(&self) -> Option<(u32, Theme)> {
        self.theme.map(|theme| (self.at.matter.subject, theme))
    }
}

/// The better one first. Ties in an order that does not depend on how the facts happen to lie in memory.
fn better(x: &Scored<'_>, y: &Scored<'_>) -> Ordering {
    let newer = |one: &FactRef<'_>| (one.fact.created_at, one.matter, one.fact.object);
    y.score
        .total_cmp(&x.score)
        .then_with(|| newer(&y.at).cmp(&newer(&x.at)))
        .then_with(|| x.at.fact.ordinal.cmp(&y.at.fact.ordinal))
}

/// Themes that enough is known of to be a community.
fn count_themes(scored: &[Scored<'_>]) -> HashMap<(u32, Theme), usize> {
    let mut counts: HashMap<(u32, Theme), usize> = HashMap::new();
    for theme in scored.iter().filter_map(Scored::community) {
        *counts.entry(theme).or_default() += 1;
    }
    counts.retain(|_, count| *count >= COMMUNITY_FACTS_MIN);
    counts
}

/// The themes of the best facts, which are in order.
fn best_themes(
    scored: &[Scored<'_>],
    themes: &HashMap<(u32, Theme), usize>,
    limit: usize,
) -> Vec<(u32, Theme)> {
    let mut best = Vec::new();
    for theme in scored.iter().filter_map(Scored::community) {
        if best.len() >= limit.min(themes.len()) {
            break;
        }
        if themes.contains_key(&theme) && !best.contains(&theme) {
            best.push(theme);
        }
    }
    best
}

impl Graph {
    /// Finds what a question is about.
    pub fn seek(&self, seeking: &Seeking<'_>) -> Ranked {
        if seeking.limits == (0, 0, 0) {
            return Ranked::default();
        }
        let asked = self.asked(seeking);
        let is_wanted = |fact: &FactRef<'_>| self.is_wanted(*fact, seeking.filter);
        let mut scored: Vec<Scored<'_>> = Vec::with_capacity(self.len());
        for (number, group) in self.groups.iter() {
            let is_fitting = asked.fitting[number as usize];
            let facts = group.facts.iter().map(|fact| FactRef { matter: group.matter, fact });
            let score = |at| Some(Scored::new(self.score(at, seeking, &asked, is_fitting)?, at));
            scored.extend(facts.filter(is_wanted).filter_map(score));
        }
        let limits = seeking.limits;
        let themes = if limits.2 > 0 { count_themes(&scored) } else { HashMap::default() };
        let cut = BEST_FACTS.min(scored.len());
        if cut < scored.len() {
            scored.select_nth_unstable_by(cut, better);
        }
        scored[..cut].sort_unstable_by(better);
        let (mut facts, mut is_short) = self.distinct(&scored[..cut], seeking.diversity, limits.0);
        let mut communities = best_themes(&scored[..cut], &themes, limits.2);
        let is_cut = cut < scored.len();
        is_short |= communities.len() < limits.2.min(themes.len());
        if is_cut && is_short {
            // Much is said more than once, or of one theme: all of it counts.
            scored.sort_unstable_by(better);
            (facts, _) = self.distinct(&scored, seeking.diversity, limits.0);
            communities = best_themes(&scored, &themes, limits.2);
        }
        let entities = self.entities_of(&scored[..cut], seeking, &asked, limits.1);
        let community = |(subject, theme)| self.community(subject, theme, &scored);
        let communities = communities.into_iter().map(community).collect();
        Ranked { facts, entities, communities }
    }

    fn is_wanted(&self, at: FactRef<'_>, filter: &Filter) -> bool {
        let fact = at.fact;
        let is_of = |relations: &Vec<Relation>| relations.contains(&fact.relation);
        if !filter.relations.as_ref().is_none_or(is_of) {
            return false;
        }
        if let Some(labels) = &filter.labels {
            let has = |end: u32| {
                let row = &self.entities.rows[end as usize];
                row.labels.iter().any(|(label, _)| labels.contains(label))
            };
            if !has(at.matter.subject) && !has(fact.object) {
                return false;
            }
        }
        let was_true = |at: Timestamp| {
            fact.valid_at.unwrap_or(fact.created_at) <= at
                && fact.invalid_at.is_none_or(|end| at < end)
        };
        filter.true_at.is_none_or(was_true)
            && filter.valid_at.hold(fact.valid_at)
            && filter.invalid_at.hold(fact.invalid_at)
            && filter.created_at.hold(Some(fact.created_at))
            && filter.expired_at.hold(fact.expired_at)
    }

    /// What the words and the memories of a question lead to.
    fn asked(&self, seeking: &Seeking<'_>) -> Asked {
        let words: HashSet<u64> = words(seeking.text).collect();
        let (overlaps, named) = self.entities.overlaps(&words);
        let mut fitting = vec![false; self.groups.end()];
        let sources = seeking.scores.sources.keys();
        let matters = sources.filter_map(|memory| self.sources.get(memory));
        for matter in matters.flat_map(|known| &known.matters) {
            if let Some(number) = self.groups.number(matter) {
                fitting[number as usize] = true;
            }
        }
        let around = seeking.center.map(|center| self.around(center));
        Asked { overlaps, named, fitting, around }
    }

    /// How well a fact fits; nothing when it is too far from the middle.
    fn score(
        &self,
        at: FactRef<'_>,
        seeking: &Seeking<'_>,
        asked: &Asked,
        is_fitting: bool,
    ) -> Option<f32> {
        let fact = at.fact;
        let scores = seeking.scores;
        let sort = scores.relations.get(fact.relation as usize).copied().unwrap_or_default();
        let object = asked.overlaps[fact.object as usize];
        let subject = asked.overlaps[at.matter.subject as usize];
        let source = |memory| scores.sources.get(memory).copied();
        let source = match is_fitting {
            true => fact.sources.iter().filter_map(source).fold(0.0, f32::max),
            false => 0.0,
        };
        let supporters = u16::try_from(fact.sources.len()).unwrap_or(u16::MAX);
        let mut score = SORT_WEIGHT * sort
            + WORDS_WEIGHT * object
            + WORDS_WEIGHT * 0.3 * subject
            + SOURCE_WEIGHT * source
            + SUPPORT_WEIGHT * (1.0 - 1.0 / f32::from(supporters.max(1)))
            + seeking.recency * freshness(fact.created_at, seeking.now);
        // What is over is worth less than what is so, where both are asked for.
        if fact.invalid_at.is_some() {
            score *= 0.6;
        }
        if let Some(around) = &asked.around {
            let nearest = [at.matter.subject, fact.object].map(|end| around.get(&end)).into_iter();
            let steps = nearest.flatten().min()?;
            score += AROUND_WEIGHT / f32::from(1 + steps);
        }
        Some(score * fact.confidence.clamp(0.5, 1.0))
    }

    /// Entities near one, and how many steps away they are.
    fn around(&self, center: EntityId) -> HashMap<u32, u8> {
        let numbers = 0..u32::try_from(self.entities.rows.len()).unwrap_or(u32::MAX);
        let is_it = |number: &u32| {
            self.entities.rows[*number as usize].is_there() && self.entity_id(*number) == center
        };
        let mut steps: HashMap<u32, u8> =
            numbers.filter(is_it).take(1).map(|one| (one, 0)).collect();
        for step in 1..=2 {
            let edge: Vec<u32> =
                steps.iter().filter(|(_, at)| **at == step - 1).map(|(one, _)| *one).collect();
            for one in edge {
                for fact in self.touching(one) {
                    if steps.len() >= AROUND_MAX {
                        return steps;
                    }
                    for end in [fact.matter.subject, fact.fact.object] {
                        steps.entry(end).or_insert(step);
                    }
                }
            }
        }
        steps
    }

    /// The best, none of which says what another says already; and whether more were wanted.
    fn distinct(
        &self,
        scored: &[Scored<'_>],
        diversity: f32,
        limit: usize,
    ) -> (Vec<(f32, Fact)>, bool) {
        let mut told: HashSet<String> = HashSet::new();
        let mut sorts: HashMap<Relation, u16> = HashMap::new();
        let mut found: Vec<(f32, Fact)> = Vec::with_capacity(limit.min(scored.len()));
        // With diversity, those of a sort that was told often wait for the next round.
        let share = (limit as f32 * (1.0 - diversity)).ceil().max(1.0) as u16;
        let mut waiting = Vec::new();
        for Scored { score, at, .. } in scored {
            if found.len() >= limit {
                break;
            }
            let text = super::name::key(&self.sentence(*at));
            if told.contains(&text) {
                continue;
            }
            let count = sorts.entry(at.fact.relation).or_default();
            if diversity > 0.0 && *count >= share {
                waiting.push((score, at));
                continue;
            }
            *count += 1;
            told.insert(text);
            found.push((*score, self.show(*at)));
        }
        let is_short = found.len() < limit;
        for (score, at) in waiting {
            if found.len() >= limit {
                break;
            }
            if told.insert(super::name::key(&self.sentence(*at))) {
                found.push((*score, self.show(*at)));
            }
        }
        (found, is_short)
    }

    fn entities_of(
        &self,
        scored: &[Scored<'_>],
        seeking: &Seeking<'_>,
        asked: &Asked,
        limit: usize,
    ) -> Vec<(f32, Entity)> {
        if limit == 0 {
            return Vec::new();
        }
        let mut scores: HashMap<u32, f32> = HashMap::new();
        for Scored { score, at, .. } in scored.iter().take(ENTITY_FACTS) {
            for end in [at.matter.subject, at.fact.object] {
                let best = scores.entry(end).or_default();
                *best = best.max(*score);
            }
        }
        // Whoever is called by name is meant, whatever is known of them.
        for number in &asked.named {
            if self.entities.rows[*number as usize].is_there() {
                scores.entry(*number).or_default();
            }
        }
        let filter = seeking.filter;
        // Whoever is called by a common word is one of many: only the best are put in order.
        let mut best: BinaryHeap<Named<'_>> = scores
            .into_iter()
            .filter(|(number, _)| {
                let row = &self.entities.rows[*number as usize];
                let is_of = |labels: &Vec<Label>| {
                    row.labels.iter().any(|(label, _)| labels.contains(label))
                };
                filter.labels.as_ref().is_none_or(is_of)
            })
            .map(|(number, score)| {
                let row = &self.entities.rows[number as usize];
                let label = |(label, _): &(Label, u32)| {
                    seeking.scores.labels.get(*label as usize).copied().unwrap_or_default()
                };
                let labels = row.labels.iter().map(label).fold(0.0, f32::max);
                let words = asked.overlaps[number as usize];
                let score = score + LABEL_WEIGHT * labels + WORDS_WEIGHT * words;
                Named { score, key: &row.key, number }
            })
            .collect();
        let shown = std::iter::from_fn(|| best.pop());
        let shown = shown.map(|one| (one.score, self.entity(one.number)));
        shown.filter(|(_, one)| filter.created_at.hold(Some(one.created_at))).take(limit).collect()
    }

    fn community(&self, subject: u32, theme: Theme, scored: &[Scored<'_>]) -> (f32, Community) {
        let is_of = |one: &&Scored<'_>| one.community() == Some((subject, theme));
        let mut facts: Vec<Scored<'_>> = scored.iter().filter(is_of).copied().collect();
        let newest = facts.iter().map(|one| one.at.fact.created_at).max();
        if facts.len() > COMMUNITY_FACTS_MAX {
            facts.select_nth_unstable_by(COMMUNITY_FACTS_MAX, better);
            facts.truncate(COMMUNITY_FACTS_MAX);
        }
        facts.sort_unstable_by(better);
        let row = &self.entities.rows[subject as usize];
        let id = CommunityId::of(self.store, &[row.key.as_bytes(), theme.name().as_bytes()]);
        let mut told: Vec<String> = Vec::new();
        let mut chars = 0;
        for Scored { at, .. } in &facts {
            let text = self.sentence(*at);
            chars += text.chars().count() + 2;
            if chars > COMMUNITY_CHARS_MAX {
                break;
            }
            if !told.contains(&text) {
                told.push(text);
            }
        }
        let community = Community {
            id,
            name: format!("{}: {}", row.name(), theme.name()),
            summary: told.join("; "),
            created_at: newest.unwrap_or(Timestamp::from_micros(0)),
        };
        (facts.first().map_or(0.0, |best| best.score), community)
    }

    /// Facts in the order in which they were learned, the newest first, after so many, and how many
    /// there are; with a name, those about whoever is called so.
    pub fn list(
        &self,
        filter: &Filter,
        about: Option<&str>,
        after: usize,
        limit: usize,
    ) -> (Vec<Fact>, usize) {
        let wanted = |fact: &FactRef<'_>| self.is_wanted(*fact, filter);
        let mut all: Vec<FactRef<'_>> = match about {
            None => self.all().filter(wanted).collect(),
            Some(name) => match self.entities.by_key(&super::name::key(name)) {
                Some(number) => self.touching(number).filter(wanted).collect(),
                None => Vec::new(),
            },
        };
        all.sort_by_key(|at| {
            Reverse((at.fact.created_at, at.matter, at.fact.object, at.fact.ordinal))
        });
        let total = all.len();
        (all.into_iter().skip(after).take(limit).map(|at| self.show(at)).collect(), total)
    }

    /// Entities by their names, after so many, and how many there are.
    pub fn list_entities(
        &self,
        filter: &Filter,
        after: usize,
        limit: usize,
    ) -> (Vec<Entity>, usize) {
        let mut all: Vec<(&str, u32)> = (0..)
            .zip(&self.entities.rows)
            .filter(|(_, row)| row.is_there())
            .filter(|(_, row)| {
                let is_of = |labels: &Vec<Label>| {
                    row.labels.iter().any(|(label, _)| labels.contains(label))
                };
                filter.labels.as_ref().is_none_or(is_of)
            })
            .map(|(number, row)| (&*row.key, number))
            .collect();
        all.sort_unstable();
        let total = all.len();
        let shown = all.into_iter().skip(after).take(limit);
        (shown.map(|(_, number)| self.entity(number)).collect(), total)
    }
}

/// 1 for what was just learned, half of it after a month.
fn freshness(at: Timestamp, now: Timestamp) -> f32 {
    const MONTH_MICROS: f32 = 30.0 * 86_400.0 * 1e6;
    let age = now.as_micros().saturating_sub(at.as_micros()).max(0) as f32;
    1.0 / (1.0 + age / MONTH_MICROS)
}
