//! The audit log: written in the same moment as what it tells of, read by administrators.

use crate::{Context, Engine, Result};
use loci_model::{Actor, Event, Happening, StoreId, WorkspaceId, limit};
use loci_storage::{Mutation, Receipt};

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
        Telling(Happening {
            workspace: context.caller.workspace,
            at: self.seams.now(),
            actor: context.caller.actor,
            principal: context.caller.principal,
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
        principal: loci_model::PrincipalId,
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
