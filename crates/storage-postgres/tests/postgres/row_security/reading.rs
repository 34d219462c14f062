//! Every use case that shows something, tried by the intruder on what is the victim's.

use super::world::{
    MARK, PATH, World, every_session, every_store, export, retried, text, yesterday_or_so,
};
use loci_engine::search::{DuplicatesRequest, Mode, Reach, SearchRequest};
use loci_engine::{Context, Error};
use loci_model::query::{Filter, ListQuery, VersionQuery};
use loci_model::{Actor, At, AttributesPatch, EditOp, MemoryPath, View};
use std::fmt::Debug;

pub(crate) const ALL: [&str; 30] = [
    "store",
    "stores",
    "get by id",
    "get by path",
    "get the first",
    "list",
    "version",
    "versions",
    "changes",
    "stats",
    "grants",
    "search by word",
    "search by meaning",
    "search by both",
    "search everywhere",
    "search the past",
    "duplicates",
    "session",
    "sessions",
    "session note",
    "keys",
    "principals",
    "principal by id",
    "principal by name",
    "group",
    "groups",
    "audit log",
    "export",
    "repeat a request",
    "embedding status",
];

/// Those that nothing holds but policy and row security.
pub(crate) const BARE: [&str; 15] = [
    "get by id",
    "get by path",
    "get the first",
    "list",
    "version",
    "versions",
    "changes",
    "stats",
    "grants",
    "search by word",
    "search by meaning",
    "search by both",
    "search everywhere",
    "search the past",
    "repeat a request",
];

/// What the intruder gets to see.
pub(crate) async fn attempt(world: &World, name: &str) -> String {
    let World { engine, intruder, loot, .. } = world;
    let store = loot.store;
    let versions = VersionQuery {
        memory: Some(loot.memory),
        operation: None,
        actor: None,
        since: None,
        until: None,
        view: View::Full,
        before_seq: None,
        limit: 10,
    };
    let path = MemoryPath::parse(PATH).unwrap();
    let search = async |request: SearchRequest| shown(engine.search(intruder, &request).await);
    let get = async |at: At| shown(engine.get(intruder, store, &at, View::Full).await);
    match name {
        "store" => shown(engine.store(intruder, store).await),
        "stores" => shown(engine.list_stores(intruder, &every_store()).await),
        "get by id" => get(At::Id(loot.memory)).await,
        "get by path" => get(At::Path(None, path)).await,
        "get the first" => get(At::First(Filter::default())).await,
        "list" => {
            let query = ListQuery::everything(View::Full, 10);
            shown(engine.list(intruder, store, &query).await)
        }
        "version" => shown(engine.version(intruder, store, loot.versions[0], View::Full).await),
        "versions" => shown(engine.versions(intruder, store, &versions).await),
        "changes" => shown(engine.changes(intruder, store, 0, 100).await),
        // Numbers bear no mark; being told any is what counts.
        "stats" => match engine.stats(intruder, store).await {
            Ok(stats) => format!("{} {stats:?}", MARK),
            Err(error) => refusal(&error),
        },
        "grants" => match engine.grants(intruder, store).await {
            Ok(grants) if grants.is_empty() => String::new(),
            Ok(grants) => format!("{} {grants:?}", MARK),
            Err(error) => refusal(&error),
        },
        "search by word" => search(world.asking(Mode::Lexical)).await,
        "search by meaning" => search(world.asking(Mode::Semantic)).await,
        "search by both" => search(world.asking(Mode::Hybrid)).await,
        "search everywhere" => {
            search(SearchRequest { reach: Reach::Everywhere, ..world.asking(Mode::Hybrid) }).await
        }
        "search the past" => {
            let as_of = Some(yesterday_or_so());
            search(SearchRequest { as_of, ..world.asking(Mode::Hybrid) }).await
        }
        "duplicates" => {
            let request = DuplicatesRequest { threshold: 0.5, limit: 10 };
            shown(engine.duplicates(intruder, store, &request).await)
        }
        "session" => shown(engine.session(intruder, loot.session).await),
        "sessions" => shown(engine.list_sessions(intruder, &every_session()).await),
        "session note" => shown(engine.session_note(intruder, loot.session).await),
        "keys" => shown(engine.keys(intruder).await),
        "principals" => shown(engine.principals(intruder).await),
        "principal by id" => {
            shown(engine.find_principal(intruder, &loot.principal.to_string()).await)
        }
        "principal by name" => shown(engine.find_principal(intruder, "basalt-admin").await),
        "group" => shown(engine.group(intruder, &loot.group.to_string()).await),
        "groups" => match engine.memberships(intruder, None, 100).await {
            Ok(members) if members.is_empty() => String::new(),
            Ok(members) => format!("{} {members:?}", MARK),
            Err(error) => refusal(&error),
        },
        "audit log" => match engine.events(intruder, 0, 100).await {
            Ok(events) => {
                let own = intruder.caller.workspace;
                let is_mixed = events.iter().any(|event| event.workspace != own);
                if is_mixed { MARK.into() } else { String::new() }
            }
            Err(error) => refusal(&error),
        },
        "export" => export(engine, intruder).await.concat(),
        "repeat a request" => shown(repeat(world).await),
        "embedding status" => shown(engine.embedding_status(intruder).await),
        other => panic!("{other}"),
    }
}

/// With the victim's own idempotency key, and as if by the victim's credential, whose id is no
/// secret; only the workspace is the intruder's.
async fn repeat(world: &World) -> Result<impl Debug, Error> {
    let World { engine, intruder, victim, loot, .. } = world;
    let Actor::Key(_) = victim.caller.actor else { panic!("a key is a key") };
    let mut caller = intruder.caller.clone();
    caller.actor = victim.caller.actor;
    let as_victim = retried(&Context { caller, ..intruder.clone() });
    let op = EditOp::Put {
        content: Some(text("intruder")),
        to: None,
        attributes: AttributesPatch::default(),
    };
    engine.commit(&as_victim, loot.store, vec![world.edit(op)], "api").await
}

/// An answer as text.
pub(crate) fn shown<T: Debug>(answer: Result<T, Error>) -> String {
    match answer {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => refusal(&error),
    }
}

fn refusal(error: &Error) -> String {
    assert!(!matches!(error, Error::Internal(_)), "a refusal, not an accident: {error:?}");
    format!("{error:?}")
}
