//! Everything an engine shows of a store, as lines of text that can be compared: through every
//! listing, in both directions and in small pages, as a host and as a model.

use super::credentials::HASHES;
use super::groups;
use super::plan::PATHS;
use loci_model::policy::{self, Facts, ReadPass, SearchPass, System};
use loci_model::query::{
    CreatedQuery, Direction, ListOrder, ListQuery, SessionQuery, VersionQuery,
};
use loci_model::{
    Actor, Audience, Caller, KeyId, KeyScope, Memory, MemoryPath, Operation, PrincipalId, StoreId,
    Timestamp, VersionId, View, WorkspaceId,
};
use loci_storage::log::LogEntry;
use loci_storage::{AsOf, Storage};
use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};

/// All that is to be seen of a tenant beside what is in its stores.
pub(super) async fn tenant(
    engine: &dyn Storage,
    system: System,
    workspace: WorkspaceId,
    stores: &[StoreId],
    now: Timestamp,
) -> String {
    let mut text = String::new();
    let mut add = |name: &str, value: &dyn Debug| {
        writeln!(text, "{name}: {value:?}").expect("a string takes everything");
    };
    add("workspaces", &engine.workspaces().await.unwrap());
    for (workspace, _) in engine.workspaces().await.unwrap() {
        add("newest time", &engine.newest_time(workspace).await.unwrap());
    }
    let admin = system.administer(workspace, now);
    add("principals", &engine.principals(&admin).await.unwrap());
    add("keys", &engine.keys(&admin).await.unwrap());
    for hash in 0..HASHES {
        add("key", &engine.key_by_hash(&[hash; 32]).await.unwrap());
    }
    groups::dump(engine, system, workspace, now, &mut add).await;
    for direction in [Direction::Ascending, Direction::Descending] {
        for include_archived in [false, true] {
            let mut query = CreatedQuery {
                since: None,
                until: None,
                include_archived,
                direction,
                after: None,
                limit: 1,
            };
            loop {
                let page = engine.list_stores(&system.browse(workspace, now), &query).await;
                let page = page.unwrap();
                add("store", &page.items);
                let Some(next) = page.next else { break };
                query.after = Some(next);
            }
            sessions(engine, workspace, stores, direction, include_archived, &mut add).await;
        }
    }
    text
}

async fn sessions(
    engine: &dyn Storage,
    workspace: WorkspaceId,
    stores: &[StoreId],
    direction: Direction,
    include_archived: bool,
    add: &mut dyn FnMut(&str, &dyn Debug),
) {
    for store in [None].into_iter().chain(stores.iter().copied().map(Some)) {
        let created = CreatedQuery {
            since: None,
            until: None,
            include_archived,
            direction,
            after: None,
            limit: 2,
        };
        let mut query = SessionQuery { created, store, agent_id: None, agent_version: None };
        loop {
            let page = engine.list_sessions(workspace, None, &query).await.unwrap();
            for session in &page.items {
                add("session", session);
                let alone = engine.session(workspace, session.id).await.unwrap();
                assert_eq!(alone.as_ref(), Some(session));
                for store in stores {
                    let owner = session.owner;
                    let facts = engine.facts(workspace, *store, owner, Some(session.id)).await;
                    add("attached", &facts.unwrap().map(|facts| facts.attachment));
                }
            }
            let Some(next) = page.next else { break };
            query.created.after = Some(next);
        }
    }
}

