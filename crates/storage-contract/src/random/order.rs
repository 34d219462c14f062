//! Whether what several callers were told at the same time could have happened one after the other.
//!
//! The feed says in which order the changes came, so nothing has to be searched for: the oracle is
//! given them in that order and must answer each as the engine did. What changed nothing (refusals,
//! reads, repeated texts) is asked of a copy of the oracle at each moment that the call was under
//! way, and must have been the right answer at one of them. Nothing may come before what had been
//! answered when it was asked.

use loci_model::policy::ReadPass;
use loci_model::{At, Memory, MemoryId, VersionId, View};
use loci_storage::log::LogEntry;
use loci_storage::{Applied, Mutation, Receipt, Result, Storage, reason};
use loci_storage_memory::MemStorage;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Something that was asked of an engine, and what it said. Retried requests are left to the caller:
/// the oracle is given no idempotency keys.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) what: What,
    /// From asking to the answer, counted in events of all callers.
    pub(super) during: RangeInclusive<u64>,
}

/// A request with its answer.
#[derive(Debug)]
pub(super) enum What {
    Write(Mutation, Result<Applied>),
    Get(ReadPass, At, Result<Option<Memory>>),
}

impl Asked {
    async fn is_right_for(&self, oracle: &MemStorage) -> bool {
        match &self.what {
            What::Write(mutation, found) => {
                let expected = oracle.fork().write(mutation.clone(), None).await;
                format!("{found:?}") == format!("{expected:?}")
            }
            What::Get(pass, at, found) => {
                let expected = oracle.get(pass, at, View::Full).await;
                let same_bytes = match (found, &expected) {
                    (Ok(Some(found)), Ok(Some(expected))) => found.content == expected.content,
                    _ => true,
                };
                same_bytes && format!("{found:?}") == format!("{expected:?}")
            }
        }
    }

    /// Whether the other one was answered before this was asked.
    fn is_after(&self, other: &Self) -> bool {
        other.during.end() < self.during.start()
    }
}

/// An entry of the feed, by what can have made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Version(VersionId),
    Redacted(VersionId),
    Erased(MemoryId),
}

/// Brings the oracle to where the engine is, in the order of the engine's log. The log is what was
/// added while these were asked, all of it.
pub(super) async fn assert_some_order(oracle: &MemStorage, log: &[LogEntry], asked: &[Asked]) {
    let steps = steps(log, asked);
    for (place, step) in steps.iter().enumerate() {
        let early = steps[place..].iter().find(|later| asked[*step].is_after(&asked[**later]));
        let early = early.map(|later| &asked[*later]);
        assert!(early.is_none(), "{:?} comes before {early:?}", asked[*step]);
    }
    let mut open: Vec<&Asked> = Vec::new();
    for (index, one) in asked.iter().enumerate() {
        if !steps.contains(&index) {
            open.push(one);
        }
    }
    for place in 0..=steps.len() {
        let mut left = Vec::new();
        for one in open {
            let is_early = steps[place..].iter().any(|step| one.is_after(&asked[*step]));
            let is_late = steps[..place].iter().any(|step| asked[*step].is_after(one));
            assert!(!is_late, "at no moment of its own was this right: {one:?}");
            if is_early || !one.is_right_for(oracle).await {
                left.push(one);
            }
        }
        open = left;
        if let Some(step) = steps.get(place) {
            apply(oracle, &asked[*step]).await;
        }
    }
    assert!(open.is_empty(), "at no moment were these right: {open:?}");
}

async fn apply(oracle: &MemStorage, one: &Asked) {
    let What::Write(mutation, found) = &one.what else {
        unreachable!("only writes are in the feed")
    };
    let expected = oracle.write(mutation.clone(), None).await;
    assert_eq!(
        format!("{found:?}"),
        format!("{expected:?}"),
        "the engine (left) and the oracle disagree about {mutation:?}"
    );
}

