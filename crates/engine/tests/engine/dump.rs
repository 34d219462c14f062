//! Export and import: what comes out goes in, and comes out again the same.

use crate::stage::Stage;
use loci_engine::{Context, Engine, NewGrant, Purpose};
use loci_model::event::kind;
use loci_model::store::{PolicyPatch, Repeats};
use loci_model::{
    At, AttributesPatch, Content, Edit, EditOp, Expect, Grantee, Level, MemoryPath, Patch,
    Visibility,
};

async fn export(engine: &Engine, context: &Context) -> Vec<String> {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(4);
    let (engine, context) = (engine.clone(), context.clone());
    let task = tokio::spawn(async move { engine.export(&context, sender).await });
    let mut lines = Vec::new();
    while let Some(line) = receiver.recv().await {
        lines.push(line);
    }
    task.await.unwrap().unwrap();
    lines
}

async fn furnished() -> Stage {
    let stage = Stage::new().await;
    let store = stage.store("first").await.id;
    let agent = stage.somebody("agent").await;
    let grantee = Grantee::Principal(agent.caller.principal);
    let grant = NewGrant { grantee, level: Level::ReadWrite, expires_at: None };
    stage.engine.share(&stage.admin, store, grant).await.unwrap();
    let kept = stage.put(store, "/kept", "one").await;
    stage.put(store, "/kept", "two").await;
    stage.engine.redact(&stage.admin, store, kept.memory.head).await.unwrap();
    let edit = Edit {
        op: EditOp::Put {
            content: Some(Content::Sealed(vec![0, 255, 7])),
            to: None,
            attributes: AttributesPatch {
                tags: Patch::Set(vec!["a".into(), "b".into()]),
                visibility: Patch::Set(Visibility::Internal),
                metadata: Patch::Set(Some("{\"n\": 1}".into())),
                ..AttributesPatch::default()
            },
        },
        ..Edit::put_text(MemoryPath::parse("/sealed").unwrap(), "")
    };
    stage.engine.commit_one(&agent, store, edit, "api").await.unwrap();
    let gone = stage.put(store, "/gone", "x").await;
    let remove = Edit::remove(At::Id(gone.memory.id), Expect::Anything);
    stage.engine.commit_one(&stage.admin, store, remove, "api").await.unwrap();
    let erased = stage.put(store, "/erased", "y").await;
    stage.engine.erase(&stage.admin, store, erased.memory.id).await.unwrap();
    let second = stage.store("second").await.id;
    stage.put(second, "/a/b", "text").await;
    stage.engine.archive_store(&stage.admin, second).await.unwrap();
    stage
}

#[tokio::test]
async fn an_import_exports_the_same_bytes() {
    let source = furnished().await;
    let lines = export(&source.engine, &source.admin).await;
    assert!(lines.len() > 12 && lines.iter().all(|line| line.ends_with('\n')));
    let target = Stage::new().await;
    for chunk in lines.chunks(5) {
        target.engine.import_lines(&target.admin, chunk.to_vec()).await.unwrap();
    }
    assert_eq!(export(&target.engine, &target.admin).await, lines);
    let again = target.engine.import_lines(&target.admin, lines).await.unwrap();
    assert_eq!(again, 0, "a second import adds nothing");
}

#[tokio::test]
async fn what_becomes_of_repeats_is_carried_over() {
    let source = Stage::new().await;
    for (name, repeats) in
        [("allow", Repeats::Allow), ("refuse", Repeats::Refuse), ("merge", Repeats::Merge)]
    {
        let store = source.store(name).await.id;
        source.engine.set_policy(&source.admin, store, repeats.into()).await.unwrap();
    }
    let lines = export(&source.engine, &source.admin).await;
    let target = Stage::new().await;
    target.engine.import_lines(&target.admin, lines.clone()).await.unwrap();
    assert_eq!(export(&target.engine, &target.admin).await, lines);
}

#[tokio::test]
async fn groups_homes_and_switches_are_carried_over() {
    let source = Stage::new().await;
    let agent = source.somebody("agent").await;
    let user = loci_model::PrincipalKind::User;
    source
        .engine
        .add_member(&source.admin, "chat", "agent", loci_model::PrincipalKind::Agent)
        .await
        .unwrap();
    source.engine.add_member(&source.admin, "chat", "person", user).await.unwrap();
    let off = loci_model::MemorySwitches { users: false, ..Default::default() };
    source.engine.switch_memory(&source.admin, agent.caller.principal, off).await.unwrap();
    for whose in ["agent", "chat"] {
        let home = source.engine.store_named(&agent, whose, Purpose::Write).await.unwrap().unwrap();
        let edit = Edit::put_text(MemoryPath::parse("/k").unwrap(), whose);
        source.engine.commit_one(&agent, home, edit, "api").await.unwrap();
    }
    source.engine.callers_store(&agent, Purpose::Write).await.unwrap();
    let lines = export(&source.engine, &source.admin).await;
    let target = Stage::new().await;
    target.somebody("somebody who changes all ids").await;
    target.engine.import_lines(&target.admin, lines.clone()).await.unwrap();
    let again: Vec<String> = export(&target.engine, &target.admin).await;
    let others = |line: &&String| !line.contains("somebody who changes all ids");
    assert_eq!(again.iter().filter(others).collect::<Vec<_>>(), lines.iter().collect::<Vec<_>>());
    assert_eq!(target.engine.import_lines(&target.admin, lines).await.unwrap(), 0);
    let there = target.engine.named(&target.admin, "agent").await.unwrap().unwrap();
    assert_eq!(there.memory, off);
    let members = target.engine.group(&target.admin, "chat").await.unwrap().members;
    assert_eq!(members.len(), 2);
}

