//! Promise: damaged content costs only itself. Lists, searches, briefs and exports at every door leave
//! it out and say so, a read of the damaged thing itself says that it is damaged, and writing over it
//! heals it. On both engines.

use loci_it::mcp::{post, tool};
use loci_it::{ADMIN_KEY, Api, Client, Cluster, Loci, Reply, Server, Setup};
use serde_json::{Value, json};

const TOKEN: &str = "kilroy-was-here-4711";
/// In the contents that are to be damaged, and nowhere else.
const MARK: &str = "DAMAGED";
/// Long enough that an appended version shares the bytes of the one before it.
const LONG: usize = 2000;

/// Where the memories are, and a way to them past Loci.
enum Bed {
    Directory(Setup),
    Database(Cluster),
}

impl Bed {
    fn both() -> [Self; 2] {
        let env = |setup: Setup| setup.env("LOCI_KILROY_TOKEN", TOKEN);
        [Self::Directory(env(Setup::new())), Self::Database(Cluster::fresh().with(env))]
    }

    fn start(&self) -> Server {
        match self {
            Self::Directory(setup) => setup.start(),
            Self::Database(cluster) => cluster.start(),
        }
    }

    fn loci(&self) -> Loci {
        match self {
            Self::Directory(setup) => Loci::on_data(setup.data()),
            Self::Database(cluster) => cluster.loci(),
        }
    }

    /// Changes the rows of the contents with the mark, which must be so many.
    #[track_caller]
    fn damage(&self, how: &Damage, count: usize) {
        let changed = match self {
            Self::Directory(setup) => {
                let conn = rusqlite::Connection::open(setup.data().join("loci.db")).unwrap();
                conn.execute(how.sqlite, []).unwrap()
            }
            Self::Database(cluster) => {
                let sql = format!("set search_path to loci; {} returning 1", how.postgres);
                cluster.sql(&sql).lines().count()
            }
        };
        assert_eq!(changed, count, "{}", how.name);
    }
}

