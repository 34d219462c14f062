//! The cost of statements in a large store, for the role that servers work as. Row security changes
//! plans: a condition that calls a function which is not leakproof may not use an index, so that a
//! statement which is quick for the owner of the tables reads a whole store for a server. Minor
//! releases of PostgreSQL differ in what they take for such a condition.

mod operations;
mod statements;

use loci_storage_contract::fixture::{START, World};
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

/// A connection as the superuser.
async fn owner(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Gives the store of a world, which is empty, so many memories.
async fn fill(owner: &Client, world: &World, count: u64) {
    run(owner, world, count, include_str!("fill.sql")).await;
}

/// Gives the workspace of a world so many rows of the tables beside those of a store.
async fn fill_others(owner: &Client, world: &World, count: u64) {
    run(owner, world, count, include_str!("others.sql")).await;
}

async fn run(owner: &Client, world: &World, count: u64, script: &str) {
    let id = |bytes| format!("'{}'::uuid", Uuid::from_bytes(bytes));
    let sql = script
        .replace(":store", &id(world.store.to_bytes()))
        .replace(":workspace", &id(world.workspace.to_bytes()))
        .replace(":owner", &id(world.owner.to_bytes()))
        .replace(":start", &START.to_string())
        .replace(":count", &count.to_string());
    owner.batch_execute(&sql).await.unwrap();
}
