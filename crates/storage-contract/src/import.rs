//! Export and import: a store rebuilt from its history is the same store, number for number.

use super::fixture::*;
use loci_model::query::ListItem;
use loci_model::version::Redaction;
use loci_model::{
    Actor, Attributes, Content, Level, Operation, PrincipalId, StoreId, Timestamp, Version,
    VersionId,
};
use loci_storage::log::{ImportItem, LogEntry};
use loci_storage::{Mutation, Receipt, Result, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

pub(super) async fn log(world: &World) -> Vec<LogEntry> {
    let log = world.storage.log(&world.admin_pass(), world.store, 0, 1000).await;
    log.unwrap()
}

pub(super) async fn import(world: &World, items: Vec<ImportItem>) -> Result<u64> {
    match world.write(Mutation::Import(world.admin_pass(), items)).await? {
        Receipt::Imported(count) => Ok(count),
        other => panic!("{other:?}"),
    }
}

/// A store with every kind of event in its history.
async fn story(db: Db) -> World {
    let world = World::new(db).await;
    let partition = PrincipalId::from_u128(77);
    let a = world.put_with("/a", "one", tagged(&["t"])).await;
    world.edit(put_in(partition, "/a", "theirs")).await.unwrap();
    world.edit(put_sealed("/sealed", &[0, 255])).await.unwrap();
    world.put("/a", "two").await;
    world.edit(rename(a.id, "/b/c")).await.unwrap();
    world.put("/gone", "x").await;
    world.edit(remove("/gone")).await.unwrap();
    let doomed = world.put("/doomed", "canary").await;
    super::redact::erase(&world, doomed.id).await.unwrap();
    world.write(Mutation::Redact(world.manage_pass(), a.head)).await.unwrap();
    world
}

/// The log of a store as if it were another store's, with other ids for its memories and versions.
pub(super) fn retarget(entries: Vec<LogEntry>, to: StoreId, shift: u128) -> Vec<ImportItem> {
    let memory_id =
        |id: loci_model::MemoryId| loci_model::MemoryId::from_u128(id.as_u128() + shift);
    let version_id = |id: VersionId| VersionId::from_u128(id.as_u128() + shift);
    let entry = |entry| match entry {
        LogEntry::Version { mut version, partition, owner } => {
            version.store = to;
            version.memory = memory_id(version.memory);
            version.id = version_id(version.id);
            LogEntry::Version { version, partition, owner }
        }
        LogEntry::Damaged { version, .. } => panic!("{} is damaged", version.id),
        LogEntry::Redaction { seq, memory, version, actor, at, reason } => LogEntry::Redaction {
            seq,
            memory: memory_id(memory),
            version: version_id(version),
            actor,
            at,
            reason,
        },
    };
    entries.into_iter().map(|one| ImportItem::Entry(to, entry(one))).collect()
}

const SHIFT: u128 = 1 << 64;

pub async fn the_log_tells_versions_and_redactions_in_feed_order(db: Db) {
    let world = story(db).await;
    let log = log(&world).await;
    let feed = world.feed().await;
    assert_eq!(log.len(), feed.len());
    for (entry, change) in log.iter().zip(&feed) {
        assert_eq!(entry.seq(), change.seq);
        match entry {
            LogEntry::Version { version, .. } => {
                assert_eq!(**version, world.version(change.version).await);
            }
            LogEntry::Damaged { version, .. } => panic!("{} is damaged", version.id),
            LogEntry::Redaction { memory, version, actor, at, reason, .. } => {
                assert_eq!((*memory, *version), (change.memory, change.version));
                assert_eq!((*actor, *at), (change.actor, change.at));
                assert_eq!(*reason, change.reason);
            }
        }
    }
}

pub async fn the_log_pages(db: Db) {
    let world = story(db).await;
    let whole = log(&world).await;
    let mut joined = Vec::new();
    loop {
        let after = joined.last().map_or(0, LogEntry::seq);
        let page = world.storage.log(&world.admin_pass(), world.store, after, 3).await.unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 3);
        joined.extend(page);
    }
    assert_eq!(joined, whole);
}

