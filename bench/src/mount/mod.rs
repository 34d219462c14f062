//! A mounted store beside a directory of the disk and beside the least a FUSE file system can do, in
//! one run and in alternation: small files made, read, listed and searched through by `grep -r`.
//!
//! Creating is bounded twice: by FUSE, and by the disk, to which every close is durable. So the rows
//! of the same memories put into SQLite by the shortest path are measured too, with as many waiting;
//! one file after another also over HTTP, and while vectors are made ([`sequential`]).

pub(crate) mod memory;
mod page;
mod places;
mod sequential;
mod works;

use std::path::PathBuf;

use anyhow::{Context, ensure};

use crate::fill;
use crate::raw;
use crate::samples::Rate;
use places::{Place, Way};

/// How much to do.
#[derive(clap::Args)]
pub(crate) struct MountPlan {
    /// The loci binary to measure
    #[arg(long)]
    loci: PathBuf,
    /// Memories that are read, listed and searched through
    #[arg(long, default_value_t = 10_000)]
    files: u64,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Alternations
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Writers at once, where there are several
    #[arg(long, default_value_t = 200)]
    writers: u64,
    /// Writes the page here
    #[arg(long)]
    report: Option<PathBuf>,
}

/// One sort of work in all places, of the round with the median ratio to the file system in memory.
struct Line {
    work: String,
    disk: Rate,
    memory: Rate,
    mounted: Rate,
    /// The rows alone, for what is written.
    rows: Option<Rate>,
    /// The least share of the file system in memory that is wanted.
    at_least: Option<f64>,
}

impl Line {
    fn share(&self) -> f64 {
        self.mounted.per_second / self.memory.per_second
    }
}

pub(crate) fn run(plan: &MountPlan) -> anyhow::Result<()> {
    ensure!(plan.rounds > 0 && plan.files > 0 && plan.writers > 0, "nothing to do");
    let scratch = tempfile::tempdir()?;
    let places = [
        Place::disk(scratch.path())?,
        Place::memory(scratch.path())?,
        Place::mounted(&plan.loci, scratch.path(), Way::Directory, false)?,
    ];
    println!("{} files in each place", plan.files);
    for place in &places {
        works::plant(&place.at, plan.files, plan.writers)?;
    }
    let (files, seconds) = (plan.files, plan.seconds);
    let mut lines = Vec::new();
    for (writers, at_least) in [(1, None), (plan.writers, Some(0.4))] {
        let name = format!("create, {writers} at once");
        let rows = scratch.path().join(format!("rows-{writers}"));
        std::fs::create_dir(&rows)?;
        let mut line = compare(plan, &places, &name, at_least, |place, round| {
            works::create(&place.at, &format!("made-{writers}-{round}"), writers, seconds)
        })?;
        line.rows = Some(raw::run(&rows, usize::try_from(writers)?, seconds, fill::text)?);
        lines.push(line);
    }
    lines.push(compare(plan, &places, "read", Some(0.6), |place, _| {
        works::read(&place.at, files, seconds)
    })?);
    lines.push(compare(plan, &places, "list with attributes", None, |place, _| {
        works::list(&place.at, files, seconds)
    })?);
    lines.push(compare(plan, &places, "grep -r", None, |place, _| {
        works::grep(&place.at, files, seconds)
    })?);
    drop(places);
    let sequential = sequential::run(plan, scratch.path())?;
    print!("{}\n{}", page::table(&lines), sequential::table(&sequential));
    match &plan.report {
        Some(file) => page::write(&lines, &sequential, plan, file),
        None => Ok(()),
    }
}

/// Does one work in every place, over and over, and keeps the median round.
fn compare(
    plan: &MountPlan,
    places: &[Place; 3],
    work: &str,
    at_least: Option<f64>,
    measure: impl Fn(&Place, usize) -> anyhow::Result<Rate>,
) -> anyhow::Result<Line> {
    println!("{work}");
    let mut rounds = Vec::new();
    for round in 0..plan.rounds {
        let [disk, memory, mounted] = places;
        let line = Line {
            work: work.to_owned(),
            disk: measure(disk, round)?,
            memory: measure(memory, round)?,
            mounted: measure(mounted, round)?,
            rows: None,
            at_least,
        };
        println!("  {:.2} of the file system in memory", line.share());
        rounds.push(line);
    }
    rounds.sort_by(|a, b| a.share().total_cmp(&b.share()));
    let median = rounds.len() / 2;
    rounds.into_iter().nth(median).context("there was a round")
}
