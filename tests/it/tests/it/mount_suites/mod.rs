//! Promise: a mounted store is a directory like any other, and what is written to it is versioned as
//! by any other way. The suites of `tests/mount` on real mounts, and what only a store can be asked.

mod access;
mod appends;
mod attributes;
mod coherence;
mod conflict;
mod large;
mod posix;
mod programs;
mod random;
mod read_only;
mod refusals;
mod remount;
mod scene;
mod two_mounts;
