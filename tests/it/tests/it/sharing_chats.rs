//! Promise: being in a chat opens its store and those of its users from the moment it is answered,
//! leaving closes them, and switched-off memory is neither read nor written. All of it is in the
//! audit log.

use crate::sharing::{NO_MODEL, agent, events, principal, start, words};
use loci_it::{Client, Loci, Reply, Server, Setup};
use serde_json::{Value, json};

/// A key that acts for whichever agent a request names.
fn platform(server: &Server) -> Client {
    let mut admin = server.client();
    // It is there already when a server was started again.
    admin.post("/v1/principals", &json!({"name": "platform", "kind": "service"}));
    let body = json!({"name": "platform", "principal": "platform", "level": "readwrite",
        "acts_for_agents": true});
    let made = admin.post("/v1/api_keys", &body).ok();
    server.client_as(made["secret"].as_str())
}

/// What a call of the memory tool says.
fn tool(client: &mut Client, input: &Value) -> String {
    let reply = client.post("/v1/tools/memory", input);
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()["content"].as_str().unwrap().to_owned()
}

fn write(client: &mut Client, who: &str, scope: &Value, key: &str, content: &str) -> String {
    let mut input = json!({"agentId": who, "command": "create", "key": key, "content": content});
    for (name, value) in scope.as_object().unwrap() {
        input[name] = value.clone();
    }
    tool(client, &input)
}

fn read(client: &mut Client, who: &str, scope: &Value, key: &str) -> String {
    let mut input = json!({"agentId": who, "command": "view", "key": key});
    for (name, value) in scope.as_object().unwrap() {
        input[name] = value.clone();
    }
    tool(client, &input)
}

fn in_chat() -> Value {
    json!({"scope": "chat", "chatId": "room"})
}

fn of_user() -> Value {
    json!({"scope": "user", "userId": "ana"})
}

fn of_self() -> Value {
    json!({"scope": "agent"})
}

fn join(client: &mut Client, member: &str, kind: &str) -> Reply {
    let url = format!("/v1/chats/room/members/{member}");
    client.call("PUT", &url, Some(&json!({ "kind": kind })))
}

fn leave(client: &mut Client, member: &str) -> Value {
    client.delete(&format!("/v1/chats/room/members/{member}")).ok()
}

fn members(server: &Server, chat: &str) -> Vec<String> {
    let shown = server.client().get(&format!("/v1/chats/{chat}")).ok();
    let members = shown["members"].as_array().unwrap();
    members.iter().map(|member| member["name"].as_str().unwrap().to_owned()).collect()
}

const DENIED: &str = "Access denied";
const OFF: &str = "switched off";

#[test]
fn joining_opens_and_leaving_closes_while_the_server_runs() {
    let (_setup, server) = start();
    let mut platform = platform(&server);
    join(&mut platform, "scout", "agent").ok();
    join(&mut platform, "ana", "user").ok();
    write(&mut platform, "scout", &in_chat(), "agenda", "Boats first.");
    write(&mut platform, "scout", &of_user(), "likes", "Short answers.");

    let mut writer = agent(&server, "writer");
    let uuid = server.client().get("/v1/chats/room").ok()["uuid"].as_str().unwrap().to_owned();
    for scope in [in_chat(), of_user(), json!({"scope": "chat", "chatId": uuid})] {
        assert!(read(&mut platform, "writer", &scope, "agenda").contains(DENIED), "{scope}");
        let said = write(&mut platform, "writer", &scope, "agenda", "Mine.");
        assert!(said.contains(DENIED), "{scope}: {said}");
    }
    let search = json!({"query": "boats answers"});
    assert_eq!(writer.post("/v1/search", &search).ok()["data"], json!([]));

    join(&mut platform, "writer", "agent").ok();
    assert!(read(&mut platform, "writer", &in_chat(), "agenda").contains("Boats first."));
    assert!(read(&mut platform, "writer", &of_user(), "likes").contains("Short answers."));
    assert_eq!(writer.post("/v1/search", &search).ok()["data"].as_array().unwrap().len(), 2);
    let homes = writer.get("/v1/memory_stores").ok();
    let home_of = |name: &str| {
        let all = homes["data"].as_array().unwrap();
        let found = all.iter().find(|store| store["name"] == format!("home of {name}"));
        found.expect("a member sees it")["id"].as_str().unwrap().to_owned()
    };
    let room = format!("/v1/memory_stores/{}", home_of("room"));

    // What a member gives on rests on being one.
    let mut outsider = agent(&server, "outsider");
    let body = json!({"grantee": "outsider", "level": "read"});
    let grant = writer.post(&format!("{room}/grants"), &body).ok();
    assert_eq!(outsider.get(&format!("{room}/memories")).status, 200);
    let left = leave(&mut platform, "writer");
    assert_eq!(left["revoked"], json!([grant["id"]]));
    assert_eq!(outsider.get(&format!("{room}/memories")).status, 404);
    for client in [&mut writer, &mut outsider] {
        assert_eq!(client.get(&room).status, 404);
        assert_eq!(client.post("/v1/search", &search).ok()["data"], json!([]));
    }
    for scope in [in_chat(), of_user()] {
        assert!(read(&mut platform, "writer", &scope, "agenda").contains(DENIED), "{scope}");
    }
    assert!(read(&mut platform, "scout", &in_chat(), "agenda").contains("Boats first."));
    server.stop();
}

