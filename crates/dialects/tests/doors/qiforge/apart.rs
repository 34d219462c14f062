//! Nobody meets what is somebody else's, whatever they ask: random users, oracles, rooms, levels,
//! strategies and filters, compared with a plain list of who wrote what where.

use crate::qiforge::world::{OPEN, ORACLE, OWNER, Visitor, World};
use loci_model::Level;
use loci_test_kit::{count, property_seed};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

#[derive(Debug, Clone)]
enum Step {
    Say(usize),
    Add(usize),
    Know(usize, bool),
    Clear(usize),
    Ask { who: usize, level: usize, strategy: usize, filter: usize, oracles: usize },
}

/// Who can come: two users and an owner, through two oracles and in person, to two rooms.
fn visitor(number: usize) -> Visitor {
    let users = ["did:key:ana", "did:key:bob", OWNER];
    let oracles = [Some(ORACLE), Some(OPEN), None];
    let rooms = ["!one:s", "!two:s"];
    Visitor {
        user: users[number % 3].to_owned(),
        oracle: oracles[number / 3 % 3].map(str::to_owned),
        room: Some(rooms[number / 9 % 2].to_owned()),
        level: Level::ReadWrite,
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = 0..18_usize;
    let step = prop_oneof![
        3 => who.clone().prop_map(Step::Say),
        2 => who.clone().prop_map(Step::Add),
        2 => (who.clone(), any::<bool>()).prop_map(|(who, public)| Step::Know(who, public)),
        1 => who.clone().prop_map(Step::Clear),
        6 => (who, 0..3_usize, 0..8_usize, 0..4_usize, 0..4_usize).prop_map(
            |(who, level, strategy, filter, oracles)| Step::Ask { who, level, strategy, filter, oracles }
        ),
    ];
    proptest::collection::vec(step, 5..40)
}

/// One thing that was written: its word, where, and whether only owners may see it.
struct Written {
    word: String,
    user: Option<Visitor>,
    oracle: Option<String>,
    is_private: bool,
}

impl Written {
    fn may_reach(&self, visitor: &Visitor, level: usize) -> bool {
        match &self.user {
            Some(user) => {
                level != 1
                    && (&user.user, &user.oracle, &user.room)
                        == (&visitor.user, &visitor.oracle, &visitor.room)
            }
            None => {
                let is_own = visitor.oracle == self.oracle;
                let is_open = self.oracle.as_deref() == Some(OPEN);
                level != 0 && (is_own || is_open) && (!self.is_private || visitor.user == OWNER)
            }
        }
    }
}

fn query(level: usize, strategy: usize, filter: usize, oracles: usize) -> Value {
    let levels = ["user", "oracle", "both"];
    let strategies = [
        "balanced",
        "diverse",
        "precise",
        "contextual",
        "recent_memory",
        "facts_only",
        "entities_only",
        "topics_only",
    ];
    let filters = [
        json!(null),
        json!({"invalid_at": [[{"comparison_operator": "IS NULL", "date": null}]]}),
        json!({"node_labels": ["Person", "Organization"], "edge_types": ["EmployedAt"]}),
        json!({"created_at": [[{"comparison_operator": ">=", "date": "2020-01-01"}]]}),
    ];
    let dids = [json!([ORACLE]), json!([OPEN]), json!([ORACLE, OPEN]), json!(["did:key:ana"])];
    json!({
        "query": "who works at a heron company and likes it?", "knowledge_level": levels[level],
        "strategy": strategies[strategy], "search_filters": filters[filter],
        "oracle_dids": dids[oracles], "center_node_uuid": "0190b5a0-0000-7000-8000-000000000001",
        "max_facts": 50, "max_entities": 50, "max_episodes": 50, "max_communities": 50,
    })
}

async fn run(steps: Vec<Step>) {
    let world = World::new().await;
    let mut written: Vec<Written> = Vec::new();
    for (number, step) in steps.into_iter().enumerate() {
        let word = format!("Heron{number}x");
        let text = format!("I work at {word}. I like {word}.");
        match step {
            Step::Say(who) => {
                let who = visitor(who);
                world.say(&who, "A", &[("Ana", &text)]).await;
                written.push(Written { word, user: Some(who), oracle: None, is_private: false });
            }
            Step::Add(who) => {
                let who = visitor(who);
                world.tool(&who, "add_memory", json!({"name": word, "content": text})).await;
                written.push(Written { word, user: Some(who), oracle: None, is_private: false });
            }
            Step::Know(who, is_public) => {
                let who = visitor(who);
                let space = if is_public { "public" } else { "private" };
                let arguments = json!({"name": word, "content": text,
                    "confirmed_insertion_from_user": true, "knowledge_space_type": space});
                let added = world.try_tool(&who, "add_oracle_knowledge", arguments).await;
                assert_eq!(added.is_ok(), who.user == OWNER && who.oracle.is_some());
                if added.is_ok() {
                    let (oracle, is_private) = (who.oracle.clone(), !is_public);
                    written.push(Written { word, user: None, oracle, is_private });
                }
            }
            Step::Clear(who) => {
                let who = visitor(who);
                world.tool(&who, "clear", json!({"confirmed_deletion_from_user": true})).await;
                written.retain(|one| one.user.is_none() || !one.may_reach(&who, 0));
            }
            Step::Ask { who, level, strategy, filter, oracles } => {
                let who = visitor(who);
                let asked = json!({"queries": [query(level, strategy, filter, oracles)]});
                let path = "/qiforge/search-enhanced-batch";
                let (status, answer) =
                    world.send(Some(&who), "POST", path, asked.to_string()).await;
                assert_eq!(status, 200, "{answer}");
                assert!(answer["results"][0].get("error").is_none(), "{answer}");
                let shown = answer["results"][0].to_string();
                for number in 0..number {
                    let word = format!("Heron{number}x");
                    let may =
                        written.iter().any(|one| one.word == word && one.may_reach(&who, level));
                    assert!(may || !shown.contains(&word), "{who:?} {asked} shows {word}: {shown}");
                }
                // What is said and asked for plainly is there, up to the limit.
                if level == 0 && strategy == 0 && filter == 0 {
                    let own = written.iter().filter(|one| one.may_reach(&who, 0));
                    for one in own {
                        assert!(shown.contains(&one.word), "{who:?} misses {}", one.word);
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: count("isolation_cases") as u32, failure_persistence: None, rng_seed: RngSeed::Fixed(property_seed("isolation")), ..ProptestConfig::default() })]

    #[test]
    fn nobody_meets_what_is_somebody_elses(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(run(steps));
    }
}
