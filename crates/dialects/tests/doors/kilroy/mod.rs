//! The Kilroy door over the in-memory engine: every line of its contract, and what happens when
//! several write at once.
//!
//! `world` is the server and its callers; the other files are what is asked of it.

mod access;
mod bad_input;
mod changing;
mod concurrent;
mod doors;
mod envelope;
mod reading;
mod searching;
mod world;
