//! Promise: who may do what is the same at every door, and is what the specification says.
//!
//! Every sort of caller asks for everything, of every sort of store and memory, over HTTP. What they
//! are told is compared with `spec::expected`, which knows nothing of the code, and with the matrix
//! that is kept beside this file, so that a changed rule is a changed line in a review. Run with
//! `LOCI_WRITE_MATRIX=1` to write the matrix anew.

mod console;
mod documented;
mod doors;
mod elsewhere;
mod general;
mod kilroy;
mod knowledge;
mod mcp;
mod spec;
mod stand_ins;
mod verbs;
mod visitors;
mod world;

use crate::sharing_tokens::SECRET;
use loci_it::{Cluster, Reply, Server, Setup};
use serde_json::Value;
use spec::{Manner, Need, expected};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use verbs::{VERBS, Verb};
use world::{Kind, State, Who, World};

const KEPT: &str = include_str!("matrix.txt");
/// Doors that are closed by default are open here. Vectors say nothing about access, and cost more than
/// all the rest.
const DOORS: &str = "[search]\nembedder = 'none'\n[qiforge]\ndid = 'did:web:memory.example.org'\n\
    [jwt]\nsecret_env = 'TOKEN_SECRET'\n";
const LEGEND: &str = "\
y yes · n no (403, or refused in words) · h not there (404) · u unknown caller (401) · a archived · s sealed · . no such caller
";

/// The key of the memory that one question is about: of its own where the answer may change it, and
/// one for all questions that only look, because lists and searches of a large store take long.
fn key(verb: &Verb, who: Who, state: State) -> String {
    match verb.need {
        Need::Search | Need::Read | Need::ReadOne | Need::ReadText => format!("seen-{state:?}"),
        _ => format!("{}-{who:?}-{state:?}", verb.name.replace(' ', "-")),
    }
}

/// What an answer comes to.
fn letter(reply: &Reply, manner: Manner) -> char {
    let text = reply.text();
    match (reply.status, manner) {
        (200, Manner::Tool) => {
            let answer = reply.json();
            match &answer["result"] {
                _ if answer["is_error"] == true => 'n',
                Value::Null => 'h',
                result if result["encrypted"] == true => 's',
                _ => 'y',
            }
        }
        (200, Manner::Mobius) if text.contains("\"failed\"") && text.contains("archived") => 'a',
        (200, Manner::Mobius) if text.contains("\"failed\"") => 'n',
        (200..=299, _) => 'y',
        (409, Manner::Mobius) if text.contains("archived") => 'a',
        (401, _) => 'u',
        (403, _) => 'n',
        (404, _) => 'h',
        // It got as far as being told that there is nothing to scrub yet.
        (400, _) if text.contains("current version of a live memory") => 'y',
        // The same about a memory that is no summary.
        (400, _) if text.contains("is no summary") => 'y',
        // A database has backups of its own, as whoever may make one is told.
        (400, _) if text.contains("pg_basebackup") => 'y',
        // The server of the matrix makes no vectors, as whoever may have them made again is told.
        (503, _) if text.contains("nothing to embed with") => 'y',
        (400, _) if text.contains("archived") => 'a',
        (400, _) if text.contains("sealed") => 's',
        _ => '?',
    }
}

#[test]
fn who_may_do_what_is_what_the_specification_says() {
    let setup = open(Setup::new());
    keep(&asked(&setup.start()));
}

#[test]
fn who_may_do_what_is_the_same_on_postgresql() {
    let cluster = Cluster::fresh().with(open);
    compare(&asked(&cluster.start()));
}

/// Being in a chat opens homes. What a user has beside its home stays the user's.
#[test]
fn being_in_a_chat_with_a_user_opens_only_the_users_home() {
    let setup = open(Setup::new());
    let server = setup.start();
    let world = World::new(&server, &|_| vec!["seed".to_owned()]);
    let mut owner = world.client(Who::Owner, Kind::User).unwrap();
    let made = owner.post("/v1/memory_stores", &serde_json::json!({"name": "diary"})).ok();
    let note = serde_json::json!({
        "namespace": "owner", "key": "k", "content": "tea", "source": "tool", "at": null,
    });
    owner.call("PUT", "/api/storage/memory-scoped", Some(&note)).ok();
    let all = owner.get("/v1/memory_stores").ok();
    let ids = |body: &Value| -> BTreeSet<String> {
        let stores = body["data"].as_array().unwrap().iter();
        stores.map(|store| store["id"].as_str().unwrap().to_owned()).collect()
    };
    let open = world.target(Kind::Open, "seed").store;
    let others: BTreeSet<String> = ids(&all).into_iter().filter(|id| *id != open).collect();
    assert!(others.len() == 3 && others.contains(made["id"].as_str().unwrap()), "{all}");
    for who in Who::ALL {
        let Some(mut client) = world.client(who, Kind::User) else { continue };
        let is_owners = matches!(
            who.base(),
            Who::Admin | Who::Owner | Who::OwnersReadKey | Who::OwnersSearchKey | Who::OwnersModel
        );
        if is_owners || who == Who::Nobody {
            continue;
        }
        let mut reached = 0;
        for store in &others {
            let reply = client.get(&format!("/v1/memory_stores/{store}/memories"));
            reached += usize::from(reply.status != 404);
        }
        let has_home = !matches!(
            who.base(),
            Who::Lapsed | Who::Member | Who::Left | Who::FellowUser | Who::Stranger
        );
        assert_eq!(reached, usize::from(has_home), "{who:?}");
        let listed = ids(&client.get("/v1/memory_stores").ok());
        let listed = listed.intersection(&others).count();
        assert!(listed <= usize::from(has_home), "{who:?}");
    }
}

