//! Homes, and acting for the one they belong to.

use crate::stage::{Stage, full_key};
use loci_engine::{Context, Error, NewGrant, NewKey, NewPrincipal, Purpose};
use loci_model::policy::Ground;
use loci_model::{
    Actor, At, Audience, Edit, Expect, Grantee, Level, MemoryPath, MemorySwitches, PrincipalKind,
    StoreId, View,
};

async fn home(stage: &Stage, who: &Context, whose: &str) -> StoreId {
    stage.engine.store_named(who, whose, Purpose::Write).await.unwrap().unwrap()
}

async fn write(
    stage: &Stage,
    who: &Context,
    store: StoreId,
    text: &str,
) -> loci_engine::Result<()> {
    let edit = Edit::put_text(MemoryPath::parse("/k").unwrap(), text);
    stage.engine.commit_one(who, store, edit, "api").await.map(|_| ())
}

async fn read(stage: &Stage, who: &Context, store: StoreId) -> Option<String> {
    let at = At::Path(None, MemoryPath::parse("/k").unwrap());
    let found = stage.engine.get(who, store, &at, View::Full).await.ok()?;
    found.content?.text().map(str::to_owned)
}

fn to(who: &Context, level: Level) -> NewGrant {
    NewGrant { grantee: Grantee::Principal(who.caller.principal), level, expires_at: None }
}

#[tokio::test]
async fn a_home_is_made_when_something_is_written_and_belongs_to_its_name() {
    let stage = Stage::new().await;
    let agent = stage.somebody("agent").await;
    let principal = stage.engine.named(&agent, "agent").await.unwrap().unwrap();
    let uuid = uuid::Uuid::from_u128(principal.id.as_u128()).to_string();
    assert_eq!(stage.engine.store_named(&agent, "agent", Purpose::Read).await.unwrap(), None);
    let own = home(&stage, &agent, "agent").await;
    for name in [uuid.as_str(), &uuid.to_uppercase(), &principal.id.to_string(), &own.to_string()] {
        assert_eq!(home(&stage, &agent, name).await, own, "{name}");
    }
    let store = stage.engine.store(&agent, own).await.unwrap();
    assert_eq!(store.owner, agent.caller.principal);
    let other = stage.somebody("other").await;
    assert!(read(&stage, &other, own).await.is_none());
    assert!(matches!(write(&stage, &other, own, "x").await, Err(Error::NotFound(_))));
    let unknown = stage.engine.store_named(&agent, "nobody", Purpose::Write).await;
    assert!(matches!(unknown, Err(Error::NotFound("memory store"))));
    let of_other = stage.engine.store_named(&agent, "other", Purpose::Write).await;
    assert!(matches!(of_other, Err(Error::NotFound(_))), "naming somebody makes nothing");
}

#[tokio::test]
async fn a_name_does_not_take_the_place_of_an_id() {
    let stage = Stage::new().await;
    let victim = stage.somebody("victim").await.caller.principal;
    let uuid = uuid::Uuid::from_u128(victim.as_u128()).to_string();
    for name in [victim.to_string(), uuid] {
        stage.somebody(&name).await;
        let found = stage.engine.named(&stage.admin, &name).await.unwrap().unwrap();
        assert_eq!(found.name, "victim");
        let grantee = stage.engine.grantee(&stage.admin, &name).await.unwrap();
        assert_eq!(grantee.id, victim);
    }
}

#[tokio::test]
async fn each_writer_has_its_own_entry_and_the_newest_is_read() {
    let stage = Stage::new().await;
    let (owner, guest) = (stage.somebody("owner").await, stage.somebody("guest").await);
    let store = home(&stage, &owner, "owner").await;
    stage.engine.share(&owner, store, to(&guest, Level::ReadWrite)).await.unwrap();
    write(&stage, &owner, store, "the owner's").await.unwrap();
    write(&stage, &guest, store, "the guest's").await.unwrap();
    assert_eq!(read(&stage, &owner, store).await.unwrap(), "the guest's");
    write(&stage, &owner, store, "the owner's again").await.unwrap();
    assert_eq!(read(&stage, &guest, store).await.unwrap(), "the owner's again");
    let path = MemoryPath::parse("/k").unwrap();
    let owners = At::Path(Some(owner.caller.principal), path.clone());
    let remove = Edit::remove(owners.clone(), Expect::Anything);
    let refused = stage.engine.commit_one(&guest, store, remove, "api").await;
    assert!(matches!(refused, Err(Error::Denied(_))), "only who wrote it takes it away");
    let guests = Edit::remove(At::Path(None, path), Expect::Anything);
    stage.engine.commit_one(&guest, store, guests, "api").await.unwrap();
    assert_eq!(read(&stage, &guest, store).await.unwrap(), "the owner's again");
}

