//! Measures Loci against the ceiling of the same machine in the same run.
//!
//! Absolute figures of a shared virtual machine mean little, so every figure that counts is a
//! ratio: durable writes against the same rows put into SQLite by the shortest path, reads against
//! a bare axum echo of the same bytes, a large store against a small one. Each pair is measured in
//! alternation and the median ratio is kept.

#![allow(clippy::print_stdout, reason = "this program talks to a person at a terminal")]

mod child;
mod echo;
mod fill;
mod load;
mod measure;
mod plot;
mod raw;
mod report;

use clap::{Parser, Subcommand};
use std::path::PathBuf;

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs everything and writes the report
    Run {
        /// The loci binary to measure
        #[arg(long)]
        loci: PathBuf,
        /// Where the table and the plot go
        #[arg(long)]
        out: PathBuf,
        /// Memories in the large store
        #[arg(long, default_value_t = 1_000_000)]
        large: u64,
        /// Seconds of each measurement
        #[arg(long, default_value_t = 3.0)]
        seconds: f64,
        /// Only this part: writes, reads or growth
        #[arg(long)]
        only: Option<measure::Part>,
        /// Alternations of each pair
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Serves a bare echo; started by `run`
    Echo,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Echo => echo::serve(),
        Command::Run { loci, out, large, seconds, only, rounds } => {
            let plan = measure::Plan { loci, large, seconds, only, rounds };
            let figures = measure::run(&plan)?;
            report::write(&figures, &plan, &out)?;
            print!("{}", report::table(&figures));
            Ok(())
        }
    }
}