#[test]
fn only_a_platforms_key_acts_for_others() {
    let (_setup, server) = start();
    let (mut own, mut platform) = (agent(&server, "scout"), platform(&server));
    agent(&server, "writer");
    let said = write(&mut platform, "writer", &of_self(), "plan", "The plan.");
    assert!(said.contains("Created"), "{said}");
    for who in ["writer", "nobody-yet", &principal(&server, "writer")] {
        let input = json!({"agentId": who, "command": "view", "scope": "agent", "key": "plan"});
        let refused = own.post("/v1/tools/memory", &input);
        assert_eq!(refused.status, 403, "{who}: {}", refused.text());
        assert!(!refused.text().contains("The plan"));
    }
    let known = server.client().get("/v1/principals").ok().to_string();
    assert!(!known.contains("nobody-yet"), "a refused request makes nobody");
    assert!(read(&mut own, "scout", &of_self(), "plan").contains("null"), "it may name itself");
    assert!(read(&mut platform, "writer", &of_self(), "plan").contains("The plan."));
    join(&mut platform, "ana", "user").ok();
    for who in ["admin", "ana", "room"] {
        let input = json!({"agentId": who, "command": "view", "scope": "agent", "key": "plan"});
        let refused = platform.post("/v1/tools/memory", &input);
        assert_eq!(refused.status, 403, "{who} is no agent: {}", refused.text());
    }
    let wider = json!({"name": "k", "acts_for_agents": true});
    assert_eq!(own.post("/v1/api_keys", &wider).status, 403);
    for path in ["/v1/principals", "/v1/events", "/v1/api_keys"] {
        assert_eq!(platform.get(path).status, 403, "{path}: it is no administrator");
    }
    server.stop();
}

#[test]
fn declared_chats_have_exactly_the_declared_members() {
    let chat = |members: &str| format!("{NO_MODEL}[[chat]]\nname = 'room'\nmembers = {members}\n");
    let ana = "{ name = 'ana', kind = 'user' }";
    let setup = Setup::new().config(&chat(&format!("['scout', {ana}]")));
    let server = setup.start();
    assert_eq!(members(&server, "room"), ["scout", "ana"]);
    let mut platform = platform(&server);
    write(&mut platform, "scout", &in_chat(), "agenda", "Boats first.");
    join(&mut platform, "guest", "agent").ok();
    assert!(read(&mut platform, "guest", &in_chat(), "agenda").contains("Boats first."));
    server.stop();

    let setup = setup.config(&chat(&format!("['writer', {ana}]")));
    let server = setup.start();
    assert_eq!(members(&server, "room"), ["ana", "writer"], "the guest and the scout are out");
    let mut again = self::platform(&server);
    for who in ["guest", "scout"] {
        assert!(read(&mut again, who, &in_chat(), "agenda").contains(DENIED), "{who}");
    }
    assert!(read(&mut again, "writer", &in_chat(), "agenda").contains("Boats first."));
    let before = events(&server).len();
    server.stop();
    let server = setup.start();
    assert_eq!(events(&server).len(), before, "a start that changes nothing says nothing");
    server.stop();

    let setup = setup.config(NO_MODEL);
    let server = setup.start();
    assert_eq!(members(&server, "room"), ["ana", "writer"], "a deleted entry takes nothing away");
    server.stop();
}

