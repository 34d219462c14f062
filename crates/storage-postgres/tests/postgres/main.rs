//! PostgreSQL as storage, on real servers: one program, because what takes long is linking it.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod clock;
mod contract;
mod database;
mod import;
mod in_place;
mod known;
mod migrate;
mod plans;
mod random;
mod reads;
mod row_security;
mod second_lock;
mod sharing;
mod shortlist;
mod tls;
mod two_servers;
mod vectors;
