//! A checker of histories: what clients did and were told, against the feed a store ended up with.
//!
//! The feed is one order of all writes. The checker asks whether that order can be what happened:
//! nothing acknowledged is missing or there twice, nothing comes before what was answered before it
//! was sent, every precondition held where its write stands, and every refusal and every read is
//! explained by a state that stood at some moment between the question and its answer.
//!
//! It knows nothing of HTTP and nothing of the product, so its own tests feed it histories that must
//! fail.

use std::collections::HashMap;

use crate::history_feed::{Entry, Operation, Timeline};
use crate::history_moments::Moments;

/// What is told at most; one fault tends to show in many calls.
const FAULTS_MAX: usize = 20;

/// What a client asked for, and what it was told in the end.
#[derive(Clone, Debug)]
pub struct Call {
    /// When it was first sent, in nanoseconds of the run.
    pub sent: u64,
    /// When the answer was there.
    pub answered: u64,
    /// Whether it was sent more than once, because an answer was lost or told nothing.
    pub is_repeated: bool,
    pub asked: Asked,
    pub told: Told,
}

/// Contents are unique, so a digest tells a write.
#[derive(Clone, Debug)]
pub enum Asked {
    Create { path: String, digest: String },
    Update { memory: String, expects: Option<String>, digest: String },
    Remove { memory: String, expects: Option<String> },
    Read { memory: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// It is done; a removal does not say which version it made.
    Done { memory: String, version: Option<String> },
    /// This is how it stands.
    Saw { version: String },
    /// The path is taken by this memory.
    Taken { by: String },
    /// The content is not the one expected.
    Differs,
    /// There is no such memory.
    Missing,
    /// There was no answer; it happened once or not at all.
    Nothing,
}

/// Everything wrong with a history; nothing if it can be what happened.
pub fn faults(calls: &[Call], feed: &[Entry]) -> Vec<String> {
    let (timeline, mut faults) = Timeline::of(feed);
    let effects = Effects::find(calls, &timeline, &mut faults);
    effects.check_order(calls, &timeline, &mut faults);
    let moments = Moments::of(effects.spans(calls), timeline.len());
    for (number, call) in calls.iter().enumerate() {
        let effect = effects.of_call.get(&number).copied();
        if let Some(seq) = effect {
            faults.extend(unmet(call, seq, &timeline));
        }
        // A repeated request may be refused once and happen later, when the first sending of it
        // gets through: then the refusal has to be true before that.
        let last = moments.last(call.answered).min(effect.map_or(u64::MAX, |seq| seq - 1));
        let first = moments.first(call.sent);
        if !is_explained(call, first..=last, &timeline) {
            faults.push(format!("nothing between {first} and {last} explains {call:?}"));
        }
    }
    faults.truncate(FAULTS_MAX);
    faults
}

/// Which call made which entry.
struct Effects {
    of_call: HashMap<usize, u64>,
    /// Call numbers in the order of the feed.
    in_order: Vec<(u64, usize)>,
}

impl Effects {
    fn find(calls: &[Call], timeline: &Timeline<'_>, faults: &mut Vec<String>) -> Self {
        let mut owners: HashMap<u64, usize> = HashMap::new();
        let mut of_call = HashMap::new();
        // Those who were told that they did something come first, then those who were told nothing:
        // of several who removed a memory, it was one of them.
        let told_done = |call: &Call| matches!(call.told, Told::Done { .. });
        let mut claims: Vec<(usize, &Call)> = calls.iter().enumerate().collect();
        claims.sort_by_key(|(_, call)| (!told_done(call), call.told != Told::Nothing));
        for (number, call) in claims {
            let made = timeline.made_by(&call.asked);
            if let [_, _, ..] = made.as_slice() {
                faults.push(format!("duplicated, as {made:?}: {call:?}"));
            }
            let free = made.first().copied().filter(|seq| !owners.contains_key(seq));
            match (free, told_done(call)) {
                (Some(seq), true) => faults.extend(other_than_told(call, timeline.entry(seq))),
                (Some(_), false) if call.is_repeated || call.told == Told::Nothing => {}
                // Somebody else's removal.
                (Some(_), false) if matches!(call.asked, Asked::Remove { .. }) => continue,
                (Some(seq), false) => faults.push(format!("refused, yet it is {seq}: {call:?}")),
                (None, true) => {
                    faults.push(format!("lost: {call:?}"));
                    continue;
                }
                (None, false) => continue,
            }
            if let Some(seq) = free {
                owners.insert(seq, number);
                of_call.insert(number, seq);
            }
        }
        for seq in 1..=timeline.len() {
            if !owners.contains_key(&seq) {
                faults.push(format!("nobody asked for {:?}", timeline.entry(seq)));
            }
        }
        let mut in_order: Vec<(u64, usize)> = owners.into_iter().collect();
        in_order.sort_unstable();
        Self { of_call, in_order }
    }

