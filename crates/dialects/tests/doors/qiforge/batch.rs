//! Batches of queries: as many answers as queries, in their order.

use crate::qiforge::world::{ORACLE, World, contents, user};
use serde_json::{Value, json};

async fn batch(
    world: &World,
    visitor: &crate::qiforge::world::Visitor,
    queries: Value,
) -> Vec<Value> {
    let body = json!({ "queries": queries }).to_string();
    let path = "/qiforge/search-enhanced-batch";
    let (status, answer) = world.send(Some(visitor), "POST", path, body).await;
    assert_eq!(status, 200, "{answer}");
    answer["results"].as_array().unwrap().clone()
}

#[tokio::test]
async fn one_bad_query_spoils_no_other() {
    let world = World::new().await;
    let ana = user("ana");
    world.say(&ana, "A", &[("Ana", "I work at Acme."), ("Ana", "I like tea.")]).await;
    let results = batch(
        &world,
        &ana,
        json!([
            {"oracle_dids": [ORACLE], "query": "where does Ana work?"},
            {"oracle_dids": [ORACLE], "query": "x", "strategy": "contextual"},
            5,
            {"oracle_dids": [ORACLE], "query": "what does Ana like?", "strategy": "recent_memory",
             "max_facts": 0, "max_entities": 0, "max_episodes": 1, "max_communities": 0},
            {"oracle_dids": [], "query": "x"},
        ]),
    )
    .await;
    assert_eq!(results.len(), 5);
    assert_eq!(results[0]["strategy_used"], "balanced");
    assert_eq!(results[0]["query"], "where does Ana work?");
    assert!(contents(&results[0]).contains(&"I work at Acme.".to_owned()), "{}", results[0]);
    let facts = results[0]["facts"].as_array().unwrap();
    assert!(facts.iter().any(|fact| fact["fact"].as_str().unwrap().contains("Acme")), "{facts:?}");
    for fact in facts {
        for id in ["uuid", "source_node_uuid", "target_node_uuid"] {
            assert_eq!(fact[id].as_str().unwrap().len(), 36, "{fact}");
        }
    }
    let entities = results[0]["entities"].as_array().unwrap();
    assert!(entities.iter().any(|one| one["name"] == "Ana" && one["labels"][0] == "Entity"));
    for (at, named) in [(1, "center_node_uuid"), (2, "query"), (4, "oracle_dids")] {
        assert_eq!(results[at]["error"]["status_code"], 400);
        assert!(results[at]["error"]["detail"].as_str().unwrap().contains(named));
        assert!(results[at].get("query").is_some() && results[at].get("strategy_used").is_some());
    }
    let last = &results[3];
    assert_eq!(last["total_results"]["episodes"], 1);
    assert_eq!(contents(last), ["I like tea."]);
    for empty in ["facts", "entities", "communities"] {
        assert_eq!(last[empty], json!([]));
        assert_eq!(last["total_results"][empty], 0);
    }
}

#[tokio::test]
async fn bodies_that_are_no_batches_are_refused() {
    let world = World::new().await;
    let ana = user("ana");
    let many = json!({ "queries": vec![json!({}); 21] }).to_string();
    for bad in ["", "[]", "{}", "{\"queries\": {}}", &many] {
        let path = "/qiforge/search-enhanced-batch";
        let (status, answer) = world.send(Some(&ana), "POST", path, bad.to_owned()).await;
        assert_eq!(status, 400, "{bad}");
        assert!(answer["detail"].as_str().unwrap().starts_with("400 "));
    }
    assert!(batch(&world, &ana, json!([])).await.is_empty());
}

#[tokio::test]
async fn what_is_recent_is_of_the_last_ninety_days() {
    let world = World::new().await;
    let ana = user("ana");
    world.say(&ana, "A", &[("Ana", "The old garden is green.")]).await;
    world.pass_days(91);
    world.say(&ana, "B", &[("Ana", "The new garden is red.")]).await;
    let query = |more: Value| {
        let mut query = json!({"oracle_dids": [ORACLE], "query": "garden"});
        for (name, value) in more.as_object().unwrap() {
            query[name] = value.clone();
        }
        query
    };
    let recent = query(json!({"strategy": "recent_memory"}));
    let told = json!([[{"comparison_operator": ">=", "date": "2026-01-01"}]]);
    let older = query(
        json!({"strategy": "recent_memory", "search_filters": {"created_at": told, "valid_at": null}}),
    );
    let future = json!([[{"comparison_operator": ">", "date": "2030-01-01T00:00:00Z"}]]);
    let never = query(json!({"search_filters": {"created_at": future}}));
    let over = json!([[{"comparison_operator": "IS NOT NULL", "date": null}]]);
    let over = query(json!({"search_filters": {"invalid_at": over}}));
    let results = batch(&world, &ana, json!([recent, older, never, over])).await;
    assert_eq!(contents(&results[0]), ["The new garden is red."]);
    assert_eq!(contents(&results[1]).len(), 2);
    for nothing in &results[2..] {
        assert_eq!(
            nothing["total_results"],
            json!({"facts": 0, "entities": 0, "episodes": 0, "communities": 0})
        );
    }
}

#[tokio::test]
async fn the_document_says_who_this_is() {
    let world = World::new().await;
    let (status, document) = world.send(None, "GET", "/.well-known/did.json", "").await;
    assert_eq!((status, &document["id"]), (200, &json!("did:web:memory.example.org")));
    let closed = World::with(Default::default()).await;
    assert_eq!(closed.send(None, "GET", "/.well-known/did.json", "").await.0, 404);
}