pub async fn a_store_rebuilt_from_its_log_is_the_same(db: Db) {
    let world = story(db).await;
    let copy = world.plan_store(Default::default());
    let entries = retarget(log(&world).await, copy.id, SHIFT);
    let mut items = vec![ImportItem::Store(Box::new(copy.clone()))];
    items.extend(entries.clone());
    let count = items.len() as u64;
    assert_eq!(import(&world, items).await.unwrap(), count);
    let pass = world.admin_pass();
    let rebuilt = world.storage.log(&pass, copy.id, 0, 1000).await.unwrap();
    let rebuilt: Vec<ImportItem> =
        rebuilt.into_iter().map(|entry| ImportItem::Entry(copy.id, entry)).collect();
    assert_eq!(rebuilt, entries);
    let pass = world.system().read(world.workspace, copy.id, world.now());
    let original = world.storage.stats(&world.read_pass()).await.unwrap();
    assert_eq!(world.storage.stats(&pass).await.unwrap(), original);
    let everything = loci_model::query::ListQuery::everything(loci_model::View::Full, 100);
    let page = world.storage.list(&pass, &everything).await.unwrap();
    let shifted = |item: ListItem| {
        let ListItem::Memory(mut memory) = item else { panic!("nothing is folded") };
        memory.store = copy.id;
        memory.id = loci_model::MemoryId::from_u128(memory.id.as_u128() + SHIFT);
        memory.head = VersionId::from_u128(memory.head.as_u128() + SHIFT);
        ListItem::Memory(memory)
    };
    let original = world.list(&everything).await;
    let original: Vec<ListItem> = original.into_iter().map(shifted).collect();
    assert_eq!(page.items, original);
    world.assert_sound().await;
}

pub async fn an_import_in_small_steps_ends_the_same(db: Db) {
    let world = story(db).await;
    let copy = world.plan_store(Default::default());
    let entries = retarget(log(&world).await, copy.id, SHIFT);
    import(&world, vec![ImportItem::Store(Box::new(copy.clone()))]).await.unwrap();
    for entry in entries.clone() {
        assert_eq!(import(&world, vec![entry]).await.unwrap(), 1);
    }
    let rebuilt = world.storage.log(&world.admin_pass(), copy.id, 0, 1000).await.unwrap();
    assert_eq!(rebuilt.len(), entries.len());
    world.assert_sound().await;
}

pub async fn imported_memories_are_searchable_and_editable(db: Db) {
    let world = story(db).await;
    let copy = world.plan_store(Default::default());
    let mut items = vec![ImportItem::Store(Box::new(copy.clone()))];
    items.extend(retarget(log(&world).await, copy.id, SHIFT));
    import(&world, items).await.unwrap();
    let pass = world.system().search(world.workspace, vec![copy.id], world.now());
    let texts = world.storage.texts(&pass, copy.id, 0, 10).await.unwrap().memories;
    let holding = |word: &str| {
        let texts = texts.iter().filter_map(|memory| memory.content.as_ref()?.text());
        texts.filter(|text| text.contains(word)).count()
    };
    assert_eq!((holding("two"), holding("canary"), holding("one")), (1, 0, 0));
    let pass = world.system().write(world.workspace, copy.id, world.owner, world.now());
    let outcomes = world.commit_as(pass, vec![put("/b/c", "three")]).await.unwrap();
    assert_eq!(outcomes[0].memory.revision, 4);
    world.assert_sound().await;
}

pub async fn what_is_there_already_is_passed_over(db: Db) {
    let world = story(db).await;
    let guest = world.new_principal("guest").await;
    let grant = super::grant::share(&world, guest, Level::Read).await;
    let facts = world.facts(guest).await;
    let guest = world.storage.principal(world.workspace, guest).await.unwrap().unwrap();
    let mut items = vec![
        ImportItem::Principal(guest),
        ImportItem::Store(Box::new(facts.store)),
        ImportItem::Grant(grant),
    ];
    let log = log(&world).await;
    items.extend(log.into_iter().map(|entry| ImportItem::Entry(world.store, entry)));
    let before = world.feed().await;
    assert_eq!(import(&world, items).await.unwrap(), 0);
    assert_eq!(world.feed().await, before);
}

