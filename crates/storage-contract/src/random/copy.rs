//! Export and import: what was played, taken out of one engine and put into new ones, is the same
//! there, whichever engine it is.

use super::{Durable, dump};
use loci_model::policy::System;
use loci_model::query::{CreatedQuery, Direction, SessionQuery};
use loci_model::{StoreId, Timestamp, WorkspaceId};
use loci_storage::log::ImportItem;
use loci_storage::{Mutation, Storage};
use loci_storage_memory::MemStorage;

/// Imports go in pieces of this many items, so that a piece often ends in the middle of a memory's
/// history.
const PIECE: usize = 5;

pub(super) async fn assert_copies_are_equal<H: Durable>(
    from: &dyn Storage,
    workspace: WorkspaceId,
    stores: &[StoreId],
    now: Timestamp,
) {
    let oracle = MemStorage::new();
    let (engine, place) = H::fresh().await;
    let items = export(from, workspace, stores, now).await;
    let system = System::because("random histories");
    let since = from.workspaces().await.unwrap()[0].1;
    for engine in [&oracle as &dyn Storage, &*engine] {
        let make = Mutation::CreateWorkspace(workspace, since);
        engine.write(make, None).await.unwrap();
        for piece in items.chunks(PIECE) {
            let pass = system.administer(workspace, now);
            let import = Mutation::Import(pass, piece.to_vec());
            engine.write(import, None).await.unwrap();
        }
    }
    let found = dump::tenant(&*engine, system, workspace, stores, now).await;
    let expected = dump::tenant(&oracle, system, workspace, stores, now).await;
    let original = dump::tenant(from, system, workspace, stores, now).await;
    dump::assert_same(&found, &expected);
    dump::assert_same(&found, &original);
    for store in stores {
        let original = dump::dump(from, system, workspace, *store, now).await;
        let expected = dump::dump(&oracle, system, workspace, *store, now).await;
        let found = dump::dump(&*engine, system, workspace, *store, now).await;
        dump::assert_same(&found, &expected);
        dump::assert_same(&without_chores(&found), &without_chores(&original));
    }
    let report = engine.check().await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    drop(place);
}

pub(super) async fn export(
    from: &dyn Storage,
    workspace: WorkspaceId,
    stores: &[StoreId],
    now: Timestamp,
) -> Vec<ImportItem> {
    let system = System::because("random histories");
    let admin = system.administer(workspace, now);
    let principals = from.principals(&admin).await.unwrap();
    let anybody = principals[0].id;
    let mut items: Vec<ImportItem> = principals.into_iter().map(ImportItem::Principal).collect();
    let memberships = from.memberships(&system.convene(workspace, now), None, 1000).await.unwrap();
    items.extend(memberships.into_iter().map(ImportItem::Membership));
    for store in stores {
        let Some(facts) = from.facts(workspace, *store, anybody, None).await.unwrap() else {
            continue;
        };
        items.push(ImportItem::Store(Box::new(facts.store)));
        let grants = from.grants(&system.read(workspace, *store, now)).await.unwrap();
        items.extend(grants.into_iter().map(ImportItem::Grant));
        let log = from.log(&admin, *store, 0, 10_000).await.unwrap();
        let entries = log.into_iter().map(|entry| ImportItem::Entry(*store, entry));
        items.extend(entries);
    }
    let created = CreatedQuery {
        since: None,
        until: None,
        include_archived: true,
        direction: Direction::Ascending,
        after: None,
        limit: 1000,
    };
    let query = SessionQuery { created, store: None, agent_id: None, agent_version: None };
    let sessions = from.list_sessions(workspace, None, &query).await.unwrap().items;
    items.extend(sessions.into_iter().map(|one| ImportItem::Session(Box::new(one))));
    let keys = from.keys(&admin).await.unwrap();
    items.extend(keys.into_iter().map(|one| ImportItem::Key(Box::new(one))));
    let events = from.events(&admin, 0, 1000).await.unwrap();
    items.extend(events.into_iter().map(|one| ImportItem::Event(Box::new(one))));
    let seen = from.remembered(&admin, None, 1000).await.unwrap();
    items.extend(seen.into_iter().map(|one| ImportItem::Remembered(Box::new(one))));
    items
}

/// What is left to be swept, and what can be made again, is not part of what is exported.
fn without_chores(dump: &str) -> String {
    let left_behind = ["erasable", "unpurged", "vectors", "readings"];
    let is_kept = |line: &&str| !left_behind.iter().any(|start| line.starts_with(start));
    dump.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}
