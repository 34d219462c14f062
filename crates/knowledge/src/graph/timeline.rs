//! What was true when: the statements about one matter, put in order, become facts with an interval.
//!
//! Nothing is ever deleted by a newer statement. A contradiction closes what it contradicts at the
//! moment the new is true from, and notes when that was learned; news about an earlier time is
//! closed by what came after it; saying the same again adds a supporter. The result depends on what
//! is stated and when, and on nothing else, so taking a statement away takes back what it did.

use crate::claim::Trust;
use crate::ontology::Relation;
use loci_model::{MemoryId, Timestamp};
use std::collections::HashMap;
use std::sync::Arc;

/// What happened so long before something was said is no news to it.
const LONG_AGO_MICROS: i64 = 365 * 86_400 * 1_000_000;

/// One statement of one memory.
#[derive(Debug, Clone)]
pub(crate) struct Stated {
    pub(crate) memory: MemoryId,
    pub(crate) said: Timestamp,
    pub(crate) relation: Relation,
    pub(crate) object: u32,
    pub(crate) is_negated: bool,
    pub(crate) valid_at: Option<Timestamp>,
    pub(crate) invalid_at: Option<Timestamp>,
    pub(crate) is_additional: bool,
    pub(crate) confidence: f32,
    pub(crate) reader: Arc<str>,
    pub(crate) trust: Trust,
}

/// A fact, as the statements about its matter leave it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Resolved {
    pub(crate) relation: Relation,
    pub(crate) object: u32,
    pub(crate) is_negated: bool,
    pub(crate) valid_at: Option<Timestamp>,
    pub(crate) invalid_at: Option<Timestamp>,
    pub(crate) created_at: Timestamp,
    pub(crate) expired_at: Option<Timestamp>,
    /// Which of several intervals of the same fact this is.
    pub(crate) ordinal: u32,
    pub(crate) sources: Vec<MemoryId>,
    pub(crate) confidence: f32,
    pub(crate) reader: Arc<str>,
    pub(crate) trust: Trust,
}

impl Stated {
    /// Whether rules read something else about the matter in the same memory: then what a model
    /// read there does not count.
    fn is_overruled(&self, by_rules: &HashMap<MemoryId, Vec<&Self>>) -> bool {
        let same = |rule: &&Self| {
            rule.object == self.object
                && rule.relation == self.relation
                && rule.is_negated == self.is_negated
                && rule.invalid_at.is_some() == self.invalid_at.is_some()
        };
        let read = by_rules.get(&self.memory).filter(|_| self.trust == Trust::Model);
        read.is_some_and(|read| !read.iter().any(same))
    }
}

impl Resolved {
    /// From when on it is true, as far as anybody said.
    fn start(&self) -> Timestamp {
        self.valid_at.unwrap_or(self.created_at)
    }

    fn is_open(&self) -> bool {
        self.invalid_at.is_none()
    }

    /// Whether this began later than something that began at `start` and was told later. Where
    /// nobody said when this began, whoever speaks last is right, unless they tell of long ago: "I
    /// moved last month" is news, "I moved there ten years ago" is none.
    fn came_after(&self, start: Timestamp) -> bool {
        match self.valid_at {
            Some(from) => from > start,
            None => self.created_at.as_micros() - start.as_micros() > LONG_AGO_MICROS,
        }
    }

    fn says_the_same(&self, stated: &Stated) -> bool {
        self.object == stated.object
            && self.relation == stated.relation
            && self.is_negated == stated.is_negated
    }

    /// Whether both cannot be true at once. Only one thing holds of a matter that has one value,
    /// and of one thing only either it or its opposite.
    fn contradicts(&self, stated: &Stated, has_one_value: bool) -> bool {
        // What once was stays so.
        if self.relation == Relation::WasPreviously {
            return false;
        }
        if self.object == stated.object {
            return !self.says_the_same(stated);
        }
        let has_one_value = has_one_value && stated.relation != Relation::WasPreviously;
        has_one_value && !self.is_negated && !stated.is_negated && !stated.is_additional
    }

