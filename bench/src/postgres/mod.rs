//! Loci on PostgreSQL next to Loci on SQLite, in one run on one machine: durable writes, point reads
//! and searches with one, two and three servers, and pgbench's single-row insert as the ceiling.
//!
//! Every round measures every setup once, one right after the other, and ratios are taken within a
//! round, so that a machine that is slow for a while is slow for all of them. PostgreSQL keeps its own
//! durability settings; nothing here is faster because it promises less.

mod bed;
mod observed;
pub(crate) mod page;
mod pgbench;
mod plot;
mod reasons;
mod works;

use crate::measure::Plan;
use crate::samples::Rate;
use crate::search::corpus::Corpus;
use crate::search::meaning::Meanings;
use anyhow::Context;
pub(crate) use bed::bring;
use bed::{Bed, Disk};
use loci_test_postgres::{Build, Postgres, Settings};
pub(crate) use observed::one_text;
use pgbench::Pgbench;
use reasons::Reason;
use std::path::Path;
use works::{Stores, Work};

/// Loci servers on the one database.
const SERVERS_MAX: usize = 3;

/// What is measured with every setup; a ceiling is what pgbench does with as many clients.
const WORKS: [Work; 9] = [
    Work::Create { clients: 64, stores: Stores::Each },
    Work::Create { clients: 64, stores: Stores::Shared },
    Work::Create { clients: 8, stores: Stores::Each },
    Work::Create { clients: 8, stores: Stores::Shared },
    Work::Get,
    Work::Search("lexical"),
    Work::Search("hybrid"),
    Work::SearchInPlace("lexical"),
    Work::SearchInPlace("hybrid"),
];

/// Which engine, and with how many servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setup {
    Sqlite,
    Postgres(usize),
}

impl Setup {
    fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Sqlite).chain((1..=SERVERS_MAX).map(Self::Postgres))
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Sqlite => "SQLite".to_owned(),
            Self::Postgres(1) => "PostgreSQL, 1 server".to_owned(),
            Self::Postgres(servers) => format!("PostgreSQL, {servers} servers"),
        }
    }
}

/// Everything that was measured.
pub(crate) struct PostgresFigures {
    /// What PostgreSQL calls itself.
    pub(crate) version: String,
    pub(crate) works: Vec<WorkFigures>,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) disk: Disk,
}

/// One piece of work with every setup.
pub(crate) struct WorkFigures {
    pub(crate) name: String,
    /// What pgbench inserts with as many clients.
    pub(crate) ceiling: Option<Rate>,
    pub(crate) setups: Vec<SetupFigures>,
}

pub(crate) struct SetupFigures {
    pub(crate) setup: Setup,
    pub(crate) rate: Rate,
    /// Medians over the rounds.
    pub(crate) to_sqlite: f64,
    pub(crate) to_ceiling: Option<f64>,
}

/// One round of one piece of work: the ceiling, then the setups in their order.
struct Round {
    ceiling: Option<Rate>,
    setups: Vec<Rate>,
}

pub(crate) fn run(plan: &Plan, scratch: &Path) -> anyhow::Result<PostgresFigures> {
    let directory = scratch.join("postgres");
    std::fs::create_dir(&directory)?;
    println!("PostgreSQL: starting it, filling a store with {} memories", plan.filled);
    let postgres = Postgres::start_with(Build::Floor, &Settings::durable())?;
    let pgbench = Pgbench::new(&postgres, &directory)?;
    let corpus = Corpus::new();
    let meanings = Meanings::new(&corpus, plan.filled)?;
    let plain = Bed::fresh(plan, &postgres, &directory)?;
    let (filled, disk) = Bed::filled(plan, &postgres, &directory, &corpus, &meanings)?;
    let version = one_text(&postgres.url(), "show server_version")?;
    let mut rounds: Vec<Vec<Round>> = WORKS.iter().map(|_| Vec::new()).collect();
    for round in 0..plan.rounds {
        for (work, done) in WORKS.iter().zip(&mut rounds) {
            println!("  round {}: {}", round + 1, work.name());
            let bed = if work.is_search() { &filled } else { &plain };
            let clients = work.clients();
            let ceiling =
                work.is_write().then(|| pgbench.run(clients, plan.seconds)).transpose()?;
            let setups = Setup::all()
                .map(|setup| bed.run(*work, setup, plan.seconds, &format!("r{round}")))
                .collect::<anyhow::Result<Vec<Rate>>>()?;
            let shown: Vec<String> = ceiling
                .iter()
                .chain(&setups)
                .map(|rate| format!("{:.0}", rate.per_second))
                .collect();
            println!("    {} per second", shown.join(", "));
            done.push(Round { ceiling, setups });
        }
    }
    drop((plain, filled, pgbench, postgres));
    let works = WORKS.iter().zip(rounds).map(|(work, rounds)| work_figures(*work, &rounds));
    let works = works.collect::<anyhow::Result<_>>()?;
    let reasons = reasons::run(plan, &directory)?;
    Ok(PostgresFigures { version, works, reasons, disk })
}

fn work_figures(work: Work, rounds: &[Round]) -> anyhow::Result<WorkFigures> {
    let ceilings: Option<Vec<Rate>> = rounds.iter().map(|round| round.ceiling).collect();
    let mut setups = Vec::new();
    for (at, setup) in Setup::all().enumerate() {
        let rates: Vec<Rate> = rounds.iter().map(|round| round.setups[at]).collect();
        let ratio = |to: &[Rate]| {
            let both = rates.iter().zip(to);
            median(both.map(|(own, to)| own.per_second / to.per_second).collect())
        };
        let sqlite: Vec<Rate> = rounds.iter().map(|round| round.setups[0]).collect();
        setups.push(SetupFigures {
            setup,
            rate: middle(&rates)?,
            to_sqlite: ratio(&sqlite),
            to_ceiling: ceilings.as_deref().map(ratio),
        });
    }
    let ceiling = ceilings.as_deref().map(middle).transpose()?;
    Ok(WorkFigures { name: work.name(), ceiling, setups })
}

/// The round with the median rate.
fn middle(rates: &[Rate]) -> anyhow::Result<Rate> {
    let mut rates = rates.to_vec();
    rates.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
    rates.get(rates.len() / 2).copied().context("no round was measured")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_within_a_round() {
        let rate = |per_second| Rate { per_second, p25_ms: 1.0, p50_ms: 1.0, p99_ms: 1.0 };
        // The machine is half as fast in the second round, for everybody.
        let rounds: Vec<Round> = [100.0, 50.0, 100.0]
            .map(|base| Round {
                ceiling: Some(rate(base * 4.0)),
                setups: [2.0, 1.0, 1.0, 1.0].map(|times| rate(base * times)).to_vec(),
            })
            .into();
        let figures = work_figures(WORKS[0], &rounds).unwrap();
        assert_eq!(figures.setups[1].to_sqlite, 0.5);
        assert_eq!(figures.setups[1].to_ceiling, Some(0.25));
        assert_eq!(figures.setups[1].rate.per_second, 100.0);
        assert_eq!(figures.setups[0].to_sqlite, 1.0);
    }
}
