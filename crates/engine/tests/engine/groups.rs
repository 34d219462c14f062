//! Being in a group: what it opens, and that leaving closes it, with everything given on.

use crate::stage::Stage;
use loci_engine::{Context, Error, NewGrant, NewPrincipal, Purpose};
use loci_model::event::kind;
use loci_model::{Edit, Grantee, Level, MemoryPath, PrincipalKind, StoreId};

async fn join(stage: &Stage, group: &str, member: &str, kind: PrincipalKind) {
    stage.engine.add_member(&stage.admin, group, member, kind).await.unwrap();
}

async fn write(stage: &Stage, who: &Context, store: StoreId) -> loci_engine::Result<()> {
    let edit = Edit::put_text(MemoryPath::parse("/k").unwrap(), "x");
    stage.engine.commit_one(who, store, edit, "api").await.map(|_| ())
}

fn to(who: &Context, level: Level) -> NewGrant {
    NewGrant { grantee: Grantee::Principal(who.caller.principal), level, expires_at: None }
}

#[tokio::test]
async fn the_store_of_a_chat_is_open_while_one_is_in_it() {
    let stage = Stage::new().await;
    let (agent, other) = (stage.somebody("agent").await, stage.somebody("other").await);
    join(&stage, "chat", "agent", PrincipalKind::Agent).await;
    let chat = stage.engine.store_named(&agent, "chat", Purpose::Write).await.unwrap().unwrap();
    write(&stage, &agent, chat).await.unwrap();
    assert!(matches!(write(&stage, &other, chat).await, Err(Error::NotFound(_))));
    join(&stage, "chat", "other", PrincipalKind::Agent).await;
    write(&stage, &other, chat).await.unwrap();
    stage.engine.remove_member(&stage.admin, "chat", "agent").await.unwrap();
    assert!(matches!(write(&stage, &agent, chat).await, Err(Error::NotFound(_))));
    let again = stage.engine.remove_member(&stage.admin, "chat", "agent").await;
    assert!(matches!(again, Err(Error::NotFound("member"))));
    for who in [&agent, &other] {
        let joined = stage.engine.add_member(who, "chat", "agent", PrincipalKind::Agent).await;
        assert!(matches!(joined, Err(Error::Denied(_))), "nobody lets themselves in");
    }
}

