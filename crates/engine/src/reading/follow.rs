//! Readings follow the feed: what was written is given to the reader in the background, text by
//! text, and what it found is written before the next is asked for, together with what it cost.
//!
//! A text that is not answered for is asked for again later, unless others are answered for: then it
//! is the text, and it is left to the rules. So an endpoint that is away, or refuses a key, loses
//! nothing, and a text that no model takes keeps nobody waiting.

use super::budget::{Allowance, day_of};
use super::format::render;
use super::{Asked, Reading, TEXT_BYTES_MAX, Unfit, Utterance};
use crate::derived::lost;
use crate::knowledge::{metadata, said};
use crate::{Engine, Error, Result};
use loci_knowledge::told::admit;
use loci_model::policy::System;
use loci_model::{Memory, VersionId};
use loci_storage::{Mutation, NewReading, ReadingBatch, ReadingLag, Spent};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Stores looked at in one round.
const STORES_A_ROUND: usize = 16;
/// Feed entries of one store looked at in one round.
const CHANGES_A_ROUND: usize = 16;
/// Texts not answered for, one after the other, after which the reader is left alone.
const FAILURES_MAX: u32 = 2;
/// How long to wait when there is nothing to read.
const PAUSE: Duration = Duration::from_secs(1);
/// How often it is looked whether a new day has begun.
const PAUSE_SPENT: Duration = Duration::from_secs(60);
/// How long to leave a reader alone that does not answer, the first time and at most.
const PAUSE_FAILED_FIRST: Duration = Duration::from_secs(5);
const PAUSE_FAILED_MAX: Duration = Duration::from_secs(600);
/// A lease lasts so much longer than one text takes.
const LEASE_SPARE_SECS: u64 = 30;

/// What a round came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// There was nothing to read, or another server reads.
    Idle,
    /// Something was read.
    Worked,
    /// The day's budget is spent.
    Spent,
    /// The reader does not answer; it may have said how long to leave it alone.
    Failed(Option<Duration>),
}

/// What became of one text.
enum Read {
    Answered,
    Unanswered(Option<Duration>),
    Spent,
    Left,
}

