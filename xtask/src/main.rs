//! The project's own commands, run as `cargo xtask <command>`.
//!
//! Everything CI does is a command here, so that a person can do it too with nothing but cargo.
//! Each command is one module; this file only names them.

#![allow(clippy::print_stdout, reason = "this program talks to a person at a terminal")]
#![allow(clippy::disallowed_methods, reason = "the build environment is this program's input")]

mod bench;
mod check;
mod console;
mod postgres;
mod sdk;
mod server;
mod step;
mod tally;
mod test;
mod tidy;
mod tools;
mod venv;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Build, check and test Loci")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Format, lints, tidy, unit and contract tests
    Check,
    /// Everything `check` does, then the black-box tests, the SDK suites and the console in a browser
    Test,
    /// Measures durable writes, reads and lists against the machine's own ceiling
    Bench {
        /// Options of the measurement, after `--`
        #[arg(last = true)]
        options: Vec<String>,
    },
    /// Starts PostgreSQL servers for the tests, runs one command that can reach them, ends them
    Postgres {
        /// The command and its arguments, after `--`
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Rules about the source tree that the compiler does not check
    Tidy,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Check => check::run(&root()),
        Command::Test => test::run(&root()),
        Command::Bench { options } => bench::run(&root(), &options),
        Command::Postgres { command } => postgres::run(&root(), &command),
        Command::Tidy => tidy::run(&root()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace root: the folder above this crate's own.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder inside the workspace")
        .to_owned()
}
