//! Subscriptions of clients that know `resources/subscribe`: the relay listens for them, by the way
//! that newer clients have, and tells them in their own words.
//!
//! When the process that answered is gone, the relay listens at the next one. What happened in between
//! is unknown, so everything subscribed to counts as changed: to look once too often does no harm.

use super::super::way::Answered;
use super::events::Events;
use super::message::{ACKNOWLEDGED, Request};
use super::relay::{Shared, lock};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;
use tokio::task::AbortHandle;

/// Resources that one client may follow.
const URIS_MAX: usize = 1000;
/// Before it is tried again.
const PAUSE: Duration = Duration::from_millis(500);

/// What a client wants to hear of.
#[derive(Default)]
pub(super) struct Listening(Mutex<State>);

#[derive(Default)]
struct State {
    uris: BTreeSet<String>,
    task: Option<AbortHandle>,
    /// How often it was begun, for the ids of requests.
    begun: u64,
    /// Requests of the client that are answered by a stream.
    streams: BTreeSet<String>,
}

impl Listening {
    /// Begins to listen for changes of the listing.
    pub(super) fn start(&self, shared: &Shared) {
        self.restart(&mut lock(&self.0), shared);
    }

    /// Ends it.
    pub(super) fn stop(&self) {
        if let Some(task) = lock(&self.0).task.take() {
            task.abort();
        }
    }

    /// Adds a resource.
    pub(super) fn add(&self, shared: &Shared, uri: &str) -> Result<(), String> {
        let mut state = lock(&self.0);
        if state.uris.len() >= URIS_MAX {
            return Err(format!("one client can follow {URIS_MAX} resources"));
        }
        if state.uris.insert(uri.to_owned()) {
            self.restart(&mut state, shared);
        }
        Ok(())
    }

    /// Takes one away.
    pub(super) fn remove(&self, shared: &Shared, uri: &str) {
        let mut state = lock(&self.0);
        if state.uris.remove(uri) {
            self.restart(&mut state, shared);
        }
    }

    /// Remembers that a request of the client is answered by a stream.
    pub(super) fn mark_stream(&self, id: &str) {
        lock(&self.0).streams.insert(id.to_owned());
    }

    /// Forgets it.
    pub(super) fn unmark_stream(&self, id: &str) {
        lock(&self.0).streams.remove(id);
    }

    /// Whether a request is.
    pub(super) fn is_stream(&self, id: &str) -> bool {
        lock(&self.0).streams.contains(id)
    }

    fn restart(&self, state: &mut State, shared: &Shared) {
        if let Some(task) = state.task.take() {
            task.abort();
        }
        state.begun += 1;
        let uris: Vec<String> = state.uris.iter().cloned().collect();
        let listening = tokio::spawn(follow(shared.clone(), uris, state.begun));
        state.task = Some(listening.abort_handle());
    }
}

async fn follow(shared: Shared, uris: Vec<String>, begun: u64) {
    let request = Request::listen(&format!("loci-relay-{begun}"), &uris);
    let mut is_first = true;
    loop {
        if let Ok(Answered::Stream(response)) = shared.door.ask(&request, None).await {
            let mut events = Events::new(response.into_body());
            while let Some(event) = events.next().await {
                let event: Value = serde_json::from_str(&event).unwrap_or(Value::Null);
                let is_begin = event["method"] == ACKNOWLEDGED;
                if is_begin && !std::mem::take(&mut is_first) {
                    for uri in &uris {
                        shared.say(updated(uri)).await;
                    }
                }
                if let Some(line) = in_old_words(&event) {
                    shared.say(line).await;
                }
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// A notification as older clients know it, if they know it.
fn in_old_words(event: &Value) -> Option<String> {
    match event["method"].as_str()? {
        "notifications/resources/updated" => event["params"]["uri"].as_str().map(updated),
        method @ "notifications/resources/list_changed" => {
            Some(json!({ "jsonrpc": "2.0", "method": method }).to_string())
        }
        _ => None,
    }
}

fn updated(uri: &str) -> String {
    let method = "notifications/resources/updated";
    json!({ "jsonrpc": "2.0", "method": method, "params": { "uri": uri } }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_clients_know_is_passed_on() {
        let event = json!({
            "method": "notifications/resources/updated",
            "params": { "uri": "loci://home/a", "_meta": { "x": 1 } },
        });
        assert_eq!(in_old_words(&event), Some(updated("loci://home/a")));
        assert!(in_old_words(&json!({ "method": "notifications/message" })).is_none());
        assert!(in_old_words(&json!({ "id": 1, "result": {} })).is_none());
    }
}
