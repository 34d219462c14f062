//! Stores that several write: one tree for everybody, one's own partition for what is new, the
//! creator's right to take away, and what the other doors see of it.

use crate::tool::world::{World, create, path, view};
use loci_engine::{NewGrant, NewPrincipal};
use loci_model::{Content, Edit, Grantee, Level, PrincipalKind, limit};
use serde_json::{Value, json};

/// The owner of the store, and the guest it is shared with.
const OWNER: &str = "owner";
const GUEST: &str = "guest";

async fn shared(level: Level) -> World {
    let world = World::new().await;
    let store = world.home(OWNER).await;
    let guest = world.agent(GUEST).await.id;
    let context = world.context(OWNER).await;
    let new = NewGrant { grantee: Grantee::Principal(guest), level, expires_at: None };
    world.engine.share(&context, store, new).await.unwrap();
    world
}

fn native(mut call: Value) -> Value {
    call["dialect"] = json!("native");
    call
}

fn at(rest: &str) -> String {
    format!("/memories/shared/{OWNER}{rest}")
}

#[tokio::test]
async fn everybody_sees_the_last_change_and_edits_it_in_place() {
    let world = shared(Level::ReadWrite).await;
    let store = world.home(OWNER).await;
    world.call(OWNER, create("/memories/f", "one")).await;
    let exists = format!("Error: File {} already exists", at("/f"));
    world.refused(GUEST, create(&at("/f"), "two"), &exists).await;
    let below = create(&at("/f/g"), "x");
    world.refused(GUEST, below, &exists).await;
    // Another door has the guest write its own memory of the same path.
    world.write(GUEST, store, Edit::put_text(path("/f"), "guest's")).await;
    let shown = "Here's the content of /memories/f with line numbers:\n     1\tguest's";
    world.done(OWNER, view("/memories/f"), shown).await;
    let (old, new) = ("guest", "all");
    let edit = json!({
        "command": "str_replace", "path": "/memories/f", "old_str": old, "new_str": new,
    });
    assert_eq!(world.call(OWNER, edit).await["is_error"], false);
    let shown = format!("Here's the content of {} with line numbers:\n     1\tall's", at("/f"));
    world.done(GUEST, native(view(&at("/f"))), shown).await;
    let tree = format!(
        "Here're the files and directories up to 2 levels deep in {0}, excluding hidden items and \
         node_modules:\n5B\t{0}\n5B\t{0}/f",
        at("")
    );
    world.done(GUEST, native(view(&at(""))), tree).await;
}

#[tokio::test]
async fn only_the_creator_takes_away() {
    let world = shared(Level::ReadWrite).await;
    let store = world.home(OWNER).await;
    world.call(OWNER, create("/memories/d/f", "owner's")).await;
    world.call(GUEST, create(&at("/d/g"), "guest's")).await;
    let why = "only its owner may remove or move this memory";
    for name in ["/d/f", "/d"] {
        let call = native(json!({ "command": "delete", "path": at(name) }));
        let words = format!("Error: Cannot delete {}: {why}", at(name));
        world.refused(GUEST, call, &words).await;
        let call = json!({ "command": "rename", "old_path": at(name), "new_path": at("/z") });
        let words = format!("Error: Cannot rename {}: {why}", at(name));
        world.refused(GUEST, call, &words).await;
    }
    let words = format!("Cannot delete {}: {why}", at("/d/f"));
    world.error(GUEST, json!({ "command": "delete", "path": at("/d/f") }), &words).await;
    let call = json!({ "command": "rename", "path": at("/d/f"), "new_str": "z" });
    world.error(GUEST, call, &format!("Cannot rename {}: {why}", at("/d/f"))).await;
    // Of a name that both wrote, the guest's own goes.
    world.write(GUEST, store, Edit::put_text(path("/d/f"), "guest's")).await;
    let call = native(json!({ "command": "delete", "path": at("/d/f") }));
    let done =
        format!("Successfully deleted {}. Another writer's file of this name remains", at("/d/f"));
    world.done(GUEST, call, done).await;
    assert_eq!(world.read(OWNER, store, "/d/f").await, Some(Content::Text("owner's".into())));
    // The owner of the store takes everything away.
    world.write(GUEST, store, Edit::put_text(path("/d/f"), "guest's")).await;
    let call = json!({ "command": "delete", "path": "/memories/d" });
    world.done(OWNER, call, "Successfully deleted /memories/d").await;
    assert_eq!(world.read(OWNER, store, "/d/f").await, None);
}

