//! The Model Context Protocol: what models and their programs get of Loci, and how it reaches them.
//!
//! Tools come in sets ([`ToolSet`]); a server is made of any number of them, with memories as
//! resources and with prompts or without ([`Offer`]). [`Endpoint`] speaks the protocol over HTTP, in
//! every version from 2024-11-05 to 2026-07-28, and keeps nothing between two requests. The library
//! that knows the protocol stays behind one private module (`transport`): none of its types is part
//! of what this crate offers.
#![warn(missing_docs)]

mod admin;
mod arguments;
mod budget;
mod cursor;
mod memory;
mod place;
mod prompts;
mod resources;
mod seam;
mod transport;
mod trouble;

pub use admin::AdminTools;
pub use memory::MemoryTools;
pub use prompts::{INSTRUCTIONS, Prompt, PromptArgument, prompts};
pub use resources::Library;
pub use seam::{Asked, Effect, Outcome, ToolDefinition, ToolSet};
pub use transport::{Answer, Endpoint, EndpointOptions, Offer, RELAYED};
