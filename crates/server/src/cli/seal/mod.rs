//! Sealing: content is encrypted in this process before it goes anywhere, and opened in this process
//! after it came back. What holds the memories, be it a server or this process's own storage, gets
//! ciphertext and never a key.
//!
//! The format is [age](https://age-encryption.org), so that what is sealed here opens elsewhere and
//! the other way around.

mod args;
mod keygen;
mod keys;
mod lock;
mod unlock;
mod wire;

pub(super) use args::{OpenArgs, SealArgs, SealCommand};
pub(super) use keygen::run;
pub(super) use lock::Lock;
pub(super) use unlock::Unlock;
pub(super) use wire::{fetch, write};