pub async fn principals_and_grants_are_imported(db: Db) {
    let world = World::new(db).await;
    let mut guest = world.storage.principal(world.workspace, world.owner).await.unwrap().unwrap();
    guest.id = PrincipalId::from_u128(next_bits());
    guest.name = "imported".into();
    let grant = loci_model::Grant {
        id: loci_model::GrantId::from_u128(next_bits()),
        store: world.store,
        grantee: loci_model::Grantee::Principal(guest.id),
        level: Level::Read,
        given_by: world.owner,
        expires_at: Some(world.in_secs(5)),
        created_at: world.now(),
    };
    let items = vec![ImportItem::Principal(guest.clone()), ImportItem::Grant(grant.clone())];
    assert_eq!(import(&world, items).await.unwrap(), 2);
    assert_eq!(world.storage.principal(world.workspace, guest.id).await.unwrap(), Some(guest));
    let grants = world.storage.grants(&world.read_pass()).await.unwrap();
    assert_eq!(grants, [grant]);
}

pub async fn history_is_taken_only_in_order(db: Db) {
    let world = story(db).await;
    let copy = world.plan_store(Default::default());
    let entries = retarget(log(&world).await, copy.id, SHIFT);
    import(&world, vec![ImportItem::Store(Box::new(copy.clone()))]).await.unwrap();
    let skipping = vec![entries[0].clone(), entries[2].clone()];
    import(&world, skipping).await.unwrap_err();
    let stats = async || {
        let pass = world.system().read(world.workspace, copy.id, world.now());
        world.storage.stats(&pass).await.unwrap()
    };
    assert_eq!(stats().await.last_seq, 0, "nothing of a failed import is kept");
    import(&world, vec![entries[1].clone()]).await.unwrap_err();
    import(&world, vec![entries[0].clone()]).await.unwrap();
    assert_eq!(stats().await.last_seq, 1);
}

pub async fn another_history_is_not_mixed_in(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "x").await;
    let mut log = log(&world).await;
    if let LogEntry::Version { version, .. } = &mut log[0] {
        version.id = VersionId::from_u128(next_bits());
    }
    let item = ImportItem::Entry(world.store, log.remove(0));
    import(&world, vec![item]).await.unwrap_err();
    assert_eq!(world.history().await.len(), 1);
}

pub async fn an_archived_store_takes_its_history(db: Db) {
    let world = story(db).await;
    let mut copy = world.plan_store(Default::default());
    copy.archived_at = Some(world.now());
    let mut items = vec![ImportItem::Store(Box::new(copy.clone()))];
    items.extend(retarget(log(&world).await, copy.id, SHIFT));
    import(&world, items).await.unwrap();
    let facts = world.storage.facts(world.workspace, copy.id, world.owner, None).await.unwrap();
    assert_eq!(facts.unwrap().store, copy);
}

pub async fn only_the_workspaces_own_stores_are_exported(db: Db) {
    let world = story(db).await;
    let elsewhere = loci_model::WorkspaceId::from_u128(next_bits());
    let pass = world.system().administer(elsewhere, world.now());
    let result = world.storage.log(&pass, world.store, 0, 10).await;
    assert_refused!(result, StorageError::NotFound(_));
}

pub async fn a_version_redacted_between_two_pages_is_redacted_on_import(db: Db) {
    let world = World::new(db).await;
    let first = world.put_with("/a", "one", Attributes::default()).await;
    world.put("/a", "two").await;
    let early = log(&world).await;
    world.write(Mutation::Redact(world.manage_pass(), first.head)).await.unwrap();
    let late = world.storage.log(&world.admin_pass(), world.store, 2, 10).await.unwrap();
    let copy = world.plan_store(Default::default());
    let mut items = vec![ImportItem::Store(Box::new(copy.clone()))];
    items.extend(retarget([early, late].concat(), copy.id, SHIFT));
    import(&world, items).await.unwrap();
    let copied = world.storage.log(&world.admin_pass(), copy.id, 0, 10).await.unwrap();
    let LogEntry::Version { version, .. } = &copied[0] else { panic!("{copied:?}") };
    assert!(version.redaction.is_some() && version.content.is_none());
    world.assert_sound().await;
}

