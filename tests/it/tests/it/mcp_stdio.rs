//! Promise: `loci mcp` serves a program over standard input and output, on a directory or a server,
//! whoever holds the directory; and tells it of changes that others make.

use loci_it::mcp::{Mcp, done};
use loci_it::{ADMIN_KEY, Loci, Setup};
use serde_json::{Value, json};
use std::time::Duration;

#[track_caller]
fn call(mcp: &mut Mcp, name: &str, arguments: &Value) -> String {
    done(&mcp.call(name, arguments).expect("the process answers"))
}

#[test]
fn a_directory_is_served_and_given_back() {
    let setup = Setup::new();
    let mut first = Mcp::on_data(setup.data(), &[]);
    let told = first.initialize("2025-11-25");
    assert_eq!(told["protocolVersion"], "2025-11-25");
    assert_eq!(told["capabilities"]["resources"]["subscribe"], true);
    assert!(told["instructions"].as_str().unwrap().contains("memory_context"));
    call(&mut first, "memory_write", &json!({"path": "/a.md", "content": "from the first"}));
    // A second finds the directory held, and what the first wrote.
    let mut second = Mcp::on_data(setup.data(), &["--profile", "default,admin"]);
    second.initialize("2024-11-05");
    let said = call(&mut second, "memory_read", &json!({"path": "/a.md"}));
    assert!(said.contains("from the first"), "{said}");
    // Profiles are chosen by whoever starts the process, not by whoever holds the directory.
    call(&mut second, "stores_list", &json!({}));
    assert!(first.call("stores_list", &json!({})).unwrap()["error"].is_object());
    // The first goes; the second goes on by itself.
    assert!(first.finish().success());
    call(&mut second, "memory_edit", &json!({"path": "/a.md", "append": "and the second"}));
    assert!(second.finish().success());
    let home = Loci::on_data(setup.data()).json(&["store", "list"]);
    let home = home["data"][0]["id"].as_str().unwrap().to_owned();
    let content = Loci::on_data(setup.data()).ok(&["get", &home, "/a.md"]);
    assert_eq!(String::from_utf8(content).unwrap(), "from the first\nand the second");
}

#[test]
fn a_server_is_reached_by_its_url_and_key() {
    let setup = Setup::new();
    let server = setup.start();
    let mut mcp = Mcp::on_url(&server.url(), ADMIN_KEY);
    mcp.initialize("2025-06-18");
    call(&mut mcp, "memory_write", &json!({"path": "/a.md", "content": "tea"}));
    // Without a handshake, as newer clients do.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = mcp.ask("server/discover", &json!({"_meta": meta})).unwrap();
    assert!(found["result"]["supportedVersions"].is_array(), "{found}");
    let read = json!({"name": "memory_read", "arguments": {"path": "/a.md"}, "_meta": meta});
    assert!(done(&mcp.ask("tools/call", &read).unwrap()).contains("tea"));
    // A server that restarts is waited for.
    drop(server);
    let mut wrong = Mcp::on_url("http://127.0.0.1:9", "loci_wrong");
    assert!(wrong.until(|_| true).is_none(), "there is nobody");
    let server = Setup::new();
    let other = server.start();
    let mut stranger = Mcp::on_url(&other.url(), "loci_wrong");
    let refused = stranger.ask("tools/list", &json!({})).unwrap();
    let message = refused["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("401 "), "{refused}");
}

#[test]
fn nonsense_is_answered_and_survived() {
    let setup = Setup::new();
    let mut mcp = Mcp::on_data(setup.data(), &[]);
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("null", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600),
    ] {
        mcp.write(line).unwrap();
        let refused = mcp.until(|line| line["error"].is_object()).unwrap();
        assert_eq!(refused["error"]["code"], code, "{line}");
    }
    mcp.write("").unwrap();
    mcp.write(&"x".repeat(5 * 1024 * 1024)).unwrap();
    let refused = mcp.until(|line| line["error"].is_object()).unwrap();
    assert_eq!(refused["error"]["code"], -32600);
    let unknown = mcp.ask("no/such/method", &json!({})).unwrap();
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    mcp.initialize("2025-11-25");
    call(&mut mcp, "memory_list", &json!({}));
    // A program that says nothing more is one that ends.
    assert!(mcp.finish().success());
}

#[test]
fn whoever_subscribed_hears_of_other_writers_across_holders() {
    let setup = Setup::new();
    let mut holder = Mcp::on_data(setup.data(), &[]);
    holder.initialize("2025-11-25");
    call(&mut holder, "memory_write", &json!({"path": "/a.md", "content": "one"}));
    let mut follower = Mcp::on_data(setup.data(), &[]);
    follower.initialize("2025-11-25");
    let uri = "loci://home/a.md";
    let subscribed = follower.ask("resources/subscribe", &json!({"uri": uri})).unwrap();
    assert!(subscribed["result"].is_object(), "{subscribed}");
    let is_update = |line: &Value| {
        line["method"] == "notifications/resources/updated" && line["params"]["uri"] == uri
    };
    // The relay listens a moment after it said so, and what is written before that is not told.
    let is_heard = (0..60).any(|number| {
        let content = format!("two, for the {number}. time");
        call(&mut holder, "memory_write", &json!({"path": "/a.md", "content": content}));
        follower.within(Duration::from_secs(1), is_update).is_some()
    });
    assert!(is_heard, "no update after 60 writes");
    call(&mut holder, "memory_write", &json!({"path": "/b.md", "content": "new"}));
    follower.until(|line| line["method"] == "notifications/resources/list_changed").unwrap();
    // The holder dies; a third writes; the follower still hears of it.
    holder.kill();
    let mut third = Mcp::on_data(setup.data(), &[]);
    third.initialize("2025-11-25");
    call(&mut third, "memory_write", &json!({"path": "/a.md", "content": "three"}));
    follower.until(is_update).unwrap();
    let gone = follower.ask("resources/unsubscribe", &json!({"uri": uri})).unwrap();
    assert!(gone["result"].is_object());
}

#[test]
fn several_messages_in_one_line_are_answered_in_one() {
    let setup = Setup::new();
    let mut mcp = Mcp::on_data(setup.data(), &[]);
    mcp.initialize("2025-03-26");
    let tool = |id: u64, name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let batch = json!([
        tool(101, "memory_write", json!({"path": "/a.md", "content": "tea"})),
        tool(102, "memory_read", json!({"path": "/a.md"})),
        {"jsonrpc": "2.0", "id": 103, "method": "subscriptions/listen", "params": {}},
    ]);
    mcp.write(&batch.to_string()).unwrap();
    let answers = mcp.until(Value::is_array).expect("the process answers");
    assert_eq!(answers.as_array().map(Vec::len), Some(3), "{answers}");
    assert!(done(&answers[1]).contains("tea"), "{answers}");
    assert!(answers[2]["error"].is_object(), "{answers}");
    assert!(mcp.finish().success());
    let mut newer = Mcp::on_data(setup.data(), &[]);
    newer.initialize("2025-06-18");
    newer.write(&batch.to_string()).unwrap();
    let refused = newer.until(|line| line["error"].is_object()).expect("the process answers");
    assert!(refused["error"]["message"].as_str().unwrap().contains("no batches"), "{refused}");
    assert!(newer.finish().success());
}
