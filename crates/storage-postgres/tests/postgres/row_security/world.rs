//! Two tenants on one storage engine: a victim with some of everything, and an intruder with a valid
//! key of its own workspace, for whom the facts about the victim's store are forged.

use super::forger::{Forger, forged};
use loci_engine::seam::Seams;
use loci_engine::search::embed::{EmbedError, Embedder, Purpose};
use loci_engine::search::{Mode, Reach, SearchOptions, SearchRequest, Wanted};
use loci_engine::{
    Context, DeclaredKey, Engine, IdempotencyKey, NewAttachment, NewGrant, NewPrincipal,
    NewSession, NewStore, Secret,
};
use loci_model::event::kind;
use loci_model::policy::{self, Facts};
use loci_model::query::{CreatedQuery, Direction, SessionQuery, StoreQuery};
use loci_model::{
    Access, Address, At, Caller, Content, Edit, EditOp, Expect, GrantId, Grantee, KeyId, Level,
    MemoryId, MemoryPath, OnSame, Power, PrincipalId, PrincipalKind, SessionId, Store, StoreId,
    StorePolicy, VersionId, View, limit,
};
use loci_storage::{AsOf, Generation, Mutation, Storage};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use tokio::sync::mpsc;

/// In every name, path and text of the victim, and in nothing of the intruder.
pub(crate) const MARK: &str = "basalt";
pub(crate) const PATH: &str = "/basalt/vein";
/// A word of the victim's text that is no secret: what the intruder looks for.
pub(crate) const WORD: &str = "copper";

pub(crate) struct World {
    pub(crate) engine: Engine,
    /// Beneath the engine, and beneath what betrays the victim.
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) victim: Context,
    pub(crate) intruder: Context,
    pub(crate) loot: Loot,
    /// What the victim had when the world was made. An attempt that changes it is the last in this
    /// world, so all of them are compared with it.
    pub(crate) untouched: String,
}

/// Everything of the victim that can be named.
pub(crate) struct Loot {
    pub(crate) store: StoreId,
    pub(crate) memory: MemoryId,
    /// The older is not the head.
    pub(crate) versions: [VersionId; 2],
    pub(crate) grant: GrantId,
    pub(crate) principal: PrincipalId,
    pub(crate) friend: PrincipalId,
    /// In which the friend is.
    pub(crate) group: PrincipalId,
    /// The home of the group.
    pub(crate) home: StoreId,
    pub(crate) key: KeyId,
    pub(crate) session: SessionId,
    pub(crate) generation: Generation,
    /// The truth about the store, for the victim.
    pub(crate) facts: Facts,
    /// What the intruder is told about it.
    pub(crate) forged: Facts,
    pub(crate) export: Vec<String>,
}

impl World {
    pub(crate) async fn new(storage: Arc<dyn Storage>) -> Self {
        let forger = Arc::new(Forger::new(Arc::clone(&storage)));
        let embedders: Vec<Arc<dyn Embedder>> = vec![Arc::new(Letters)];
        let options = SearchOptions { embedders, ..SearchOptions::default() };
        let known: Arc<dyn Storage> = forger.clone();
        let engine = Engine::new(known, Seams::real()).with_search(options);
        let intruder = tenant(&engine, &storage, "intruder").await;
        let victim = tenant(&engine, &storage, MARK).await;
        let loot = loot(&engine, &storage, &victim, &intruder.caller).await;
        forger.betray(loot.facts.store.clone());
        let untouched = String::new();
        let mut world = Self { engine, storage, victim, intruder, loot, untouched };
        // The index of the victim's store is in memory when the intruder comes.
        let found = world.engine.search(&world.victim, &world.asking(Mode::Hybrid)).await.unwrap();
        assert!(format!("{found:?}").contains(MARK), "what is to be stolen can be found");
        world.untouched = world.belongings().await;
        assert!(world.untouched.matches(MARK).count() > 10, "there is something to lose");
        world
    }

    pub(crate) fn asking(&self, mode: Mode) -> SearchRequest {
        SearchRequest {
            reach: Reach::Store(self.loot.store),
            wanted: Wanted { mode, ..Wanted::new(WORD, 10) },
            view: View::Full,
            explain: true,
            content_bytes_max: usize::MAX,
            snippet_chars: 100,
            as_of: None,
            wait: None,
        }
    }