#[tokio::test]
async fn only_platforms_and_administrators_act_for_others() {
    let stage = Stage::new().await;
    let agent = stage.somebody("agent").await;
    let platform = NewKey { acts_for_agents: true, ..full_key("platform") };
    let service =
        NewPrincipal { kind: PrincipalKind::Service, name: "portal".into(), is_admin: false };
    let service = stage.engine.create_principal(&stage.admin, service).await.unwrap();
    let platform = NewKey { principal: Some(service.id), ..platform };
    let platform = stage.enter(&stage.key(platform).await.1).await;

    assert_eq!(stage.engine.acting(&agent, Some("agent")).await.unwrap().caller, agent.caller);
    assert_eq!(stage.engine.acting(&agent, None).await.unwrap().caller, agent.caller);
    for foreign in ["new", "admin", "portal"] {
        let spoofed = stage.engine.acting(&agent, Some(foreign)).await;
        assert!(matches!(spoofed, Err(Error::Denied(_))), "{foreign}");
    }
    assert!(stage.engine.named(&agent, "new").await.unwrap().is_none(), "a refusal makes nobody");
    let acting = stage.engine.acting(&platform, Some("agent")).await.unwrap();
    assert_eq!(acting.caller.principal, agent.caller.principal);
    assert_eq!(acting.caller.actor, Actor::Service(agent.caller.principal));
    assert!(stage.engine.acting(&acting, Some("other")).await.is_err(), "only once");
    let new = stage.engine.acting(&platform, Some("new")).await.unwrap();
    assert!(stage.engine.named(&agent, "new").await.unwrap().is_some());
    assert_ne!(new.caller.principal, agent.caller.principal);
    assert!(stage.engine.acting(&platform, Some("admin")).await.is_err(), "not the administrator");
    stage.engine.acting(&stage.admin, Some("agent")).await.unwrap();
    let more = NewKey { acts_for_agents: true, ..full_key("mine") };
    assert!(stage.engine.create_key(&agent, more).await.is_err(), "agents make no such keys");
}

#[tokio::test]
async fn a_token_names_agents_and_nobody_else() {
    let stage = Stage::new().await;
    let agent = stage.somebody("agent").await;
    let enter = |name: &'static str| stage.engine.authenticate_agent(name, Audience::Host, None);
    assert_eq!(enter("agent").await.unwrap().principal, agent.caller.principal);
    assert!(!enter("unheard-of").await.unwrap().is_admin);
    assert!(matches!(enter("admin").await, Err(Error::Unauthenticated(_))));
    stage.engine.add_member(&stage.admin, "chat", "person", PrincipalKind::User).await.unwrap();
    assert!(enter("chat").await.is_err() && enter("person").await.is_err());
}

#[tokio::test]
async fn what_is_reached_says_why_and_how_much() {
    let stage = Stage::new().await;
    let (agent, owner) = (stage.somebody("agent").await, stage.somebody("owner").await);
    let others = home(&stage, &owner, "owner").await;
    let own = home(&stage, &agent, "agent").await;
    stage.engine.share(&owner, others, to(&agent, Level::Search)).await.unwrap();
    for member in [("agent", PrincipalKind::Agent), ("person", PrincipalKind::User)] {
        stage.engine.add_member(&stage.admin, "chat", member.0, member.1).await.unwrap();
    }
    let (chat, person) = (home(&stage, &agent, "chat").await, home(&stage, &agent, "person").await);
    let reached = stage.engine.stores_of(&agent).await.unwrap();
    let told: Vec<_> = reached
        .iter()
        .map(|one| {
            (one.store.id, one.ground, one.level, one.home_of.as_ref().unwrap().name.as_str())
        })
        .collect();
    assert_eq!(told[0], (own, Ground::Owner, Level::ReadWrite, "agent"));
    assert!(told.contains(&(others, Ground::Grant, Level::Search, "owner")));
    assert!(told.contains(&(chat, Ground::Member, Level::ReadWrite, "chat")));
    assert!(told.contains(&(person, Ground::Companion, Level::ReadWrite, "person")));
    assert_eq!(told.len(), 4);
}

#[tokio::test]
async fn what_is_switched_off_is_neither_read_nor_written_nor_made() {
    let stage = Stage::new().await;
    let agent = stage.somebody("agent").await;
    let id = agent.caller.principal;
    let store = home(&stage, &agent, "agent").await;
    write(&stage, &agent, store, "x").await.unwrap();
    let switched = async |memory: MemorySwitches| {
        let principal = stage.engine.switch_memory(&stage.admin, id, memory).await.unwrap();
        assert_eq!(principal.memory, memory);
        let caller = loci_model::Caller { memory, ..agent.caller.clone() };
        Context { caller, ..agent.clone() }
    };
    let off = switched(MemorySwitches { own: false, ..Default::default() }).await;
    assert!(matches!(write(&stage, &off, store, "y").await, Err(Error::Denied(_))));
    assert!(read(&stage, &off, store).await.is_none());
    assert!(stage.engine.stores_of(&off).await.unwrap().is_empty());
    assert!(matches!(
        stage.engine.callers_store(&off, Purpose::Write).await,
        Err(Error::Denied(_))
    ));
    let all_off = switched(MemorySwitches { is_on: false, ..Default::default() }).await;
    assert!(stage.engine.create_store(&all_off, Default::default()).await.is_err());
    let on = switched(MemorySwitches::default()).await;
    assert_eq!(read(&stage, &on, store).await.unwrap(), "x");
}