    fn close(&mut self, at: Timestamp, learned: Timestamp) {
        self.invalid_at = Some(at);
        self.expired_at = Some(self.expired_at.map_or(learned, |known| known.min(learned)));
    }

    fn support(&mut self, stated: &Stated) {
        if !self.sources.contains(&stated.memory) {
            self.sources.push(stated.memory);
        }
        if stated.trust < self.trust {
            // It is known better already, from when on included.
            return;
        }
        if (stated.trust, stated.confidence) > (self.trust, self.confidence) {
            self.confidence = stated.confidence;
            self.reader = Arc::clone(&stated.reader);
            self.trust = stated.trust;
        }
        // What was said earlier without a date began at the latest when it was said.
        if let Some(from) = stated.valid_at
            && self.invalid_at.is_none_or(|until| from <= until)
        {
            self.valid_at = Some(self.valid_at.map_or(from, |known| known.min(from)));
        }
    }
}

/// What follows from statements about one matter, which are sorted by when they were made.
pub(crate) fn resolve(stated: &[Stated], has_one_value: bool) -> Vec<Resolved> {
    let mut facts: Vec<Resolved> = Vec::new();
    let mut by_rules: HashMap<MemoryId, Vec<&Stated>> = HashMap::new();
    if stated.iter().any(|one| one.trust == Trust::Model) {
        for one in stated.iter().filter(|one| one.trust == Trust::Rules) {
            by_rules.entry(one.memory).or_default().push(one);
        }
    }
    for one in stated.iter().filter(|one| !one.is_overruled(&by_rules)) {
        match one.invalid_at {
            Some(end) => ended(&mut facts, one, end),
            None => begun(&mut facts, one, has_one_value),
        }
    }
    facts
}

/// Somebody says that something is over.
fn ended(facts: &mut Vec<Resolved>, stated: &Stated, end: Timestamp) {
    if stated.relation == Relation::WasPreviously {
        let is = |fact: &&mut Resolved| fact.object == stated.object && fact.is_open();
        for present in facts.iter_mut().filter(is) {
            present.close(end.max(present.valid_at.unwrap_or(end)), stated.said);
        }
    }
    let same = |fact: &&mut Resolved| fact.says_the_same(stated);
    let open = facts.iter_mut().filter(same).find(|fact| fact.is_open());
    let known = match open {
        Some(open) => Some(open),
        None => facts.iter_mut().rev().find(same),
    };
    match known {
        Some(fact) => {
            if fact.is_open() {
                fact.close(end.max(fact.valid_at.unwrap_or(end)), stated.said);
            }
            fact.support(stated);
        }
        None => {
            let mut fact = new(facts, stated);
            fact.close(end, stated.said);
            facts.push(fact);
        }
    }
}

/// Somebody says that something is so.
fn begun(facts: &mut Vec<Resolved>, stated: &Stated, has_one_value: bool) {
    if let Some(same) = facts.iter_mut().find(|fact| fact.says_the_same(stated) && fact.is_open()) {
        same.support(stated);
        return;
    }
    let mut fact = new(facts, stated);
    let start = fact.start();
    let mut closed_by: Option<Timestamp> = None;
    for other in facts.iter_mut() {
        if !other.contradicts(stated, has_one_value) {
            continue;
        }
        if other.came_after(start) {
            closed_by = Some(closed_by.map_or(other.start(), |known| known.min(other.start())));
        } else if other.is_open() {
            other.close(start, stated.said);
        }
    }
    if let Some(end) = closed_by {
        fact.close(end, stated.said);
    }
    facts.push(fact);
}

