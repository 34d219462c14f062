//! The nouns of Loci, their ids, limits and rules. No IO, no async, no wire formats.
//!
//! Everything a memory server must agree on with itself lives here: what a path is, what an edit
//! means, who may do what. Constructors return [`Invalid`]; the two decision functions
//! ([`policy`] and [`decide`]) return refusals as plain values. Nothing else can fail.
#![warn(missing_docs)]

pub mod actor;
pub mod address;
pub mod attributes;
pub mod caller;
pub mod change;
pub mod compact;
pub mod content;
pub mod decide;
pub mod edit;
pub mod event;
pub mod grant;
pub mod id;
mod invalid;
pub mod key;
pub mod limit;
pub mod membership;
pub mod memory;
pub mod page;
pub mod path;
pub mod policy;
pub mod principal;
pub mod query;
pub mod session;
pub mod store;
pub mod time;
pub mod version;

pub use actor::Actor;
pub use address::Address;
pub use attributes::{Attributes, AttributesPatch, Patch, Visibility};
pub use caller::{Audience, Caller, SessionUser};
pub use change::{Change, ChangeOp};
pub use content::{Content, Digest, Hash};
pub use edit::{At, Cause, Edit, EditOp, Expect, OnSame};
pub use event::{Event, Happening};
pub use grant::{Grant, Grantee, Level};
pub use id::*;
pub use invalid::Invalid;
pub use key::{ApiKey, KeyScope, Power};
pub use membership::Membership;
pub use memory::{Memory, Outcome, View};
pub use page::Page;
pub use path::{MemoryPath, PathPrefix};
pub use principal::{MemorySwitches, Principal, PrincipalKind};
pub use session::{Access, Attachment, Session};
pub use store::{Store, StorePatch, StorePolicy};
pub use time::Timestamp;
pub use version::{Operation, Version};
