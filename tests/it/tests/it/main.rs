//! Black-box tests: every promise of the README, tried on the real binary.
//!
//! One test program with one module per promise. Each test starts its own server on its own data
//! directory, so they run side by side and in any order.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends here, with a backtrace")]

mod bad_input;
mod cli;
mod crash;
mod disk_full;
mod doors;
mod failing_disk;
mod keys;
mod naughty;
mod race;
mod redact;
mod shutdown;
mod slow;
mod upgrade;