/// All that is to be seen of one store, and what is due in all.
pub(super) async fn dump(
    engine: &dyn Storage,
    system: System,
    workspace: WorkspaceId,
    store: StoreId,
    now: Timestamp,
) -> String {
    let mut text = String::new();
    let mut add = |name: &str, value: &dyn Debug| {
        writeln!(text, "{name}: {value:?}").expect("a string takes everything");
    };
    for moment in [now, now.plus_secs(15)] {
        let mut expired = engine.expired(moment, 1000).await.unwrap();
        expired.sort();
        add("expired", &expired);
        let mut erasable = engine.erasable(moment, 1000).await.unwrap();
        erasable.sort();
        add("erasable", &erasable);
    }
    add("unpurged", &engine.unpurged(10).await.unwrap());
    add("crowded", &engine.crowded(10).await.unwrap());
    let admin = system.administer(workspace, now);
    add("remembered", &engine.remembered(&admin, None, 1000).await.unwrap());
    let host = system.read(workspace, store, now);
    let Some(facts) =
        engine.facts(workspace, store, PrincipalId::from_u128(2), None).await.unwrap()
    else {
        return text;
    };
    add("store", &facts.store);
    add("grants", &engine.grants(&host).await.unwrap());
    add("stats", &engine.stats(&host).await.unwrap());
    let mut known_versions = Vec::new();
    for entry in engine.log(&admin, store, 0, 10_000).await.unwrap() {
        add("log", &entry);
        if let LogEntry::Version { version, .. } = entry {
            known_versions.push(version.id);
        }
    }
    let caller = Caller {
        acts_for_agents: false,
        memory: loci_model::MemorySwitches::default(),
        workspace,
        principal: facts.store.owner,
        is_admin: false,
        actor: Actor::System,
        session: None,
        session_user: loci_model::SessionUser::Unsaid,
        audience: Audience::Model,
        scope: KeyScope::FULL,
        expires_at: None,
    };
    let model = policy::read(&caller, &facts, now).unwrap();
    let model_search = policy::search(&caller, &[facts], now);
    for (name, pass) in [("host", &host), ("model", &model)] {
        for path in PATHS.map(|path| MemoryPath::parse(path).unwrap()) {
            add(
                &format!("{name} newest at {path}"),
                &engine.newest(pass, &path, View::Full).await.unwrap(),
            );
        }
        for besides in [None, Some("/a")] {
            add(&format!("{name} tally"), &engine.tally(pass, besides).await.unwrap());
        }
        for change in engine.changes(pass, 0, 10_000).await.unwrap() {
            add(&format!("{name} change"), &change);
        }
        lists(engine, pass, name, &mut add).await;
        versions(engine, pass, name, &mut add).await;
        past(engine, pass, name, &mut add).await;
    }
    for is_admin in [false, true] {
        let known = engine.all_facts(&Caller { is_admin, ..caller.clone() }).await.unwrap();
        add("reach", &in_order(&known));
    }
    let host_search = system.search(workspace, vec![store], now);
    for (name, pass) in [("host", &host_search), ("model", &model_search)] {
        texts(engine, pass, name, &mut add).await;
        vectors(engine, pass, &known_versions, name, &mut add).await;
        readings(engine, pass, name, &mut add).await;
    }
    text
}

async fn lists(
    engine: &dyn Storage,
    pass: &ReadPass,
    name: &str,
    add: &mut dyn FnMut(&str, &dyn Debug),
) {
    let shapes = [
        (ListOrder::Path, None),
        (ListOrder::Path, Some(1)),
        (ListOrder::Path, Some(2)),
        (ListOrder::Created, None),
        (ListOrder::Updated, None),
    ];
    for (order, fold_depth) in shapes {
        for direction in [Direction::Ascending, Direction::Descending] {
            let mut query =
                ListQuery { order, fold_depth, direction, ..ListQuery::everything(View::Full, 3) };
            loop {
                let page = engine.list(pass, &query).await.unwrap();
                for item in &page.items {
                    add(&format!("{name} {order:?} {fold_depth:?} {direction:?}"), item);
                }
                let Some(next) = page.next else { break };
                query.after = Some(next);
            }
        }
    }
}

async fn versions(
    engine: &dyn Storage,
    pass: &ReadPass,
    name: &str,
    add: &mut dyn FnMut(&str, &dyn Debug),
) {
    let everything = VersionQuery {
        memory: None,
        operation: None,
        actor: None,
        since: None,
        until: None,
        view: View::Full,
        before_seq: None,
        limit: 3,
    };
    let owner = Actor::Key(KeyId::from_u128(2));
    for query in [
        everything.clone(),
        VersionQuery { operation: Some(Operation::Modified), actor: Some(owner), ..everything },
    ] {
        let mut query = query;
        loop {
            let page = engine.versions(pass, &query).await.unwrap();
            for version in &page.items {
                add(&format!("{name} version"), version);
                // Debug hides content on purpose; its bytes are compared here.
                let content = version.content.as_ref();
                add("content", &content.map(|content| content.bytes()));
                if query.operation.is_none() {
                    let alone = engine.version(pass, version.id, View::Full).await.unwrap();
                    assert_eq!(alone.as_ref(), Some(version));
                }
            }
            let Some(next) = page.next else { break };
            query.before_seq = Some(next);
        }
    }
}

