//! `memory_read` and `output_template`: contract sections 4 and 5.

use crate::kilroy::world::{World, error};
use serde_json::json;

#[tokio::test]
async fn filters_are_exact_and_hold_together() {
    let world = World::new().await;
    for (kind, scope, source, text) in [
        ("fact", "a", "x", "1"),
        ("fact", "b", "x", "2"),
        ("fact", "b", "y", "3"),
        ("Fact", "b", "y", "4"),
    ] {
        let targs = json!({"memory_id": "m", "kind": kind, "scope": scope, "source": source});
        world.write(targs, text).await;
    }
    for (filter, expected) in [
        (json!({}), vec!["1", "2", "3", "4"]),
        (json!({"kind": "fact"}), vec!["1", "2", "3"]),
        (json!({"scope": "b"}), vec!["2", "3", "4"]),
        (json!({"source": "x"}), vec!["1", "2"]),
        (json!({"kind": "fact", "scope": "b", "source": "y"}), vec!["3"]),
        (json!({"kind": "fac"}), vec![]),
        (json!({"kind": "", "scope": null}), vec!["1", "2", "3", "4"]),
    ] {
        let mut targs = filter.clone();
        targs["memory_id"] = json!("m");
        assert_eq!(world.contents("memory_read", targs, "").await, expected, "{filter}");
    }
}

#[tokio::test]
async fn records_come_in_the_order_in_which_they_were_made() {
    let world = World::new().await;
    let mut guids = Vec::new();
    for number in 0..40 {
        guids.push(world.write(json!({"memory_id": "m"}), &number.to_string()).await);
        world.pass_secs(1);
    }
    for guid in [&guids[7], &guids[0]] {
        world.ask("memory_append", json!({"memory_id": "m", "guid": guid}), "!").await;
    }
    let mut expected: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    expected[7].push('!');
    expected[0].push('!');
    assert_eq!(world.contents("memory_read", json!({"memory_id": "m"}), "").await, expected);
}

#[tokio::test]
async fn reading_makes_nothing() {
    let world = World::new().await;
    for block in ["memory_read", "memory_search", "memory_delete"] {
        world.ask(block, json!({"memory_id": "never"}), "word").await;
    }
    let stores = world.engine.stores_of(&World::context(world.platform())).await.unwrap();
    assert!(stores.is_empty());
    world.write(json!({"memory_id": "now"}), "x").await;
    assert_eq!(world.ask("memory_read", json!({"memory_id": "now/deeper"}), "").await, json!([]));
}

#[tokio::test]
async fn a_template_makes_a_text() {
    let world = World::new().await;
    let targs =
        json!({"memory_id": "m", "kind": "k 1", "scope": "s", "source": "bot", "tags": "a,b"});
    let guid = world.write(targs, "{{guid}} {{kind}}").await;
    world.write(json!({"memory_id": "m"}), "two").await;
    let read = |template: &str| {
        let (world, template) = (world.clone(), template.to_owned());
        async move {
            let targs = json!({"memory_id": "m", "kind": "k 1", "output_template": template});
            world.text("memory_read", targs, "").await
        }
    };
    assert_eq!(read("- {{content}}\n").await, "- {{guid}} {{kind}}\n");
    assert_eq!(
        read("{{guid}}|{{kind}}|{{scope}}|{{source}}|{{tags}}").await,
        format!("{guid}|k 1|s|bot|a, b")
    );
    assert_eq!(read("{{unknown}} {{ kind }} {{{kind}}}").await, "{{unknown}} {{ kind }} {k 1}");
    let all = json!({"memory_id": "m", "output_template": "<{{content}}>"});
    assert_eq!(world.text("memory_read", all, "").await, "<{{guid}} {{kind}}><two>");
    let none = json!({"memory_id": "m", "kind": "none", "output_template": "x"});
    assert_eq!(world.text("memory_read", none, "").await, "");
    let found = json!({"memory_id": "m", "output_template": "{{content}};"});
    assert_eq!(world.text("memory_search", found.clone(), "two").await, "two;");
    assert_eq!(world.text("memory_search", found.clone(), "").await, "");
    assert_eq!(world.text("memory_search", found, "absent").await, "");
    let plain = json!({"memory_id": "m", "kind": "k 1", "output_template": ""});
    assert_eq!(world.contents("memory_read", plain, "").await.len(), 1);
    // A block that failed says so in JSON all the same.
    let bad = json!({"memory_id": "/m", "output_template": "x"});
    assert!(error(&world.ask("memory_read", bad, "").await).contains("memory_id"));
}

#[tokio::test]
async fn too_much_for_one_answer_is_said() {
    let world = World::new().await;
    world.write(json!({"memory_id": "m"}), &"x".repeat(1_000_000)).await;
    let often = json!({"memory_id": "m", "output_template": "{{content}}".repeat(17)});
    let answer = world.ask("memory_read", often, "").await;
    assert!(error(&answer).contains("narrow"));
    let short = json!({"memory_id": "m", "output_template": "{{kind}}\n"});
    assert_eq!(world.text("memory_read", short, "").await, "observation\n");
}
