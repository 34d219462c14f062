//! Searching a store as the tests do it: by word, by meaning, and until everything has vectors.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::Api;
use crate::client::Reply;

/// Making vectors is given this long, on a machine that others use too.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(240);

impl Api {
    /// A search, whatever becomes of it.
    #[track_caller]
    pub fn search(&mut self, body: &Value) -> Reply {
        let url = self.path("/search");
        self.client.post(&url, body)
    }

    /// The ids of what a search finds, best first.
    #[track_caller]
    pub fn found(&mut self, mode: &str, query: &str) -> Vec<String> {
        ids(&self.search(&json!({"query": query, "mode": mode, "view": "basic"})).ok())
    }

    /// Waits until every memory can be found by meaning; what the last search said.
    #[track_caller]
    pub fn settle(&mut self) -> Value {
        let began = Instant::now();
        let body = json!({
            "query": "anything", "mode": "semantic", "limit": 1, "view": "basic",
            "wait_for": "latest", "wait_seconds": 20,
        });
        loop {
            let answer = self.search(&body).ok();
            if answer["is_complete"] == true {
                return answer;
            }
            let waited = began.elapsed();
            assert!(waited < SETTLE_TIMEOUT, "no vectors after {waited:?}: {answer}");
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// The ids of the results in an answer, best first.
#[track_caller]
pub fn ids(answer: &Value) -> Vec<String> {
    let data = answer["data"].as_array().expect("an answer has data");
    data.iter().map(|hit| hit["id"].as_str().expect("a memory has an id").to_owned()).collect()
}
