//! The memory tool from outside: every documented string of both shapes, the path-safety list, and
//! what the tool makes of stores that several write, of seals, switches and refusals.
//!
//! `world` is the server the tables are played against: the tool's router over the in-memory
//! engine.

mod door;
mod native;
mod paths;
mod robutler;
mod safety;
mod shared;
mod world;
