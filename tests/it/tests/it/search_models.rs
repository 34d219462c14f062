//! Promise: another model can be put in at any time. Searches are answered before, while and after
//! vectors are made anew, and vectors of two models are never compared with each other.

use std::fs;
use std::time::{Duration, Instant};

use loci_it::{Api, Endpoint, FACTS, Loci, Server, Setup, budget, crowd, ids};
use serde_json::{Value, json};

const KEY_ENV: &str = "LOCI_TEST_ENDPOINT_KEY";
const KEY: &str = "sk-it-endpoint-4c1de27a99";
const DIMS: usize = 32;

fn status(server: &Server) -> Value {
    server.client().get("/v1/embedding").ok()
}

fn fill(api: &mut Api) -> Vec<String> {
    let facts = FACTS.iter().enumerate();
    facts.map(|(number, (text, _))| api.put(&format!("/f/{number}"), text).id).collect()
}

/// How alike the results of a search by meaning are to the query.
fn similarities(api: &mut Api, query: &str) -> Vec<f64> {
    let body = json!({"query": query, "mode": "semantic", "explain": true, "limit": 100});
    let answer = api.search(&body).ok();
    let data = answer["data"].as_array().unwrap().iter();
    data.filter_map(|hit| hit["explanation"]["semantic"].as_f64()).collect()
}

/// Whether similarities are those of the endpoint, which knows only 0 and 1.
fn are_by_letter(found: &[f64]) -> bool {
    found.iter().all(|it| it.abs() < 1e-3 || (it - 1.0).abs() < 1e-3)
}

#[test]
fn vectors_are_made_anew_on_request_with_progress() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "anew");
    let made = fill(&mut api);
    for number in 0..60 {
        api.put(&format!("/n/{number}"), &crowd(number));
    }
    api.settle();
    let before = status(&server);
    let loci = Loci::on_data(setup.data());
    let begun = loci.json(&["reembed", "--no-wait"]);
    assert_eq!(begun["type"], "embedding", "{begun}");
    // Meanwhile the old ones serve, so that nothing is missing.
    let answer = api.search(&json!({"query": FACTS[0].1, "mode": "semantic"})).ok();
    assert!(ids(&answer).iter().take(3).any(|id| *id == made[0]), "{answer}");
    assert_eq!(answer["is_complete"], true, "{answer}");

    let (code, shown) = loci.run_on_terminal(&["reembed"]);
    assert_eq!(code, Some(0), "{shown}");
    let percent = shown.contains("making vectors: ") && shown.contains(" %");
    assert!(percent, "no progress on a terminal: {shown:?}");
    assert!(shown.contains("all vectors are made by"), "{shown}");
    let after = status(&server);
    assert!(after["generation"].as_u64() > before["generation"].as_u64(), "{before} {after}");
    assert_eq!((&after["stores_behind"], &after["model"]), (&json!(0), &before["model"]));
    wait_for_one_generation(&server);
    api.settle();
    for ((_, asked), id) in FACTS.iter().zip(&made) {
        assert!(api.found("semantic", asked).contains(id), "{asked}");
    }
    server.stop();
    // On an idle directory too, and all that is left is one set of vectors.
    loci.ok(&["reembed"]);
    let report = loci.json(&["check"]);
    assert_eq!(report["vectors"], FACTS.len() + 60, "{report}");
}

