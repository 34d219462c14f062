//! Caller-scoped memory over the in-memory engine: every line of its contract, and what happens when
//! several write at once.
//!
//! `world` is the server and its callers; the other files are what is asked of it.

mod concurrent;
mod doors;
mod identity;
mod notes;
mod refusals;
mod sync;
mod world;
