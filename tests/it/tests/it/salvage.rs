//! Promise: `loci salvage` brings over every memory whose own rows are sound, byte for byte, whatever
//! became of the rest of the database; what it makes is whole; and the damaged directory stays as it is.
//!
//! Which memories are sound is decided here from the bytes of the pages before they were damaged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use loci_it::{Api, Cluster, Dice, Loci, Setup, count};
use rusqlite::Connection;
use serde_json::{Value, json};

const MEMORIES: usize = 220;
const PAGE: usize = 4096;
/// Bytes that are looked for on a page, and how far apart.
const WINDOW: usize = 16;
/// Kinds of pages that lead to rows and hold none: those of indexes, and inner ones of tables.
const LEADING: [u8; 3] = [0x0a, 0x02, 0x05];

/// What is known of a live memory: where and what it is, and what its rows have in them.
struct Known {
    path: String,
    content: String,
    traces: Vec<Vec<u8>>,
}

/// Memories of all sizes, some with a past, some removed, in two stores.
fn furnished(dice: &mut Dice) -> Setup {
    let setup = Setup::new();
    let server = setup.start();
    let mut stores = ["one", "two"].map(|name| Api::create(server.client(), name));
    for number in 0..MEMORIES {
        let api = &mut stores[number % 2];
        // Of random letters, so that no part of a text is in another one.
        let bytes = dice.pick(&[40, 300, 3_000, 30_000]);
        let path = format!("/{}/{number}", number % 7);
        let memory = api.put(&path, &dice.letters(bytes));
        match dice.below(6) {
            0 => {
                api.update(&memory.id, &json!({"content": dice.letters(500)}));
            }
            1 => {
                let more = dice.letters(60);
                let edits = json!({"edits": [{"op": "append", "path": path, "text": more}]});
                let edited = api.client.post(&api.path("/edits"), &edits);
                assert_eq!(edited.status, 200, "{}", edited.text());
            }
            2 => api.delete(&memory.id),
            _ => {}
        }
    }
    server.stop();
    setup
}

/// The live memories of a directory by id, told by a server on it and by its rows.
fn known(setup: &Setup) -> BTreeMap<String, Known> {
    let conn = Connection::open(setup.data().join("loci.db")).unwrap();
    let mut rows: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    let sql = "select m.path, m.memory_id, v.version_id, p.content \
               from memory as m join version as v on v.memory = m.memory \
               left join payload as p on p.version = v.version where m.path is not null";
    let mut statement = conn.prepare(sql).unwrap();
    let mut found = statement.query([]).unwrap();
    while let Some(row) = found.next().unwrap() {
        let traces = rows.entry(row.get(0).unwrap()).or_default();
        traces.push(row.get(1).unwrap());
        traces.push(row.get(2).unwrap());
        let content: Option<Vec<u8>> = row.get(3).unwrap();
        let content = content.unwrap_or_default();
        traces.extend(content.chunks_exact(WINDOW).map(<[u8]>::to_vec));
    }
    drop(found);
    drop(statement);
    drop(conn);
    let live = live(setup.data());
    assert_eq!(live.len(), rows.len());
    let known = live.into_iter().map(|(id, (path, content))| {
        let traces = rows.remove(&path).unwrap();
        (id, Known { path, content, traces })
    });
    known.collect()
}

/// The live memories of a directory, out of its export: their paths and texts by id.
fn live(data: &Path) -> BTreeMap<String, (String, String)> {
    let exported = Loci::on_data(data).run(&["export", "-"]);
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    let mut live = BTreeMap::new();
    for line in String::from_utf8(exported.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["type"] != "version" {
            continue;
        }
        let id = line["memory"].as_str().unwrap().to_owned();
        match (line["path"].as_str(), line["text"].as_str()) {
            (Some(path), Some(text)) => {
                live.insert(id, (path.to_owned(), text.to_owned()));
            }
            _ => {
                live.remove(&id);
            }
        }
    }
    live
}