/// Old vectors are thrown away once the new ones are whole.
fn wait_for_one_generation(server: &Server) {
    let began = Instant::now();
    while status(server)["generations"].as_array().unwrap().len() > 1 {
        assert!(began.elapsed() < Duration::from_secs(60), "{}", status(server));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn models_change_across_restarts_and_never_mix() {
    let endpoint = Endpoint::start(DIMS, KEY);
    let setup = Setup::new().config("").env(KEY_ENV, KEY);
    let server = setup.start();
    let mut api = Api::create(server.client(), "models");
    let made = fill(&mut api);
    api.settle();
    let store = api.store.clone();
    let builtin = status(&server)["model"].clone();
    assert!(!are_by_letter(&similarities(&mut api, "Ingrid's honey")));
    drop(api);
    server.stop();

    // A model elsewhere: the one inside answers until it is done.
    fs::write(setup.config_path(), endpoint.config(KEY_ENV)).unwrap();
    let server = setup.start();
    let mut api = Api::open(server.client(), &store);
    let began = Instant::now();
    loop {
        let found = similarities(&mut api, "Ingrid's honey");
        assert!(!found.is_empty(), "nothing is found while models change");
        let is_new = are_by_letter(&found);
        let is_old = found.iter().all(|it| (it - 1.0).abs() > 1e-3 && it.abs() > 1e-6);
        assert!(is_new || is_old, "two models in one answer: {found:?}");
        assert!(api.found("hybrid", "peanuts").iter().take(3).any(|id| *id == made[2]));
        if is_new {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "never changed: {}", status(&server));
    }
    api.settle();
    wait_for_one_generation(&server);
    assert_ne!(status(&server)["model"], builtin);
    assert_eq!((status(&server)["dims"].as_u64(), endpoint.unauthorized()), (Some(32), 0));
    assert!(endpoint.texts() >= FACTS.len());
    let found = similarities(&mut api, "In other words");
    assert!(are_by_letter(&found) && found.iter().any(|it| *it > 0.9), "{found:?}");
    drop(api);
    server.stop();

    // And back: words answer at once, meaning as soon as it is there.
    fs::write(setup.config_path(), "").unwrap();
    let server = setup.start();
    let mut api = Api::open(server.client(), &store);
    assert_eq!(api.found("hybrid", "peanuts").first(), Some(&made[2]));
    api.settle();
    assert_eq!(status(&server)["model"], builtin);
    let found = similarities(&mut api, "Ingrid's honey");
    assert!(!are_by_letter(&found) && found.len() == FACTS.len(), "{found:?}");
    wait_for_one_generation(&server);
    server.stop();
    Loci::on_data(setup.data()).ok(&["check"]);
    assert!(!setup.printed().contains(KEY), "the endpoint's key is in the log");
}

#[test]
fn an_endpoint_that_is_down_leaves_search_by_word() {
    let endpoint = Endpoint::start(DIMS, KEY);
    let config = endpoint.config(KEY_ENV);
    let setup = Setup::new().config(&config).env(KEY_ENV, KEY);
    let server = setup.start();
    let mut api = Api::create(server.client(), "down");
    let early = api.put("/early", "the ferry sails on Thursday").id;
    api.settle();

    endpoint.fail(true);
    let late = api.put("/late", "the ferry is late on Friday").id;
    let by_word = |api: &mut Api, what: &str| {
        let began = Instant::now();
        let answer = api.search(&json!({"query": "ferry Friday"})).ok();
        assert_eq!(ids(&answer), [late.clone(), early.clone()], "{what}");
        eprintln!("{what}: hybrid answered in {:.0?}", began.elapsed());
        let took = began.elapsed();
        assert!(took < budget(Duration::from_secs(6)), "{what}: {took:?}");
        assert_eq!(answer["is_complete"], false, "{what}: {answer}");
        let refused = api.search(&json!({"query": "ferry", "mode": "semantic"}));
        assert_eq!(refused.status, 503, "{what}: {}", refused.text());
        assert!(refused.header("retry-after").is_some(), "{what}");
        assert_eq!(api.found("lexical", "Friday").first(), Some(&late), "{what}");
    };
    by_word(&mut api, "failing");
    let healthy = server.client().get("/readyz");
    assert_eq!(healthy.status, 200, "{}", healthy.text());

    // It comes back: what was written meanwhile gets its vectors without being asked for.
    endpoint.fail(false);
    api.settle();
    assert_eq!(similarities(&mut api, "the ferry").len(), 2);

    endpoint.fail(true);
    let later = api.put("/later", "written and removed while nobody embeds").id;
    api.delete(&later);
    drop(endpoint);
    let store = api.store.clone();
    drop(api);
    server.stop();
    let server = setup.start();
    let mut api = Api::open(server.client(), &store);
    let answer = api.search(&json!({"query": "ferry Friday"})).ok();
    assert_eq!(ids(&answer)[0], late, "gone altogether, after a restart");
    server.stop();
    let printed = setup.printed();
    assert!(!printed.contains(KEY) && !printed.contains("Thursday"), "{printed}");
}

#[test]
fn a_server_without_a_model_searches_by_word_and_says_so() {
    let setup = Setup::new().config("[search]\nembedder = \"none\"\n");
    let server = setup.start();
    let mut api = Api::create(server.client(), "none");
    let id = api.put("/a", FACTS[0].0).id;
    assert_eq!(api.found("hybrid", "bees"), [id.as_str()]);
    assert_eq!(api.found("lexical", "bees"), [id]);
    let refused = api.search(&json!({"query": "bees", "mode": "semantic"}));
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("mode"), "{}", refused.text());
    assert!(status(&server)["model"].is_null());
    let reembed = server.client().call("POST", "/v1/embedding/reembed", None);
    assert_eq!(reembed.status, 503, "{}", reembed.text());
    server.stop();
}

/// A command on an idle directory does not know which model the server is configured with: what it
/// cannot follow it leaves alone, however long it takes.
#[test]
fn a_command_leaves_the_vectors_of_the_servers_model_alone() {
    let endpoint = Endpoint::start(DIMS, KEY);
    let setup = Setup::new().config(&endpoint.config(KEY_ENV)).env(KEY_ENV, KEY);
    let server = setup.start();
    let mut api = Api::create(server.client(), "kept");
    fill(&mut api);
    api.settle();
    let (before, texts) = (status(&server), endpoint.texts());
    let store = api.store.clone();
    drop(api);
    server.stop();

    let loci = Loci::on_data(setup.data());
    loci.ok(&["put", &store, "/more", "--text", "Written while the server was away."]);
    let found = loci.json(&["search", "peanuts", "--store", &store]);
    assert_eq!(found["data"][0]["path"], "/f/2", "{found}");
    // Longer than a command waits before it helps to follow.
    let waits = ["search", "peanuts", "--store", &store, "--wait"];
    let ended = loci.run(&waits);
    assert_eq!(ended.code, Some(1), "nothing here can embed for that model: {}", ended.stderr);
    loci.ok(&["check"]);

    let server = setup.start();
    let mut api = Api::open(server.client(), &store);
    api.settle();
    let after = status(&server);
    assert_eq!(after["generations"], before["generations"], "{before} {after}");
    // One for the memory that was missing; the rest are queries of this test.
    assert!(
        endpoint.texts() <= texts + 8,
        "{} texts were embedded again",
        endpoint.texts() - texts
    );
    assert!(are_by_letter(&similarities(&mut api, "Tomas")));
    server.stop();
}