#[test]
fn what_is_switched_off_is_neither_read_nor_written() {
    let (setup, server) = start();
    let mut platform = platform(&server);
    join(&mut platform, "scout", "agent").ok();
    join(&mut platform, "ana", "user").ok();
    let scopes = [("self", of_self()), ("chat", in_chat()), ("user", of_user())];
    for (name, scope) in &scopes {
        write(&mut platform, "scout", scope, "note", &format!("the {name} note"));
    }
    let switch = |body: Value| server.client().post("/v1/principals/scout/memory", &body).ok();
    let mut check = |expected: [bool; 3], why: &str| {
        for ((name, scope), is_on) in scopes.iter().zip(expected) {
            let said = read(&mut platform, "scout", scope, "note");
            assert_eq!(said.contains(&format!("the {name} note")), is_on, "{why}, {name}: {said}");
            assert_eq!(said.contains(OFF), !is_on, "{why}, {name}: {said}");
            let said = write(&mut platform, "scout", scope, "other", why);
            assert_eq!(said.contains(OFF), !is_on, "{why}, {name}: {said}");
        }
    };
    check([true; 3], "on");
    switch(json!({"enabled": false}));
    check([false; 3], "all off");
    switch(json!({"enabled": true, "user": false}));
    check([true, true, false], "user off");
    switch(json!({"user": true, "chat": false}));
    check([true, false, true], "chat off");
    Loci::on_data(setup.data()).ok(&["agent", "memory", "scout", "--chat", "on", "--self", "off"]);
    check([false, true, true], "self off");
    Loci::on_data(setup.data()).ok(&["agent", "memory", "scout", "--self", "on"]);
    check([true; 3], "on again");
    server.stop();

    let entry = "[[principal]]\nname = 'scout'\nmemory = false\nuser_store = false\n";
    let setup = setup.config(&format!("{NO_MODEL}{entry}"));
    let server = setup.start();
    let shown = server.client().get("/v1/principals/scout/memory").ok();
    let shown = ["enabled", "self", "chat", "user"].map(|name| shown[name] == true);
    assert_eq!(shown, [false, true, true, false]);
    let said = read(&mut self::platform(&server), "scout", &of_self(), "note");
    assert!(said.contains(OFF), "{said}");
    server.stop();
}

#[test]
fn switched_off_counts_at_every_door() {
    let (_setup, server) = start();
    let mut scout = agent(&server, "scout");
    let store = scout.post("/v1/memory_stores", &json!({"name": "mine"})).ok();
    let store = format!("/v1/memory_stores/{}", store["id"].as_str().unwrap());
    let memory = json!({"path": "/a", "content": "mine"});
    scout.post(&format!("{store}/memories"), &memory).ok();
    server.client().post("/v1/principals/scout/memory", &json!({"enabled": false})).ok();
    for (method, path, body) in [
        ("GET", format!("{store}/memories"), None),
        ("POST", format!("{store}/search"), Some(json!({"query": "mine"}))),
        ("POST", format!("{store}/memories"), Some(json!({"path": "/b", "content": "b"}))),
    ] {
        let refused = scout.call(method, &path, body.as_ref());
        assert_eq!(refused.status, 403, "{method} {path}: {}", refused.text());
        assert!(words(&refused).contains(OFF), "{}", refused.text());
    }
    assert_eq!(scout.post("/v1/search", &json!({"query": "mine"})).ok()["data"], json!([]));
    server.client().post("/v1/principals/scout/memory", &json!({"enabled": true})).ok();
    let listed = scout.get(&format!("{store}/memories")).ok();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1, "nothing was lost and nothing added");
    server.stop();
}