#[tokio::test]
async fn a_home_that_is_not_there_yet_is_what_the_credential_could_do_in_it() {
    let stage = Stage::new().await;
    let agent = stage.somebody("agent").await;
    let with = |power, stores, session| Context {
        caller: loci_model::Caller {
            scope: loci_model::KeyScope { power, stores },
            session,
            ..agent.caller.clone()
        },
        ..agent.clone()
    };
    let level = |context: &Context| stage.engine.level_at_home(context);
    assert_eq!(level(&agent), Some(Level::ReadWrite));
    for wanted in [Level::Search, Level::Read, Level::ReadWrite] {
        assert_eq!(level(&with(loci_model::Power::UpTo(wanted), None, None)), Some(wanted));
    }
    let full = loci_model::Power::Full;
    let session = Some(loci_model::SessionId::from_u128(1));
    assert_eq!(level(&with(full, None, session)), None, "a session has no home");
    assert_eq!(level(&with(full, Some(vec![]), None)), None);
}

#[tokio::test]
async fn only_administrators_learn_whose_keys_could_be_made() {
    let stage = Stage::new().await;
    let agent = stage.somebody("agent").await;
    stage.somebody("other").await;
    let owner = async |who: &Context, text: &str| stage.engine.key_owner(who, text).await;
    assert_eq!(owner(&agent, "agent").await.unwrap(), agent.caller.principal);
    for name in ["other", "nobody at all"] {
        let asked = owner(&agent, name).await.unwrap_err();
        assert_eq!(asked.to_string(), "this needs an administrator's key", "{name}");
    }
    assert!(owner(&stage.admin, "other").await.is_ok());
    assert!(matches!(owner(&stage.admin, "nobody").await, Err(Error::NotFound(_))));
    let caller = loci_model::Caller { audience: Audience::Model, ..agent.caller.clone() };
    let model = Context { caller, ..agent.clone() };
    for name in ["other", "nobody at all"] {
        let asked = owner(&model, name).await.unwrap_err();
        assert_eq!(asked.to_string(), "this key cannot make keys");
    }
}

#[tokio::test]
async fn words_that_mean_something_else_name_nobody() {
    let stage = Stage::new().await;
    for word in ["default", "self", "undefined", "everyone", "null"] {
        let kind = PrincipalKind::Agent;
        let new = NewPrincipal { kind, name: word.into(), is_admin: false };
        let made = stage.engine.create_principal(&stage.admin, new).await;
        assert!(matches!(made, Err(Error::Invalid(_))), "{word}");
        let acting = stage.engine.acting(&stage.admin, Some(word)).await;
        assert!(matches!(acting, Err(Error::Invalid(_))), "{word}");
        assert!(matches!(stage.engine.grantee(&stage.admin, word).await, Err(Error::Invalid(_))));
        let joined = stage.engine.add_member(&stage.admin, "chat", word, Some(kind)).await;
        assert!(matches!(joined, Err(Error::Invalid(_))), "{word}");
        let token = stage.engine.authenticate_agent(word, Audience::Host, None).await;
        assert!(matches!(token, Err(Error::Unauthenticated(_))), "{word}");
        assert!(stage.engine.named(&stage.admin, word).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_strangers_question_makes_no_home_of_a_chat() {
    let stage = Stage::new().await;
    let (member, stranger) = (stage.somebody("member").await, stage.somebody("stranger").await);
    let kind = PrincipalKind::Agent;
    stage.engine.add_member(&stage.admin, "chat", "member", Some(kind)).await.unwrap();
    let count = async || {
        let query = loci_model::query::StoreQuery {
            since: None,
            until: None,
            include_archived: true,
            direction: loci_model::query::Direction::Descending,
            after: None,
            limit: 100,
        };
        stage.engine.list_stores(&stage.admin, &query).await.unwrap().items.len()
    };
    for purpose in [Purpose::Search, Purpose::Read, Purpose::Change, Purpose::Write] {
        let asked = stage.engine.store_named(&stranger, "chat", purpose).await;
        assert!(matches!(asked, Err(Error::NotFound("memory store"))), "{purpose:?}");
    }
    assert_eq!(count().await, 0);
    home(&stage, &member, "chat").await;
    assert_eq!(count().await, 1);
}
