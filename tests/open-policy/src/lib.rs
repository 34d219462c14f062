//! The first lock taken off, so that the second can be seen to hold alone.
//!
//! Two things keep tenants apart before the database does: policy, which a feature of `loci-model`
//! opens for this package's tests, and the question policy is asked with, which never finds another
//! workspace's store. [`Unguarded`] answers that question for every store it was told of. What is
//! left is what the storage engine itself refuses.

mod unguarded;

pub use unguarded::Unguarded;
