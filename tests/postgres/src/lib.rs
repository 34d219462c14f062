//! PostgreSQL for the tests: a database of its own for each test, on a shared server.
//!
//! A test that only needs a database takes [`Database::fresh`]; a test that stops, kills or freezes
//! PostgreSQL starts a [`Postgres`] of its own.

mod database;

pub use database::Database;
pub use loci_test_postgres_server::{Account, Build, Postgres, Scratch, Settings};
