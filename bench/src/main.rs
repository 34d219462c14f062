//! Measures Loci against the ceiling of the same machine in the same run.
//!
//! Absolute figures of a shared virtual machine mean little, so every figure that counts is a
//! ratio: durable writes against the same rows put into SQLite by the shortest path, reads against
//! a bare axum echo of the same bytes, a large store against a small one, search against a raw FTS5
//! table and a raw scan, PostgreSQL against SQLite and pgbench and, with a large store, against a small
//! one, the last appends to a text against the first. Each pair is measured in alternation and the median ratio is kept.

#![allow(clippy::print_stdout, reason = "this program talks to a person at a terminal")]

mod append;
mod builds;
mod child;
mod echo;
mod fill;
mod freshness;
mod knowledge;
mod load;
mod measure;
mod mount;
mod plot;
mod postgres;
mod raw;
mod report;
mod samples;
mod scale;
mod search;

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// The server's own, so that what is compared with it allocates as fast.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs everything, or the parts named, and writes the report
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
        /// Only these parts
        #[arg(long, value_delimiter = ',')]
        only: Vec<measure::Part>,
        /// Alternations of each pair
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// Memories that are searched
        #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000])]
        sizes: Vec<u64>,
        /// Search a million memories too
        #[arg(long)]
        full: bool,
        /// Memories that are searched on PostgreSQL
        #[arg(long, default_value_t = 20_000)]
        filled: u64,
        /// Memories of the large store on PostgreSQL
        #[arg(long, default_value_t = 100_000)]
        scale: u64,
        /// Writes the page about search here, and its plot next to it
        #[arg(long)]
        report: Option<PathBuf>,
    },
    /// Times the questions and the conversations of an oracle's runtime; `LOCI_BIN` is the binary
    Knowledge {
        /// Messages the user sent before
        #[arg(long, default_value_t = 100_000)]
        memories: usize,
        /// How often each request is timed
        #[arg(long, default_value_t = 40)]
        rounds: usize,
    },
    /// Measures a mounted store beside the disk and a FUSE file system in memory
    Mount(mount::MountPlan),
    /// Measures two builds of the binary beside each other
    Builds(builds::BuildsPlan),
    /// Serves files in memory by FUSE; started by `mount`
    MemoryFiles {
        /// The mount point
        at: PathBuf,
    },
    /// Serves a bare echo; started by `run`
    Echo,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Echo => echo::serve(),
        Command::MemoryFiles { at } => mount::memory::serve(&at),
        Command::Builds(plan) => builds::run(&plan),
        Command::Mount(plan) => mount::run(&plan),
        Command::Knowledge { memories, rounds } => knowledge::run(memories, rounds),
        Command::Run {
            loci,
            out,
            large,
            seconds,
            only,
            rounds,
            mut sizes,
            full,
            filled,
            scale,
            report,
        } => {
            sizes.extend(full.then_some(1_000_000));
            sizes.sort_unstable();
            sizes.dedup();
            let plan = measure::Plan { loci, large, seconds, only, rounds, sizes, filled, scale };
            let figures = measure::run(&plan)?;
            if plan.wants_ratios() {
                report::write(&figures, &plan, &out)?;
                print!("{}", report::table(&figures));
            }
            print!("{}", search::page::tables(&figures));
            if let Some(postgres) = &figures.postgres {
                postgres::page::write(postgres, &plan, &out)?;
                print!("{}", postgres::page::tables(postgres));
            }
            if !figures.append.is_empty() {
                append::write_page(&figures.append, &plan, &out)?;
                print!("{}", append::table(&figures.append));
            }
            if !figures.scale.is_empty() {
                scale::write_page(&figures.scale, &plan, &out)?;
                print!("{}", scale::tables(&figures.scale));
            }
            match report {
                Some(file) => search::page::write(&figures, &plan, &file),
                None => Ok(()),
            }
        }
    }
}
