//! The front doors that speak somebody else's wire format over the one engine.
//!
//! A dialect translates: it reads a request into the engine's words, calls the engine once or twice,
//! and writes the answer in its own words. It never touches storage, decides no access and keeps
//! nothing between requests, so whatever is written through one door is seen through the others.

pub mod anthropic;
pub mod kilroy;
pub mod mobius;
pub mod qiforge;
pub mod robutler;
pub mod tool;

mod key;
mod reach;
mod sharing;
mod size;