#[tokio::test]
async fn a_users_store_takes_a_chat_in_common_and_never_a_name_alone() {
    let stage = Stage::new().await;
    let agent = stage.somebody("agent").await;
    join(&stage, "chat", "person", PrincipalKind::User).await;
    let store = stage.engine.store_named(&agent, "person", Purpose::Write).await.unwrap().unwrap();
    assert!(matches!(write(&stage, &agent, store).await, Err(Error::NotFound(_))));
    join(&stage, "chat", "agent", PrincipalKind::Agent).await;
    write(&stage, &agent, store).await.unwrap();
    stage.engine.remove_member(&stage.admin, "chat", "person").await.unwrap();
    assert!(matches!(write(&stage, &agent, store).await, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn leaving_takes_back_what_was_given_because_of_it() {
    let stage = Stage::new().await;
    let agent = stage.somebody("agent").await;
    let (friend, friends_friend) = (stage.somebody("friend").await, stage.somebody("third").await);
    join(&stage, "chat", "agent", PrincipalKind::Agent).await;
    join(&stage, "chat", "person", PrincipalKind::User).await;
    let chat = stage.engine.store_named(&agent, "chat", Purpose::Write).await.unwrap().unwrap();
    let person = stage.engine.store_named(&agent, "person", Purpose::Write).await.unwrap().unwrap();
    for store in [chat, person] {
        stage.engine.share(&agent, store, to(&friend, Level::ReadWrite)).await.unwrap();
        stage.engine.share(&friend, store, to(&friends_friend, Level::Read)).await.unwrap();
    }
    join(&stage, "elsewhere", "agent", PrincipalKind::Agent).await;
    join(&stage, "elsewhere", "person", PrincipalKind::User).await;
    let gone = stage.engine.remove_member(&stage.admin, "chat", "agent").await.unwrap();
    assert_eq!(gone.len(), 2, "they still meet elsewhere, so the user's store stays shared");
    assert!(write(&stage, &friend, chat).await.is_err());
    write(&stage, &friend, person).await.unwrap();
    let gone = stage.engine.remove_member(&stage.admin, "elsewhere", "person").await.unwrap();
    assert_eq!(gone.len(), 2);
    assert!(write(&stage, &friend, person).await.is_err());
    assert!(stage.engine.store(&friends_friend, person).await.is_err());
}

#[tokio::test]
async fn names_of_groups_and_of_others_do_not_mix() {
    let stage = Stage::new().await;
    stage.somebody("agent").await;
    let add = async |group: &str, member: &str| {
        stage.engine.add_member(&stage.admin, group, member, PrincipalKind::Agent).await
    };
    assert!(matches!(add("agent", "x").await, Err(Error::Taken("name"))));
    add("chat", "agent").await.unwrap();
    assert!(add("other", "chat").await.is_err(), "a group is no member");
    assert_eq!(add("chat", "agent").await.unwrap(), add("chat", "agent").await.unwrap());
    let group = stage.engine.group(&stage.admin, "chat").await.unwrap();
    assert_eq!(group.members.len(), 1);
}

#[tokio::test]
async fn a_declared_group_has_the_declared_members() {
    let stage = Stage::new().await;
    let names = async || {
        let group = stage.engine.group(&stage.admin, "chat").await.unwrap();
        let mut names: Vec<_> = group.members.into_iter().map(|(who, _)| who.name).collect();
        names.sort();
        names
    };
    let declare = async |members: &[&str]| {
        let members: Vec<_> =
            members.iter().map(|name| ((*name).to_owned(), Some(PrincipalKind::Agent))).collect();
        stage.engine.declare_group(stage.start.workspace, "chat", &members).await.unwrap();
    };
    declare(&["a", "b"]).await;
    assert_eq!(names().await, ["a", "b"]);
    declare(&["b", "c"]).await;
    assert_eq!(names().await, ["b", "c"]);
}

#[tokio::test]
async fn who_was_only_shared_with_becomes_what_the_platform_says() {
    let stage = Stage::new().await;
    let agent = stage.somebody("agent").await;
    for name in ["room", "person", "declared", "boss", "kept"] {
        stage.engine.grantee(&agent, name).await.unwrap();
    }
    let sort =
        async |name: &str| stage.engine.find_principal(&stage.admin, name).await.unwrap().kind;
    join(&stage, "room", "person", PrincipalKind::User).await;
    assert_eq!(
        (sort("room").await, sort("person").await),
        (PrincipalKind::Group, PrincipalKind::User)
    );
    let members = [("kept".to_owned(), None)];
    stage.engine.declare_group(stage.start.workspace, "declared", &members).await.unwrap();
    assert_eq!(
        (sort("declared").await, sort("kept").await),
        (PrincipalKind::Group, PrincipalKind::Agent)
    );
    let boss = || NewPrincipal { kind: PrincipalKind::User, name: "boss".into(), is_admin: true };
    let made = stage.engine.declare_principal(stage.start.workspace, boss()).await.unwrap();
    assert!(made.is_admin && made.kind == PrincipalKind::User);
    assert_eq!(stage.engine.declare_principal(stage.start.workspace, boss()).await.unwrap(), made);
    // Who is somebody already stays what they are, and whoever says otherwise is told.
    for (member, kind) in [("agent", PrincipalKind::User), ("person", PrincipalKind::Agent)] {
        let joined = stage.engine.add_member(&stage.admin, "room", member, kind).await;
        assert!(matches!(joined, Err(Error::Taken("name"))), "{member}");
    }
    stage.engine.add_member(&stage.admin, "room", "person", None).await.unwrap();
    let events = stage.engine.events(&stage.admin, 0, 1000).await.unwrap();
    let recast = events.iter().filter(|event| event.kind == kind::PRINCIPAL_RECAST);
    assert_eq!(recast.count(), 4);
}

#[tokio::test]
async fn a_uuid_is_the_same_somebody_in_capitals() {
    let stage = Stage::new().await;
    let plain = "7f1d3c50-1111-4222-8333-0123456789ab";
    let loud = plain.to_uppercase();
    join(&stage, &loud, &loud.replace("7F", "8F"), PrincipalKind::Agent).await;
    join(&stage, plain, &plain.replace("7f", "8f"), PrincipalKind::Agent).await;
    let group = stage.engine.group(&stage.admin, plain).await.unwrap();
    assert_eq!((group.group.name.as_str(), group.members.len()), (plain, 1));
    let new = NewPrincipal { kind: PrincipalKind::Group, name: loud, is_admin: false };
    let declared = stage.engine.declare_principal(stage.start.workspace, new).await.unwrap();
    assert_eq!(declared.id, group.group.id);
}

#[tokio::test]
async fn nobody_is_named_by_what_cannot_be_seen() {
    let stage = Stage::new().await;
    for name in ["ad\u{200b}min", "\u{202e}nimda", "a\u{feff}", "a\u{2028}b"] {
        let made = stage.engine.grantee(&stage.admin, name).await;
        assert!(matches!(made, Err(Error::Invalid(_))), "{name:?}");
    }
    assert!(stage.engine.grantee(&stage.admin, "Zoë 日本").await.is_ok());
}

#[tokio::test]
async fn a_chat_is_granted_nothing() {
    let stage = Stage::new().await;
    join(&stage, "chat", "agent", PrincipalKind::Agent).await;
    let chat = stage.engine.find_principal(&stage.admin, "chat").await.unwrap().id;
    let store = stage.store("s").await.id;
    let grant =
        NewGrant { grantee: Grantee::Principal(chat), level: Level::Read, expires_at: None };
    let given = stage.engine.share(&stage.admin, store, grant).await;
    assert!(matches!(given, Err(Error::Invalid(invalid)) if invalid.field == "grantee"));
}