    /// From when to when each entry may have been made: seq, sent, answered.
    fn spans(&self, calls: &[Call]) -> Vec<(u64, u64, u64)> {
        let spans = self.in_order.iter().map(|(seq, number)| {
            let call = &calls[*number];
            // An answer that did not acknowledge says nothing about when it happened.
            let is_done = matches!(call.told, Told::Done { .. });
            (*seq, call.sent, if is_done { call.answered } else { u64::MAX })
        });
        spans.collect()
    }

    /// What was answered before another was sent has to come before it.
    fn check_order(&self, calls: &[Call], timeline: &Timeline<'_>, faults: &mut Vec<String>) {
        let mut latest = (0, 0);
        for (seq, sent, answered) in self.spans(calls) {
            if answered < latest.0 {
                let (earlier, later) = (timeline.entry(latest.1), timeline.entry(seq));
                faults.push(format!(
                    "reordered: {earlier:?} was sent after {later:?} was answered, yet comes before"
                ));
            }
            latest = latest.max((sent, seq));
        }
    }
}

/// What a call was told it made, if that is not what stands in the feed.
fn other_than_told(call: &Call, entry: &Entry) -> Option<String> {
    let Told::Done { memory, version } = &call.told else { return None };
    let is_same =
        *memory == entry.memory && version.as_ref().is_none_or(|version| *version == entry.version);
    (!is_same).then(|| format!("told otherwise than {entry:?}: {call:?}"))
}

/// Why a write should not have happened where it stands.
fn unmet(call: &Call, seq: u64, timeline: &Timeline<'_>) -> Option<String> {
    let is_met = match &call.asked {
        Asked::Create { path, .. } => timeline.holder(path, seq - 1).is_none(),
        Asked::Update { memory, expects, .. } | Asked::Remove { memory, expects } => {
            let before = timeline.live(memory, seq - 1);
            before.is_some_and(|before| expects.is_none() || *expects == before.digest)
        }
        Asked::Read { .. } => true,
    };
    (!is_met).then(|| format!("{seq} stands on what it did not expect: {call:?}"))
}

/// Whether a refusal or a read is true at one of these moments.
fn is_explained(call: &Call, span: std::ops::RangeInclusive<u64>, timeline: &Timeline<'_>) -> bool {
    let mut moments = match &call.asked {
        Asked::Create { path, .. } => timeline.moments_of_path(path, span),
        Asked::Update { memory, .. } | Asked::Remove { memory, .. } | Asked::Read { memory } => {
            timeline.moments_of_memory(memory, span)
        }
    }
    .into_iter();
    match (&call.told, &call.asked) {
        (Told::Done { .. } | Told::Nothing, _) => true,
        (Told::Taken { by }, Asked::Create { path, .. }) => {
            moments.any(|at| timeline.holder(path, at) == Some(by))
        }
        (Told::Saw { version }, Asked::Read { memory }) => {
            moments.any(|at| timeline.live(memory, at).is_some_and(|it| it.version == *version))
        }
        (
            Told::Differs,
            Asked::Update { memory, expects: Some(expects), .. }
            | Asked::Remove { memory, expects: Some(expects) },
        ) => moments.any(|at| {
            timeline.live(memory, at).is_some_and(|it| it.digest.as_ref() != Some(expects))
        }),
        (
            Told::Missing,
            Asked::Update { memory, .. } | Asked::Remove { memory, .. } | Asked::Read { memory },
        ) => moments.any(|at| timeline.live(memory, at).is_none()),
        _ => false,
    }
}

impl Timeline<'_> {
    /// The entries that a call may have made.
    fn made_by(&self, asked: &Asked) -> Vec<u64> {
        match asked {
            Asked::Create { path, digest } => self.written(digest, |entry| {
                entry.operation == Operation::Created && entry.path == *path
            }),
            Asked::Update { memory, digest, .. } => self.written(digest, |entry| {
                entry.operation == Operation::Modified && entry.memory == *memory
            }),
            Asked::Remove { memory, .. } => self.removal(memory).into_iter().collect(),
            Asked::Read { .. } => Vec::new(),
        }
    }
}
