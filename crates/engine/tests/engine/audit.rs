//! What is taken out, taken in, taken away or looked at with others' eyes is in the audit log.

use crate::stage::Stage;
use loci_engine::NewPrincipal;
use loci_model::{Edit, MemoryPath, PrincipalKind};
use tokio::sync::mpsc;

async fn kinds(stage: &Stage) -> Vec<String> {
    let events = stage.engine.events(&stage.admin, 0, 1000).await.unwrap();
    events.into_iter().map(|event| event.kind).collect()
}

#[tokio::test]
async fn what_leaves_and_what_goes_is_written_down() {
    let stage = Stage::new().await;
    let store = stage.store("notes").await.id;
    let put = |text: &str| Edit::put_text(MemoryPath::parse("/a").unwrap(), text);
    let first = stage.engine.commit_one(&stage.admin, store, put("one"), "api").await.unwrap();
    stage.engine.commit_one(&stage.admin, store, put("two"), "api").await.unwrap();
    let before = kinds(&stage).await.len();
    stage.engine.redact(&stage.admin, store, first.memory.head).await.unwrap();
    stage.engine.erase(&stage.admin, store, first.memory.id).await.unwrap();
    let (send, mut lines) = mpsc::channel(1000);
    stage.engine.export(&stage.admin, send).await.unwrap();
    let mut exported = Vec::new();
    while let Some(line) = lines.recv().await {
        exported.push(line);
    }
    stage.engine.import_lines(&stage.admin, exported).await.unwrap();
    let expected = ["version_redacted", "memory_erased", "exported", "imported"];
    assert_eq!(kinds(&stage).await[before..], expected);
}

#[tokio::test]
async fn looking_with_others_eyes_is_written_down_once_an_hour() {
    let stage = Stage::new().await;
    let new = NewPrincipal { kind: PrincipalKind::User, name: "ana".into(), is_admin: false };
    stage.engine.create_principal(&stage.admin, new).await.unwrap();
    let views = async || {
        let kinds = kinds(&stage).await;
        kinds.iter().filter(|kind| *kind == "viewed_as").count()
    };
    for _ in 0..3 {
        stage.engine.view_as(&stage.admin.caller, "ana").await.unwrap();
    }
    assert_eq!(views().await, 1);
    stage.pass_secs(3600);
    stage.engine.view_as(&stage.admin.caller, "ana").await.unwrap();
    assert_eq!(views().await, 2);
    stage.engine.view_as(&stage.admin.caller, "nobody").await.unwrap_err();
    assert_eq!(views().await, 2);
}
