//! What the engine never asks of a storage engine on behalf of one workspace about a store of
//! another, tried all the same: passes that policy gives out on forged facts, and mutations without
//! one.

use super::world::{MARK, PATH, WORD, World, text, yesterday_or_so};
use loci_model::policy::{self, System};
use loci_model::{Address, Edit, Membership, MemoryPath, MemorySwitches, StoreId, View};
use loci_storage::log::{ImportItem, LogEntry};
use loci_storage::{
    Batch, Lookup, Mutation, Receipt, SessionChange, Sought, StampedEdit, StorageError,
    VectorBatch, VectorSource,
};
use std::fmt::Debug;

pub(crate) const ALL: [&str; 25] = [
    "feed ends",
    "texts",
    "changed texts",
    "texts of the past",
    "found",
    "vectors",
    "shortlistable",
    "shortlist",
    "embeddable",
    "log",
    "commit",
    "expire",
    "purge",
    "put vectors",
    "import an entry",
    "change the session",
    "remove the session",
    "newest",
    "store at the address",
    "members",
    "join the group",
    "take a friend out of the group",
    "switch a friend off",
    "take over the address",
    "import an event",
];

/// Those that nothing holds but policy and row security.
pub(crate) const BARE: [&str; 10] = [
    "feed ends",
    "texts",
    "changed texts",
    "texts of the past",
    "found",
    "vectors",
    "embeddable",
    "commit",
    "purge",
    "newest",
];