/// What an index is made of, whole and from changes; it must come to the same.
async fn texts(
    engine: &dyn Storage,
    pass: &SearchPass,
    name: &str,
    add: &mut dyn FnMut(&str, &dyn Debug),
) {
    for store in pass.stores() {
        let (mut texts, mut after) = (Vec::new(), 0);
        loop {
            let page = engine.texts(pass, *store, after, 3).await.unwrap();
            texts.extend(page.memories);
            let Some(next) = page.next else { break };
            after = next;
        }
        for memory in &texts {
            add(&format!("{name} text"), memory);
            add("content", &memory.content.as_ref().map(|content| content.bytes()));
        }
        let (mut known, mut seq) = (BTreeMap::new(), 0);
        loop {
            let step = engine.changed_texts(pass, *store, seq, 2).await.unwrap();
            if step.through == seq {
                break;
            }
            seq = step.through;
            known.extend(step.memories);
        }
        add(&format!("{name} changed through {seq}"), &known.keys().collect::<Vec<_>>());
        let asked: Vec<_> = known.keys().map(|id| (*store, *id)).collect();
        let found = engine.found(pass, &asked, View::Full).await.unwrap();
        let followed: Vec<Memory> = known.into_values().flatten().collect();
        assert_eq!(found, followed, "asked for by id, the same is found");
        texts.sort_by_key(|memory| memory.id);
        assert_eq!(texts, followed, "following the feed leads to the same texts");
    }
}

/// The past, at several kinds of moments.
async fn past(
    engine: &dyn Storage,
    pass: &ReadPass,
    name: &str,
    add: &mut dyn FnMut(&str, &dyn Debug),
) {
    let feed = engine.changes(pass, 0, 10_000).await.unwrap();
    let mut moments = vec![AsOf::Seq(0), AsOf::Seq(10_000), AsOf::Time(pass.now())];
    for change in feed.iter().step_by(4) {
        moments.extend([
            AsOf::Seq(change.seq),
            AsOf::Time(change.at.plus_secs(5)),
            AsOf::Version(change.version),
        ]);
    }
    for moment in moments {
        let mut after = 0;
        loop {
            let page = match engine.texts_at(pass, moment, after, 3).await {
                Ok(page) => page,
                Err(refusal) => {
                    add(&format!("{name} at {moment:?}"), &refusal);
                    break;
                }
            };
            for memory in &page.memories {
                add(&format!("{name} at {moment:?}"), memory);
                add("content", &memory.content.as_ref().map(|content| content.bytes()));
            }
            let Some(next) = page.next else { break };
            after = next;
        }
    }
}

/// Vectors of every version in every generation; lines that no export carries over.
async fn vectors(
    engine: &dyn Storage,
    pass: &SearchPass,
    versions: &[VersionId],
    name: &str,
    add: &mut dyn FnMut(&str, &dyn Debug),
) {
    add("vectors reach", &engine.feed_ends(pass).await.unwrap());
    for generation in engine.generations().await.unwrap() {
        add("vectors of", &generation);
        add("vectors lack", &engine.vector_lags(generation.id, 10).await.unwrap());
        for store in pass.stores() {
            let found = engine.vectors(pass, *store, generation.id, versions).await.unwrap();
            add(&format!("vectors for {name}"), &found);
            let wanted = engine.embeddable(pass, *store, generation.id, 0, 10_000).await;
            add(&format!("vectors wanted by {name}"), &wanted.unwrap());
        }
    }
}

/// What readers found; lines that no export carries over.
async fn readings(
    engine: &dyn Storage,
    pass: &SearchPass,
    name: &str,
    add: &mut dyn FnMut(&str, &dyn Debug),
) {
    add("readings reach", &engine.reading_ends(pass).await.unwrap());
    for reader in ["small", "large"] {
        for day in 0..3 {
            add("readings cost", &engine.spent(reader, day).await.unwrap());
        }
        add("readings lack", &engine.reading_lags(reader, None, 10).await.unwrap());
        add("readings lack", &engine.reading_lags(reader, Some(pass.stores()), 10).await.unwrap());
        for store in pass.stores() {
            let wanted = engine.readable(pass, *store, reader, 0, 10_000).await.unwrap();
            add(&format!("readings wanted by {name}"), &wanted);
        }
    }
    for store in pass.stores() {
        add("readings marked", &engine.reading_marks(pass, *store).await.unwrap());
        let (mut after, mut all) = (0, Vec::new());
        loop {
            let newly = engine.newly_read(pass, *store, after, 2).await.unwrap();
            add("readings newly", &newly);
            if newly.memories.is_empty() {
                break;
            }
            after = newly.through;
            all.extend(newly.memories);
        }
        all.sort();
        all.dedup();
        let found = engine.readings(pass, *store, &all).await.unwrap();
        add(&format!("readings for {name}"), &found);
    }
}

/// Facts whose grants come in one order; storage gives them in none.
pub(super) fn in_order(facts: &[Facts]) -> Vec<Facts> {
    let mut facts = facts.to_vec();
    for one in &mut facts {
        one.grants.sort_by_key(|grant| grant.id);
    }
    facts
}

/// Shows the first line that differs.
pub(super) fn assert_same(found: &str, expected: &str) {
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "the engine (left) and the oracle hold different things");
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "one of them holds more");
}
