//! The foreign doors over the in-memory engine, one module for each: every line of its contract, and
//! what happens when several write at once. `golden` plays recorded transcripts, `crowd` puts a
//! hundred writers at every door of the real storage engine.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod crowd;
mod golden;
mod heavy;
mod kilroy;
mod mobius;
mod qiforge;
mod robutler_limits;
mod scoped;
mod tool;