/// What is wrong with an entry, and how to make it so.
type Damage = (&'static str, fn(&mut Version));

fn damages() -> Vec<Damage> {
    vec![
        ("another store", |version| version.store = StoreId::from_u128(next_bits())),
        ("a revision too far", |version| version.revision += 1),
        ("created twice", |version| version.operation = Operation::Created),
        ("a removal with content", |version| version.operation = Operation::Deleted),
        ("no path", |version| version.path = None),
        ("no attributes", |version| version.attributes = None),
        ("no content", |version| version.content = None),
        ("no digest", |version| version.digest = None),
        ("another size", |version| version.size_bytes = Some(1000)),
        ("other content", |version| version.content = Some(Content::Text("forged".into()))),
        ("an attribute too long", |version| version.attributes = Some(of_kind("two words"))),
        ("a time at the end of time", |version| {
            version.created_at = Timestamp::from_micros(i64::MAX);
        }),
        ("a time before the last", |version| {
            version.created_at = Timestamp::from_micros(START);
        }),
        ("a redaction that kept everything", |version| {
            version.redaction = Some(Redaction { at: version.created_at, by: Actor::System });
        }),
        ("an ancestor's path", |version| version.path = Some(path("/taken/below"))),
        ("a known version", |version| version.id = VersionId::from_u128(1)),
    ]
}

pub async fn a_damaged_entry_is_refused_whole(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "one").await;
    world.put("/taken", "x").await;
    world.put("/a", "two").await;
    let copy = world.plan_store(Default::default());
    let mut items = retarget(log(&world).await, copy.id, SHIFT);
    let Some(ImportItem::Entry(_, LogEntry::Version { version, partition, owner })) = items.pop()
    else {
        panic!("the story ends with a version")
    };
    items.insert(0, ImportItem::Store(Box::new(copy.clone())));
    import(&world, items).await.unwrap();
    let entry = |version: Box<Version>| {
        vec![ImportItem::Entry(copy.id, LogEntry::Version { version, partition, owner })]
    };
    for (what, damage) in damages() {
        let mut damaged = version.clone();
        damage(&mut damaged);
        if damaged.id == VersionId::from_u128(1) {
            damaged.id = memory.head;
        }
        match import(&world, entry(damaged)).await {
            Err(
                StorageError::Invalid(_) | StorageError::Taken(_) | StorageError::PathTaken { .. },
            ) => {}
            other => panic!("{what}: {other:?}"),
        }
    }
    world.assert_sound().await;
    assert_eq!(import(&world, entry(version)).await.unwrap(), 1, "undamaged it is taken");
    world.assert_sound().await;
}

pub async fn nothing_follows_a_removal(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "one").await;
    world.edit(remove("/a")).await.unwrap();
    let copy = world.plan_store(Default::default());
    let mut items = retarget(log(&world).await, copy.id, SHIFT);
    let ImportItem::Entry(_, LogEntry::Version { version, partition, owner }) = items[0].clone()
    else {
        panic!("the story begins with a version")
    };
    let mut revived = version;
    (revived.revision, revived.seq, revived.operation) = (3, 3, Operation::Modified);
    revived.id = VersionId::from_u128(next_bits());
    revived.created_at = world.in_secs(10);
    items.insert(0, ImportItem::Store(Box::new(copy.clone())));
    import(&world, items).await.unwrap();
    let entry = LogEntry::Version { version: revived, partition, owner };
    let result = import(&world, vec![ImportItem::Entry(copy.id, entry)]).await;
    assert_refused!(result, StorageError::Invalid(_));
}

pub async fn a_version_belongs_to_one_store(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "one").await;
    let copy = world.plan_store(Default::default());
    let mut items = vec![ImportItem::Store(Box::new(copy.clone()))];
    items.extend(retarget(log(&world).await, copy.id, 0));
    assert_refused!(import(&world, items).await, StorageError::Taken(_));
    assert_eq!(
        world.storage.facts(world.workspace, copy.id, world.owner, None).await.unwrap(),
        None
    );
    world.assert_sound().await;
}
