//! Being in a group: what it opens, and that leaving closes it, with everything given on.

use crate::stage::Stage;
use loci_engine::{Context, Error, NewGrant, Purpose};
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
            members.iter().map(|name| ((*name).to_owned(), PrincipalKind::Agent)).collect();
        stage.engine.declare_group(stage.start.workspace, "chat", &members).await.unwrap();
    };
    declare(&["a", "b"]).await;
    assert_eq!(names().await, ["a", "b"]);
    declare(&["b", "c"]).await;
    assert_eq!(names().await, ["b", "c"]);
}
