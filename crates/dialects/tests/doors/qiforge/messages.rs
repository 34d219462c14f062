//! Conversations: kept whole, in order, once.

use crate::qiforge::world::{ROOM, World, user};
use loci_engine::{Context, IdempotencyKey, Identified};
use loci_model::query::{ListItem, ListQuery, StoreQuery};
use loci_model::{Level, View};
use serde_json::json;
use std::sync::Arc;

/// Everything that was said in the only place there is, in the order of its numbers.
async fn said(world: &World) -> Vec<String> {
    let context = world.administrator();
    let query = StoreQuery {
        since: None,
        until: None,
        include_archived: false,
        direction: Default::default(),
        after: None,
        limit: 10,
    };
    let stores = world.engine.list_stores(&context, &query).await.unwrap();
    assert_eq!(stores.items.len(), 1);
    let query = ListQuery::everything(View::Full, 10_000);
    let page = world.engine.list(&context, stores.items[0].id, &query).await.unwrap();
    let text = |item: ListItem| match item {
        ListItem::Memory(memory) => {
            let speaker = memory.attributes.source.clone().unwrap_or_default();
            format!("{speaker}: {}", memory.content.unwrap().text().unwrap())
        }
        ListItem::Directory(_) => panic!("no directories"),
    };
    page.items.into_iter().map(text).collect()
}

#[tokio::test]
async fn a_conversation_is_kept_in_its_order_and_found_at_once() {
    let world = World::new().await;
    let ana = user("ana");
    let told = world
        .say(&ana, "Trip", &[("Ana", "I fly to Lisbon in May."), ("Bot", "Noted."), ("Ana", "")])
        .await;
    assert_eq!(told, "2 messages added, 0 known already");
    assert_eq!(said(&world).await, ["Ana: I fly to Lisbon in May.", "Bot: Noted."]);
    let found = world.search(&ana, "Where does Ana fly?", "user").await;
    assert_eq!(found["episodes"][0]["content"], "I fly to Lisbon in May.");
    assert_eq!(found["episodes"][0]["source_description"], "Chat Session: Trip");
    assert_eq!(found["episodes"][0]["source"], "message");
    assert_eq!(found["episodes"][0]["name"], "Ana");
    assert!(found["episodes"][0]["created_at"].as_str().unwrap().starts_with("2026-03-01"));
}

#[tokio::test]
async fn a_repeated_batch_adds_nothing_and_a_longer_one_only_its_end() {
    let world = World::new().await;
    let ana = user("ana");
    let first = [("Ana", "one"), ("Bot", "two"), ("Ana", "ok")];
    world.say(&ana, "A", &first).await;
    assert_eq!(world.say(&ana, "A", &first).await, "0 messages added, 3 known already");
    world.pass_days(3);
    let longer = [&first[..], &[("Bot", "three")]].concat();
    assert_eq!(world.say(&ana, "A", &longer).await, "1 messages added, 3 known already");
    assert_eq!(world.say(&ana, "A", &longer).await, "0 messages added, 4 known already");
    assert_eq!(said(&world).await, ["Ana: one", "Bot: two", "Ana: ok", "Bot: three"]);
}

#[tokio::test]
async fn a_long_conversation_is_kept_in_its_order() {
    let world = World::new().await;
    let ana = user("ana");
    let texts: Vec<String> = (0..2500).map(|number| format!("line {}", number / 2)).collect();
    let all: Vec<(&str, &str)> = texts.iter().map(|text| ("Ana", text.as_str())).collect();
    // What came through before the rest was lost.
    world.say(&ana, "A", &all[..1200]).await;
    assert_eq!(world.say(&ana, "A", &all).await, "1300 messages added, 1200 known already");
    assert_eq!(world.say(&ana, "A", &all).await, "0 messages added, 2500 known already");
    let expected: Vec<String> = texts.iter().map(|text| format!("Ana: {text}")).collect();
    assert_eq!(said(&world).await, expected);
}

#[tokio::test]
async fn an_idempotency_key_keeps_every_batch() {
    let world = World::new().await;
    let ana = user("ana");
    let messages: Vec<_> = (0..2500)
        .map(|number| json!({"content": format!("line {number}"), "role_type": "user"}))
        .collect();
    let body = json!({ "messages": messages }).to_string();
    let send = async || {
        let mut extensions = world.extensions(&ana).await;
        let Identified(found) = extensions.get::<Identified>().unwrap().clone();
        let key = IdempotencyKey { key: "once".to_owned(), fingerprint: [7; 32] };
        let context =
            Context { idempotency: Some(key), ..found.as_ref().as_ref().unwrap().clone() };
        extensions.insert(Identified(Arc::new(Ok(context))));
        let sent = world.send_with(extensions, "POST", "/qiforge/messages", body.clone()).await;
        assert_eq!(sent.0, 202, "{}", sent.1);
        sent.1["message"].clone()
    };
    assert_eq!(send().await, "2500 messages added, 0 known already");
    let expected: Vec<String> = (0..2500).map(|number| format!("user: line {number}")).collect();
    assert_eq!(said(&world).await, expected);
    assert_eq!(send().await, "0 messages added, 2500 known already");
    assert_eq!(said(&world).await.len(), 2500);
}

