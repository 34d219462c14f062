//! The embedders from outside: the built-in model against reference vectors and ids made without
//! any of our code, and the HTTP client against a server that misbehaves in every way we know.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

#[cfg(feature = "builtin-model")]
mod builtin;
mod http;
