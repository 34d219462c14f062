//! Files made one after another, by a mount of a data directory and by one over HTTP, beside the rows of
//! the same memories put into SQLite by the shortest path. The server makes vectors meanwhile, as it
//! does for users. The three alternate in every round, because a shared disk changes from minute to minute.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;

use super::MountPlan;
use super::places::{Place, Way};
use super::works;
use crate::fill;
use crate::raw;
use crate::samples::Rate;

/// A mount, and the least share of the rows that is wanted of it.
const WANTED: [(Way, &str, f64); 2] =
    [(Way::Directory, "by its data directory", 0.6), (Way::Http, "over HTTP", 0.5)];

/// The rounds of one mount, each with the rows measured beside it.
pub(super) struct Sequential {
    name: &'static str,
    at_least: f64,
    rounds: Vec<(Rate, Rate)>,
}

impl Sequential {
    /// The median of a share over the rounds.
    fn median(&self, share: impl Fn(&Rate, &Rate) -> f64) -> f64 {
        let mut shares: Vec<f64> =
            self.rounds.iter().map(|(mounted, rows)| share(mounted, rows)).collect();
        shares.sort_by(f64::total_cmp);
        shares[shares.len() / 2]
    }

    /// Of the rates: files against rows.
    fn share(&self) -> f64 {
        self.median(|mounted, rows| mounted.per_second / rows.per_second)
    }

    /// Of the quarter that neighbours disturb least.
    fn share_undisturbed(&self) -> f64 {
        self.median(|mounted, rows| rows.p25_ms / mounted.p25_ms)
    }
}

pub(super) fn run(plan: &MountPlan, scratch: &Path) -> anyhow::Result<Vec<Sequential>> {
    let mut places = Vec::new();
    let mut all = Vec::new();
    for (way, name, at_least) in WANTED {
        let scratch = scratch.join(name.replace(' ', "-"));
        std::fs::create_dir(&scratch)?;
        places.push(Place::mounted(&plan.loci, &scratch, way, true)?);
        all.push(Sequential { name, at_least, rounds: Vec::new() });
    }
    println!("create, one after another, with vectors");
    for round in 0..plan.rounds {
        let rows = scratch.join(format!("rows-beside-{round}"));
        std::fs::create_dir(&rows)?;
        let rows = raw::run(&rows, 1, plan.seconds, fill::text)?;
        for (place, one) in places.iter().zip(&mut all) {
            let run = format!("sequential-{round}");
            one.rounds.push((works::create(&place.at, &run, 1, plan.seconds)?, rows));
            let (mounted, rows) = one.rounds.last().context("one was pushed")?;
            println!(
                "  {}: {:.0} files/s, {:.0} rows/s",
                one.name, mounted.per_second, rows.per_second
            );
        }
    }
    Ok(all)
}

pub(super) fn table(all: &[Sequential]) -> String {
    let mut table = String::from(
        "| create, one after another, vectors on | of the rows alone | of the rows, quickest quarter |\n|---|---:|---:|\n",
    );
    for one in all {
        let (share, at_least) = (one.share(), one.at_least);
        let met = if share >= at_least { "met" } else { "not met" };
        let undisturbed = one.share_undisturbed();
        writeln!(table, "| {} | {share:.2} (≥ {at_least} {met}) | {undisturbed:.2} |", one.name)
            .expect("a text takes more text");
    }
    table
}
