//! The Mobius door over the in-memory engine: every line of its contract.
//!
//! `world` is the server and its callers; the other files are what is asked of it.

mod access;
mod agents;
mod changes;
mod concurrent;
mod context;
mod doors;
mod entries;
mod listing;
mod meaning;
mod promotion;
mod refusals;
mod tools;
mod world;
