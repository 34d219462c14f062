//! Many at once: each save is a version of its own.

use crate::mobius::world::{B, World};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn saves_at_once_are_as_many_versions() {
    let world = Arc::new(World::new().await);
    let mut saving = JoinSet::new();
    for number in 0..32 {
        let world = Arc::clone(&world);
        saving.spawn(async move {
            let body = json!({"content": format!("text {number}")});
            world.put(&format!("{B}/ada"), "k", body).await
        });
    }
    let replies = saving.join_all().await;
    let versions: BTreeSet<u64> =
        replies.iter().map(|reply| reply.body["version"].as_u64().unwrap()).collect();
    assert_eq!(versions, (1..=32).collect());
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1);
    let ids: BTreeSet<&str> =
        replies.iter().map(|reply| reply.body["entry_id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 1);
}
