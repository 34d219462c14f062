//! What is refused, and how: a status, and an object whose `error` is a sentence.

use crate::scoped::world::{ADA, World, day, put_line};
use loci_engine::HomeLimits;
use serde_json::{Value, json};

fn check(answer: &(u16, Value), status: u16) {
    assert_eq!(answer.0, status, "{answer:?}");
    let body = answer.1.as_object().unwrap();
    assert_eq!(body.len(), 1, "{answer:?}");
    assert!(!body["error"].as_str().unwrap().is_empty());
}

#[tokio::test]
async fn questions_that_mean_nothing() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    notes.put("owner", "k", "kept", json!({})).await;
    let long = "x".repeat(129);
    let longer = format!("caller:{}", "x".repeat(301));
    let many: Vec<String> = (0..65).map(|number| format!("caller:{number}")).collect();
    let mut too_many = vec![("action", "list")];
    too_many.extend(many.iter().map(|name| ("namespace", name.as_str())));
    let queries: Vec<Vec<(&str, &str)>> = vec![
        vec![],
        vec![("action", "")],
        vec![("action", "nothing")],
        vec![("action", "list"), ("namespaces", "owner,shared")],
        vec![("action", "list"), ("namespaces", "")],
        vec![("action", "list"), ("excludeSources", "tool")],
        vec![("action", "search"), ("q", "x"), ("namespaces", "owner")],
        vec![("action", "list"), ("namespace", "")],
        vec![("action", "list"), ("namespace", "somebody")],
        vec![("action", "list"), ("namespace", "caller:")],
        vec![("action", "list"), ("namespace", "caller:a b")],
        vec![("action", "list"), ("namespace", "owner"), ("namespace", "caller:a,b")],
        vec![("action", "list"), ("namespace", &longer)],
        vec![("action", "list"), ("limit", "many")],
        vec![("action", "list"), ("limit", "0")],
        vec![("action", "list"), ("limit", "-1")],
        vec![("action", "list"), ("limit", "")],
        vec![("action", "get"), ("namespace", "owner")],
        vec![("action", "get"), ("key", "k")],
        vec![("action", "get"), ("namespace", "owner"), ("key", "a/b")],
        vec![("action", "get"), ("namespace", "owner"), ("key", ".k")],
        vec![("action", "get"), ("namespace", "owner"), ("key", &long)],
        vec![("action", "search")],
        vec![("action", "search"), ("q", "")],
        vec![("action", "search"), ("q", "x"), ("limit", "x")],
        vec![("action", "sync")],
        vec![("action", "sync"), ("namespace", "x")],
        too_many,
    ];
    for query in queries {
        let answer = notes.try_ask("GET", &query, None).await;
        check(&answer, 400);
    }
    for query in
        [vec![("namespace", "owner")], vec![("key", "k")], vec![("namespace", "x"), ("key", "k")]]
    {
        check(&notes.try_ask("DELETE", &query, None).await, 400);
    }
    check(&notes.try_ask("PATCH", &[], Some(json!({}))).await, 405);
    assert_eq!(notes.get("owner", "k").await["content"], "kept");
}

#[tokio::test]
async fn bodies_that_mean_nothing() {
    let world = World::new().await;
    let notes = world.notes(ADA).await;
    let good =
        json!({"namespace": "owner", "key": "k", "content": "x", "source": "tool", "at": null});
    for (field, value) in [
        ("namespace", json!("somebody")),
        ("namespace", json!(null)),
        ("namespace", json!(7)),
        ("key", json!("a/b")),
        ("key", json!("k\n")),
        ("key", json!(null)),
        ("content", json!(null)),
        ("content", json!(7)),
        ("source", json!("nowhere")),
        ("source", json!(1)),
        ("at", json!("yesterday")),
        ("at", json!(7)),
        ("description", json!("two\nlines")),
        ("description", json!("x".repeat(201))),
        ("agentId", json!(7)),
    ] {
        let mut body = good.clone();
        body[field] = value;
        check(&notes.try_ask("PUT", &[], Some(body)).await, 400);
    }
    for body in [None, Some(json!([])), Some(json!("x")), Some(json!(null))] {
        check(&notes.try_ask("PUT", &[], body.clone()).await, 400);
        check(&notes.try_ask("POST", &[("action", "sync")], body).await, 400);
    }
    let sync = [("action", "sync")];
    for body in [
        json!({"lines": []}),
        json!({"namespace": "owner"}),
        json!({"namespace": "owner", "lines": 7}),
        json!({"namespace": "x", "lines": []}),
    ] {
        check(&notes.try_ask("POST", &sync, Some(body)).await, 400);
    }
    let push = json!({"namespace": "owner", "lines": [put_line("k", &day(1), "x")]});
    for query in [vec![], vec![("action", "share")]] {
        check(&notes.try_ask("POST", &query, Some(push.clone())).await, 400);
    }
    assert!(notes.names(&[("action", "list")]).await.is_empty());
}

#[tokio::test]
async fn too_large_and_too_many() {
    let homes = HomeLimits { content_bytes_max: 10, memories_max: 5 };
    let world = World::with_homes(homes).await;
    let notes = world.notes(ADA).await;
    let large = json!({"namespace": "owner", "key": "k", "content": "01234567890"});
    check(&notes.try_ask("PUT", &[], Some(large)).await, 413);
    // The device would send the same push for ever.
    let lines = [("a", "small"), ("too-large", "01234567890"), ("b", "fits")];
    let lines = lines.map(|(key, content)| put_line(key, &day(1), content));
    assert_eq!(notes.push("owner", &lines).await, 2);
    assert_eq!(notes.get("owner", "b").await["content"], "fits");
    assert_eq!(notes.get("owner", "too-large").await, Value::Null);
    for key in ["c", "d", "e"] {
        notes.put("owner", key, "x", json!({})).await;
    }
    let one_more = json!({"namespace": "owner", "key": "f", "content": "x"});
    check(&notes.try_ask("PUT", &[], Some(one_more.clone())).await, 429);
    // What is there can be written and forgotten, and tombstones make room.
    notes.put("owner", "e", "y", json!({})).await;
    assert_eq!(notes.forget("owner", "e").await, 1);
    assert_eq!(notes.forget("owner", "d").await, 1);
    for key in ["f", "g"] {
        notes.put("owner", key, "x", json!({})).await;
    }
    check(
        &notes
            .try_ask("PUT", &[], Some(json!({"namespace": "owner", "key": "h", "content": "x"})))
            .await,
        429,
    );
    let mut names = notes.names(&[("action", "list")]).await;
    names.sort();
    assert_eq!(names, ["owner/a", "owner/b", "owner/c", "owner/f", "owner/g"]);
}
