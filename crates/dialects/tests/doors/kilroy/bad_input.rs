//! Bad input: the contract's error, never a fault of the server, and nothing written.

use crate::kilroy::world::{SYNC, World, error};
use proptest::prelude::*;
use serde_json::{Value, json};

const BLOCKS: [&str; 5] =
    ["memory_write", "memory_read", "memory_search", "memory_delete", "memory_append"];

#[tokio::test]
async fn bad_ids_are_refused_by_every_block() {
    let world = World::new().await;
    let long = "x".repeat(129);
    let deep = vec!["a"; 65].join("/");
    for id in [
        "", "/", "/abs", "a//b", "a/", "a/../b", "..", ".", "a/./b", "a\\b", "C:\\x", "C:/x",
        "a b", "a\u{0}", "a\n", "ü", "${x}", "$x", "a%2e", &long, &deep,
    ] {
        for block in BLOCKS {
            let targs = json!({"memory_id": id, "guid": "x", "kind": "k"});
            let answer = world.ask(block, targs, "text").await;
            assert!(error(&answer).contains("memory_id"), "{block} {id:?}: {answer}");
        }
    }
    for id in [json!(5), json!(null), json!(["a"]), json!({"a": 1}), json!(true)] {
        let answer = world.ask("memory_write", json!({ "memory_id": id }), "text").await;
        assert!(error(&answer).contains("memory_id"));
    }
    assert!(world.engine.stores_of(&World::context(world.platform())).await.unwrap().is_empty());
}

#[tokio::test]
async fn values_that_do_not_fit_are_named() {
    let world = World::new().await;
    for (name, value) in [
        ("kind", json!("k".repeat(65))),
        ("kind", json!(" ".repeat(30))),
        ("scope", json!("s".repeat(1025))),
        ("source", json!("s".repeat(1025))),
        ("source", json!("a\u{0}b")),
        ("tags", json!(["t".repeat(129)])),
        ("tags", json!((0..65).map(|n| n.to_string()).collect::<Vec<_>>())),
        ("tags", json!(["a\nb"])),
        ("tags", json!([["a"]])),
        ("kind", json!(7)),
        ("scope", json!({"a": "b"})),
    ] {
        for block in ["memory_write", "memory_append"] {
            let mut targs = json!({"memory_id": "m"});
            targs[name] = value.clone();
            let answer = world.ask(block, targs, "text").await;
            assert!(error(&answer).contains(name), "{name} {value}: {answer}");
        }
    }
    let template = json!({"memory_id": "m", "output_template": 5});
    assert!(error(&world.ask("memory_read", template, "").await).contains("output_template"));
    let mut body = json!({"tagentname": "a".repeat(2000), "args": [{"text": "x"}]});
    body["targs"] = json!({"memory_id": "m"});
    let answer = world.call("memory_write", &body).await;
    assert!(answer["args"]["x"]["args"][0]["text"].as_str().unwrap().contains("source"));
    assert_eq!(world.ask("memory_read", json!({"memory_id": "m"}), "").await, json!([]));
}

#[tokio::test]
async fn a_record_has_an_end() {
    let world = World::new().await;
    let text = "x".repeat(600_000);
    let guid = world.write(json!({"memory_id": "m"}), &text).await;
    let targs = json!({"memory_id": "m", "guid": guid});
    let answer = world.ask("memory_append", targs.clone(), &text).await;
    assert!(error(&answer).contains("1200000 bytes, limit 1048576"), "{answer}");
    assert_eq!(world.ask("memory_append", targs, "y").await["appended"], true);
    let answer = world.ask("memory_write", json!({"memory_id": "m"}), &text.repeat(2)).await;
    assert!(error(&answer).contains("limit"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[\u{0}-\u{1f}a/.${}\"\\\\,%\\[\\]]{0,12}".prop_map(Value::from),
        Just(json!("instances/${pipeline_uid}/m")),
        Just(json!("0190b5a0-0000-7000-8000-000000000001")),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z_]{1,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(loci_test_kit::count("kilroy_cases") as u32))]
    #[test]
    fn nothing_makes_the_server_fail(
        block in prop::sample::select(BLOCKS.to_vec()),
        id in prop_oneof![Just(json!("m")), any_json()],
        options in prop::collection::vec(any_json(), 7),
        as_text in any::<bool>(),
        message in prop_oneof![any_json(), any_json().prop_map(|text| json!([{ "text": text }]))],
    ) {
        let mut targs = json!({ "memory_id": id });
        for (name, value) in
            ["scope", "kind", "source", "tags", "guid", "output_template"].into_iter().zip(&options)
        {
            targs[name] = value.clone();
        }
        let targs = if as_text { json!(targs.to_string()) } else { targs };
        let body = json!({
            "targs": targs, "args": message, "tid": options[0], "tagentname": options[1],
            "tpublish": options[2], "pipeline_uid": options[6], "sync": options[3],
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (status, answer) = runtime.block_on(async {
            let world = World::new().await;
            let url = format!("{SYNC}{block}");
            world.send(Some(world.platform()), "POST", &url, body.to_string().into_bytes()).await
        });
        prop_assert_eq!(status, 200, "{}", answer);
        prop_assert!(answer["args"]["x"]["args"][0]["text"].is_string());
    }

    #[test]
    fn no_bytes_make_the_server_fail(body in prop::collection::vec(any::<u8>(), 0..64)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (status, answer) = runtime.block_on(async {
            let world = World::new().await;
            let url = format!("{SYNC}memory_write");
            world.send(Some(world.platform()), "POST", &url, body).await
        });
        prop_assert!(status == 400 || status == 200, "{} {}", status, answer);
    }
}
