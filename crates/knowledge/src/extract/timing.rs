//! From the tense of a clause and its phrases of time to what holds from when to when, or to nothing:
//! plans without a date, wishes and a past that tells of no end are no facts.

use super::dates::{Phrase, Role};
use super::days::{Days, midnight};
use super::frames::Course;
use super::group::Group;
use crate::ontology::Relation;
use jiff::civil::Date;
use loci_model::Timestamp;

/// What a clause says about time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    since: Option<Days>,
    until: Option<Days>,
    on: Option<Days>,
    between: Option<Days>,
    lasts: Option<Days>,
    has_length: bool,
    is_often: bool,
}

impl Times {
    pub(super) fn of<'a>(phrases: impl Iterator<Item = &'a Phrase>) -> Self {
        let mut times = Self::default();
        for phrase in phrases {
            let slot = match phrase.role {
                Role::Since => &mut times.since,
                Role::Until => &mut times.until,
                Role::On => &mut times.on,
                Role::Between => &mut times.between,
                Role::For => {
                    times.has_length = true;
                    &mut times.lasts
                }
                Role::Often => {
                    times.is_often = true;
                    continue;
                }
            };
            *slot = slot.or(phrase.days);
        }
        times
    }

    pub(super) fn is_empty(&self) -> bool {
        let dates = [self.since, self.until, self.on, self.between, self.lasts];
        dates.iter().all(Option::is_none) && !self.is_often && !self.has_length
    }

    fn begin(&self) -> Option<Timestamp> {
        let days = self.between.or(self.since).or(self.lasts);
        midnight(days?.first)
    }

    fn first(days: Option<Days>) -> Option<Timestamp> {
        midnight(days?.first)
    }
}

/// What holds, and from when to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) relation: Relation,
    pub(super) is_negated: bool,
    pub(super) valid_at: Option<Timestamp>,
    pub(super) invalid_at: Option<Timestamp>,
}

/// What is needed to judge a clause.
pub(super) struct Judge<'a> {
    pub(super) group: &'a Group,
    pub(super) times: Times,
    pub(super) at: Timestamp,
    pub(super) today: Date,
    /// Whether the object has a name, which an opinion of the past is still about.
    pub(super) is_name: bool,
}

