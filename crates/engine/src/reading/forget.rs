//! Taking back what a reader found, and telling how far it is; for administrators.

use super::budget::day_of;
use crate::access::expect_receipt;
use crate::{Context, Engine, Result};
use loci_model::event::kind;
use loci_storage::{Mutation, Receipt, Spent, check_reader};

/// Rows that are forgotten in one write.
const FORGET_STEP: usize = 1000;
/// Stores that are looked at for how many are behind.
const LAGS_MAX: usize = 100_000;

/// How far the reader of this server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadingStatus {
    /// Its name; `None` when there is none.
    pub reader: Option<String>,
    /// What it cost today.
    pub spent: Spent,
    /// Requests that it may make in a day.
    pub requests_per_day: u64,
    /// Tokens that it may take in a day.
    pub tokens_per_day: u64,
    /// Stores in which it is behind.
    pub stores_behind: u64,
}

impl Engine {
    /// Forgets all that a reader found in the caller's workspace; nothing is read again for it.
    /// Facts that only it read are gone with the next question.
    pub async fn forget_reader(&self, context: &Context, reader: &str) -> Result<()> {
        self.require_primary()?;
        let pass = self.admin_pass(context)?;
        check_reader(reader)?;
        let forget = Mutation::ForgetReadings {
            pass: pass.clone(),
            reader: reader.to_owned(),
            limit: FORGET_STEP,
        };
        // Told with the first step: who is cut off is told of all the same.
        let told = self.happening(context, kind::READER_FORGOTTEN).saying(&reader);
        let mut receipt = self.audited(context, forget.clone(), told).await?;
        while !expect_receipt!(receipt, Receipt::Purged { is_done } => is_done)? {
            receipt = self.write_unasked(forget.clone()).await?;
        }
        Ok(())
    }

    /// How far the reader of this server is.
    pub async fn reading_status(&self, context: &Context) -> Result<ReadingStatus> {
        self.admin_pass(context)?;
        let day = day_of(self.seams.now());
        let Some(reading) = &self.reading else {
            let spent = Spent { day, ..Spent::default() };
            return Ok(ReadingStatus {
                reader: None,
                spent,
                requests_per_day: 0,
                tokens_per_day: 0,
                stores_behind: 0,
            });
        };
        let options = &reading.options;
        let reader = options.reader.name();
        let lags = self.storage.reading_lags(reader, options.stores.as_deref(), LAGS_MAX).await?;
        Ok(ReadingStatus {
            reader: Some(reader.to_owned()),
            spent: self.storage.spent(reader, day).await?,
            requests_per_day: options.requests_per_day,
            tokens_per_day: options.tokens_per_day,
            stores_behind: lags.len() as u64,
        })
    }
}
