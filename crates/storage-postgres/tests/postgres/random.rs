//! Random histories on PostgreSQL, beside the oracle. Each history has a database of its own: numbers
//! of generations and what is due are shared by all tenants of one.

use crate::database::Scratch;
use async_trait::async_trait;
use loci_storage::Storage;
use loci_storage_contract::Harness;
use loci_storage_contract::random::{Durable, agree};
use std::sync::Arc;

struct Postgres;

#[async_trait]
impl Harness for Postgres {
    type Guard = Scratch;

    async fn fresh() -> (Arc<dyn Storage>, Scratch) {
        let scratch = Scratch::new().await;
        (Arc::new(scratch.open().await), scratch)
    }
}

#[async_trait]
impl Durable for Postgres {
    async fn reopen(scratch: &Scratch) -> Arc<dyn Storage> {
        Arc::new(scratch.open().await)
    }
}

#[test]
fn postgres_agrees_with_the_oracle() {
    agree::<Postgres>("postgres_histories", file!());
}