impl Judge<'_> {
    pub(super) fn outcome(&self, relation: Relation, course: Course) -> Option<Outcome> {
        let group = self.group;
        let was_planned = group.is_future && group.is_past;
        if group.is_doubtful || was_planned || group.is_ability && !may_be_able(relation, group) {
            return None;
        }
        let holds =
            Outcome { relation, is_negated: group.is_negated, valid_at: None, invalid_at: None };
        match course {
            Course::Life | Course::Role => self.life(holds, course),
            Course::State | Course::Taste | Course::Progressive | Course::Often => {
                self.state(holds, course)
            }
            Course::Begin => self.begin(holds),
            Course::End => self.end(holds),
            Course::Feat | Course::Been => self.feat(holds, course),
            Course::Past => {
                let has_happened = group.is_past || group.is_perfect;
                let is_said = has_happened && !group.is_negated && !group.is_future;
                is_said.then(|| self.ended(holds))
            }
            Course::Fact => {
                let is_said = !group.is_future && !group.used_to && !group.has_ended;
                is_said.then(|| Outcome {
                    valid_at: Times::first(self.times.on.or(self.times.since)),
                    ..holds
                })
            }
        }
    }

    fn is_ahead(&self, days: Option<Days>) -> bool {
        days.is_some_and(|days| days.first > self.today)
    }

    /// It was so: until when, as far as the text tells.
    fn ended(&self, holds: Outcome) -> Outcome {
        let times = &self.times;
        let bound = |days: Days| midnight(days.end.min(self.today.tomorrow().unwrap_or(days.end)));
        let told = times
            .between
            .and_then(|days| midnight(days.end))
            .or_else(|| Times::first(times.until))
            .or_else(|| times.on.and_then(bound));
        let begun = times.between.or(times.since).or(times.on.filter(|_| times.until.is_none()));
        let valid_at = Times::first(begun);
        Outcome { valid_at, invalid_at: Some(told.unwrap_or(self.at)), is_negated: false, ..holds }
    }

    /// "no longer since March", "not any more".
    fn stopped(&self, holds: Outcome) -> Outcome {
        let told = self.times.since.or(self.times.until).or(self.times.on);
        let end = self.times.between.and_then(|days| midnight(days.end));
        let invalid_at = end.or_else(|| Times::first(told)).unwrap_or(self.at);
        let valid_at = Times::first(self.times.between);
        Outcome { valid_at, invalid_at: Some(invalid_at), is_negated: false, ..holds }
    }

    fn life(&self, holds: Outcome, course: Course) -> Option<Outcome> {
        let group = self.group;
        let is_role = course == Course::Role;
        if group.is_future {
            let is_said = self.is_ahead(self.times.on) && !group.is_negated;
            return is_said.then(|| Outcome { valid_at: Times::first(self.times.on), ..holds });
        }
        if group.has_ended || group.is_past {
            if group.is_negated && !group.has_ended {
                return None;
            }
            let over = if group.has_ended { self.stopped(holds) } else { self.ended(holds) };
            if !is_role {
                return Some(over);
            }
            // What somebody was stays true; only an end that is told is an end.
            let is_told = self.times.until.or(self.times.on).or(self.times.between).is_some();
            let invalid_at = over.invalid_at.filter(|_| is_told);
            return Some(Outcome { relation: Relation::WasPreviously, invalid_at, ..over });
        }
        if group.is_perfect {
            let begin = self.times.begin();
            let goes_on = begin.is_some()
                || self.times.has_length
                || group.is_progressive
                || group.is_negated;
            return goes_on.then_some(Outcome { valid_at: begin, ..holds });
        }
        let valid_at = self.times.begin().or_else(|| Times::first(self.times.on));
        let invalid_at = Times::first(self.times.until.filter(|days| days.first > self.today));
        Some(Outcome { valid_at, invalid_at, ..holds })
    }

    fn state(&self, holds: Outcome, course: Course) -> Option<Outcome> {
        let group = self.group;
        let holds = match (course, group.is_negated) {
            (Course::Taste, true) if !group.has_ended => {
                Outcome { relation: Relation::Dislikes, is_negated: false, ..holds }
            }
            _ => holds,
        };
        if group.is_future || holds.relation == Relation::Dislikes && holds.is_negated {
            return None;
        }
        if group.has_ended {
            return Some(self.stopped(holds));
        }
        if course == Course::Progressive
            && (!group.is_progressive || group.is_negated || group.is_past)
        {
            return None;
        }
        let is_habit = self.times.is_often || group.is_habit || group.is_negated;
        if course == Course::Often && !is_habit {
            return None;
        }
        if group.is_past {
            let has_end =
                self.times.until.or(self.times.between).is_some() || self.times.has_length;
            let is_opinion = course == Course::Taste && self.is_name && !group.is_negated;
            return match (has_end && !group.is_negated, is_opinion) {
                (true, _) => Some(self.ended(holds)),
                (_, true) => Some(holds),
                _ => None,
            };
        }
        let begin = self.times.begin();
        if group.is_perfect {
            let goes_on = begin.is_some()
                || self.times.has_length
                || group.is_progressive
                || group.is_negated
                || course == Course::Taste;
            return goes_on.then_some(Outcome { valid_at: begin, ..holds });
        }
        let invalid_at = Times::first(self.times.until.filter(|days| days.first > self.today));
        Some(Outcome { valid_at: begin, invalid_at, ..holds })
    }

    fn begin(&self, holds: Outcome) -> Option<Outcome> {
        let group = self.group;
        if group.is_negated || group.has_ended {
            return None;
        }
        let when = self.times.on.or(self.times.since);
        let has_happened = (group.is_past || group.is_perfect) && !group.is_progressive;
        let is_firm = self.is_ahead(when);
        (has_happened || is_firm).then(|| Outcome { valid_at: Times::first(when), ..holds })
    }

    fn end(&self, holds: Outcome) -> Option<Outcome> {
        let group = self.group;
        if group.is_negated || group.has_ended {
            return None;
        }
        let when = self.times.on.or(self.times.since);
        let has_happened = (group.is_past || group.is_perfect) && !group.is_progressive;
        let invalid_at = Times::first(when).or(has_happened.then_some(self.at));
        (has_happened || self.is_ahead(when)).then_some(Outcome { invalid_at, ..holds })
    }

    fn feat(&self, holds: Outcome, course: Course) -> Option<Outcome> {
        let group = self.group;
        if group.used_to || group.has_ended || course == Course::Been && !group.is_perfect {
            return None;
        }
        let when = self.times.on.or(self.times.since);
        let has_happened = group.is_past || group.is_perfect;
        let goes = group.is_progressive || !has_happened;
        if goes && (!self.is_ahead(when) || group.is_negated) {
            return None;
        }
        Some(Outcome { valid_at: Times::first(when), ..holds })
    }
}

/// "can" is a fact of what somebody knows, and "can't stand" of what somebody hates.
fn may_be_able(relation: Relation, group: &Group) -> bool {
    match relation {
        Relation::ExpertiseIn => true,
        Relation::Likes => group.is_negated,
        _ => false,
    }
}
