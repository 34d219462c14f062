//! `memory_search`: contract section 4.

use crate::kilroy::world::World;
use serde_json::{Value, json};

async fn world() -> World {
    let world = World::new().await;
    for (kind, tags, text) in [
        ("note", "drinks, hot", "Green tea is a drink"),
        ("note", "drinks", "Coffee, black; no tea today"),
        ("note", "drinks,cold", "Crème brûlée with iced tea"),
        ("fact", "code", "foo-bar is written in C++ by what's-his-name"),
        ("fact", "code,hot", "the teapot and the painters"),
        ("fact", "code", "don't stop the user_id 42"),
    ] {
        world.write(json!({"memory_id": "m", "kind": kind, "tags": tags}), text).await;
    }
    world
}

async fn found(world: &World, more: Value, query: &str) -> Vec<String> {
    let mut targs = more;
    targs["memory_id"] = json!("m");
    let mut found = world.contents("memory_search", targs, query).await;
    found.iter_mut().for_each(|text| text.truncate(5));
    found.sort();
    found
}

#[tokio::test]
async fn every_word_must_be_in_the_content() {
    let world = world().await;
    for (query, expected) in [
        ("tea", vec!["Coffe", "Crèm", "Green"]),
        ("TEA", vec!["Coffe", "Crèm", "Green"]),
        ("green tea", vec!["Green"]),
        ("tea green", vec!["Green"]),
        ("green coffee", vec![]),
        ("creme BRULEE", vec!["Crèm"]),
        ("teapot", vec!["the t"]),
        ("painter", vec![]),
        ("drinks", vec![]),
        ("observation", vec![]),
        ("records", vec![]),
        ("what's", vec!["foo-b"]),
        ("foo-bar", vec!["foo-b"]),
        ("bar foo", vec!["foo-b"]),
        ("C++", vec!["foo-b"]),
        ("don't", vec!["don't"]),
        ("user_id", vec!["don't"]),
        ("id 42", vec!["don't"]),
        ("is a", vec!["Green"]),
        ("the", vec!["don't", "the t"]),
        ("is", vec!["Green", "foo-b"]),
        ("tea OR coffee", vec![]),
        ("\"black no\"", vec!["Coffe"]),
        ("te*", vec![]),
        ("a b c d e f g h i j", vec![]),
        ("foo bar is written in C by what s his name", vec!["foo-b"]),
        ("", vec![]),
        ("*", vec![]),
        ("\"", vec![]),
        ("🙂 -- ()", vec![]),
    ] {
        let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(found(&world, json!({}), query).await, expected, "{query:?}");
    }
}

#[tokio::test]
async fn filters_hold_beside_the_words() {
    let world = world().await;
    for (filter, query, expected) in [
        (json!({"kind": "fact"}), "the", vec!["don't", "the t"]),
        (json!({"kind": "note"}), "the", vec![]),
        (json!({"scope": "m"}), "teapot", vec!["the t"]),
        (json!({"scope": "other"}), "teapot", vec![]),
        (json!({"tags": "drinks"}), "tea", vec!["Coffe", "Crèm", "Green"]),
        (json!({"tags": "[\"drinks\", \"hot\"]"}), "tea", vec!["Green"]),
        (json!({"tags": " drinks , hot "}), "tea", vec!["Green"]),
        (json!({"tags": ["hot"]}), "tea", vec!["Green"]),
        (json!({"tags": "drink"}), "tea", vec![]),
        (json!({"tags": "Drinks"}), "tea", vec![]),
        (json!({"tags": ""}), "green", vec!["Green"]),
    ] {
        let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(found(&world, filter.clone(), query).await, expected, "{filter} {query}");
    }
}

#[tokio::test]
async fn the_best_come_first_and_records_are_whole() {
    let world = World::new().await;
    let filler = "nothing in particular was said on that long and uneventful day ";
    for text in [
        &format!("{} fox {}", filler.repeat(10), filler.repeat(10)),
        filler,
        "fox fox fox",
        filler,
        &format!("{filler} fox"),
    ] {
        world.write(json!({"memory_id": "m"}), text).await;
    }
    let records = world.ask("memory_search", json!({"memory_id": "m"}), "fox").await;
    let records = records.as_array().unwrap();
    assert_eq!(records.len(), 3);
    assert_eq!(records[0]["content"], "fox fox fox");
    assert!(records[2]["content"].as_str().unwrap().len() > 1000, "{records:?}");
    assert!(records.iter().all(|record| record.as_object().unwrap().len() == 8));
}

#[tokio::test]
async fn everything_that_matches_is_found() {
    let world = World::new().await;
    for number in 0..150 {
        let text = format!("tea tea tea tea number {number}");
        world.write(json!({"memory_id": "m", "kind": "many"}), &text).await;
    }
    let long = format!("{} tea", "words that do not matter here ".repeat(20));
    world.write(json!({"memory_id": "m", "kind": "one"}), &long).await;
    let one = json!({"memory_id": "m", "kind": "one"});
    assert_eq!(world.contents("memory_search", one, "tea").await.len(), 1);
    let all = world.contents("memory_search", json!({"memory_id": "m"}), "tea").await;
    let different: std::collections::HashSet<&String> = all.iter().collect();
    assert_eq!((all.len(), different.len()), (151, 151));
    let template = json!({"memory_id": "m", "output_template": "{{kind}},"});
    let shown = world.text("memory_search", template, "tea").await;
    assert_eq!((shown.matches("many,").count(), shown.matches("one,").count()), (150, 1));
    let both = world.contents("memory_search", json!({"memory_id": "m"}), "tea matter").await;
    assert_eq!(both, [long]);
}
