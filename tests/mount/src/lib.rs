//! Suites that hold a directory to what a file system promises, whatever serves it.
//!
//! Nothing here knows Loci: a suite is given a directory and says what went wrong in it. They are
//! proved on the file system of the machine (`tests/plain.rs`), which has to pass them all, and are
//! run on real mounts by the black-box tests. What Loci made of the same calls (versions, ids) is
//! asked through a [`Witness`], which a plain directory does not have.

mod person;
pub mod posix;
pub mod programs;
pub mod random;
pub mod sealed_off;
mod witness;

pub use person::Person;
pub use witness::{NoWitness, Witness};