#[tokio::test]
async fn a_home_that_is_taken_stays_and_the_other_comes_without_its_address() {
    let source = Stage::new().await;
    let agent = source.somebody("agent").await;
    let home = source.engine.store_named(&agent, "agent", Purpose::Write).await.unwrap().unwrap();
    let edit = Edit::put_text(MemoryPath::parse("/k").unwrap(), "from elsewhere");
    source.engine.commit_one(&agent, home, edit, "api").await.unwrap();
    let lines = export(&source.engine, &source.admin).await;
    let target = Stage::new().await;
    target.somebody("somebody who changes all ids").await;
    let there = target.somebody("agent").await;
    let own = target.engine.store_named(&there, "agent", Purpose::Write).await.unwrap();
    target.pass_secs(1);
    for _ in 0..2 {
        target.engine.import_lines(&target.admin, lines.clone()).await.unwrap();
    }
    assert_eq!(target.engine.store_named(&there, "agent", Purpose::Write).await.unwrap(), own);
    let kept = target.engine.store(&there, home).await.unwrap();
    assert_eq!((kept.address, kept.owner), (None, there.caller.principal));
}

/// The first format did not say what becomes of repeats: nothing did.
#[tokio::test]
async fn an_export_of_the_first_format_is_read() {
    let source = furnished().await;
    let lines = export(&source.engine, &source.admin).await;
    let is_changed = |(old, new): (&String, &String)| old != new;
    let old: Vec<String> = lines
        .iter()
        .map(|line| line.replace("\"format\":4", "\"format\":1"))
        .map(|line| line.replace(",\"repeats\":\"allow\"", ""))
        .collect();
    assert_eq!(lines.iter().zip(&old).filter(|pair| is_changed(*pair)).count(), 3);
    let target = Stage::new().await;
    target.engine.import_lines(&target.admin, old).await.unwrap();
    assert_eq!(export(&target.engine, &target.admin).await, lines);
}

/// Homes in exports before format 4 have a cap that nobody chose; one that somebody chose since stays.
#[tokio::test]
async fn caps_that_nobody_chose_are_not_brought_back() {
    let source = Stage::new().await;
    let caps = [("given", Some(1000)), ("chosen", Some(900)), ("none", None)];
    for (name, cap) in caps {
        let agent = source.somebody(name).await;
        let home = source.engine.store_named(&agent, name, Purpose::Write).await.unwrap().unwrap();
        let patch = PolicyPatch::soft_cap(cap);
        source.engine.set_policy(&source.admin, home, patch).await.unwrap();
    }
    let lines = export(&source.engine, &source.admin).await;
    let old: Vec<String> =
        lines.iter().map(|line| line.replace("\"format\":4", "\"format\":3")).collect();
    for (lines, given) in [(lines, Some(1000)), (old, None)] {
        let target = Stage::new().await;
        let mut import = target.engine.import(&target.admin).unwrap();
        for chunk in lines.chunks(2) {
            let chunk = chunk.to_vec();
            target.engine.import_more(&target.admin, &mut import, chunk).await.unwrap();
        }
        for (name, cap) in caps {
            let home = target.engine.store_named(&target.admin, name, Purpose::Read).await;
            let home = target.engine.store(&target.admin, home.unwrap().unwrap()).await.unwrap();
            let expected = if name == "given" { given } else { cap };
            assert_eq!(home.policy.soft_cap, expected, "{name}");
        }
        let events = target.engine.events(&target.admin, 0, 1000).await.unwrap();
        let imported = events.iter().filter(|event| event.kind == kind::IMPORTED).count();
        assert_eq!(imported, 1, "one import, however many pieces it came in");
    }
}

#[tokio::test]
async fn damaged_lines_are_refused() {
    let source = furnished().await;
    let lines = export(&source.engine, &source.admin).await;
    let target = Stage::new().await;
    let refuse = |line: String| {
        let target = &target;
        async move { target.engine.import_lines(&target.admin, vec![line]).await.unwrap_err() }
    };
    refuse("{\"type\":\"loci_export\",\"format\":99}".into()).await;
    refuse("not json".into()).await;
    let version = lines.iter().find(|line| line.contains("\"text\":\"two\"")).unwrap();
    let error = refuse(version.replace("\"text\":\"two\"", "\"text\":\"six\"")).await;
    assert!(error.to_string().contains("sha256"), "{error}");
}

#[tokio::test]
async fn only_administrators_export() {
    let stage = furnished().await;
    let agent = stage.somebody("other").await;
    let (sender, _receiver) = tokio::sync::mpsc::channel(1);
    assert!(stage.engine.export(&agent, sender).await.is_err());
    assert!(stage.engine.import_lines(&agent, vec![]).await.is_err());
}
