//! Expiry, sweeping, idempotency and removal, as a caller sees them.

use crate::stage::{Stage, idempotent};
use loci_engine::{Error, NewStore};
use loci_model::query::{ListQuery, VersionQuery};
use loci_model::store::OnRemove;
use loci_model::{
    Actor, At, AttributesPatch, Content, Edit, EditOp, Expect, MemoryPath, OnSame, Operation,
    Patch, StorePolicy, Timestamp, VersionId, View,
};

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

fn expiring(at: &str, until: Timestamp) -> Edit {
    Edit {
        op: EditOp::Put {
            content: Some(Content::Text("soon gone".into())),
            to: None,
            attributes: AttributesPatch {
                expires_at: Patch::Set(Some(until)),
                ..AttributesPatch::default()
            },
        },
        ..Edit::put_text(path(at), "")
    }
}

fn history() -> VersionQuery {
    VersionQuery {
        memory: None,
        operation: None,
        actor: None,
        since: None,
        until: None,
        view: View::Basic,
        before_seq: None,
        limit: 100,
    }
}

#[tokio::test]
async fn what_has_expired_is_gone_at_once_and_recorded_by_the_sweeper() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let until = stage.engine.seams().now().plus_secs(10);
    let written =
        stage.engine.commit_one(&stage.admin, store, expiring("/a", until), "api").await.unwrap();
    let at = At::Id(written.memory.id);
    assert!(stage.engine.get(&stage.admin, store, &at, View::Basic).await.is_ok());
    stage.pass_secs(10);
    assert!(stage.engine.get(&stage.admin, store, &at, View::Basic).await.is_err());
    let report = stage.engine.sweep().await.unwrap();
    assert_eq!(report.expired, 1);
    let versions = stage.engine.versions(&stage.admin, store, &history()).await.unwrap().items;
    assert_eq!(versions[0].operation, Operation::Deleted);
    assert_eq!((versions[0].actor, versions[0].cause.reason.as_str()), (Actor::System, "expired"));
    assert_eq!(stage.engine.sweep().await.unwrap().expired, 0, "nothing left to do");
}

#[tokio::test]
async fn a_write_over_an_expired_memory_makes_a_new_one() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let until = stage.engine.seams().now().plus_secs(10);
    let old =
        stage.engine.commit_one(&stage.admin, store, expiring("/a", until), "api").await.unwrap();
    stage.pass_secs(10);
    let new = stage.put(store, "/a", "fresh").await;
    assert!(new.is_created());
    assert_ne!(old.memory.id, new.memory.id);
    let seqs: Vec<u64> = stage
        .engine
        .changes(&stage.admin, store, 0, 100)
        .await
        .unwrap()
        .changes
        .iter()
        .map(|change| change.seq)
        .collect();
    assert_eq!(seqs, [1, 2, 3]);
}

#[tokio::test]
async fn history_is_erased_when_the_store_says_so() {
    let stage = Stage::new().await;
    let policy =
        StorePolicy { on_remove: OnRemove::EraseAfter { secs: 100 }, ..StorePolicy::default() };
    let new = NewStore { name: "forgetful".into(), policy, ..NewStore::default() };
    let store = stage.engine.create_store(&stage.admin, new).await.unwrap().id;
    let written = stage.put(store, "/a", "x").await;
    let remove = Edit::remove(At::Id(written.memory.id), Expect::Anything);
    stage.engine.commit_one(&stage.admin, store, remove, "api").await.unwrap();
    assert_eq!(stage.engine.sweep().await.unwrap().erased, 0);
    stage.pass_secs(101);
    assert_eq!(stage.engine.sweep().await.unwrap().erased, 1);
    let versions = stage.engine.versions(&stage.admin, store, &history()).await.unwrap().items;
    assert!(versions.iter().all(|version| version.redaction.is_some() && version.path.is_none()));
}

#[tokio::test]
async fn a_repeated_request_has_one_effect() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let context = idempotent(&stage.admin, "once", 1);
    let edit = Edit { expect: Expect::Absent, ..Edit::put_text(path("/a"), "x") };
    let first = stage.engine.commit_one(&context, store, edit.clone(), "api").await.unwrap();
    let again = stage.engine.commit_one(&context, store, edit.clone(), "api").await.unwrap();
    assert_eq!(first, again);
    assert_eq!(stage.engine.stats(&stage.admin, store).await.unwrap().versions, 1);
    let other = idempotent(&stage.admin, "once", 2);
    let reused = stage.engine.commit_one(&other, store, edit, "api").await;
    assert!(matches!(reused, Err(Error::KeyReused)));
}

#[tokio::test]
async fn a_repeated_removal_of_a_store_answers_the_same() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/a", "x").await;
    let context = idempotent(&stage.admin, "remove", 1);
    assert_eq!(stage.engine.remove_store(&context, store).await.unwrap(), store);
    assert_eq!(stage.engine.remove_store(&context, store).await.unwrap(), store);
    let plain = stage.engine.remove_store(&stage.admin, store).await;
    assert!(matches!(plain, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn batches_are_bounded_and_atomic() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let put = |n: usize| Edit::put_text(path(&format!("/{n}")), "x");
    for count in [0, 101] {
        let edits = (0..count).map(put).collect();
        let refused = stage.engine.commit(&stage.admin, store, edits, "api").await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{count}");
    }
    let failing = vec![put(1), Edit { expect: Expect::Present, on_same: OnSame::Skip, ..put(2) }];
    assert!(stage.engine.commit(&stage.admin, store, failing, "api").await.is_err());
    let query = ListQuery::everything(View::Basic, 10);
    assert!(stage.engine.list(&stage.admin, store, &query).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn unknown_versions_and_heads_are_not_redacted() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let written = stage.put(store, "/a", "x").await;
    let head = stage.engine.redact(&stage.admin, store, written.memory.head).await;
    assert!(matches!(head, Err(Error::IsHead)));
    let unknown = stage.engine.redact(&stage.admin, store, VersionId::from_u128(5)).await;
    assert!(matches!(unknown, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn two_credentials_may_use_the_same_idempotency_key() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let (_, secret) = stage.key(crate::stage::full_key("second")).await;
    let second = stage.enter(&secret).await;
    for (context, at) in [(&stage.admin, "/a"), (&second, "/b")] {
        let context = idempotent(context, "1", 1);
        let edit = Edit { expect: Expect::Absent, ..Edit::put_text(path(at), "x") };
        assert!(stage.engine.commit_one(&context, store, edit, "api").await.unwrap().is_created());
    }
}

#[tokio::test]
async fn a_repeated_session_is_the_first_one_whatever_happened_to_its_store() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let context = idempotent(&stage.admin, "session", 1);
    let make = || loci_engine::NewSession {
        title: None,
        metadata: Default::default(),
        agent_id: "agent".into(),
        agent_version: 1,
        details: "{}".into(),
        attachments: vec![loci_engine::NewAttachment {
            store,
            access: loci_model::Access::ReadOnly,
            instructions: None,
        }],
    };
    let first = stage.engine.create_session(&context, make()).await.unwrap();
    stage.engine.archive_store(&stage.admin, store).await.unwrap();
    assert_eq!(stage.engine.create_session(&context, make()).await.unwrap(), first);
}
