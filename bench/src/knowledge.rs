//! What an oracle's runtime waits for: the six questions it asks before every turn, and a conversation
//! handed over, with a user of whom much is known. Beside the six questions, one plain search of the
//! same store in the same run.
//!
//! The targets hold for a release build and 100,000 memories of the user. Whether they are met is
//! printed; that what was handed over is found by the very next request is insisted on.

use anyhow::{Context, ensure};
use loci_it::ucan::{Signer, delegated};
use loci_it::{Client, Setup};
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const BATCH: &str = "/qiforge/search-enhanced-batch";
const MESSAGES: &str = "/qiforge/messages";
/// Messages of one hand-over while the store is filled.
const FILL: usize = 1000;
/// Messages of the hand-over that is timed.
const HANDED_OVER: usize = 200;
/// Milliseconds that the six questions may take, nineteen times of twenty.
const SIX_MS_MAX: f64 = 150.0;
/// Milliseconds until a conversation that was handed over is acknowledged, nineteen times of twenty.
const HANDED_OVER_MS_MAX: f64 = 300.0;
/// How long vectors are waited for before anything is timed.
const PATIENCE: Duration = Duration::from_secs(3600);

/// The questions, in our words: long sentences about six topics.
const QUESTIONS: [(&str, &str); 6] = [
    (
        "balanced",
        "Who is this person: their name, age, background, personality, values, the languages they speak, how they like to be addressed and how they communicate with others",
    ),
    (
        "balanced",
        "What is this person's work: their job, employer, current projects, the tools and technologies they use, problems they solved and the colleagues they work together with",
    ),
    (
        "balanced",
        "What does this person want to achieve: goals, plans, things they are learning, habits they keep, milestones they have reached and causes they care about",
    ),
    (
        "balanced",
        "What is this person interested in: hobbies, favourite topics, music, books, food, sports, what they like and what they dislike or avoid",
    ),
    (
        "balanced",
        "Who are the people around this person: family, friends, partner, pets, neighbours, teams and groups they belong to and mention in conversation",
    ),
    (
        "recent_memory",
        "What has been going on lately for this person: recent events, conversations, trips, decisions, changes and anything they mentioned in the last weeks",
    ),
];

/// Times of one sort of request.
#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn at(&mut self, share: f64) -> f64 {
        self.0.sort_unstable();
        let at = ((self.0.len() as f64 - 1.0) * share).round() as usize;
        self.0[at].as_secs_f64() * 1000.0
    }
}