#[tokio::test]
async fn what_is_said_again_is_kept_again() {
    let world = World::new().await;
    let ana = user("ana");
    world.say(&ana, "A", &[("Ana", "hello"), ("Bot", "hi")]).await;
    // The last words of one batch begin the next, but no batch began with them.
    assert_eq!(
        world.say(&ana, "A", &[("Bot", "hi"), ("Ana", "x")]).await,
        "2 messages added, 0 known already"
    );
    // Another conversation, another speaker, another role.
    assert_eq!(
        world.say(&ana, "B", &[("Ana", "hello")]).await,
        "1 messages added, 0 known already"
    );
    assert_eq!(world.say(&ana, "B", &[("Me", "hello")]).await, "1 messages added, 0 known already");
    // The first conversation's batch, lost in between, is still known.
    assert_eq!(
        world.say(&ana, "A", &[("Bot", "hi"), ("Ana", "x")]).await,
        "0 messages added, 2 known already"
    );
    assert_eq!(said(&world).await.len(), 6);
}

#[tokio::test]
async fn of_many_who_repeat_at_once_one_is_kept() {
    let world = World::new().await;
    let ana = user("ana");
    let mut running = Vec::new();
    for number in 0..20 {
        let (world, ana) = (world.clone(), ana.clone());
        running.push(tokio::spawn(async move {
            let title = if number % 2 == 0 { "even" } else { "odd" };
            world.say(&ana, title, &[("Ana", title), ("Bot", "yes")]).await;
        }));
    }
    for one in running {
        one.await.unwrap();
    }
    let mut said = said(&world).await;
    said.sort();
    assert_eq!(said, ["Ana: even", "Ana: odd", "Bot: yes", "Bot: yes"]);
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused_whole() {
    let world = World::new().await;
    let ana = user("ana");
    let send = async |visitor: Option<&_>, method: &str, body: &str| {
        let (status, answer) =
            world.send(visitor, method, "/qiforge/messages", body.to_owned()).await;
        let detail = answer["detail"].as_str().unwrap_or_default().to_owned();
        assert!(status == 202 || detail.starts_with(&status.to_string()), "{status} {answer}");
        status
    };
    let mixed = json!({"messages": [
        {"content": "kept?", "role_type": "user"}, {"content": "x", "role_type": "nobody"}]});
    for bad in ["", "[]", "{", "{}", "{\"messages\": 5}", &mixed.to_string()] {
        assert_eq!(send(Some(&ana), "POST", bad).await, 400, "{bad}");
    }
    assert_eq!(send(Some(&ana), "POST", "{\"messages\": []}").await, 202);
    assert_eq!(send(None, "POST", "{}").await, 401);
    assert_eq!(send(None, "GET", "").await, 401);
    assert_eq!(send(Some(&ana), "GET", "").await, 405);
    let lost = crate::qiforge::world::Visitor { room: None, ..ana.clone() };
    assert_eq!(send(Some(&lost), "POST", "{\"messages\": []}").await, 400);
    let reader = crate::qiforge::world::Visitor { level: Level::Read, ..ana.clone() };
    let one = json!({"messages": [{"content": "x", "role_type": "user"}]}).to_string();
    assert_eq!(send(Some(&reader), "POST", &one).await, 403);
    assert!(world.episodes(&ana, "kept", "user").await.is_empty());
    assert_eq!(ana.room.as_deref(), Some(ROOM));
}

#[tokio::test]
async fn two_slashes_are_one() {
    let world = World::new().await;
    let one = json!({"messages": [{"content": "hello", "role_type": "user"}]}).to_string();
    let ana = user("ana");
    assert_eq!(world.send(Some(&ana), "POST", "/qiforge//messages", one).await.0, 202);
    let path = "/qiforge//search-enhanced-batch";
    assert_eq!(world.send(Some(&ana), "POST", path, "{\"queries\": []}").await.0, 200);
    assert_eq!(world.send(Some(&ana), "GET", "/qiforge/sse", "").await.0, 404);
}
