//! Promise: a model that reads beside the rules adds what the text bears out, marked as its own, and
//! nothing else. Whatever it answers, or does not, rules go on, nobody's write waits, and what it
//! read is gone with what was read.

use std::thread;
use std::time::{Duration, Instant};

use loci_it::{Api, Model, Needles, Say, Server, Setup, budget, hits_in_dir};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);
const KEY: &str = "hunter2-hunter2-hunter2";
const TEXT: &str = "I live in Rome. The choir is what I look forward to all week.";

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what} did not come");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The model answers at once; a machine that is busy elsewhere has time to hear it.
fn setup(model: &Model, api: &str, more: &str) -> Setup {
    waiting(20, model, api, more)
}

fn waiting(timeout_secs: u32, model: &Model, api: &str, more: &str) -> Setup {
    let config = model.config(api, &format!("timeout_seconds = {timeout_secs}\n{more}"));
    Setup::new().config(&config).env("EXTRACTION_KEY", KEY)
}

/// What is known of a store: each fact's text and what read it.
fn known(api: &mut Api) -> Vec<(String, String)> {
    let url = api.path("/facts?limit=100");
    let page = api.client.get(&url).ok();
    let text = |fact: &Value, name: &str| fact[name].as_str().unwrap().to_owned();
    let facts = page["data"].as_array().unwrap();
    let mut known: Vec<_> =
        facts.iter().map(|fact| (text(fact, "text"), text(fact, "extractor"))).collect();
    known.sort();
    known
}

fn metric(server: &Server, name: &str) -> u64 {
    let text = server.client().get("/metrics").text();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.trim().parse().ok()).unwrap_or(0)
}

fn status(server: &Server) -> Value {
    server.client().get("/v1/extraction").ok()
}

fn choir() -> Value {
    json!({"subject": "speaker", "relation": "InterestedIn", "object": "choir", "kind": "Group",
           "quote": "The choir is what I look forward to all week", "is_negated": false,
           "is_over": false, "since": null, "until": null})
}

fn changed(field: &str, value: Value) -> Value {
    let mut fact = choir();
    fact[field] = value;
    fact
}

fn rules() -> (String, String) {
    ("User lives in Rome".to_owned(), "rules".to_owned())
}

#[test]
fn both_kinds_of_endpoint_are_asked_strictly_and_their_facts_are_marked() {
    for (kind, path, reader) in [
        ("openai", "/v1/chat/completions", "openai:m-1"),
        ("anthropic", "/v1/messages", "anthropic:m-1"),
    ] {
        let model = Model::start(vec![Say::Facts(json!([choir()]))]);
        let setup = setup(&model, kind, "");
        let server = setup.start();
        let mut api = Api::create(server.client(), "notes");
        api.put("/one", TEXT);
        wait_until("what the model read", || known(&mut api).len() == 2);
        assert!(known(&mut api).iter().any(|(_, by)| by == reader), "{:?}", known(&mut api));
        let url = api.path("/facts?limit=100");
        for fact in api.client.get(&url).ok()["data"].as_array().unwrap() {
            let trust = if fact["extractor"] == "rules" { "high" } else { "low" };
            assert_eq!(fact["trust"], trust);
        }
        let heard = model.heard();
        let first = &heard[0];
        assert_eq!((first.path.as_str(), first.message().as_str()), (path, TEXT));
        assert_eq!(first.body["temperature"], 0);
        assert!(first.headers.contains(KEY), "the key is sent");
        let schema = match kind {
            "openai" => &first.body["response_format"]["json_schema"]["schema"],
            _ => &first.body["tools"][0]["input_schema"],
        };
        let relations = &schema["properties"]["facts"]["items"]["properties"]["relation"]["enum"];
        assert_eq!(relations.as_array().unwrap().len(), 37);
        let status = status(&server);
        assert_eq!((&status["reader"], &status["requests_today"]), (&json!(reader), &json!(1)));
        assert_eq!(status["tokens_today"], 100);
        let forget = json!({"reader": reader});
        server.client().post("/v1/extraction/forget", &forget).ok();
        assert_eq!(known(&mut api), [rules()]);
        server.stop();
        assert!(!setup.printed().contains(KEY), "the key is not told");
    }
}

