//! Many at once: no append is lost, and a selector makes one record, not several.

use crate::kilroy::world::World;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const WRITERS: usize = 32;

/// What everybody's append of their own line to one thing is answered.
async fn append_all(world: &World, targs: &Value) -> Vec<Value> {
    let tasks: Vec<_> = (0..WRITERS)
        .map(|number| {
            let (world, targs) = (world.clone(), targs.clone());
            tokio::spawn(async move {
                world.ask("memory_append", targs, &format!("line {number}\n")).await
            })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

fn lines(content: &str) -> BTreeSet<&str> {
    content.lines().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_append_to_a_record_is_lost() {
    let world = World::new().await;
    let guid = world.write(json!({"memory_id": "m"}), "begin\n").await;
    let answers = append_all(&world, &json!({"memory_id": "m", "guid": guid})).await;
    assert!(answers.iter().all(|one| *one == json!({"guid": guid, "appended": true})));
    let content = world.contents("memory_read", json!({"memory_id": "m"}), "").await.remove(0);
    assert_eq!(lines(&content).len(), WRITERS + 1);
    assert!(content.starts_with("begin\n"));
    let found = world.contents("memory_search", json!({"memory_id": "m"}), "31 17 begin").await;
    assert_eq!(found, [content]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selector_makes_one_record() {
    let world = World::new().await;
    let answers = append_all(&world, &json!({"memory_id": "m", "kind": "log"})).await;
    assert_eq!(answers.iter().filter(|one| one["created"] == true).count(), 1);
    assert_eq!(answers.iter().filter(|one| one["appended"] == true).count(), WRITERS - 1);
    let contents = world.contents("memory_read", json!({"memory_id": "m"}), "").await;
    assert_eq!(contents.len(), 1);
    assert_eq!(lines(&contents[0]).len(), WRITERS);
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_kind_beside_others_who_do_counts_each_once() {
    let world = World::new().await;
    for _ in 0..200 {
        world.write(json!({"memory_id": "m", "kind": "temp"}), "x").await;
    }
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let world = world.clone();
            let targs = json!({"memory_id": "m", "kind": "temp"});
            tokio::spawn(async move { world.ask("memory_delete", targs, "").await })
        })
        .collect();
    let mut deleted = 0;
    for task in tasks {
        deleted += task.await.unwrap()["deleted"].as_u64().unwrap();
    }
    assert_eq!(deleted, 200);
}
