//! The harness of the black-box tests: the real `loci` binary as a child process, a plain HTTP/1.1
//! client, and ways to mistreat both.
//!
//! Nothing here calls the product. What a test knows about the server it learned over a socket,
//! from the data directory, or from what the process printed.

#![allow(clippy::disallowed_methods, reason = "the tests' environment says which binary to run")]

mod api;
mod bytes;
mod client;
mod cluster;
mod cluster_caller;
mod cluster_fleet;
mod command;
mod endpoint;
mod facts;
mod history;
mod history_feed;
mod history_moments;
pub mod mcp;
mod model;
mod mounted;
mod running;
pub mod schema;
mod search;
mod server;
pub mod ucan;

pub use api::{Api, Memory, error_type, sha256};
pub use bytes::{Needles, hits_in, hits_in_dir};
pub use client::{Client, Reply};
pub use cluster::Cluster;
pub use cluster_caller::{Answer, Caller};
pub use cluster_fleet::Fleet;
pub use command::{Finished, Loci};
pub use endpoint::Endpoint;
pub use facts::{FACTS, crowd};
pub use history::{Asked, Call, Told, faults};
pub use history_feed::{Entry, Operation};
pub use loci_test_kit::{Dice, amount, budget, count, seed_or, timing_budgets};
pub use model::{Heard, Model, Say};
pub use mounted::Mounted;
pub use running::{Running, eventually};
pub use search::ids;
pub use server::{ADMIN_KEY, Server, Setup, binary};
