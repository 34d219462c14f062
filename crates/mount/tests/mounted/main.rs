//! The mount on this machine's kernel, over a port in memory: what programs see, and what the server
//! has afterwards. Needs `/dev/fuse` and root, as the mount itself does.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod again;
mod appends;
mod begun;
mod crowd;
mod files;
mod large;
mod late;
mod made;
mod names;
mod others;
mod programs;
mod refused;
mod renamed;
mod saves;
mod shown;
mod unanswered;