#[test]
fn the_audit_log_tells_what_happened_and_shows_when_it_was_changed() {
    let (setup, server) = start();
    let loci = Loci::on_data(setup.data());
    loci.ok(&["agent", "create", "scout"]);
    loci.ok(&["agent", "create", "writer"]);
    let key = loci.json(&["key", "create", "--name", "k", "--principal", "scout"]);
    let (key, secret) = (key["id"].as_str().unwrap(), key["secret"].as_str().unwrap());
    loci.ok(&["store", "create", "findings"]);
    let grant = loci.json(&["grant", "findings", "writer", "read", "--expires-in", "60"]);
    loci.ok(&["chat", "add", "room", "scout"]);
    loci.ok(&["agent", "memory", "writer", "--user", "off"]);
    loci.ok(&["chat", "remove", "room", "scout"]);
    loci.ok(&["revoke", "findings", "writer"]);
    loci.ok(&["key", "revoke", key]);

    let told = events(&server);
    let (scout, writer) = (principal(&server, "scout"), principal(&server, "writer"));
    let room = principal(&server, "room");
    let expected = [
        ("principal_created", scout.as_str(), Value::Null),
        ("principal_created", &writer, Value::Null),
        ("key_created", key, Value::Null),
        ("grant_given", &writer, json!("read")),
        ("principal_created", &room, Value::Null),
        ("member_added", &scout, json!(room)),
        ("memory_switched", &writer, json!("off: user")),
        ("member_removed", &scout, json!(room)),
        ("grant_revoked", grant["id"].as_str().unwrap(), json!(writer)),
        ("key_revoked", key, Value::Null),
    ];
    let last = &told[told.len() - expected.len()..];
    for (event, (kind, subject, detail)) in last.iter().zip(expected) {
        let found = (&event["kind"], &event["subject"], &event["detail"]);
        assert_eq!(found, (&json!(kind), &json!(subject), &detail));
    }
    for (number, event) in (1..).zip(&told) {
        assert_eq!(event["seq"], number);
        assert_eq!(event["hash"].as_str().unwrap().len(), 64);
    }
    assert!(!json!(told).to_string().contains(secret), "a secret is in the audit log");
    let listed = loci.json(&["events", "--after", "2", "--limit", "5"]);
    assert_eq!(listed["data"], json!(told[2..7]));
    assert_eq!(agent(&server, "other").get("/v1/events").status, 403);
    assert_eq!(events(&server)[..told.len()], told, "what was told stays as it was");
    loci.ok(&["check"]);
    server.stop();

    let file = rusqlite::Connection::open(setup.data().join("loci.db")).unwrap();
    let changed = file.execute("UPDATE event SET detail = 'search' WHERE detail = 'read'", []);
    assert_eq!(changed.unwrap(), 1);
    drop(file);
    let found = loci.run(&["check"]);
    assert_eq!(found.code, Some(1), "{found:?}");
}

#[test]
fn sharing_can_be_hidden_from_models() {
    let (_setup, server) = start();
    let shown = platform(&server).get("/v1/tools/memory").ok().to_string();
    assert!(shown.contains("unshare"), "{shown}");
    server.stop();
    let setup = Setup::new().config(&format!("{NO_MODEL}[tools]\nhide_sharing = true\n"));
    let server = setup.start();
    let mut platform = platform(&server);
    let hidden = platform.get("/v1/tools/memory").ok().to_string();
    assert!(!hidden.contains("unshare"), "{hidden}");
    agent(&server, "writer");
    let input = json!({"agentId": "scout", "command": "share", "grantee": "writer"});
    let reply = platform.post("/v1/tools/memory", &input);
    assert_eq!(reply.json()["is_error"], true, "{}", reply.text());
    server.stop();
}

#[test]
fn homes_have_the_limits_that_were_declared() {
    let config = format!("{NO_MODEL}[homes]\ncontent_bytes = 20\nmemories = 2\n");
    let server = Setup::new().config(&config).start();
    let mut platform = platform(&server);
    let mut put = |key: &str, content: &str| {
        let said = write(&mut platform, "scout", &of_self(), key, content);
        said.contains("Created")
    };
    assert!(put("a", "short"));
    assert!(!put("b", &"long ".repeat(10)));
    assert!(put("c", "short"));
    assert!(!put("d", "short"), "a third memory");
    server.stop();
}
