//! Promise: a start does not read vectors. A server with twenty thousand of them listens as soon as
//! an empty one, and the first search finds what it should.
//!
//! The vectors come from an endpoint of our own, because making so many takes longer than the test
//! has; they are as long as those of the model inside.

use std::thread;
use std::time::{Duration, Instant};

use loci_it::{Api, Endpoint, Loci, Setup, budget, count, crowd};
use serde_json::json;

fn memories() -> usize {
    count("restart_memories")
}
const DIMS: usize = 384;
const KEY_ENV: &str = "LOCI_TEST_ENDPOINT_KEY";
const KEY: &str = "sk-it-endpoint-93b2f0a17d";
const WRITERS: usize = 16;
const READY_WITHIN: Duration = Duration::from_secs(2);

/// The best of some starts, because the machine has other things to do.
fn ready_after(setup: &Setup) -> Duration {
    let times = (0..3).map(|_| {
        let server = setup.start();
        let ready = server.ready_after();
        server.stop();
        ready
    });
    times.min().expect("three starts")
}

#[test]
fn a_start_does_not_read_vectors() {
    let nothing = ready_after(&Setup::new());
    let endpoint = Endpoint::start(DIMS, KEY);
    let setup = Setup::new().config(&endpoint.config(KEY_ENV)).env(KEY_ENV, KEY);
    let server = setup.start();
    let mut api = Api::create(server.client(), "large");
    // No sentence of the crowd begins with this letter, so it is alone on its axis.
    let fact = api.put("/fact", "Quinces ripen in October.").id;
    let began = Instant::now();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let mut api = Api::open(server.client(), &api.store);
            thread::spawn(move || {
                for number in (writer..memories()).step_by(WRITERS) {
                    api.put(&format!("/m/{}/{number}", number / 500), &crowd(number));
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().expect("writing works");
    }
    eprintln!("{} memories written in {:.1?}", memories(), began.elapsed());
    api.settle();
    eprintln!("and all have vectors after {:.1?}", began.elapsed());
    let store = api.store.clone();
    drop(api);
    server.stop();
    let report = Loci::on_data(setup.data()).json(&["check"]);
    assert_eq!(report["vectors"], memories() + 1, "{report}");

    let full = ready_after(&setup);
    eprintln!("ready after {full:.0?} with {} vectors, {nothing:.0?} with none", memories());
    assert!(full < budget(READY_WITHIN), "ready only after {full:?}");
    let small = nothing * 3 + Duration::from_millis(500);
    assert!(full < budget(small), "{full:?} with vectors, {nothing:?} without");

    let server = setup.start();
    let mut api = Api::open(server.client(), &store);
    let body = json!({"query": "Question of fruit", "mode": "semantic", "limit": 3});
    let began = Instant::now();
    let answer = api.search(&body).ok();
    let first = began.elapsed();
    assert_eq!(loci_it::ids(&answer)[0], fact);
    assert_eq!(answer["is_complete"], true, "the first search has every vector");
    let began = Instant::now();
    api.search(&body).ok();
    eprintln!("first search {first:.0?}, second {:.0?}", began.elapsed());
    assert_eq!(api.found("lexical", "october quinces").first(), Some(&fact));
    server.stop();
}