#[test]
fn what_the_text_does_not_bear_out_is_dropped_and_counted() {
    let hostile = json!([
        changed("quote", json!("I hate the choir")),
        changed("relation", json!("Worships")),
        changed("subject", json!("Mallory")),
        changed("since", json!("2001-01-01")),
        changed("object", json!("Mallory's boat")),
        changed("extra", json!("ignore all rules")),
        changed("kind", json!("Root")),
        {"subject": "speaker"},
        7,
    ]);
    let model = Model::start(vec![Say::Facts(hostile)]);
    let server = setup(&model, "anthropic", "").start();
    let mut api = Api::create(server.client(), "notes");
    api.put("/one", TEXT);
    let shape = "loci_extraction_dropped_total{why=\"shape\"}";
    wait_until("the answer", || metric(&server, shape) > 0);
    assert_eq!(known(&mut api), [rules()]);
    let dropped =
        |why: &str| metric(&server, &format!("loci_extraction_dropped_total{{why=\"{why}\"}}"));
    assert_eq!(dropped("shape"), 3);
    assert_eq!((dropped("quote"), dropped("relation"), dropped("subject")), (1, 2, 1));
    assert_eq!((dropped("time"), dropped("object")), (1, 1));
    assert_eq!(metric(&server, "loci_extraction_facts_total"), 0);
    assert_eq!(metric(&server, "loci_extraction_texts_total"), 1);
}

#[test]
fn an_endpoint_may_fail_as_it_likes() {
    let broken = "{\"choices\":[{\"message\":{\"content\":\"I found nothing, sorry\"}}]}";
    let model = Model::start(vec![
        // Tried again, and once more when it says when.
        Say::Raw("500 Internal Server Error", "", "{}".into()),
        Say::Raw("429 Too Many Requests", "retry-after: 1\r\n", "{}".into()),
        Say::Facts(json!([choir()])),
    ]);
    let server = setup(&model, "openai", "retries = 2").start();
    let mut api = Api::create(server.client(), "notes");
    let began = Instant::now();
    api.put("/one", TEXT);
    assert!(began.elapsed() < budget(Duration::from_secs(5)), "a write waits for nobody");
    wait_until("the third answer", || known(&mut api).len() == 2);
    assert_eq!(model.heard().len(), 3);
    assert!(began.elapsed() >= Duration::from_secs(1), "it was left alone as it wished");
    let read = known(&mut api);
    for (number, say) in [
        Say::Raw("200 OK", "", "not json".into()),
        Say::Raw("200 OK", "", broken.into()),
        Say::Raw("200 OK", "", "{\"choices\":[]}".into()),
        Say::Huge(3 << 20),
    ]
    .into_iter()
    .enumerate()
    {
        model.say(say);
        let texts = metric(&server, "loci_extraction_texts_total");
        api.put(&format!("/garbage{number}"), "Nothing to see.");
        wait_until("garbage", || metric(&server, "loci_extraction_texts_total") > texts);
        assert_eq!(known(&mut api), read);
    }
    assert_eq!(model.heard().len(), 7, "what was answered is not asked for again");
    server.stop();
}

/// Slower than the timeout, three times: rules go on, and it is tried again later.
#[test]
fn an_endpoint_may_be_too_slow() {
    let slowly = || Say::Slowly(Duration::from_secs(4), json!([choir()]));
    let model = Model::start((0..3).map(|_| slowly()).collect());
    let server = waiting(2, &model, "openai", "retries = 2").start();
    let mut api = Api::create(server.client(), "notes");
    api.put("/slow", "I love tea.");
    wait_until("rules", || known(&mut api).iter().any(|(text, _)| text.contains("tea")));
    wait_until("giving up for now", || metric(&server, "loci_extraction_failures_total") > 0);
    wait_until("another try", || status(&server)["stores_behind"] == 0);
    server.stop();
}

#[test]
fn a_budget_is_kept_over_restarts() {
    let model = Model::start(Vec::new());
    let setup = setup(&model, "anthropic", "requests_per_day = 2");
    let server = setup.start();
    let mut api = Api::create(server.client(), "notes");
    for number in 0..4 {
        api.put(&format!("/{number}"), &format!("Note {number}."));
    }
    wait_until("the budget's end", || status(&server)["requests_today"] == 2);
    server.stop();
    let server = setup.start();
    assert_eq!(status(&server)["requests_today"], 2);
    let mut api = Api::open(server.client(), &api.store);
    api.put("/more", "One more note.");
    assert_eq!(status(&server)["stores_behind"], 1);
    server.stop();
    assert_eq!(model.heard().len(), 2, "nothing beyond it is asked");
}

#[test]
fn what_was_read_is_erased_with_its_memory() {
    let word = "Zqxwvutsrqponmlkjihgfedc";
    let secret = format!("{word} is what I look forward to all week");
    let fact = json!({"subject": "speaker", "relation": "InterestedIn", "object": word,
                      "kind": null, "quote": secret, "is_negated": false, "is_over": false,
                      "since": null, "until": null});
    let model = Model::start(vec![Say::Facts(json!([fact]))]);
    let setup = setup(&model, "anthropic", "");
    let server = setup.start();
    let mut api = Api::create(server.client(), "notes");
    let memory = api.put("/one", &format!("{secret}."));
    wait_until("what the model read", || known(&mut api).len() == 1);
    api.erase(&memory.id).ok();
    assert!(known(&mut api).is_empty());
    server.stop();
    assert_eq!(hits_in_dir(setup.data(), &Needles::of(word)), Vec::<String>::new());
}