/// A server with all doors open, which knows the issuer of tokens.
fn open(setup: Setup) -> Setup {
    setup.config(DOORS).env("TOKEN_SECRET", SECRET)
}

/// Everything that can be asked about a store, at every door.
fn all() -> impl Iterator<Item = &'static Verb> {
    let doors = VERBS.iter().chain(elsewhere::VERBS).chain(mcp::VERBS);
    doors.chain(knowledge::VERBS).chain(console::VERBS)
}

/// The states of memories that are tried: all of them where nothing else is special; what is hidden also
/// where members and companions meet it.
fn tried(verb: &Verb, kind: Kind) -> impl Iterator<Item = State> {
    let first = verb.states[0];
    let is_tried = move |state: &State| match kind {
        Kind::Home => true,
        Kind::Chat | Kind::User => {
            *state == first || matches!(state, State::Internal | State::HiddenByGuest)
        }
        Kind::Archived | Kind::Open => *state == first,
    };
    verb.states.iter().copied().filter(is_tried)
}

/// Asks everything of everybody, and gives the matrix of the answers.
fn asked(server: &Server) -> String {
    let questions = |kind: Kind| {
        let states = |verb| {
            Who::ALL
                .into_iter()
                .flat_map(move |who| tried(verb, kind).map(move |state| key(verb, who, state)))
        };
        all().flat_map(states).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let mut world = World::new(server, &questions);
    let (mut matrix, mut wrong, mut asked) = (header(), Vec::new(), 0);
    for verb in all() {
        for kind in Kind::ALL {
            for state in tried(verb, kind) {
                let mut row = String::new();
                let asked_for = (verb.need, verb.is_elsewhere);
                for who in Who::ALL {
                    let Some(mut client) = world.client(who, kind) else {
                        row.push('.');
                        continue;
                    };
                    let target = world.target(kind, &key(verb, who, state));
                    let reply = (verb.ask)(&mut client, &target);
                    let told = letter(&reply, verb.manner);
                    let should = expected(who, asked_for, kind, state, verb.manner);
                    if told != should {
                        let what = format!("{} {kind:?} {state:?} {who:?}", verb.name);
                        let said = format!("{what}: {told}, should be {should}: {}", reply.text());
                        wrong.push(said.chars().take(300).collect::<String>());
                    }
                    row.push(told);
                    asked += 1;
                }
                let (kind, state) = (format!("{kind:?}"), format!("{state:?}"));
                writeln!(matrix, "{:<17} {kind:<9} {state:<9} {row}", verb.name).unwrap();
            }
        }
    }
    let gone = world.gone();
    let native = VERBS.iter().chain(knowledge::VERBS).chain(console::VERBS);
    for verb in native.filter(|verb| verb.manner == Manner::Native) {
        let mut row = String::new();
        for who in Who::ALL {
            let mut client = world.client(who, Kind::Home).unwrap();
            let reply = (verb.ask)(&mut client, &gone);
            let told = letter(&reply, verb.manner);
            let should = match (who, verb.name) {
                (Who::Nobody, _) => 'u',
                // Sessions are told so before anything is looked at.
                (Who::SessionReading | Who::SessionWriting, "redact") => 'n',
                _ => 'h',
            };
            if told != should {
                wrong.push(format!("{} of a removed store, {who:?}: {told}", verb.name));
            }
            row.push(told);
        }
        writeln!(matrix, "{:<17} {:<9} {:<9} {row}", verb.name, "Removed", "Plain").unwrap();
    }
    assert!(asked > 3000, "only {asked} questions were asked");
    wrong.extend(general::ask(&world, &mut matrix));
    wrong.extend(kilroy::ask(&world, &mut matrix));
    assert!(wrong.is_empty(), "{} of {asked}:\n{}", wrong.len(), wrong.join("\n"));
    let forgotten = general::forgotten(&mut server.client());
    assert!(forgotten.is_empty(), "not in the matrix: {forgotten:?}");
    matrix
}

fn header() -> String {
    let mut text = format!("{LEGEND}\n");
    for (column, who) in Who::ALL.iter().enumerate() {
        writeln!(text, "{:<37} {}{who:?}", "", "| ".repeat(column)).unwrap();
    }
    // One column a letter.
    text.replace("| ", "|")
}

/// Compares with the matrix that is kept, or writes it anew.
#[expect(clippy::disallowed_methods, reason = "a question to whoever runs the test")]
fn keep(matrix: &str) {
    if std::env::var_os("LOCI_WRITE_MATRIX").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/authz/matrix.txt");
        std::fs::write(file, matrix).unwrap();
    } else {
        compare(matrix);
    }
}

fn compare(matrix: &str) {
    for (line, (kept, now)) in KEPT.lines().zip(matrix.lines()).enumerate() {
        assert_eq!(kept, now, "line {} of the matrix has changed", line + 1);
    }
    assert_eq!(KEPT.lines().count(), matrix.lines().count(), "the matrix has other lines");
}

/// Every route of the document, as `METHOD /path`.
fn documented(document: &Value) -> BTreeSet<String> {
    let mut routes = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["get", "post", "put", "patch", "delete"] {
            if item.get(method).is_some() {
                routes.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    routes
}
