//! The routes as a client finds them, over storage in memory: one program, because what takes long is
//! linking it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends here")]

mod common;
mod console;
mod document;
mod entries;
mod gate;
mod heavy;
mod looking;
mod native;
mod sealed;
mod search;
mod serve;
mod sharing;
mod whole;
