//! The verifier from outside: recorded tokens, and chains of our own making.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod chains;
mod vectors;
