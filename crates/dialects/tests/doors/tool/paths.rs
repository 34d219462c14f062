//! One path means one thing: whichever shape made it, each command of either shape finds it there,
//! and the arguments beside it choose the store in both.

use crate::tool::world::{World, create, view};
use loci_engine::NewGrant;
use loci_model::{Content, Edit, Grantee, Level, PrincipalKind, Visibility};
use serde_json::{Value, json};

const ME: &str = "me";

fn entry(path: &str, content: &str) -> Value {
    json!({ "command": "create", "path": path, "content": content })
}

fn with(mut call: Value, more: &Value) -> Value {
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call
}

fn shown(path: &str, text: &str) -> String {
    format!("Here's the content of {path} with line numbers:\n     1\t{text}")
}

#[tokio::test]
async fn what_one_shape_made_the_other_finds() {
    for path in ["/memories/notes/x", "/memories/notes/x.md", "/memories/x.md", "/memories/x"] {
        for make in [entry(path, "one two"), create(path, "one two")] {
            let world = World::new().await;
            assert_eq!(world.call(ME, make.clone()).await["is_error"], false, "{make}");
            world.done(ME, view(path), shown(path, "one two")).await;
            let robutler = json!({ "dialect": "robutler" });
            let seen = world.call(ME, with(view(path), &robutler)).await;
            assert_eq!(seen["result"]["value"], "one two", "{make}");
            let exists = format!("Error: File {path} already exists");
            let again = world.content(ME, create(path, "again")).await;
            // Without its ending it is another file's name.
            if !path.ends_with(".md") || make.get("file_text").is_some() {
                assert_eq!(again, exists, "{make}");
            }
        }
    }
    for path in ["/memories/notes/x", "/memories/notes/x.md", "/memories/x.md"] {
        for make in [entry(path, "one two"), create(path, "one two")] {
            let world = World::new().await;
            let change = |command: &str, old: &str, new: &str| json!({ "command": command, "path": path, "old_str": old, "new_str": new });
            world.call(ME, make.clone()).await;
            for call in [
                change("edit", "one", "1"),
                change("str_replace", "two", "2"),
                json!({ "command": "insert", "path": path, "insert_line": 0, "insert_text": "0" }),
            ] {
                assert_eq!(world.call(ME, call.clone()).await["is_error"], false, "{make} {call}");
            }
            world.done(ME, view(path), shown(path, "0\n     2\t1 2\n     3\t")).await;
            let (here, there) = (path, "/memories/deep/y.md");
            let native = json!({ "command": "rename", "old_path": here, "new_path": there });
            assert_eq!(world.call(ME, native.clone()).await["is_error"], false, "{make}");
            let missing = format!("The path {here} does not exist. Please provide a valid path.");
            world.refused(ME, view(here), &missing).await;
            let back = json!({ "command": "rename", "path": there, "new_str": here });
            world.done(ME, back, format!("Renamed {there} → {here}")).await;
            world.done(ME, view(here), shown(here, "0\n     2\t1 2\n     3\t")).await;
            let delete = json!({ "command": "delete", "path": here });
            world.done(ME, delete, format!("Successfully deleted {here}")).await;
            world.refused(ME, view(here), &missing).await;
        }
    }
}

#[tokio::test]
async fn a_list_of_files_names_what_can_be_edited() {
    let world = World::new().await;
    world.call(ME, entry("/memories/notes/x", "one")).await;
    let list = world.content(ME, view("/memories")).await;
    assert!(list.ends_with("/memories/notes%2Fx"), "{list}");
    let path = "/memories/notes%2Fx";
    world.done(ME, view(path), shown(path, "one")).await;
    let edit = json!({ "command": "edit", "path": path, "old_str": "one", "new_str": "two" });
    assert_eq!(world.call(ME, edit).await["is_error"], false);
    world.done(ME, view("/memories/notes/x"), shown("/memories/notes/x", "two")).await;
}

#[tokio::test]
async fn a_name_with_its_ending_is_meant_with_it() {
    let world = World::new().await;
    world.call(ME, create("/memories/todo", "plain")).await;
    world.call(ME, create("/memories/todo.md", "marked")).await;
    let edit = json!({ "command": "edit", "path": "/memories/todo.md", "old_str": "marked", "new_str": "edited" });
    assert_eq!(world.call(ME, edit).await["is_error"], false);
    world.done(ME, view("/memories/todo.md"), shown("/memories/todo.md", "edited")).await;
    world.done(ME, view("/memories/todo"), shown("/memories/todo", "plain")).await;
}

/// A world in which everybody's store has a file of one name, telling whose it is.
async fn stores() -> World {
    let world = World::new().await;
    let admin = world.context("admin").await;
    world.agent(ME).await;
    for (member, kind) in [("u1", PrincipalKind::User), (ME, PrincipalKind::Agent)] {
        world.engine.add_member(&admin, "chat1", member, kind).await.unwrap();
    }
    let store = world.home("friend").await;
    let friend = world.context("friend").await;
    let grantee = Grantee::Principal(world.agent(ME).await.id);
    let new = NewGrant { grantee, level: Level::ReadWrite, expires_at: None };
    world.engine.share(&friend, store, new).await.unwrap();
    for (whose, more) in choices() {
        let call = with(create("/memories/f", whose), &more);
        assert_eq!(world.call(ME, call).await["is_error"], false, "{whose}");
    }
    world
}

