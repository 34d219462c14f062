//! Subscriptions: a stream that tells of changes for as long as the client listens.
//!
//! The feeds are looked at in short intervals, because a change may have been written by another
//! server. A stream ends by itself after a while, and its client listens again with its credential:
//! so a key that was revoked learns nothing for long.

use super::handler::{Handler, refused};
use crate::resources::Library;
use loci_engine::Context;
use loci_model::Timestamp;
use rmcp::model::ErrorData;
use rmcp::service::SubscriptionContext;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, MissedTickBehavior};

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long one stream lasts.
const STREAM_MAX: Duration = Duration::from_secs(600);
/// Streams of one endpoint at a time.
const STREAMS_MAX: usize = 256;

/// How many may listen still.
#[derive(Clone)]
pub(super) struct Streams(Arc<Semaphore>);

impl Default for Streams {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(STREAMS_MAX)))
    }
}

impl Handler {
    /// Tells of changes until the client goes, the server stops, or the stream is old.
    pub(super) async fn follow(
        &self,
        library: &Library,
        asker: &Context,
        since: Timestamp,
        context: &SubscriptionContext,
    ) -> Result<(), ErrorData> {
        let Ok(_place) = self.streams.0.try_acquire() else {
            let why = format!("this server serves {STREAMS_MAX} subscriptions at once; try later");
            return Err(ErrorData::internal_error(why, None));
        };
        let accepted = context.accepted();
        let uris = accepted.resource_subscriptions.clone().unwrap_or_default();
        let tells_list = accepted.resources_list_changed == Some(true);
        let mut following =
            library.follow(asker, &uris, since).await.map_err(|trouble| refused(&trouble))?;
        let mut stopping = self.stopping.clone();
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let end = Instant::now() + STREAM_MAX;
        while Instant::now() < end {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                // A sender that is gone means the same as one that says stop.
                _ = stopping.wait_for(|is_stopping| *is_stopping) => return Ok(()),
                _ = ticks.tick() => {}
            }
            let news = match library.look(asker, &mut following).await {
                Ok(news) => news,
                Err(trouble) => {
                    tracing::warn!(%trouble, "a subscription could not look at its feeds");
                    continue;
                }
            };
            for uri in news.updated {
                if context.sink().notify_resource_updated(uri).await.is_err() {
                    return Ok(());
                }
            }
            let tells = tells_list && news.is_list_changed;
            if tells && context.sink().notify_resource_list_changed().await.is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}
