//! The engine over the in-memory oracle, on a clock and dice of our own.

mod dump;
mod identity;
mod lifecycle;
mod sessions;
mod sharing;
mod stage;
