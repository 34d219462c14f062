//! Real PostgreSQL servers for tests and measurements: started on a free port of the loopback
//! address in a temporary directory, as an account without privileges, and removed afterwards.
//!
//! Two builds: the floor, the oldest PostgreSQL Loci supports, without pgvector; and the current
//! one, with pgvector. `cargo xtask` installs both, runs one shared server of each, and says where
//! they are through the variables of [`Build`]. Whatever starts here also ends when the process that
//! started it is killed, see [`Scratch`].
//!
//! This crate speaks no SQL, so that `cargo xtask`, which every command builds first, needs neither
//! a client of PostgreSQL nor an async runtime.

#![allow(clippy::disallowed_methods, reason = "the environment says where PostgreSQL is")]

mod account;
mod build;
mod memory;
mod port;
mod process;
mod scratch;
mod server;
mod settings;

pub use account::Account;
pub use build::Build;
pub use scratch::Scratch;
pub use server::Postgres;
pub use settings::Settings;
