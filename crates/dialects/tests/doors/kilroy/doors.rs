//! A record is a memory like any other: what other doors do to it shows here, and what they put
//! beside it is a record too.

use crate::kilroy::world::{World, error};
use loci_engine::{Place, Purpose};
use loci_model::{
    Address, At, Attributes, AttributesPatch, Content, Edit, EditOp, Expect, MemoryPath, OnSame,
    StoreId, StorePolicy, View, Visibility,
};
use serde_json::{Value, json};
use uuid::Uuid;

async fn store(world: &World) -> StoreId {
    let address = Address::parse("kilroy:m").unwrap();
    let place = Place {
        shared: address.clone(),
        own: address,
        name: "m".into(),
        policy: StorePolicy::default(),
    };
    let context = World::context(world.platform());
    world.engine.store_at(&context, &place, Purpose::Read).await.unwrap().unwrap()
}

async fn put(world: &World, path: &str, content: Content, attributes: Attributes) -> String {
    let edit = Edit {
        at: At::Path(None, MemoryPath::parse(path).unwrap()),
        expect: Expect::Anything,
        on_same: OnSame::Skip,
        op: EditOp::Put {
            content: Some(content),
            to: None,
            attributes: AttributesPatch::replace(attributes),
        },
    };
    let context = World::context(world.platform());
    let outcome = world.engine.commit_one(&context, store(world).await, edit, "test").await;
    Uuid::from_u128(outcome.unwrap().memory.id.as_u128()).to_string()
}

async fn read(world: &World) -> Vec<Value> {
    let records = world.ask("memory_read", json!({"memory_id": "m"}), "").await;
    records.as_array().unwrap().clone()
}

#[tokio::test]
async fn a_record_lies_where_its_guid_says_with_its_attributes() {
    let world = World::new().await;
    let targs =
        json!({"memory_id": "m", "kind": "two words", "scope": "s", "tags": "a", "source": "x"});
    let guid = world.write(targs, "text").await;
    let path = MemoryPath::parse(&format!("/records/{guid}")).unwrap();
    let context = World::context(world.platform());
    let at = At::Path(None, path);
    let memory = world.engine.get(&context, store(&world).await, &at, View::Full).await.unwrap();
    assert_eq!(memory.content, Some(Content::Text("text".into())));
    let expected = Attributes {
        kind: Some("two%20words".into()),
        scope: Some("s".into()),
        source: Some("x".into()),
        tags: vec!["a".into()],
        ..Attributes::default()
    };
    assert_eq!(memory.attributes, expected);
}

#[tokio::test]
async fn what_another_door_wrote_is_a_record() {
    let world = World::new().await;
    world.write(json!({"memory_id": "m"}), "first").await;
    let guid =
        put(&world, "/notes/a.md", Content::Text("from afar".into()), Attributes::default()).await;
    let records = read(&world).await;
    assert_eq!(records[1]["guid"], *guid);
    assert_eq!(records[1]["content"], "from afar");
    assert_eq!([&records[1]["kind"], &records[1]["scope"], &records[1]["source"]], [""; 3]);
    assert_eq!(records[1].as_object().unwrap().len(), 8);
    let targs = json!({"memory_id": "m", "guid": guid});
    let answer = world.ask("memory_append", targs.clone(), ", twice").await;
    assert_eq!(answer, json!({"guid": guid, "appended": true}));
    assert_eq!(read(&world).await[1]["content"], "from afar, twice");
    assert_eq!(world.ask("memory_delete", targs, "").await, json!({"deleted": 1}));
    assert_eq!(read(&world).await.len(), 1);
}

#[tokio::test]
async fn what_is_not_for_models_is_not_there() {
    let world = World::new().await;
    world.write(json!({"memory_id": "m"}), "seen").await;
    for (path, visibility) in [("/a", Visibility::Internal), ("/b", Visibility::Quarantine)] {
        let attributes =
            Attributes { visibility, kind: Some("hidden".into()), ..Attributes::default() };
        let guid = put(&world, path, Content::Text("unseen word".into()), attributes).await;
        let targs = json!({"memory_id": "m", "guid": guid});
        assert_eq!(world.ask("memory_append", targs.clone(), "x").await["created"], true);
        assert_eq!(world.ask("memory_delete", targs, "").await, json!({"deleted": 0}));
    }
    let kind = json!({"memory_id": "m", "kind": "hidden"});
    assert_eq!(world.ask("memory_delete", kind.clone(), "").await, json!({"deleted": 0}));
    assert_eq!(world.ask("memory_append", kind, "y").await["created"], true);
    let found = world.ask("memory_search", json!({"memory_id": "m"}), "unseen").await;
    assert_eq!(found, json!([]));
    assert_eq!(read(&world).await.len(), 4);
}

#[tokio::test]
async fn what_is_sealed_is_no_text() {
    let world = World::new().await;
    world.write(json!({"memory_id": "m"}), "seen").await;
    let attributes = Attributes { kind: Some("observation".into()), ..Attributes::default() };
    let guid = put(&world, "/sealed", Content::Sealed(vec![1, 2, 3]), attributes).await;
    assert_eq!(read(&world).await.len(), 1);
    let targs = json!({"memory_id": "m", "guid": guid});
    assert!(error(&world.ask("memory_append", targs, "x").await).contains("sealed"));
    let kind = json!({"memory_id": "m", "kind": "observation"});
    assert_eq!(world.ask("memory_delete", kind, "").await, json!({"deleted": 1}));
}