/// Damages some pages; which ones.
fn damage(database: &mut [u8], dice: &mut Dice) -> BTreeSet<usize> {
    let pages = database.len() / PAGE;
    let mut damaged = BTreeSet::new();
    for _ in 0..=dice.below(6) {
        let page = dice.below(pages);
        match dice.below(2) {
            0 => database[page * PAGE..][..PAGE].fill(0),
            _ => {
                for _ in 0..=dice.below(4) {
                    let at = dice.below(PAGE);
                    let bit = 1 << dice.below(8);
                    // The number of the format, which says that a newer version wrote it.
                    if page > 0 || !(60..64).contains(&at) {
                        database[page * PAGE + at] ^= bit;
                    }
                }
            }
        }
        damaged.insert(page);
    }
    damaged
}

fn is_on(page: &[u8], traces: &[Vec<u8>]) -> bool {
    traces.iter().any(|trace| memchr::memmem::find(page, trace).is_some())
}

#[test]
fn what_is_sound_is_salvaged_from_random_damage() {
    let mut dice = Dice::new("salvage");
    let setup = furnished(&mut dice);
    let known = known(&setup);
    let whole = fs::read(setup.data().join("loci.db")).unwrap();
    assert_eq!(usize::from(u16::from_be_bytes([whole[16], whole[17]])), PAGE);
    let (mut sound, mut lost) = (0, 0);
    for round in 0..count("salvage_rounds") {
        let folder = setup.scratch().join(format!("round {round}"));
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::create_dir_all(&from).unwrap();
        let mut database = whole.clone();
        let damaged = damage(&mut database, &mut dice);
        fs::write(from.join("loci.db"), &database).unwrap();
        let args = ["salvage", from.to_str().unwrap(), to.to_str().unwrap(), "--json"];
        let done = Loci::default().run(&args);
        let told =
            format!("pages {damaged:?}: {} {}", done.stderr, String::from_utf8_lossy(&done.stdout));
        assert!(matches!(done.code, Some(0 | 1)), "{told}");
        assert_eq!(fs::read(from.join("loci.db")).unwrap(), database, "the source is only read");
        assert_eq!(fs::read_dir(&from).unwrap().count(), 1, "nothing is made in the source");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing is left beside it");
        Loci::on_data(&to).ok(&["check"]);
        let salvaged = live(&to);
        let is_excused = |one: &Known| {
            damaged.iter().any(|page| {
                let before = &whole[page * PAGE..][..PAGE];
                let header = if *page == 0 { 100 } else { 0 };
                !LEADING.contains(&before[header]) && is_on(before, &one.traces)
            })
        };
        for (id, one) in &known {
            let is_excused = is_excused(one);
            match salvaged.get(id) {
                Some((path, text)) => {
                    let is_same = (path, text) == (&one.path, &one.content);
                    assert!(is_same || is_excused, "{id} at {path} is not what it was; {told}");
                    sound += 1;
                }
                None => {
                    assert!(is_excused, "{id} at {} is lost; {told}", one.path);
                    lost += 1;
                }
            }
        }
        // Nothing that was removed comes back, and nothing is made up.
        // A flipped bit of an id makes another id, which nothing tells from one that was given out.
        let is_another = |(_, text): &(String, String)| {
            known.values().any(|one| one.content == *text && is_excused(one))
        };
        let made_up: Vec<_> = salvaged
            .iter()
            .filter(|(id, found)| !known.contains_key(*id) && !is_another(found))
            .collect();
        assert!(made_up.is_empty(), "{made_up:?}; {told}");
        fs::remove_dir_all(&folder).unwrap();
    }
    eprintln!("salvage: {sound} memories came over, {lost} were lost");
    assert!(sound > lost, "hardly a test");
}