impl Engine {
    /// Reads along with what is written until the task is dropped.
    pub async fn read_along(&self) {
        if self.reading.is_none() {
            return;
        }
        let mut failed = PAUSE_FAILED_FIRST;
        loop {
            let round = self.read_once().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "what was read could not be kept; it is tried again");
                Round::Failed(None)
            });
            let pause = match round {
                Round::Worked => Duration::ZERO,
                Round::Idle => PAUSE,
                Round::Spent => PAUSE_SPENT,
                Round::Failed(wanted) => {
                    failed.max(wanted.unwrap_or_default()).min(PAUSE_FAILED_MAX)
                }
            };
            failed = match round {
                Round::Failed(_) => (failed * 2).min(PAUSE_FAILED_MAX),
                _ => PAUSE_FAILED_FIRST,
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Reads some of what was written.
    pub async fn read_once(&self) -> Result<Round> {
        let Some(reading) = self.reading.clone() else { return Ok(Round::Idle) };
        let options = &reading.options;
        let reader = options.reader.name();
        // One server reads, so that the budget is one.
        let secs = options.reader.patience().as_secs() + LEASE_SPARE_SECS;
        let lease = format!("readings {reader}");
        let secs = u32::try_from(secs).unwrap_or(u32::MAX);
        if !self.storage.lease(&lease, secs).await? {
            return Ok(Round::Idle);
        }
        let stores = options.stores.as_deref();
        let lags = self.storage.reading_lags(reader, stores, STORES_A_ROUND).await?;
        let mut whole = Round::Idle;
        for lag in lags {
            match self.read_store(&reading, lag, (&lease, secs)).await {
                // Removed a moment ago; the others go on.
                Err(Error::NotFound(_)) => {}
                Ok(Round::Idle) => {}
                Ok(Round::Worked) => whole = Round::Worked,
                other => return other,
            }
        }
        Ok(whole)
    }

    async fn read_store(
        &self,
        reading: &Arc<Reading>,
        lag: ReadingLag,
        (lease, secs): (&str, u32),
    ) -> Result<Round> {
        // As a model would see it: what is internal stays here, and so does what is sealed.
        let system = System::because("a reader follows the feed");
        let pass = system.search_as_model(lag.workspace, vec![lag.store], self.seams.now());
        let reader = reading.options.reader.name();
        let page =
            self.storage.readable(&pass, lag.store, reader, lag.through, CHANGES_A_ROUND).await?;
        if page.through <= lag.through {
            // The store was removed a moment ago.
            return Ok(Round::Idle);
        }
        let (mut answered, mut unanswered, mut wait) = (0u32, 0u32, None);
        for memory in page.memories {
            match self.read_memory(reading, lag, memory).await? {
                Read::Answered => answered += 1,
                Read::Left => {}
                Read::Spent => return Ok(Round::Spent),
                Read::Unanswered(wanted) => {
                    unanswered += 1;
                    wait = wait.max(wanted);
                }
            }
            if answered == 0 && unanswered >= FAILURES_MAX {
                return Ok(Round::Failed(wait));
            }
            if !self.storage.lease(lease, secs).await? {
                return Ok(Round::Idle);
            }
        }
        if answered == 0 && unanswered > 0 {
            return Ok(Round::Failed(wait));
        }
        reading.counts.given_up.fetch_add(u64::from(unanswered), Ordering::Relaxed);
        self.put_readings(reading, lag, page.through, Spent::default(), None).await?;
        Ok(Round::Worked)
    }

    /// Has one memory read, and keeps what was found.
    async fn read_memory(
        &self,
        reading: &Arc<Reading>,
        lag: ReadingLag,
        memory: Memory,
    ) -> Result<Read> {
        let metadata = metadata(&memory);
        let Some(utterance) = said(&memory, &metadata).map(cut) else { return Ok(Read::Left) };
        if utterance.text.trim().is_empty() {
            return Ok(Read::Left);
        }
        let counts = &reading.counts;
        let requests = match self.allowance(reading, utterance.text.len()).await? {
            Allowance::Requests(requests) => requests,
            Allowance::Spent => return Ok(Read::Spent),
            Allowance::TooDear => {
                counts.given_up.fetch_add(1, Ordering::Relaxed);
                return Ok(Read::Left);
            }
        };
        let day = day_of(self.seams.now());
        let Asked { requests, tokens, reply } = ask(reading, utterance, requests).await?;
        counts.requests.fetch_add(u64::from(requests), Ordering::Relaxed);
        counts.tokens.fetch_add(tokens, Ordering::Relaxed);
        let spent = Spent { day, requests: u64::from(requests), tokens };
        let reply = match reply {
            Ok(reply) => reply,
            Err(unanswered) => {
                tracing::warn!(why = unanswered.why, "a reader did not answer");
                counts.failures.fetch_add(1, Ordering::Relaxed);
                self.put_readings(reading, lag, 0, spent, None).await?;
                return Ok(Read::Unanswered(unanswered.wait));
            }
        };
        counts.drop_as(Unfit::Shape, reply.shapeless);
        let admitted = admit(utterance, reply.told, reading.options.reader.name());
        for unfit in &admitted.unfit {
            counts.drop_as(*unfit, 1);
        }
        counts.texts.fetch_add(1, Ordering::Relaxed);
        counts.facts.fetch_add(admitted.told.len() as u64, Ordering::Relaxed);
        let found = (memory.head, render(&admitted.told));
        self.put_readings(reading, lag, 0, spent, Some(found)).await?;
        Ok(Read::Answered)
    }

    async fn put_readings(
        &self,
        reading: &Reading,
        ReadingLag { workspace, store, .. }: ReadingLag,
        through: u64,
        spent: Spent,
        found: Option<(VersionId, String)>,
    ) -> Result<()> {
        let at = self.seams.now();
        let readings = found.map(|(version, claims)| NewReading { version, claims, at });
        let batch = ReadingBatch {
            workspace,
            store,
            reader: reading.options.reader.name().to_owned(),
            through,
            spent,
            readings: readings.into_iter().collect(),
        };
        self.write_unasked(Mutation::PutReadings(batch)).await?;
        Ok(())
    }
}

/// The beginning of what was said.
fn cut(utterance: Utterance<'_>) -> Utterance<'_> {
    let text = &utterance.text[..utterance.text.floor_char_boundary(TEXT_BYTES_MAX)];
    Utterance { text, ..utterance }
}

/// Asks on a thread that may be blocked.
async fn ask(reading: &Arc<Reading>, utterance: Utterance<'_>, requests: u32) -> Result<Asked> {
    let reading = Arc::clone(reading);
    let (speaker, text, at) =
        (utterance.speaker.to_owned(), utterance.text.to_owned(), utterance.at);
    let asking = tokio::task::spawn_blocking(move || {
        let utterance = Utterance { speaker: &speaker, at, text: &text };
        reading.options.reader.read(&utterance, requests)
    });
    asking.await.map_err(lost)
}
