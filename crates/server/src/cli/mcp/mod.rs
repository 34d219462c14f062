//! `loci mcp`: the Model Context Protocol over standard input and output, for programs that start
//! their servers themselves; and `loci mcp install`, which tells them to.
//!
//! It is a relay: each message becomes a request to `/mcp` of whoever has the memories, which may be
//! this very process. So any number of these work on one data directory, and tools, limits and rights
//! are those of every other door.

mod door;
mod events;
mod install;
mod listen;
mod message;
mod relay;

use super::reach::Origin;
use super::way::{Upkeep, Way};
use crate::exit::Failure;
use crate::mcp::{Profile, Profiles};
use clap::Subcommand;
use door::Door;
use install::InstallArgs;
use relay::Relay;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    /// Tools to offer; can be given several times [default: default]
    #[arg(long = "profile", value_name = "PROFILE", value_enum, value_delimiter = ',')]
    profiles: Vec<Profile>,
    #[command(subcommand)]
    pub(super) command: Option<McpCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Show how a program is told to use this memory, or tell it
    Install(InstallArgs),
}

impl McpArgs {
    fn profiles(&self) -> Option<Profiles> {
        (!self.profiles.is_empty()).then(|| Profiles::of(&self.profiles))
    }
}

/// Relays until standard input ends.
pub(super) async fn run(
    origin: Origin,
    key: Option<String>,
    args: &McpArgs,
) -> Result<(), Failure> {
    let way = Way::new(origin, Upkeep::Standing);
    // What cannot be opened at all is said at once and not by the first message.
    way.begin().await?;
    Relay::new(Door::new(way, key, args.profiles())).run().await
}

pub(super) use install::run as install;
