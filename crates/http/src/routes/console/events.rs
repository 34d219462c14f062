//! What happens, as it happens: server-sent events of every feed that the caller may read.
//!
//! The number of streams is bounded. A stream ends when the server stops or the credential does; a
//! browser then comes back by itself with the last `id` it saw and misses nothing.

use crate::error::{Failure, Result};
use crate::extract::{Authed, Params};
use crate::layers::auth::Shown;
use crate::layers::view::Viewer;
use crate::routes::Native;
use crate::routes::changes::ChangeView;
use crate::shares::Share;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures_util::stream::unfold;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName};
use loci_engine::{Error, Live, LiveEvent};
use loci_model::StoreId;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// Streams at the same time.
pub(crate) const STREAMS_AT_ONCE_MAX: usize = 64;
/// Of these, streams of one principal: more than a browser opens.
pub(crate) const STREAMS_EACH_MAX: usize = 8;
/// A line comes at least this often, so that both sides learn when the other is gone.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Characters of the longest cursor: all stores of a stream and a little.
const CURSOR_CHARS_MAX: usize = 32 * 1024;
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Proxies that collect answers before they pass them on are told not to.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Which events.
#[derive(Deserialize)]
pub(crate) struct EventsParams {
    after: Option<String>,
    store: Option<String>,
}

/// A change of one of many stores.
#[derive(Serialize)]
struct LiveChange {
    memory_store_id: String,
    #[serde(flatten)]
    change: ChangeView,
}

#[derive(Serialize)]
struct LiveGap {
    memory_store_id: String,
    after: u64,
    until: u64,
}

/// Changes of every store that the caller may read, or of one, as they happen.
#[utoipa::path(get, path = "/console/events", tag = "console", operation_id = "console_events",
    params(
        ("after" = Option<String>, Query, description = "An `id` of an earlier event, to go on \
            from there; the header `Last-Event-ID` goes before it. From now on when not given."),
        ("store" = Option<String>, Query, description = "Only this memory store."),
    ),
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub(crate) async fn stream(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    shown: Option<Extension<Shown>>,
    viewer: Option<Extension<Viewer>>,
    headers: HeaderMap,
    Params(params): Params<EventsParams>,
) -> Result<Response> {
    if viewer.is_some() {
        let why = "a stream is followed with one's own eyes only";
        return Err((&Error::Denied(why)).into());
    }
    let store = params.store.as_deref().map(str::parse::<StoreId>).transpose();
    let store = store.map_err(|_| Failure::not_found("memory store"))?;
    let resumed = headers.get(&LAST_EVENT_ID).and_then(|value| value.to_str().ok());
    let after = resumed.or(params.after.as_deref()).filter(|after| !after.is_empty());
    let after = after.map(read_cursor).transpose()?;
    let principal = context.caller.principal;
    let (own, all) = ("too many of your streams are open", "too many streams are open; try again");
    let share = native.streams.take(principal, own, all)?;
    let shown = shown.map(|Extension(Shown(hash))| hash);
    let live = native.engine.live(context, shown, store, after.as_deref()).await?;
    let running = Running { live, is_greeted: false, _share: share };
    let body = Body::from_stream(unfold(running, |running| async move {
        let (text, running) = running.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), running))
    }));
    let headers =
        [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store"), (UNBUFFERED, "no")];
    Ok((headers, body).into_response())
}

fn read_cursor(text: &str) -> Result<Vec<u8>> {
    let bytes = (text.len() <= CURSOR_CHARS_MAX).then(|| URL_SAFE_NO_PAD.decode(text).ok());
    bytes.flatten().ok_or_else(|| Failure::invalid("after: is not one that was given out"))
}

/// A stream that somebody reads.
struct Running {
    live: Live,
    is_greeted: bool,
    _share: Share,
}

impl Running {
    /// The next piece of text; none at the end.
    async fn next(mut self) -> Option<(String, Self)> {
        if !self.is_greeted {
            self.is_greeted = true;
            let hello = serde_json::json!({ "stores": self.live.stores() }).to_string();
            let text = written("hello", Some(&self.cursor()), &hello);
            return Some((text, self));
        }
        match self.live.next(HEARTBEAT).await {
            Ok(None) => None,
            Ok(Some(events)) if events.is_empty() => Some((": still here\n\n".to_owned(), self)),
            Ok(Some(events)) => Some((self.tell(events), self)),
            Err(error) => {
                tracing::debug!(%error, "a stream of changes ends");
                None
            }
        }
    }

    /// What happened. Where the stream is stands on the last of it: whoever loses the connection in
    /// between gets all of it again rather than a part of it never.
    fn tell(&self, events: Vec<LiveEvent>) -> String {
        let mut text = String::new();
        let last = events.len() - 1;
        for (place, event) in events.into_iter().enumerate() {
            let cursor = (place == last).then(|| self.cursor());
            let (name, data) = match event {
                LiveEvent::Change(change) => {
                    let memory_store_id = change.store.to_string();
                    let change = LiveChange { memory_store_id, change: change.into() };
                    ("change", serde_json::to_string(&change))
                }
                LiveEvent::Gap { store, after, until } => {
                    let gap = LiveGap { memory_store_id: store.to_string(), after, until };
                    ("gap", serde_json::to_string(&gap))
                }
                LiveEvent::Access => ("access", Ok("{}".to_owned())),
            };
            let data = data.expect("strings and numbers always become JSON");
            text.push_str(&written(name, cursor.as_deref(), &data));
        }
        text
    }

    fn cursor(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.live.cursor())
    }
}

/// One event; JSON has no line ends that would break it.
fn written(event: &str, id: Option<&str>, data: &str) -> String {
    let mut text = format!("event: {event}\n");
    if let Some(id) = id {
        writeln!(text, "id: {id}").expect("a String takes everything");
    }
    writeln!(text, "data: {data}\n").expect("a String takes everything");
    text
}
