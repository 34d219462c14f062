//! The engine over the in-memory oracle, on a clock and dice of our own.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod audit;
mod briefs;
mod clock;
mod compaction;
mod console;
mod dump;
mod embedder;
mod erasure;
mod groups;
mod guard;
mod homes;
mod identity;
mod knowledge;
mod lifecycle;
mod listing_past;
mod places;
mod reading;
mod search;
mod search_access;
mod search_hygiene;
mod search_past;
mod search_query;
mod search_vectors;
mod sessions;
mod sharing;
mod stage;
mod transfer;
mod unseen;
