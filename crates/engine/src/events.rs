//! The audit log: written in the same moment as what it tells of, read by administrators.

use crate::{Context, Engine, Result};
use loci_model::event::kind;
use loci_model::{
    Actor, Caller, Event, Happening, PrincipalId, StoreId, Timestamp, WorkspaceId, limit,
};
use loci_storage::{Mutation, Receipt};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// How long one line in the log stands for all looks with the same eyes.
const VIEW_MICROS: i64 = 3600 * 1_000_000;
/// Looks that are remembered; beyond it, all are forgotten and written down again.
const VIEWS_MAX: usize = 10_000;

/// Who looked with whose eyes lately.
#[derive(Default)]
pub(crate) struct Views(Mutex<HashMap<(Actor, PrincipalId), Timestamp>>);

impl Views {
    /// Whether a look is not in the log yet.
    fn is_new(&self, look: (Actor, PrincipalId), now: Timestamp) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_old = |at: &Timestamp| now.as_micros() - at.as_micros() >= VIEW_MICROS;
        if known.get(&look).is_some_and(|at| !is_old(at)) {
            return false;
        }
        if known.len() >= VIEWS_MAX {
            known.clear();
        }
        known.insert(look, now);
        true
    }
}

/// Something that happens, being put into words.
pub(crate) struct Telling(Happening);

impl Telling {
    pub(crate) fn in_store(mut self, store: StoreId) -> Self {
        self.0.store = Some(store);
        self
    }

    pub(crate) fn about(mut self, subject: &impl ToString) -> Self {
        self.0.subject = Some(cut(&subject.to_string(), limit::EVENT_SUBJECT_CHARS_MAX));
        self
    }

    pub(crate) fn saying(mut self, detail: &impl ToString) -> Self {
        self.0.detail = Some(cut(&detail.to_string(), limit::EVENT_DETAIL_CHARS_MAX));
        self
    }
}

impl Engine {
    /// What a caller does.
    pub(crate) fn happening(&self, context: &Context, kind: &'static str) -> Telling {
        self.doing(&context.caller, kind)
    }

    fn doing(&self, caller: &Caller, kind: &'static str) -> Telling {
        Telling(Happening {
            workspace: caller.workspace,
            at: self.seams.now(),
            actor: caller.actor,
            principal: caller.principal,
            kind,
            store: None,
            subject: None,
            detail: None,
        })
    }

    /// What Loci does by itself, or the operator by configuration.
    pub(crate) fn happening_by_itself(
        &self,
        workspace: WorkspaceId,
        principal: PrincipalId,
        kind: &'static str,
    ) -> Telling {
        Telling(Happening {
            workspace,
            at: self.seams.now(),
            actor: Actor::System,
            principal,
            kind,
            store: None,
            subject: None,
            detail: None,
        })
    }

    /// Applies a mutation under the context's idempotency key and writes down that it happened.
    pub(crate) async fn audited(
        &self,
        context: &Context,
        mutation: Mutation,
        told: Telling,
    ) -> Result<Receipt> {
        self.write(context, Mutation::Audited(Box::new(mutation), told.0)).await
    }

    /// The same for a mutation that no caller asked for.
    pub(crate) async fn audited_unasked(
        &self,
        mutation: Mutation,
        told: Telling,
    ) -> Result<Receipt> {
        self.write_unasked(Mutation::Audited(Box::new(mutation), told.0)).await
    }

    /// Writes down something that changes nothing.
    pub(crate) async fn record(&self, told: Telling) -> Result<()> {
        self.write_unasked(Mutation::Record(told.0)).await?;
        Ok(())
    }

    /// Writes down that something was looked at or taken out. It is no condition: what is copied when the
    /// disk is full or fails must not wait for the log, and a replica has none to write.
    pub(crate) async fn note(&self, told: Telling) {
        if self.is_replica() {
            return;
        }
        let kind = told.0.kind;
        if let Err(error) = self.record(told).await {
            tracing::warn!(%error, kind, "the audit log does not have this");
        }
    }

    /// Writes down that an administrator looks with somebody else's eyes, once an hour.
    pub(crate) async fn note_view(&self, caller: &Caller, whose: PrincipalId) {
        let now = self.seams.now();
        if self.views.is_new((caller.actor, whose), now) {
            self.note(self.doing(caller, kind::VIEWED_AS).about(&whose)).await;
        }
    }

    /// The audit log of the caller's workspace after a number, oldest first.
    pub async fn events(&self, context: &Context, after: u64, limit: usize) -> Result<Vec<Event>> {
        let pass = self.admin_pass(context)?;
        Ok(self.storage.events(&pass, after, limit.clamp(1, limit::EVENTS_PAGE_MAX)).await?)
    }
}

impl Engine {
    /// The events before a number, newest first; 0 is the end of the log.
    pub async fn events_before(
        &self,
        context: &Context,
        before: u64,
        limit: usize,
    ) -> Result<Vec<Event>> {
        let pass = self.admin_pass(context)?;
        let limit = limit.clamp(1, limit::EVENTS_PAGE_MAX);
        let mut before = before;
        if before == 0 {
            // The log has no gaps: its end is found by doubling, then by halving.
            let is_there = async |seq: u64| {
                Ok::<_, crate::Error>(!self.storage.events(&pass, seq - 1, 1).await?.is_empty())
            };
            let mut high = 1;
            while is_there(high).await? {
                high *= 2;
            }
            let mut low = high / 2;
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if is_there(middle).await? { low = middle } else { high = middle }
            }
            before = high;
        }
        let after = before.saturating_sub(1).saturating_sub(limit as u64);
        let mut events = self.storage.events(&pass, after, limit).await?;
        events.retain(|event| event.seq < before);
        events.reverse();
        Ok(events)
    }
}

fn cut(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}
