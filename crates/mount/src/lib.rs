//! Memory stores as real directories, by FUSE.
//!
//! What a program closes after writing becomes one version; what anybody else writes is seen within
//! moments, because the mount follows the stores' feeds. The mount knows inodes and error numbers;
//! what a store is and where it is kept is known behind the [`port`].
#![warn(missing_docs)]

pub mod port;

pub use port::Port;
