//! The `loci` binary: a memory server for AI agents and the command line that goes with it.
//!
//! This crate reads configuration and environment, puts the others together, and ends with a code.
//! It decides nothing about memories.

mod background;
mod cli;
mod config;
mod declare;
mod document;
mod endpoint;
mod exit;
mod extraction;
mod hand_over;
mod held;
mod holder;
mod log;
mod mcp;
mod open_files;
mod oracles;
mod patience;
mod place;
mod resolver;
mod searching;
mod serve;
mod signals;
mod socket;
mod summaries;
mod wire;

use clap::Parser;
use cli::{Args, Command};
use exit::Failure;
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, setrlimit, umask};
use std::process::ExitCode;
use tracing::level_filters::LevelFilter;

/// Every request makes and drops some dozens of small things; this allocator does that with fewer
/// instructions than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                cli::say(&failure.message);
            }
            failure.code()
        }
    }
}

fn run(args: Args) -> Result<(), Failure> {
    keep_private();
    open_files::raise_limit();
    let level = match args.command {
        Command::Serve(_) => LevelFilter::INFO,
        // Programs that use the directory hear a number only; why is said here.
        Command::Mount(_) | Command::Sync(_) => LevelFilter::WARN,
        _ => LevelFilter::ERROR,
    };
    let _log = log::start(level)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::io("cannot start", &error))?;
    let done = runtime.block_on(Box::pin(cli::run(args)));
    // What is written is written. A text that is being embedded is embedded by the next start; it
    // may be long, and nobody waits for it here.
    runtime.shutdown_background();
    done
}

/// Files of ours are nobody else's, and memory never lands in a core file.
fn keep_private() {
    umask(Mode::from_raw_mode(0o077));
    // Where the system does not let us, it has decided about core files itself.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
}