#[tokio::test]
async fn a_level_is_a_level() {
    let world = shared(Level::Read).await;
    world.call(OWNER, create("/memories/f", "words to find")).await;
    let shown = world.call(GUEST, json!({ "command": "view", "path": at("/f") })).await;
    assert_eq!(shown["result"]["value"], "words to find");
    let denied = "Access denied to this store";
    let write = json!({ "command": "create", "path": at("/g"), "content": "x" });
    world.error(GUEST, write, denied).await;
    world.error(GUEST, json!({ "command": "delete", "path": at("/f") }), denied).await;
    let share = json!({ "command": "share", "path": at("/"), "agent": "c" });
    world.error(GUEST, share, "You need write access to share this store").await;
    let unshare = json!({ "command": "unshare", "path": at("/"), "agent": "c" });
    world.error(GUEST, unshare, "You need write access to unshare this store").await;
    world.refused(GUEST, create(&at("/g"), "x"), "Error: this key does not allow that").await;

    let world = shared(Level::Search).await;
    world.call(OWNER, create("/memories/f", "words to find")).await;
    for path in [at("/"), at("/f")] {
        world.error(GUEST, json!({ "command": "view", "path": path }), denied).await;
    }
    let found = json!({ "command": "search", "query": "words", "store": OWNER });
    let found = world.call(GUEST, found).await;
    assert_eq!(found["result"]["entries"][0]["value"], "words to find");

    let world = World::new().await;
    world.call(OWNER, create("/memories/f", "x")).await;
    for path in [at("/"), at("/f"), "/memories/shared/nobody/f".to_owned()] {
        world.error(GUEST, json!({ "command": "view", "path": path }), denied).await;
    }
}

#[tokio::test]
async fn what_another_gave_is_not_taken_back() {
    let world = shared(Level::ReadWrite).await;
    let share = json!({ "command": "share", "agent": "third" });
    world.done(OWNER, share, "OK").await;
    let unshare = json!({ "command": "unshare", "path": at("/"), "agent": "third" });
    let words = "Only its giver or the store's owner may take this back";
    world.error(GUEST, unshare, words).await;
    let stores = world.call("third", json!({ "command": "stores" })).await;
    assert_eq!(stores["result"]["stores"][1]["storeId"], OWNER, "{stores}");
    let unshare = |agent: &str| json!({ "command": "unshare", "agent": agent });
    world.done(OWNER, unshare("third"), "OK").await;
    world.done(OWNER, unshare("third"), "OK").await;
    world.done("homeless", unshare("third"), "OK").await;
}

#[tokio::test]
async fn sharing_means_what_it_means_at_the_other_door() {
    let world = World::new().await;
    world.call(OWNER, create("/memories/f", "x")).await;
    let share = |agent: &str| json!({ "command": "share", "agent": agent });
    world.done(OWNER, share("everyone"), "OK").await;
    let seen = json!({ "command": "view", "path": at("/f") });
    assert_eq!(world.call(GUEST, seen.clone()).await["result"]["value"], "x");
    world.done(OWNER, json!({ "command": "unshare", "agent": "everyone" }), "OK").await;
    world.error(GUEST, seen, "Access denied to this store").await;

    let admin = world.context("admin").await;
    world.engine.add_member(&admin, "chat1", OWNER, PrincipalKind::Agent).await.unwrap();
    let words = "agent is a chat; those in it have access to its store";
    world.error(OWNER, share("chat1"), words).await;

    let (store, owner) = (world.home(OWNER).await, world.context(OWNER).await);
    let (guest, now) = (world.agent(GUEST).await.id, world.engine.seams().now());
    let until = now.plus_secs(100);
    let (grantee, level) = (Grantee::Principal(guest), Level::ReadWrite);
    let new = NewGrant { grantee, level, expires_at: Some(until) };
    world.engine.share(&owner, store, new).await.unwrap();
    let on = json!({ "command": "share", "path": at("/"), "agent": "third" });
    world.done(GUEST, on, "OK").await;
    let third = Grantee::Principal(world.agent("third").await.id);
    let grants = world.engine.grants(&owner, store).await.unwrap();
    let given = grants.iter().find(|grant| grant.grantee == third).unwrap();
    assert_eq!(given.expires_at, Some(until), "as long as the giver's own");
}