/// What came of it. Numbers and vectors bear no mark, so getting any is marked here.
pub(crate) async fn attempt(world: &World, name: &str) -> String {
    let World { engine, storage, intruder, loot, .. } = world;
    let (store, caller) = (loot.store, &intruder.caller);
    let seams = engine.seams();
    let now = seams.now();
    let search = policy::search(caller, std::slice::from_ref(&loot.forged), now);
    let read = policy::read(caller, &loot.forged, now).unwrap();
    let write = policy::write(caller, &loot.forged, now).unwrap();
    let admin = policy::administer(caller, now).unwrap();
    let convene = policy::convene(caller, now).unwrap();
    let version = seams.version_id(now);
    let mutate = async |mutation: Mutation| shown(storage.write(mutation, None).await);
    match name {
        "feed ends" => match storage.feed_ends(&search).await {
            Ok(ends) if ends.is_empty() => String::new(),
            other => format!("{MARK} {other:?}"),
        },
        "texts" => shown(storage.texts(&search, store, 0, 10).await),
        "changed texts" => shown(storage.changed_texts(&search, store, 0, 10).await),
        "texts of the past" => shown(storage.texts_at(&read, yesterday_or_so(), 0, 10).await),
        "found" => shown(storage.found(&search, &[(store, loot.memory)], View::Full).await),
        "vectors" => {
            let generation = loot.generation.id;
            match storage.vectors(&search, store, generation, &loot.versions).await {
                Ok(vectors) if vectors.iter().any(Option::is_some) => MARK.into(),
                other => shown(other),
            }
        }
        "shortlistable" => match storage.shortlistable(&search, store, loot.generation.id).await {
            Ok(Some(memories)) if memories > 0 => MARK.into(),
            other => shown(other),
        },
        "shortlist" => {
            let terms = vec![WORD.to_owned()];
            let word = Sought { key: WORD.into(), terms, beginning: None };
            let generation = loot.generation.id;
            let (words, vector) = (vec![word], Some(vec![0.2; 26]));
            let lookup = Lookup { words, vector, ..Lookup::new(generation, 100, 10) };
            shown(storage.shortlist(&search, store, &lookup).await)
        }
        // A generation that has no vectors yet, so that every text needs some.
        "embeddable" => {
            let opened =
                Mutation::OpenGeneration { model: "m".into(), dims: 2, is_fresh: true, now };
            storage.write(opened, None).await.unwrap();
            let newest = storage.generations().await.unwrap().pop().unwrap();
            let needed = storage.embeddable(&search, store, newest.id, 0, 10).await;
            let dropped = Mutation::DropGeneration { generation: newest.id, limit: 100 };
            storage.write(dropped, None).await.unwrap();
            shown(needed)
        }
        "log" => shown(storage.log(&admin, store, 0, 10).await),
        "commit" => {
            let edit = Edit::put_text(MemoryPath::parse("/new").unwrap(), "intruder");
            let edits = vec![StampedEdit { edit, new_memory: seams.memory_id(now), version }];
            let cause = loci_model::Cause::new(None, "api");
            mutate(Mutation::Commit(write, Batch { edits, cause })).await
        }
        "expire" => {
            let memory = loot.memory;
            mutate(Mutation::Expire { pass: write, memory, version }).await
        }
        "purge" => {
            let system = System::because("a test tries what it should not");
            let pass = system.manage(caller.workspace, store, now);
            mutate(Mutation::RemoveStore(pass.clone())).await
                + &mutate(Mutation::PurgeStore { pass, limit: 100 }).await
        }
        "put vectors" => {
            let made = VectorSource::Made(vec![1; 52]);
            mutate(Mutation::PutVectors(VectorBatch {
                workspace: caller.workspace,
                generation: loot.generation.id,
                store,
                through: 9,
                vectors: vec![(loot.versions[0], made)],
                words: vec![(loot.versions[0], vec!["intruder".into()])],
            }))
            .await
        }
        "import an entry" => {
            let entry = stolen_entry(world, store).await;
            mutate(Mutation::Import(admin, vec![ImportItem::Entry(store, entry)])).await
        }
        "change the session" => {
            let workspace = caller.workspace;
            let change = SessionChange::Archive;
            mutate(Mutation::ChangeSession { workspace, session: loot.session, change, now }).await
        }
        "remove the session" => {
            mutate(Mutation::RemoveSession(caller.workspace, loot.session)).await
        }
        "newest" => {
            let path = MemoryPath::parse(PATH).unwrap();
            shown(storage.newest(&read, &path, View::Full).await)
        }
        "store at the address" => {
            let home = Address::home(loot.group);
            match storage.store_at(caller.workspace, &home).await {
                Ok(Some(_)) => MARK.into(),
                other => shown(other),
            }
        }
        "members" => match storage.members(&convene, loot.group).await {
            Ok(members) if !members.is_empty() => MARK.into(),
            other => shown(other),
        },
        "join the group" => {
            let joins = Membership { group: loot.group, member: caller.principal, since: now };
            mutate(Mutation::AddMember(convene, joins)).await
        }
        "take a friend out of the group" => {
            let (group, member) = (loot.group, loot.friend);
            mutate(Mutation::RemoveMember { pass: convene, group, member }).await
        }
        "switch a friend off" => {
            let off = MemorySwitches { is_on: false, ..MemorySwitches::default() };
            mutate(Mutation::SwitchMemory(admin, loot.friend, off)).await
        }
        // Where the intruder has no store at that address, it gets one of its own there.
        "take over the address" => {
            let mut store = loot.facts.store.clone();
            store.id = seams.store_id(now);
            store.workspace = caller.workspace;
            store.name = "intruder".into();
            store.description.clear();
            store.metadata.clear();
            store.address = Some(Address::home(loot.group));
            let own = store.id;
            match storage.write(Mutation::CreateStore(store), None).await.map(|made| made.receipt) {
                Ok(Receipt::Store(made)) if made.id == own && own != loot.home => String::new(),
                other => format!("{MARK} {other:?}"),
            }
        }
        "import an event" => {
            let pass = policy::administer(&world.victim.caller, now).unwrap();
            let stolen = storage.events(&pass, 0, 1).await.unwrap().remove(0);
            mutate(Mutation::Import(admin, vec![ImportItem::Event(Box::new(stolen))])).await
        }
        other => panic!("{other}"),
    }
}

/// The next entry of the victim's history, as the intruder would like it.
async fn stolen_entry(world: &World, store: StoreId) -> LogEntry {
    let now = world.engine.seams().now();
    let pass = policy::administer(&world.victim.caller, now).unwrap();
    let mut log = world.storage.log(&pass, store, 0, 100).await.unwrap();
    let mut entry = log.pop().unwrap();
    if let LogEntry::Version { version, .. } = &mut entry {
        let content = text("intruder");
        version.id = world.engine.seams().version_id(now);
        version.seq += 1;
        version.revision += 1;
        version.digest = Some(content.digest());
        version.size_bytes = Some(content.bytes().len() as u64);
        version.content = Some(content);
        version.created_at = now;
    }
    entry
}

#[expect(clippy::needless_pass_by_value, reason = "an answer is written down and gone")]
fn shown<T: Debug>(answer: Result<T, StorageError>) -> String {
    if let Err(StorageError::Io(why) | StorageError::Corrupt(why)) = &answer {
        panic!("a refusal, not an accident: {why}");
    }
    format!("{answer:?}")
}