/// Which of those asked made the entries of the log, one after the other.
fn steps(log: &[LogEntry], asked: &[Asked]) -> Vec<usize> {
    let mut makers = BTreeMap::new();
    for (index, one) in asked.iter().enumerate() {
        for mark in marks(one) {
            let before = makers.insert(mark, index);
            assert_eq!(before, None, "two changed the same: {mark:?}");
        }
    }
    let mut steps: Vec<usize> = Vec::new();
    let mut seen = Vec::new();
    for entry in log {
        let mark = match entry {
            LogEntry::Version { version, .. } if version.cause.reason == reason::ERASED => {
                Mark::Erased(version.memory)
            }
            LogEntry::Version { version, .. } => Mark::Version(version.id),
            LogEntry::Damaged { version, .. } => panic!("{} is damaged", version.id),
            LogEntry::Redaction { reason, memory, .. } if reason == reason::ERASED => {
                Mark::Erased(*memory)
            }
            LogEntry::Redaction { version, .. } => Mark::Redacted(*version),
        };
        let maker = makers.get(&mark);
        let maker = *maker.unwrap_or_else(|| panic!("nobody was told of {mark:?}"));
        if steps.last() != Some(&maker) {
            assert!(!steps.contains(&maker), "in two pieces: {:?}", asked[maker]);
            steps.push(maker);
        }
        seen.push(mark);
    }
    for (mark, maker) in makers {
        // An erasure of what had no versions left, and a second redaction, leave no trace.
        let may_lack = !matches!(mark, Mark::Version(_));
        assert!(may_lack || seen.contains(&mark), "lost: {:?}", asked[maker]);
    }
    steps
}

/// What should be in the feed, going by the answer.
fn marks(one: &Asked) -> Vec<Mark> {
    let What::Write(mutation, Ok(applied)) = &one.what else { return Vec::new() };
    match (mutation, &applied.receipt) {
        (Mutation::Commit(_, batch), Receipt::Committed(outcomes)) => {
            let pairs = batch.edits.iter().zip(outcomes);
            let written = pairs.filter(|(_, outcome)| outcome.operation.is_some());
            written.map(|(stamped, _)| Mark::Version(stamped.version)).collect()
        }
        (Mutation::Expire { version, .. }, _) => vec![Mark::Version(*version)],
        (Mutation::Redact(_, version), _) => vec![Mark::Redacted(*version)],
        (Mutation::Erase { memory, .. }, _) => vec![Mark::Erased(*memory)],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{World, batch, expecting, put};
    use loci_model::Expect;
    use std::sync::Arc;

    /// A world, the oracle before anything was written, and two commits with their answers: the
    /// second one is refused when it comes after the first.
    async fn two_commits() -> (World, MemStorage, Vec<Asked>) {
        let engine = Arc::new(MemStorage::new());
        let world = World::new(engine.clone()).await;
        let oracle = engine.fork();
        let mut asked = Vec::new();
        for edit in [put("/a", "one"), expecting(put("/a", "two"), Expect::Absent)] {
            let commit = Mutation::Commit(world.write_pass(), batch(vec![edit]));
            let applied = engine.write(commit.clone(), None).await;
            let from = asked.len() as u64 * 2;
            asked.push(Asked { what: What::Write(commit, applied), during: from..=from + 1 });
        }
        (world, oracle, asked)
    }

    async fn log(world: &World) -> Vec<LogEntry> {
        world.storage.log(&world.admin_pass(), world.store, 0, 100).await.unwrap()
    }

    #[tokio::test]
    async fn what_has_an_order_is_right() {
        let (world, oracle, asked) = two_commits().await;
        assert_some_order(&oracle, &log(&world).await, &asked).await;
    }

    #[tokio::test]
    #[should_panic(expected = "at no moment of its own was this right")]
    async fn a_refusal_before_its_cause_is_wrong() {
        let (world, oracle, mut asked) = two_commits().await;
        (asked[0].during, asked[1].during) = (2..=3, 0..=1);
        assert_some_order(&oracle, &log(&world).await, &asked).await;
    }

    #[tokio::test]
    #[should_panic(expected = "lost")]
    async fn a_lost_write_is_wrong() {
        let (_, oracle, asked) = two_commits().await;
        assert_some_order(&oracle, &[], &asked).await;
    }

    #[tokio::test]
    #[should_panic(expected = "nobody was told")]
    async fn a_write_that_nobody_made_is_wrong() {
        let (world, oracle, asked) = two_commits().await;
        assert_some_order(&oracle, &log(&world).await, &asked[1..]).await;
    }

    #[tokio::test]
    #[should_panic(expected = "comes before")]
    async fn an_order_against_time_is_wrong() {
        let (world, oracle, mut asked) = two_commits().await;
        let commit = Mutation::Commit(world.write_pass(), batch(vec![put("/b", "later")]));
        let applied = world.storage.write(commit.clone(), None).await;
        asked[0].during = 4..=5;
        asked.push(Asked { what: What::Write(commit, applied), during: 0..=1 });
        assert_some_order(&oracle, &log(&world).await, &asked).await;
    }
}