#[tokio::test]
async fn chats_and_users_are_reached_by_scope() {
    let world = World::new().await;
    let admin = world.context("admin").await;
    for (member, kind) in [("u1", PrincipalKind::User), (GUEST, PrincipalKind::Agent)] {
        world.engine.add_member(&admin, "chat1", member, kind).await.unwrap();
    }
    let call = |rest: Value| {
        let mut call = json!({ "command": "create", "key": "k", "content": "v" });
        call.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        call
    };
    for scope in [
        json!({ "scope": "user", "userId": "u1" }),
        json!({ "scope": "chat", "chatId": "chat1" }),
        json!({ "scope": "agent" }),
    ] {
        world.done(GUEST, call(scope.clone()), "Created /memories/k").await;
        let mut shown = scope;
        shown["command"] = json!("view");
        shown["key"] = json!("k");
        let shown = world.call(GUEST, shown).await;
        assert_eq!(shown["result"]["value"], "v", "{shown}");
    }
    let needs = "scope user needs a userId";
    world.error(GUEST, call(json!({ "scope": "user" })), needs).await;
    let wrong = "scope must be agent, user or chat";
    world.error(GUEST, call(json!({ "scope": "all" })), wrong).await;
    let both = "scope and store exclude each other";
    world.error(GUEST, call(json!({ "scope": "agent", "store": "x" })), both).await;
    let denied = "Access denied to this store";
    world.error("stranger", call(json!({ "scope": "user", "userId": "u1" })), denied).await;
    world.error("stranger", call(json!({ "scope": "chat", "chatId": "chat1" })), denied).await;

    let stores = async |rest: Value| {
        let mut call = rest;
        call["command"] = json!("stores");
        world.call(GUEST, call).await["result"]["stores"].clone()
    };
    let line =
        |id: &str, source: &str| json!({ "storeId": id, "level": "readwrite", "source": source });
    assert_eq!(stores(json!({})).await, json!([line(GUEST, "self")]));
    let all = json!([line(GUEST, "self"), line("chat1", "chat"), line("u1", "user")]);
    assert_eq!(stores(json!({ "chatId": "chat1", "userId": "u1" })).await, all);
    world.engine.remove_member(&admin, "chat1", GUEST).await.unwrap();
    world.error(GUEST, call(json!({ "scope": "chat", "chatId": "chat1" })), denied).await;
    assert_eq!(
        stores(json!({ "chatId": "chat1", "userId": "u1" })).await,
        json!([line(GUEST, "self")])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_at_the_same_time_lose_nothing() {
    let world = std::sync::Arc::new(shared(Level::ReadWrite).await);
    world.call(OWNER, create("/memories/f", "end\n")).await;
    let mut writing = tokio::task::JoinSet::new();
    for n in 0..6 {
        let world = std::sync::Arc::clone(&world);
        writing.spawn(async move {
            let (who, path) =
                if n % 2 == 0 { (OWNER, "/memories/f".to_owned()) } else { (GUEST, at("/f")) };
            let text = format!("line {n}");
            let call =
                json!({ "command": "insert", "path": path, "insert_line": 0, "insert_text": text });
            world.call(who, call).await
        });
    }
    for answer in writing.join_all().await {
        assert_eq!(answer["is_error"], false, "{answer}");
    }
    let store = world.home(OWNER).await;
    let Some(Content::Text(text)) = world.read(OWNER, store, "/f").await else { panic!() };
    let mut lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.pop(), Some("end"));
    lines.sort_unstable();
    assert_eq!(lines, ["line 0", "line 1", "line 2", "line 3", "line 4", "line 5"]);
}

#[tokio::test]
async fn names_are_told_apart_only_so_often_by_sharing() {
    let world = World::new().await;
    let chat = NewPrincipal { kind: PrincipalKind::Group, name: "room".into(), is_admin: false };
    let workspace = world.context(OWNER).await.caller.workspace;
    world.engine.declare_principal(workspace, chat).await.unwrap();
    world.agent(GUEST).await;
    let share = |agent: &str| json!({ "command": "share", "path": "/memories", "agent": agent });
    let is_a_chat = "agent is a chat; those in it have access to its store";
    for _ in 0..limit::UNKNOWN_NAMES_PER_DAY {
        world.error(OWNER, share("room"), is_a_chat).await;
    }
    let words = world.content(OWNER, share("room")).await;
    assert_eq!(words, "Memory share failed: 429");
    for agent in [GUEST, "nobody yet"] {
        assert_eq!(world.content(OWNER, share(agent)).await, words, "{agent}");
    }
}
