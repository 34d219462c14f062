//! What takes long does not run on the threads that answer requests. Here there is one such thread,
//! and the system says how much of it a request took: next to nothing of the time that passed.

use crate::common::Server;
use loci_model::StoreId;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

const MEMORIES: usize = 40;
/// Bytes of each, about.
const BYTES: usize = 60_000;

/// Text without repetition, in which every fifth word is the one that is looked for.
fn text(number: usize) -> String {
    let mut text = format!("Anna works for company {number}. ");
    for word in 0.. {
        if text.len() > BYTES {
            break;
        }
        let other = (number * 7_919 + word * 104_729) % 1_000_003;
        let _ = write!(text, "harbour w{other} settled boats{word} leaving. ");
    }
    text
}

async fn server() -> (Server, StoreId) {
    let server = Server::new().await;
    let store = server.store("large").await;
    for number in 0..MEMORIES {
        server.put(store, &format!("/{number}"), &text(number)).await;
    }
    (server, store)
}

/// How long this thread has run, as the system counts it.
fn thread_ran() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split(' ').next().unwrap().parse().unwrap())
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn requests_that_take_long_leave_the_threads_that_answer_free() {
    let (server, store) = server().await;
    let of_store = |rest: &str| format!("/v1/memory_stores/{store}/{rest}");
    let wanted = json!({"query": "settled harbour", "limit": 100, "mode": "lexical"});
    let question = json!({"query": "who works for the harbour?", "max_episodes": 50});
    for (method, uri, body) in [
        ("POST", of_store("search"), wanted.clone()),
        ("POST", "/v1/search".to_owned(), wanted),
        ("GET", of_store("duplicates"), Value::Null),
        ("POST", "/v1/knowledge".to_owned(), question),
        ("GET", of_store("entries?view=full"), Value::Null),
        ("GET", of_store("history?view=full"), Value::Null),
        ("GET", of_store("hygiene?check=secrets"), Value::Null),
        ("GET", of_store("brief"), Value::Null),
        ("GET", "/console/series".to_owned(), Value::Null),
        ("GET", of_store("entries?view=full&as_of=2030-01-01T00:00:00Z"), Value::Null),
    ] {
        // The first one also reads the store into an index.
        for is_counted in [false, true] {
            let (began, ran) = (Instant::now(), thread_ran());
            let reply = server.call(crate::common::ADMIN, method, &uri, body.clone()).await;
            let (took, ran) = (began.elapsed(), thread_ran() - ran);
            assert_eq!(reply.status, 200, "{uri}");
            // Reading out of memory is done on the spot, which a listing consists of.
            if is_counted && took > Duration::from_millis(20) {
                assert!(ran * 3 < took, "{uri} ran for {ran:?} of {took:?} where it is answered");
            }
        }
    }
}

#[tokio::test]
async fn an_answer_ends_bringing_contents_after_about_a_megabyte() {
    let (server, store) = server().await;
    let search = format!("/v1/memory_stores/{store}/search");
    let ask = async |view: &str| {
        let wanted = json!({"query": "harbour", "limit": 40, "mode": "lexical", "view": view});
        server.post(&search, wanted).await.ok()
    };
    let full = ask("full").await;
    let hits = full["data"].as_array().unwrap();
    let with: usize = hits.iter().take_while(|hit| hit["content"].is_string()).count();
    let bytes: usize = hits[..with].iter().map(|hit| hit["content"].as_str().unwrap().len()).sum();
    assert!((1 << 20..(1 << 20) + 2 * BYTES).contains(&bytes), "{bytes}");
    assert_eq!(full["contents_left_out"], MEMORIES - with);
    for hit in &hits[with..] {
        assert!(hit["content"].is_null());
        assert!(hit["snippet"].as_str().unwrap().contains("harbour"));
    }
    let basic = ask("basic").await;
    assert_eq!(
        (&basic["contents_left_out"], &basic["data"][0]["content"]),
        (&json!(0), &Value::Null)
    );

    let question = json!({"query": "harbour", "max_episodes": 40});
    let known = server.post("/v1/knowledge", question).await.ok();
    let episodes = known["episodes"].as_array().unwrap();
    let without = episodes.iter().filter(|one| one["content"].is_null()).count();
    assert!(
        without > 0 && known["contents_left_out"] == without,
        "{without} of {}",
        episodes.len()
    );
}
