//! Promise: a process killed while it makes vectors loses none: after a restart the work is taken up
//! where it was, every memory gets its vectors, and nothing is made of what is not there.

use std::thread;
use std::time::{Duration, Instant};

use loci_it::{Api, Dice, Loci, Server, Setup, budget, count, crowd};
use serde_json::{Value, json};

fn kills() -> usize {
    count("search_kills")
}
const WRITERS: usize = 6;
/// Memories written after each kill, so that writing and following are cut off together too.
const MORE: usize = 8;

fn status(server: &Server) -> Value {
    server.client().get("/v1/embedding").ok()
}

/// Writes sentences by several clients at once; their numbers and ids.
fn fill(server: &Server, store: &str, from: usize, count: usize) -> Vec<(usize, String)> {
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let mut api = Api::open(server.client(), store);
            thread::spawn(move || {
                let numbers = (from..from + count).filter(|number| number % WRITERS == writer);
                let put = |number| (number, api.put(&format!("/m/{number}"), &crowd(number)).id);
                numbers.map(put).collect::<Vec<_>>()
            })
        })
        .collect();
    writers.into_iter().flat_map(|writer| writer.join().expect("writing works")).collect()
}

#[test]
fn kill_9_while_vectors_are_made_leaves_the_index_whole() {
    let mut dice = Dice::new("kill while indexing");
    let setup = Setup::new();
    let mut server = setup.start();
    let store = Api::create(server.client(), "killed").store;
    let mut written = fill(&server, &store, 0, count("search_kill_memories"));
    let mut while_behind = 0;
    for round in 0..kills() {
        let more = fill(&server, &store, written.len(), MORE);
        written.extend(more);
        // At a moment that nobody chose, but before the last vectors are made, however fast they are.
        let (began, moment) = (Instant::now(), dice.millis(20, 400));
        let behind = || status(&server)["changes_behind"].as_u64().unwrap();
        while began.elapsed() < moment && behind() > MORE as u64 / 4 {
            thread::sleep(Duration::from_millis(5));
        }
        while_behind += usize::from(behind() != 0);
        server.kill();
        if round % 5 == 0 {
            Loci::on_data(setup.data()).ok(&["check"]);
        }
        server = setup.start();
        // By word everything is there at once, however far vectors are.
        let (number, id) = &written[dice.below(written.len())];
        let found = Api::open(server.client(), &store).found("lexical", &crowd(*number));
        assert!(found.contains(id), "sentence {number} after kill {round}");
    }
    eprintln!("{while_behind} of {} kills came while vectors were being made", kills());
    assert!(while_behind >= kills() / 2, "only {while_behind} kills hit the making of vectors");

    let mut api = Api::open(server.client(), &store);
    let answer = api.settle();
    assert_eq!(answer["indexed_through"], written.len(), "{answer}");
    let ended = status(&server);
    assert_eq!((&ended["stores_behind"], &ended["changes_behind"]), (&json!(0), &json!(0)));
    assert_eq!(ended["generations"].as_array().unwrap().len(), 1, "{ended}");
    for _ in 0..40 {
        let (number, id) = &written[dice.below(written.len())];
        has_its_own_vector(&mut api, &crowd(*number), id);
    }
    server.stop();
    let report = Loci::on_data(setup.data()).json(&["check"]);
    assert_eq!(report["vectors"], written.len(), "{report}");

    // Nothing is made again by another start.
    let server = setup.start();
    assert_eq!(status(&server)["changes_behind"], 0);
    server.stop();
}

/// Asked for in its own words by meaning alone, a memory is there and as near as can be.
#[track_caller]
fn has_its_own_vector(api: &mut Api, text: &str, id: &str) {
    let body = json!({"query": text, "mode": "semantic", "explain": true, "limit": 20});
    let answer = api.search(&body).ok();
    let hit = answer["data"].as_array().unwrap().iter().find(|hit| hit["id"] == id);
    let hit = hit.unwrap_or_else(|| panic!("not found by meaning: {text}"));
    let similarity = hit["explanation"]["semantic"].as_f64().unwrap_or(0.0);
    assert!(similarity > 0.97, "{similarity} of {text}");
}

/// A stop in the middle of the work is clean and quick, and costs nothing but time.
#[test]
fn a_stop_does_not_wait_for_vectors() {
    let setup = Setup::new();
    let server = setup.start();
    let store = Api::create(server.client(), "stopped").store;
    fill(&server, &store, 0, 300);
    assert_ne!(status(&server)["changes_behind"], 0, "vectors are made faster than memories");
    let (ended, took) = server.terminate();
    assert!(ended.success(), "{ended}");
    assert!(took < budget(Duration::from_secs(10)), "a stop took {took:?}");
    Loci::on_data(setup.data()).ok(&["check"]);
    let server = setup.start();
    let mut api = Api::open(server.client(), &store);
    assert_eq!(api.settle()["indexed_through"], 300);
    server.stop();
}
