//! Several servers on one database are one Loci: whatever many callers ask of all of them at once,
//! what they are told could have happened one after the other, and did, in the order of the feed.

use crate::database::Scratch;
use loci_storage::Storage;
use loci_storage_contract::random::race;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread")]
async fn what_many_are_told_by_several_servers_has_an_order() {
    for seed in race::seeds("postgres_races") {
        let scratch = Scratch::new().await;
        let mut servers: Vec<Arc<dyn Storage>> = Vec::new();
        for _ in 0..2 + seed % 2 {
            servers.push(Arc::new(scratch.open().await));
        }
        race::run(&servers, seed).await;
    }
}
