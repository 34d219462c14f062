//! What tests of every crate share: how much a run does, its randomness, and a clock in its hand.
//!
//! The kit knows the model only, so that every crate can use it in its tests.

#![allow(clippy::disallowed_methods, reason = "the environment of a test run says what it does")]

mod amounts;
mod clock;
mod dice;
mod tier;

pub use amounts::{AMOUNTS, Amount, amount, amount_in, count, table};
pub use clock::HandClock;
pub use dice::{
    Dice, PROPERTY_CASES, PROPERTY_SEED, counting_bytes, named_seed, property_seed, seed_or,
};
pub use tier::{TIER_VARIABLE, Tier, budget, timing_budgets};
