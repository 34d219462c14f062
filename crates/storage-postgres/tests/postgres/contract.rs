//! The contract suite on PostgreSQL, unchanged. Each case gets a database of its own, copied from one
//! that was opened once, so that only the first case pays for making the schema.

use crate::database::Scratch;
use async_trait::async_trait;
use loci_storage::Storage;
use loci_storage_contract::Harness;
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

loci_storage_contract::contract_tests!(Postgres);