/// The ways to choose a store beside a path.
fn choices() -> [(&'static str, Value); 4] {
    [
        ("own", json!({ "scope": "agent" })),
        ("user", json!({ "scope": "user", "userId": "u1" })),
        ("chat", json!({ "scope": "chat", "chatId": "chat1" })),
        ("friend", json!({ "store": "friend" })),
    ]
}

#[tokio::test]
async fn scope_and_store_choose_where_a_path_is_in_both_shapes() {
    for dialect in ["native", "robutler"] {
        for (whose, more) in choices() {
            let world = stores().await;
            let more = with(more, &json!({ "dialect": dialect }));
            let seen = world.call(ME, with(view("/memories/f"), &more)).await;
            let text = seen["content"].as_str().unwrap();
            assert!(text.contains(whose), "{dialect} {more}: {text}");
            let change = json!({ "path": "/memories/f", "old_str": whose, "new_str": "seen" });
            for command in ["str_replace", "edit"] {
                let call = with(with(change.clone(), &more), &json!({ "command": command }));
                let changed = world.call(ME, call).await;
                let is_first = command == "str_replace";
                assert_eq!(changed["is_error"], !is_first, "{changed}");
            }
            let rename = match dialect {
                "native" => json!({ "old_path": "/memories/f", "new_path": "/memories/g" }),
                _ => json!({ "path": "/memories/f", "new_str": "/memories/g" }),
            };
            let rename = with(with(rename, &more), &json!({ "command": "rename" }));
            assert_eq!(world.call(ME, rename.clone()).await["is_error"], false, "{rename}");
            let delete = json!({ "command": "delete", "path": "/memories/g" });
            let deleted = world.call(ME, with(delete, &more)).await;
            assert_eq!(deleted["is_error"], false, "{deleted}");
            for (other, more) in choices().iter().filter(|(other, _)| *other != whose) {
                let seen = world.call(ME, with(view("/memories/f"), more)).await;
                let text = seen["content"].as_str().unwrap();
                assert!(text.contains(other), "{whose} was meant, not {other}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn a_store_is_named_once() {
    let world = stores().await;
    let path = "/memories/shared/friend/f";
    let words = "scope and store do not go with a path below /memories/shared";
    for more in [json!({ "scope": "user", "userId": "u1" }), json!({ "store": "friend" })] {
        let native = json!({ "dialect": "native" });
        let robutler = json!({ "dialect": "robutler" });
        for call in [view(path), json!({ "command": "delete", "path": path })] {
            let call = with(call, &more);
            world.refused(ME, with(call.clone(), &native), words).await;
            world.error(ME, with(call, &robutler), words).await;
        }
        world.refused(ME, with(create(path, "x"), &more), words).await;
        world.error(ME, with(entry(path, "x"), &more), words).await;
    }
    let both = json!({ "scope": "user", "userId": "u1", "store": "friend" });
    let words = "scope and store exclude each other";
    world.refused(ME, with(view("/memories/f"), &both), words).await;
    world.error(ME, with(entry("/memories/f", "x"), &both), words).await;
    let empty = json!({ "scope": "", "store": "", "key": "", "old_path": "" });
    let seen = world.content(ME, with(view(path), &empty)).await;
    assert!(seen.contains("friend"), "{seen}");
}

#[tokio::test]
async fn a_scope_is_of_its_kind() {
    let world = stores().await;
    for more in [
        json!({ "scope": "user", "userId": "friend" }),
        json!({ "scope": "user", "userId": "chat1" }),
        json!({ "scope": "user", "userId": ME }),
        json!({ "scope": "chat", "chatId": "u1" }),
        json!({ "scope": "chat", "chatId": "friend" }),
        json!({ "scope": "chat", "chatId": world.home("friend").await.to_string() }),
    ] {
        let call = json!({ "command": "create", "key": "k", "content": "x" });
        world.error(ME, with(call, &more), "Access denied to this store").await;
    }
}

#[tokio::test]
async fn what_is_in_the_way_is_said_in_a_sentence() {
    let world = World::new().await;
    let store = world.home(ME).await;
    let mut hidden = Edit::put_text(crate::tool::world::path("/hidden"), "x");
    if let loci_model::EditOp::Put { attributes, .. } = &mut hidden.op {
        attributes.visibility = loci_model::Patch::Set(Visibility::Internal);
    }
    world.write(ME, store, hidden).await;
    let words = "Cannot create /memories/hidden: an entry of this name is kept from models";
    world.error(ME, entry("/memories/hidden", "y"), words).await;
    assert_eq!(world.read(ME, store, "/hidden").await, Some(Content::Text("x".into())));
    world.call(ME, create("/memories/dir/f", "x")).await;
    let words = "Cannot create /memories/dir: there are entries above or below that name";
    world.error(ME, entry("/memories/dir", "y"), words).await;
    let context = world.context(ME).await;
    world.engine.archive_store(&context, store).await.unwrap();
    let words = "Access denied to this store: it is archived";
    world.error(ME, entry("/memories/new", "y"), words).await;
}