    /// An edit of the victim's memory.
    pub(crate) fn edit(&self, op: EditOp) -> Edit {
        let at = At::Id(self.loot.memory);
        Edit { at, expect: Expect::Anything, on_same: OnSame::Skip, op }
    }

    /// The intruder changes something of its own.
    pub(crate) async fn intruder_works_at_home(&self) {
        let Self { engine, intruder, .. } = self;
        let new = NewStore { name: "intruder".into(), ..NewStore::default() };
        let store = engine.create_store(intruder, new).await.unwrap().id;
        let edit = Edit::put_text(MemoryPath::parse("/own").unwrap(), "intruder");
        engine.commit_one(&retried(intruder), store, edit, "api").await.unwrap();
        let everyone =
            NewGrant { grantee: Grantee::Everyone, level: Level::Read, expires_at: None };
        engine.share(intruder, store, everyone).await.unwrap();
        let session = new_session("intruder".into(), store);
        engine.create_session(intruder, session).await.unwrap();
    }

    /// All that the victim has, as it sees it itself.
    pub(crate) async fn belongings(&self) -> String {
        let Self { engine, victim, loot, .. } = self;
        let mut all = export(engine, victim).await;
        let mut note = |what: &dyn Debug| all.push(format!("{what:?}"));
        note(&engine.keys(victim).await);
        note(&engine.principals(victim).await);
        note(&engine.list_stores(victim, &every_store()).await);
        note(&engine.list_sessions(victim, &every_session()).await);
        note(&engine.stats(victim, loot.store).await);
        note(&engine.grants(victim, loot.store).await);
        note(&engine.memberships(victim, None, 100).await);
        // The exports of this very look are written down, too.
        let mut events = engine.events(victim, 0, limit::EVENTS_PAGE_MAX).await.unwrap();
        events.retain(|event| event.kind != kind::EXPORTED);
        note(&events);
        let home = Address::home(loot.group);
        note(&self.storage.store_at(victim.caller.workspace, &home).await);
        let now = engine.seams().now();
        let pass = policy::administer(&victim.caller, now).unwrap();
        note(&self.storage.remembered(&pass, None, 100).await);
        let pass = policy::search(&victim.caller, std::slice::from_ref(&loot.facts), now);
        let generation = loot.generation.id;
        note(&self.storage.vectors(&pass, loot.store, generation, &loot.versions).await);
        note(&self.storage.feed_ends(&pass).await);
        all.join("\n")
    }
}

/// A workspace with an administrator, who has a key.
async fn tenant(engine: &Engine, storage: &Arc<dyn Storage>, name: &str) -> Context {
    let seams = engine.seams();
    let workspace = seams.workspace_id(seams.now());
    storage.write(Mutation::CreateWorkspace(workspace, seams.now()), None).await.unwrap();
    let new =
        NewPrincipal { kind: PrincipalKind::User, name: format!("{name}-admin"), is_admin: true };
    let principal = engine.declare_principal(workspace, new).await.unwrap().id;
    let secret = Secret::generate(seams);
    let key = DeclaredKey {
        name: format!("{name}-key"),
        workspace,
        principal,
        power: Power::Full,
        stores: None,
        acts_for_agents: false,
        secret_hash: secret.hash(),
    };
    engine.declare_key(key).await.unwrap();
    let caller = engine.authenticate(secret.reveal()).await.unwrap();
    Context { caller, request: seams.request_id(seams.now()), idempotency: None }
}

