//! The engine over the in-memory oracle, on a clock and dice of our own.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod dump;
mod identity;
mod lifecycle;
mod sessions;
mod sharing;
mod stage;