/// What was acknowledged last is in the log only, when the process that wrote it was killed.
#[test]
fn what_a_killed_server_left_is_salvaged_whole() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "notes");
    let first = api.put("/a", "the first text");
    api.update(&first.id, &json!({"content": "the first text, changed"}));
    api.put("/b", &"a long text ".repeat(3000));
    let guest = api.client.post("/v1/principals", &json!({"name": "guest", "kind": "agent"}));
    assert_eq!(guest.status, 200, "{}", guest.text());
    let key = api.client.post("/v1/api_keys", &json!({"name": "k", "principal": "guest"})).ok();
    let key = key["secret"].as_str().unwrap().to_owned();
    let (memories, versions, feed) = (api.memories(), api.all_versions(), api.changes(0));
    let grant = json!({"grantee": "guest", "level": "read"});
    let granted = api.client.post(&api.path("/grants"), &grant);
    assert_eq!(granted.status, 200, "{}", granted.text());
    server.kill();
    let to = setup.scratch().join("to");
    let args = ["salvage", setup.data().to_str().unwrap(), to.to_str().unwrap()];
    let told = Loci::default().ok(&args);
    assert!(String::from_utf8_lossy(&told).contains("everything was salvaged"));
    let copy = Setup::new().data_at(&to);
    let server = copy.start();
    let mut there = Api::open(server.client(), &api.store);
    assert_eq!(there.memories(), memories);
    assert_eq!(there.all_versions(), versions);
    assert_eq!(there.changes(0), feed);
    let mut guest = Api::open(server.client_as(Some(&key)), &api.store);
    assert_eq!(guest.content(&first.id), "the first text, changed", "keys and grants came too");
    server.stop();
}

#[test]
fn a_salvage_takes_a_new_place_and_a_stopped_server() {
    let setup = Setup::new();
    let data = setup.data().to_str().unwrap();
    Loci::on_data(setup.data()).ok(&["put", "notes", "/a", "--text", "x", "--create-store"]);
    let refused = |to: &str, code: i32| {
        let args = ["salvage", data, to];
        Loci::default().run(&args).expect_code(code, &args).stderr
    };
    let path = |name: &str| setup.scratch().join(name).to_str().unwrap().to_owned();
    let other = Loci::on_data(Path::new(&path("other")));
    other.ok(&["put", "notes", "/b", "--text", "y", "--create-store"]);
    let before = other.ok(&["export", "-"]);
    refused(&path("other"), 4);
    assert_eq!(other.ok(&["export", "-"]), before);
    refused(data, 2);
    let missing = ["salvage", &path("nowhere"), &path("new")];
    let _ = Loci::default().run(&missing).expect_code(3, &missing);
    let server = setup.start();
    assert!(refused(&path("new"), 1).contains("stop it"));
    server.stop();
}

/// A database gives what it can: a damaged content is left out, as in an export.
#[test]
fn a_database_is_salvaged_but_for_its_damaged_contents() {
    let cluster = Cluster::fresh();
    let server = cluster.start();
    let mut api = Api::create(server.client(), "notes");
    let sound = api.put("/a", "a sound text");
    let older = api.put("/b", "DAMAGED at first");
    api.update(&older.id, &json!({"content": "sound in the end"}));
    let only = api.put("/c", "DAMAGED");
    let feed = api.changes(0);
    server.stop();
    cluster.sql(
        "update loci.payload set content = 'other' where position('DAMAGED'::bytea in content) > 0",
    );
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("to");
    let args = ["salvage", &cluster.url(), to.to_str().unwrap(), "--json"];
    let done = Loci::default().run(&args).expect_code(1, &args);
    let told: Value = serde_json::from_slice(&done.stdout).unwrap();
    let lost: Vec<&Value> = told["lost"].as_array().unwrap().iter().collect();
    let lost: Vec<&str> =
        lost.iter().map(|one| one["memory_version_id"].as_str().unwrap()).collect();
    assert_eq!(lost, [older.version.as_str(), only.version.as_str()], "{told}");
    Loci::on_data(&to).ok(&["check"]);
    let copy = Setup::new().data_at(&to);
    let server = copy.start();
    let mut there = Api::open(server.client(), &api.store);
    let ids: Vec<String> = there.memories().into_iter().map(|one| one.id).collect();
    assert_eq!(ids, [sound.id, older.id.clone()]);
    assert_eq!(there.content(&older.id), "sound in the end");
    assert_eq!(there.changes(0).len(), feed.len());
    server.stop();
}
