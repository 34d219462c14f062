//! How far a standby is behind its primary, asked at most every now and then however many want to know.
//!
//! A standby that has replayed all it received, and still receives, is not behind. Otherwise it is
//! as old as the last transaction it replayed; that may be more than it missed, never less.

use crate::client::{Clients, Tenant};
use crate::fault::Result;
use crate::row;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long an answer is good enough.
const FRESH: Duration = Duration::from_millis(100);
/// How long asking may take; nobody's answer waits long for its label.
const PATIENCE: Duration = Duration::from_millis(250);

/// The last answer.
#[derive(Default)]
pub(crate) struct Lag {
    last: Mutex<Option<(Instant, Option<Duration>)>>,
}

impl Lag {
    /// How far behind, if it can be told.
    pub(crate) async fn now(&self, clients: &Clients) -> Option<Duration> {
        // Held while asking: whoever comes meanwhile gets the same answer.
        let mut last = self.last.lock().await;
        if let Some((at, lag)) = *last
            && at.elapsed() < FRESH
        {
            return lag;
        }
        let lag = ask(clients).await.unwrap_or(None);
        *last = Some((Instant::now(), lag));
        lag
    }
}

async fn ask(clients: &Clients) -> Result<Option<Duration>> {
    let tx = clients.read_for(Tenant::Nobody, PATIENCE).await?;
    let row = tx.query_one(include_str!("../queries/check/lag.sql"), &[]).await?;
    let millis: Option<i64> = row::get(&row, 0)?;
    tx.leave();
    Ok(millis.map(|millis| Duration::from_millis(millis.max(0).unsigned_abs())))
}
