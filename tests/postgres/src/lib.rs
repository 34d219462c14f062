//! Real PostgreSQL servers for tests and measurements: started on a free port of the loopback
//! address in a temporary directory, as an account without privileges, and removed afterwards.
//!
//! Two builds: the floor, the oldest PostgreSQL Loci supports, without pgvector; and the current
//! one, with pgvector. `cargo xtask` installs both, runs one shared server of each, and says where
//! they are through the variables of [`Build`]. A test that only needs a database takes
//! [`Database::fresh`] on the shared server; a test that stops, kills or freezes PostgreSQL starts
//! a [`Postgres`] of its own. Whatever starts here also ends when the process that started it is
//! killed, see [`Scratch`].

#![allow(clippy::disallowed_methods, reason = "the environment says where PostgreSQL is")]

mod account;
mod build;
mod database;
mod memory;
mod port;
mod process;
mod scratch;
mod server;
mod settings;

pub use account::Account;
pub use build::Build;
pub use database::Database;
pub use scratch::Scratch;
pub use server::Postgres;
pub use settings::Settings;