/// One way in which contents go bad.
struct Damage {
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

/// One letter: what is left still matches the words of the text, and is what an index is made of.
const FLIPPED: Damage = Damage {
    name: "a flipped byte",
    sqlite: "update payload set content = cast(replace(cast(content as text), 'DAMAGED', 'DAMAGEX') \
             as blob) where instr(content, cast('DAMAGED' as blob)) > 0",
    postgres: "update payload set content = convert_to(replace(convert_from(content, 'UTF8'), \
               'DAMAGED', 'DAMAGEX'), 'UTF8') where position('DAMAGED'::bytea in content) > 0",
};
const NO_TEXT: Damage = Damage {
    name: "no UTF-8",
    sqlite: "update payload set content = x'ff00ff00' \
             where instr(content, cast('DAMAGED' as blob)) > 0",
    postgres: "update payload set content = '\\xff00ff00' \
               where position('DAMAGED'::bytea in content) > 0",
};
const MISSING: Damage = Damage {
    name: "a missing row",
    sqlite: "delete from payload where instr(content, cast('DAMAGED' as blob)) > 0",
    postgres: "delete from payload where position('DAMAGED'::bytea in content) > 0",
};

/// An answer that is whole but for what it leaves out.
#[track_caller]
fn passes_over(what: &str, reply: &Reply) {
    let text = reply.text();
    assert_eq!(reply.status, 200, "{what}: {text}");
    assert!(text.contains("sound"), "{what}: {text}");
    assert!(!text.contains("DAMAGE"), "{what}: {text}");
    assert_eq!(reply.header("loci-damaged"), Some("1"), "{what}: {text}");
}

fn kilroy(client: &mut Client, block: &str, text: &str) -> Reply {
    let url = format!("/api/v1/pd/webhook_sync/{TOKEN}/kilroy.ai.webhooks/{block}");
    let targs = json!({"memory_id": "instances/a3d8f1b2/memories", "kind": "note"});
    let body = json!({
        "tagentname": "notes", "tid": "t", "targs": targs.to_string(), "args": [{"text": text}],
    });
    client.post(&url, &body)
}

/// Writes what is sound and what is to be damaged through each door.
fn furnish(server: &Server) {
    for (key, text) in [("a", "a sound text about tea"), ("b", "DAMAGED text about tea")] {
        let mut client = server.client();
        let value = json!({"value": text, "agentId": "robert"});
        client.call("PUT", &format!("/api/storage/memory/{key}"), Some(&value)).ok();
        let note = json!({
            "namespace": "owner", "key": key, "content": text, "source": "tool", "at": null,
            "agentId": "scott",
        });
        client.call("PUT", "/api/storage/memory-scoped", Some(&note)).ok();
        let entry = json!({"content": text});
        let saved =
            client.call("PUT", &format!("/v1/agents/mo/memory/entries/{key}"), Some(&entry));
        assert!(matches!(saved.status, 200 | 201), "{}", saved.text());
        kilroy(&mut server.client_as(None), "memory_write", text).ok();
    }
}

fn every_list(bed: &Bed, how: &Damage) {
    let server = bed.start();
    furnish(&server);
    let mut api = Api::create(server.client(), "plain");
    api.put("/a", "a sound text about tea");
    let damaged = api.put("/b", "DAMAGED text about tea");
    api.put("/c", "another sound text");
    api.settle();
    server.stop();
    bed.damage(how, 5);

    let server = bed.start();
    let mut client = server.client();
    let store = Api::open(server.client(), &api.store);
    let lists = [
        ("memories", store.path("/memories?view=full")),
        ("entries", store.path("/entries?view=full")),
        ("newest", store.path("/entries?view=full&order=updated&direction=desc")),
        ("sifted", store.path("/entries?view=full&updated_after=2020-01-01T00:00:00Z")),
        ("full brief", store.path("/brief?mode=full")),
        ("Robutler", "/api/storage/memory?agentId=robert".to_owned()),
        ("caller-scoped", "/api/storage/memory-scoped?action=list&agentId=scott".to_owned()),
        ("Mobius", "/v1/agents/mo/memory/entries".to_owned()),
    ];
    for (what, url) in &lists {
        passes_over(&format!("{} {what}", how.name), &client.get(url));
    }
    let read = kilroy(&mut server.client_as(None), "memory_read", "");
    passes_over(&format!("{} Kilroy", how.name), &read);
    for (what, url) in &lists[1..4] {
        assert_eq!(client.get(url).json()["damaged"], json!([damaged.id]), "{what}");
    }
    let basic = client.get(&store.path("/memories"));
    assert_eq!(basic.json()["data"].as_array().unwrap().len(), 3, "its line is sound");
    assert_eq!(basic.header("loci-damaged"), None, "nothing is left out");
    let versions = client.get(&store.path("/memory_versions?view=full"));
    assert_eq!(versions.header("loci-damaged"), Some("1"));
    let contents = versions.json()["data"].as_array().unwrap().clone();
    let contents: Vec<&Value> = contents.iter().map(|version| &version["content"]).collect();
    assert_eq!(contents.len(), 3, "a history has no gaps");
    assert_eq!(contents.iter().filter(|content| content.is_null()).count(), 1, "{contents:?}");
    refuses_itself(&server, &store, &damaged, how);
    searches(&server, &store, &damaged, how);
    heals(&server, &store, &damaged, how);
    server.stop();
}

/// A read of the damaged thing itself says what it is, and is not to be repeated.
fn refuses_itself(server: &Server, store: &Api, damaged: &loci_it::Memory, how: &Damage) {
    let mut client = server.client();
    for url in [
        store.path(&format!("/memories/{}", damaged.id)),
        store.path(&format!("/entries/{}?view=full", damaged.id)),
        store.path(&format!("/memory_versions/{}", damaged.version)),
    ] {
        let reply = client.get(&url);
        assert_eq!(reply.status, 410, "{} {url}: {}", how.name, reply.text());
        assert!(reply.text().contains(&damaged.version), "{}", reply.text());
    }
    let basic = client.get(&store.path(&format!("/memories/{}?view=basic", damaged.id))).ok();
    assert_eq!(basic["path"], "/b");
    let read = post(&mut client, &tool("memory_read", &json!({"path": "/b"})), &[]);
    assert_eq!(read.status, 200, "{}", read.text());
    let reply = client.get("/api/storage/memory/b?agentId=robert");
    assert_eq!(reply.status, 410, "{} Robutler: {}", how.name, reply.text());
}

fn searches(server: &Server, store: &Api, damaged: &loci_it::Memory, how: &Damage) {
    let mut client = server.client();
    for mode in ["lexical", "semantic", "hybrid"] {
        let what = format!("{} {mode}", how.name);
        let body = json!({"query": "text about tea", "mode": mode, "view": "full"});
        let reply = client.post(&store.path("/search"), &body);
        assert_eq!(reply.status, 200, "{what}: {}", reply.text());
        let answer = reply.json();
        assert!(!reply.text().contains("DAMAGE"), "{what}: {answer}");
        assert!(!answer["data"].as_array().unwrap().is_empty(), "{what}: {answer}");
        // What cannot be read as text is in no index, so nothing was found that is missing.
        let expected = if how.name == FLIPPED.name { json!([damaged.id]) } else { json!([]) };
        assert_eq!(answer["damaged"], expected, "{what}: {answer}");
    }
    let ask = json!({"query": "text about tea", "memory_store_ids": [store.store]});
    let known = client.post("/v1/knowledge", &ask);
    assert_eq!(known.status, 200, "{}: {}", how.name, known.text());
    assert!(!known.text().contains("DAMAGE"), "{}: {}", how.name, known.text());
    for url in ["/v1/context", &store.path("/duplicates"), &store.path("/facts")] {
        let reply = client.get(url);
        assert_eq!(reply.status, 200, "{} {url}: {}", how.name, reply.text());
    }
    let found = client.get("/api/storage/memory?action=search&q=tea&agentId=robert");
    assert_eq!(found.status, 200, "{}: {}", how.name, found.text());
    let asked = tool("memory_search", &json!({"query": "tea", "store": "plain"}));
    let told = post(&mut client, &asked, &[]);
    assert_eq!(told.status, 200, "{}", told.text());
    let told = told.json();
    assert_ne!(told["result"]["isError"], true, "{told}");
    if how.name == FLIPPED.name {
        let notes = told["result"]["content"].as_array().unwrap();
        assert!(notes[1]["text"].as_str().unwrap().contains("1 memory is left out"), "{told}");
    }
}

/// Writing over it makes it whole, and redacting the damaged version leaves nothing to complain of.
fn heals(server: &Server, store: &Api, damaged: &loci_it::Memory, how: &Damage) {
    let mut api = Api::open(server.client(), &store.store);
    api.update(&damaged.id, &json!({"content": "a sound text again"}));
    let whole = api.client.get(&store.path("/memories?view=full"));
    assert_eq!(whole.header("loci-damaged"), None, "{}", how.name);
    assert_eq!(whole.json()["data"].as_array().unwrap().len(), 3);
    api.redact(&damaged.version).ok();
    let versions = api.client.get(&store.path("/memory_versions?view=full"));
    assert_eq!(versions.header("loci-damaged"), None, "{}", how.name);
}

#[test]
fn a_flipped_byte_costs_only_its_memory() {
    Bed::both().iter().for_each(|bed| every_list(bed, &FLIPPED));
}

#[test]
fn what_is_no_text_costs_only_its_memory() {
    Bed::both().iter().for_each(|bed| every_list(bed, &NO_TEXT));
}

#[test]
fn a_missing_content_costs_only_its_memory() {
    Bed::both().iter().for_each(|bed| every_list(bed, &MISSING));
}

/// What later versions go on from is theirs, too.
#[test]
fn a_damaged_beginning_costs_what_goes_on_from_it() {
    for bed in Bed::both() {
        let server = bed.start();
        let mut api = Api::create(server.client(), "logs");
        api.put("/a", "a sound text");
        let begin = format!("{MARK} {}", "long ".repeat(LONG / 5));
        let log = api.put("/log", &begin);
        for (number, expected) in [(1, 2), (2, 3)] {
            let edit =
                json!({"edits": [{"op": "append", "path": "/log", "text": format!("{number}")}]});
            let edited = api.client.post(&api.path("/edits"), &edit);
            assert_eq!(edited.status, 200, "{}", edited.text());
            assert_eq!(api.versions(&log.id).len(), expected);
        }
        server.stop();
        bed.damage(&FLIPPED, 1);
        let server = bed.start();
        let mut api = Api::open(server.client(), &api.store);
        passes_over("a chain", &api.client.get(&api.path("/memories?view=full")));
        let versions = api.client.get(&api.path("/memory_versions?view=full")).ok();
        let data = versions["data"].as_array().unwrap();
        assert_eq!(data.iter().filter(|one| one["content"].is_null()).count(), 3, "{versions}");
        assert_eq!(api.get(&log.id).status, 410);
        server.stop();
    }
}

/// An export goes through to its end, names what is damaged there, and an import takes it as it is.
#[test]
fn an_export_leaves_out_what_is_damaged_and_an_import_takes_it() {
    for bed in Bed::both() {
        let server = bed.start();
        let mut api = Api::create(server.client(), "plain");
        api.put("/a", "a sound text");
        // Of this one an older version is damaged, of the next the only one, and of the last the
        // newest.
        let older = api.put("/older", "DAMAGED at first");
        api.update(&older.id, &json!({"content": "a sound text in the end"}));
        let only = api.put("/only", "DAMAGED from the start");
        let newest = api.put("/newest", "a sound text at first");
        let newest = api.update(&newest.id, &json!({"content": "DAMAGED in the end"}));
        api.put("/z", "a sound text after all of them");
        let feed = api.changes(0);
        server.stop();
        bed.damage(&FLIPPED, 3);

        let file = tempfile::tempdir().unwrap();
        let to = file.path().join("export.jsonl");
        let to = to.to_str().unwrap();
        let exported = bed.loci().run(&["export", to]).expect_code(1, &["export"]);
        for version in [&older.version, &only.version, &newest.version] {
            assert!(exported.stderr.contains(version.as_str()), "{}", exported.stderr);
        }
        assert!(exported.stderr.contains("3 versions are damaged"), "{}", exported.stderr);
        let printed = bed.loci().run(&["export", "-"]).expect_code(1, &["export", "-"]);
        let lines = String::from_utf8(printed.stdout).unwrap();
        assert_eq!(lines.as_bytes(), std::fs::read(to).unwrap());
        let damaged = lines.lines().filter(|line| line.starts_with(r#"{"type":"damaged""#));
        assert_eq!(damaged.count(), 3);
        assert!(!lines.contains("DAMAGE"), "{lines}");

        let copy = Setup::new();
        let loci = Loci::on_data(copy.data());
        loci.ok(&["import", to]);
        loci.ok(&["check"]);
        let again = loci.ok(&["export", "-"]);
        let whole: String = lines
            .lines()
            .filter(|line| !line.starts_with(r#"{"type":"damaged""#))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(String::from_utf8(again).unwrap(), whole, "what was imported is whole");
        let server = copy.start();
        let mut there = Api::open(server.client(), &api.store);
        let paths: Vec<String> = there.memories().into_iter().map(|one| one.path).collect();
        assert_eq!(paths, ["/a", "/older", "/z"]);
        let numbers = |feed: &[Value]| -> Vec<(Value, Value)> {
            feed.iter().map(|one| (one["seq"].clone(), one["memory_version_id"].clone())).collect()
        };
        assert_eq!(numbers(&there.changes(0)), numbers(&feed));
        server.stop();
    }
}

/// A memory that a caller may not see is not named, whatever became of it.
#[test]
fn what_is_hidden_is_not_named() {
    let bed = Bed::Directory(Setup::new());
    let server = bed.start();
    let mut api = Api::create(server.client(), "plain");
    api.put("/a", "a sound text about tea");
    let hidden = json!({"edits": [{
        "op": "put", "path": "/b", "content": "DAMAGED text about tea",
        "attributes": {"visibility": "internal"},
    }]});
    let edited = api.client.post(&api.path("/edits"), &hidden);
    assert_eq!(edited.status, 200, "{}", edited.text());
    let key = json!({"name": "a model's", "audience": "model"});
    let key = api.client.post("/v1/api_keys", &key).ok()["secret"].as_str().unwrap().to_owned();
    server.stop();
    bed.damage(&FLIPPED, 1);
    let server = bed.start();
    for (key, named) in [(ADMIN_KEY, 1), (key.as_str(), 0)] {
        let mut client = server.client_as(Some(key));
        let listed = client.get(&api.path("/entries?view=full")).ok();
        assert_eq!(listed["damaged"].as_array().unwrap().len(), named, "{listed}");
        let found = client.post(&api.path("/search"), &json!({"query": "text about tea"})).ok();
        assert_eq!(found["damaged"].as_array().unwrap().len(), named, "{found}");
    }
    server.stop();
}
