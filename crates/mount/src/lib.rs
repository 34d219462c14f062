//! Memory stores as real directories, by FUSE.
//!
//! What a program closes after writing becomes one version; what anybody else writes is seen within
//! moments, because the mount follows the stores' feeds. The mount knows inodes and error numbers;
//! what a store is and where it is kept is known behind the [`port`].
#![warn(missing_docs)]

mod access;
mod ahead;
mod answers;
mod cache;
mod coming;
mod conflict;
mod content;
mod directories;
mod errno;
mod files;
mod follow;
mod glue;
mod heard;
mod history;
mod lanes;
mod loading;
mod marks;
mod mounting;
mod names;
mod node;
pub mod port;
mod processes;
mod readers;
mod remove;
mod rename;
mod rename_directory;
mod save;
mod settle;
mod table;
mod together;
mod tree;
mod volume;
mod xattr;

pub use mounting::{Mount, MountError, Options};
pub use names::{Lasting, lasting};
pub use port::Port;
pub use settle::Unsaved;
pub use table::{Mounted, detach, full, mounted};