async fn loot(
    engine: &Engine,
    storage: &Arc<dyn Storage>,
    victim: &Context,
    intruder: &Caller,
) -> Loot {
    let new = NewStore {
        name: format!("{MARK} vault"),
        description: format!("what {MARK} keeps"),
        metadata: BTreeMap::from([("rock".into(), MARK.into())]),
        ..NewStore::default()
    };
    let store = engine.create_store(victim, new).await.unwrap().id;
    let put = |text: &str| Edit::put_text(MemoryPath::parse(PATH).unwrap(), text);
    let first = put(&format!("{WORD} runs below the {MARK}"));
    let first = engine.commit_one(&retried(victim), store, first, "api").await.unwrap();
    let second = put(&format!("{WORD} runs deep below the {MARK}"));
    let second = engine.commit_one(victim, store, second, "api").await.unwrap();
    let (first, second) = (first.memory, second.memory);
    let friend = NewPrincipal {
        kind: PrincipalKind::Agent,
        name: format!("{MARK}-friend"),
        is_admin: false,
    };
    let friend = engine.create_principal(victim, friend).await.unwrap().id;
    let grant =
        NewGrant { grantee: Grantee::Principal(friend), level: Level::Read, expires_at: None };
    let grant = engine.share(victim, store, grant).await.unwrap().grant.id;
    let group = format!("{MARK}-group");
    let friends_name = format!("{MARK}-friend");
    let agent = PrincipalKind::Agent;
    let group = engine.add_member(victim, &group, &friends_name, agent).await.unwrap().group;
    let home = home_of(engine, storage, victim, group).await;
    let session = new_session(format!("{MARK} session"), store);
    let session = engine.create_session(victim, session).await.unwrap().id;
    while engine.follow_once().await.unwrap() {}
    let generation = storage.generations().await.unwrap().pop().unwrap();
    let caller = &victim.caller;
    let facts = storage.facts(caller.workspace, store, caller.principal, None).await.unwrap();
    let facts = facts.unwrap();
    Loot {
        store,
        memory: first.id,
        versions: [first.head, second.head],
        grant,
        principal: caller.principal,
        friend,
        group,
        home,
        key: engine.keys(victim).await.unwrap()[0].id,
        session,
        generation,
        forged: forged(&facts.store, intruder.workspace, intruder.principal),
        facts,
        export: export(engine, victim).await,
    }
}

/// Makes a store at the address of a group's home.
async fn home_of(
    engine: &Engine,
    storage: &Arc<dyn Storage>,
    victim: &Context,
    group: PrincipalId,
) -> StoreId {
    let now = engine.seams().now();
    let home = Store {
        id: engine.seams().store_id(now),
        workspace: victim.caller.workspace,
        owner: group,
        address: Some(Address::home(group)),
        name: format!("{MARK} home"),
        description: String::new(),
        metadata: BTreeMap::new(),
        policy: StorePolicy::default(),
        created_at: now,
        updated_at: now,
        archived_at: None,
    };
    let id = home.id;
    storage.write(Mutation::CreateStore(home), None).await.unwrap();
    id
}

/// The victim's first write, which it may send again.
pub(crate) fn retried(context: &Context) -> Context {
    let key = IdempotencyKey { key: "once".into(), fingerprint: [7; 32] };
    Context { idempotency: Some(key), ..context.clone() }
}

pub(crate) async fn export(engine: &Engine, context: &Context) -> Vec<String> {
    let (send, mut lines) = mpsc::channel(16);
    let mut all = Vec::new();
    let collect = async {
        while let Some(line) = lines.recv().await {
            all.push(line);
        }
    };
    let (exported, ()) = tokio::join!(engine.export(context, send), collect);
    exported.unwrap();
    all
}

pub(crate) fn new_session(title: String, store: StoreId) -> NewSession {
    let attachment = NewAttachment { store, access: Access::ReadWrite, instructions: None };
    NewSession {
        title: Some(title),
        metadata: BTreeMap::new(),
        agent_id: "agent".into(),
        agent_version: 1,
        details: "{}".into(),
        attachments: vec![attachment],
    }
}

fn every<Id>() -> CreatedQuery<Id> {
    CreatedQuery {
        since: None,
        until: None,
        include_archived: true,
        direction: Direction::Ascending,
        after: None,
        limit: 100,
    }
}

pub(crate) fn every_store() -> StoreQuery {
    every()
}

pub(crate) fn every_session() -> SessionQuery {
    SessionQuery { created: every(), store: None, agent_id: None, agent_version: None }
}

pub(crate) fn text(text: &str) -> Content {
    Content::Text(text.into())
}

pub(crate) fn yesterday_or_so() -> AsOf {
    AsOf::Seq(1)
}

/// Counts letters: enough to find something by meaning.
struct Letters;

impl Embedder for Letters {
    fn model(&self) -> &str {
        "letters-26"
    }

    fn dims(&self) -> usize {
        26
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| {
            let mut counts = vec![0.01f32; 26];
            for letter in text.bytes().filter(u8::is_ascii_lowercase) {
                counts[usize::from(letter - b'a')] += 1.0;
            }
            let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
            counts.into_iter().map(|count| count / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }

    fn tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}
