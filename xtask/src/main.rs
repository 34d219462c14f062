//! The project's own commands, run as `cargo xtask <command>`.
//!
//! Everything CI does is a command here, so that a person can do it too with nothing but cargo.
//! Each command is one module; this file only names them.

#![allow(clippy::print_stdout, reason = "this program talks to a person at a terminal")]
#![allow(clippy::disallowed_methods, reason = "the build environment is this program's input")]

mod bench;
mod check;
mod clients;
mod command;
mod environments;
mod pool;
mod postgres;
mod programs;
mod report;
mod server;
mod suites;
mod tally;
mod test;
mod tidy;
mod timings;
mod tools;

use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitCode};

use clap::{Parser, Subcommand};
use loci_test_kit::Tier;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Build, check and test Loci")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The inner loop: format, tidy, lints, unit and contract tests
    Check,
    /// Everything a submission needs: both engines, real clients, a browser, a mount
    Test {
        /// Full amounts, every client release on both engines, timing budgets
        #[arg(long)]
        deep: bool,
        /// Only suites and test programs whose names contain this; repeat for several
        #[arg(long, value_name = "TEXT")]
        only: Vec<String>,
    },
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
        Command::Test { deep, only } => {
            test::run(&root(), if deep { Tier::Deep } else { Tier::Test }, &only)
        }
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

/// The cargo that started us, in the workspace root.
fn cargo(root: &Path) -> Process {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Process::new(program);
    command.current_dir(root);
    command
}