pub(crate) fn run(memories: usize, rounds: usize) -> anyhow::Result<()> {
    ensure!(rounds > 0, "at least one round");
    // One visitor here keeps as much as many do elsewhere.
    let bounds = "visitor_memories = 10000000\nvisitors_memories = 10000000\nvisitor_mb = 100000\nvisitors_mb = 100000\n";
    let setup = Setup::new().config(&format!("[qiforge]\n{bounds}"));
    let server = setup.start();
    let document = server.client_as(None).get("/.well-known/did.json").ok();
    let did = document["id"].as_str().context("a DID document has an id")?.to_owned();
    #[expect(clippy::disallowed_methods, reason = "whoever makes tokens has a clock of their own")]
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())?;
    let (user, oracle) = (Signer::new(1), Signer::new(2));
    let token = delegated(&user, &oracle, &did, now + 12 * 3600);
    let mut client = server.client_as(Some(&token)).without_beta();
    let began = Instant::now();
    for first in (0..memories).step_by(FILL) {
        let some: Vec<Value> = (first..memories.min(first + FILL)).map(message).collect();
        send(&mut client, MESSAGES, &json!({"messages": some}))?;
    }
    println!("{memories} messages kept in {:.0} s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    let mut operator = server.client();
    while operator.get("/v1/embedding").ok()["changes_behind"] != 0 {
        ensure!(began.elapsed() < PATIENCE, "vectors are not made after {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
    println!("vectors of them after {:.0} s more", began.elapsed().as_secs_f64());
    let began = Instant::now();
    send(&mut client, BATCH, &six(&oracle.did))?;
    println!("first six questions after that: {:.0} ms", began.elapsed().as_secs_f64() * 1000.0);

    let (mut batches, mut single, mut handed) =
        (Times::default(), Times::default(), Times::default());
    for round in 0..rounds {
        // Something new before each, so that nothing could be answered from a cache.
        let told = json!({"messages": [message(memories + round)]});
        send(&mut client, MESSAGES, &told)?;
        let began = Instant::now();
        send(&mut client, BATCH, &six(&oracle.did))?;
        batches.0.push(began.elapsed());
        let query = json!({"queries": [{"query": QUESTIONS[1].1, "oracle_dids": [oracle.did],
            "max_facts": 0, "max_entities": 0, "max_communities": 0}]});
        let began = Instant::now();
        send(&mut client, BATCH, &query)?;
        single.0.push(began.elapsed());
    }
    for round in 0..rounds.min(10) {
        let first = memories + rounds + round * HANDED_OVER;
        let some: Vec<Value> = (first..first + HANDED_OVER).map(message).collect();
        let began = Instant::now();
        send(&mut client, MESSAGES, &json!({"messages": some}))?;
        handed.0.push(began.elapsed());
        let last = json!({"queries": [{"query": text(first + HANDED_OVER - 1), "oracle_dids": [oracle.did]}]});
        let found = send(&mut client, BATCH, &last)?;
        let wanted = text(first + HANDED_OVER - 1);
        ensure!(found.to_string().contains(&wanted), "what was handed over is not found");
    }
    let verdict = told(batches.at(0.95), SIX_MS_MAX);
    println!(
        "six questions: p50 {:.0} ms, p95 {:.0} ms {verdict}",
        batches.at(0.5),
        batches.at(0.95)
    );
    println!("one plain question: p50 {:.0} ms, p95 {:.0} ms", single.at(0.5), single.at(0.95));
    println!("six take {:.2} times as long as one", batches.at(0.5) / single.at(0.5));
    let (usual, most) = (handed.at(0.5), handed.at(0.95));
    let verdict = told(most, HANDED_OVER_MS_MAX);
    println!("{HANDED_OVER} messages: p50 {usual:.0} ms, p95 {most:.0} ms {verdict}");
    println!("what was handed over was found by the next request, {} times", handed.0.len());
    server.stop();
    Ok(())
}

/// How a figure compares with its target.
fn told(figure: f64, most: f64) -> String {
    let is_met = if figure <= most { "met" } else { "missed" };
    format!("(target {most:.0} ms: {is_met})")
}

fn send(client: &mut Client, path: &str, body: &Value) -> anyhow::Result<Value> {
    let headers = [("x-auth-type", "ucan"), ("x-room-id", "!room:example.org")];
    let reply = client.call_with("POST", path, Some(body), &headers);
    ensure!(matches!(reply.status, 200 | 202), "{path}: {}", reply.text());
    Ok(reply.json())
}

fn six(oracle: &str) -> Value {
    let question = |(strategy, query): &(&str, &str)| {
        json!({"query": query, "strategy": strategy, "oracle_dids": [oracle], "knowledge_level": "both",
            "max_facts": 12, "max_entities": 8, "max_episodes": 3, "max_communities": 2,
            "search_filters": {"invalid_at": [[{"date": null, "comparison_operator": "IS NULL"}]]}})
    };
    json!({"queries": QUESTIONS.iter().map(question).collect::<Vec<_>>()})
}

fn message(number: usize) -> Value {
    json!({"content": text(number), "role_type": "user", "role": "Ana", "name": "Ana",
        "source_description": "Chat Session: bench"})
}

/// One of many things somebody may say; half of them are facts.
fn text(number: usize) -> String {
    let thing = WORDS[number % WORDS.len()];
    let other = WORDS[(number / WORDS.len()) % WORDS.len()];
    match number % 8 {
        0 => format!("I love {thing} {other} number {number}."),
        1 => format!("I work on the {thing} {other} project {number}."),
        2 => format!("I visited the {thing} {other} in town {number}."),
        3 => format!("I use {thing}{other}{number} every day."),
        4 => format!("What do you think about {thing} and {other} today, case {number}?"),
        5 => format!("The {thing} arrived late because of the {other}, ticket {number}."),
        6 => format!("Maybe we should look at {thing} again with {other}, note {number}."),
        _ => format!("Thanks, the {thing} looks fine next to the {other}, reply {number}."),
    }
}

const WORDS: [&str; 48] = [
    "garden", "engine", "harbour", "violin", "ledger", "orchard", "kettle", "museum", "tunnel",
    "canvas", "lantern", "compass", "meadow", "printer", "glacier", "saddle", "market", "cellar",
    "beacon", "quarry", "ribbon", "anchor", "castle", "pepper", "bridge", "copper", "forest",
    "window", "button", "magnet", "pillow", "rocket", "singer", "temple", "valley", "walnut",
    "yellow", "zipper", "almond", "barrel", "candle", "desert", "falcon", "hammer", "island",
    "jacket", "ladder", "marble",
];