fn new(facts: &[Resolved], stated: &Stated) -> Resolved {
    let earlier = facts.iter().filter(|fact| fact.says_the_same(stated)).count();
    Resolved {
        relation: stated.relation,
        object: stated.object,
        is_negated: stated.is_negated,
        valid_at: stated.valid_at,
        invalid_at: None,
        created_at: stated.said,
        expired_at: None,
        ordinal: u32::try_from(earlier).unwrap_or(u32::MAX),
        sources: vec![stated.memory],
        confidence: stated.confidence,
        reader: Arc::clone(&stated.reader),
        trust: stated.trust,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000;

    fn day(days: i64) -> Timestamp {
        Timestamp::from_micros(days * DAY)
    }

    /// Says on a day that something is so, in memory of that number.
    fn says(said: i64, object: u32) -> Stated {
        Stated {
            memory: MemoryId::from_bytes(u128::try_from(said).unwrap().to_be_bytes()),
            said: day(said),
            relation: Relation::LivesAt,
            object,
            is_negated: false,
            valid_at: None,
            invalid_at: None,
            is_additional: false,
            confidence: 1.0,
            reader: "test".into(),
            trust: Trust::Rules,
        }
    }

    /// (object, valid, invalid, created, expired, supporters), in days.
    type Shown = (u32, Option<i64>, Option<i64>, i64, Option<i64>, usize);

    fn shown(facts: &[Resolved]) -> Vec<Shown> {
        let days = |at: Timestamp| at.as_micros() / DAY;
        let one = |fact: &Resolved| {
            (
                fact.object,
                fact.valid_at.map(days),
                fact.invalid_at.map(days),
                days(fact.created_at),
                fact.expired_at.map(days),
                fact.sources.len(),
            )
        };
        facts.iter().map(one).collect()
    }

    #[test]
    fn a_new_value_closes_the_old_one_and_deletes_nothing() {
        let facts = resolve(&[says(1, 10), says(5, 11)], true);
        assert_eq!(
            shown(&facts),
            [(10, None, Some(5), 1, Some(5), 1), (11, None, None, 5, None, 1)]
        );
        let moved = Stated { valid_at: Some(day(3)), ..says(5, 11) };
        assert_eq!(
            shown(&resolve(&[says(1, 10), moved], true))[0],
            (10, None, Some(3), 1, Some(5), 1)
        );
    }

    #[test]
    fn several_values_stay_side_by_side_where_there_may_be_several() {
        assert_eq!(
            resolve(&[says(1, 10), says(5, 11)], false).iter().filter(|f| f.is_open()).count(),
            2
        );
        let also = Stated { is_additional: true, ..says(5, 11) };
        assert_eq!(resolve(&[says(1, 10), also], true).iter().filter(|f| f.is_open()).count(), 2);
    }

    #[test]
    fn saying_it_again_adds_a_supporter_and_an_earlier_beginning() {
        let since = Stated { valid_at: Some(day(0)), ..says(9, 10) };
        assert_eq!(shown(&resolve(&[says(1, 10), since], true)), [(10, Some(0), None, 1, None, 2)]);
    }

    #[test]
    fn news_of_an_earlier_time_is_closed_by_what_came_after() {
        let known = Stated { valid_at: Some(day(4)), ..says(5, 10) };
        let earlier = Stated { valid_at: Some(day(2)), ..says(9, 11) };
        assert_eq!(
            shown(&resolve(&[known, earlier.clone()], true)),
            [(10, Some(4), None, 5, None, 1), (11, Some(2), Some(4), 9, Some(9), 1)]
        );
        // Nobody said since when: then whoever speaks last is right about what was a while ago.
        assert_eq!(
            shown(&resolve(&[says(5, 10), earlier], true)),
            [(10, None, Some(2), 5, Some(9), 1), (11, Some(2), None, 9, None, 1)]
        );
        let long_ago = Stated { valid_at: Some(day(2)), ..says(909, 11) };
        assert_eq!(
            shown(&resolve(&[says(900, 10), long_ago], true)),
            [(10, None, None, 900, None, 1), (11, Some(2), Some(900), 909, Some(909), 1)]
        );
    }

    #[test]
    fn what_is_over_and_begins_again_is_two_facts() {
        let left = Stated { invalid_at: Some(day(4)), ..says(5, 10) };
        let facts = resolve(&[says(1, 10), left, says(9, 10)], true);
        assert_eq!(
            shown(&facts),
            [(10, None, Some(4), 1, Some(5), 2), (10, None, None, 9, None, 1)]
        );
        assert_eq!([facts[0].ordinal, facts[1].ordinal], [0, 1]);
    }

    #[test]
    fn a_denial_closes_what_it_denies_and_liking_what_was_disliked() {
        let denied = Stated { is_negated: true, ..says(5, 10) };
        assert_eq!(
            shown(&resolve(&[says(1, 10), denied], false))[0],
            (10, None, Some(5), 1, Some(5), 1)
        );
        let relation = Relation::Likes;
        let likes = Stated { relation, ..says(1, 10) };
        let dislikes = Stated { relation: Relation::Dislikes, ..says(5, 10) };
        assert_eq!(
            shown(&resolve(&[likes, dislikes], false))[0],
            (10, None, Some(5), 1, Some(5), 1)
        );
    }

    #[test]
    fn a_former_role_ends_the_present_one_and_nothing_else() {
        let role = |relation, said, object| Stated { relation, ..says(said, object) };
        let (is, was) = (Relation::CurrentlyIs, Relation::WasPreviously);
        let facts = resolve(&[role(is, 1, 10), role(was, 5, 10)], true);
        assert_eq!(shown(&facts)[0], (10, None, Some(5), 1, Some(5), 1));
        let ended = Stated { invalid_at: Some(day(4)), ..role(was, 5, 10) };
        assert_eq!(
            shown(&resolve(&[role(is, 1, 10), ended], true))[0],
            (10, None, Some(4), 1, Some(5), 1)
        );
        let facts = resolve(&[role(is, 1, 11), role(was, 5, 10), role(is, 7, 10)], true);
        assert_eq!(shown(&facts)[0].2, Some(7), "another role is closed by a new one only");
        assert!(facts[1].is_open(), "what once was stays so");
    }

    #[test]
    fn a_model_does_not_contradict_what_rules_read_in_the_same_memory() {
        let model = |said, object| Stated {
            trust: Trust::Model,
            confidence: 0.5,
            reader: "test:model".into(),
            ..says(said, object)
        };
        let facts = resolve(&[says(5, 10), model(5, 11)], true);
        assert_eq!(shown(&facts), [(10, None, None, 5, None, 1)]);
        let over = Stated { invalid_at: Some(day(4)), ..model(5, 10) };
        assert_eq!(shown(&resolve(&[says(5, 10), over], true)), [(10, None, None, 5, None, 1)]);
        let facts = resolve(&[says(5, 10), model(5, 10)], true);
        assert_eq!((facts.len(), facts[0].trust, &*facts[0].reader), (1, Trust::Rules, "test"));
        // Another memory is another matter: what was said later is newer.
        let facts = resolve(&[says(5, 10), model(6, 11)], true);
        assert_eq!(
            shown(&facts),
            [(10, None, Some(6), 5, Some(6), 1), (11, None, None, 6, None, 1)]
        );
        assert_eq!((facts[1].trust, &*facts[1].reader), (Trust::Model, "test:model"));
        // Rules that say the same later are who it is known from.
        let facts = resolve(&[model(5, 10), says(6, 10)], true);
        assert_eq!((facts.len(), facts[0].trust, facts[0].sources.len()), (1, Trust::Rules, 2));
    }

    #[test]
    fn taking_a_statement_away_takes_back_what_it_did() {
        let all = [says(1, 10), says(5, 11), says(7, 12)];
        let without: Vec<Stated> = [&all[0], &all[2]].into_iter().cloned().collect();
        assert_eq!(shown(&resolve(&all, true))[0], (10, None, Some(5), 1, Some(5), 1));
        assert_eq!(shown(&resolve(&without, true))[0], (10, None, Some(7), 1, Some(7), 1));
    }
}
