//! `cargo xtask check`: the inner loop. Format, tidy rules, lints, and the unit and contract tests on
//! the in-memory and SQLite engines; nothing is installed and no server is started.

use std::path::Path;

use anyhow::Result;
use loci_test_kit::{
    PROPERTY_CASES, PROPERTY_SEED, TIER_VARIABLE, Tier, amount_in, property_seed, table,
};

use crate::pool::{self, Job};
use crate::postgres::Servers;
use crate::programs::{self, Built};
use crate::report::Report;
use crate::suites::PROGRAMS;
use crate::{cargo, command, tidy};

/// Programs that run at once: the tests use every core, and some wait.
const LANES: usize = 2;

/// Runs the steps of `check` as a command of their own.
pub(crate) fn run(root: &Path) -> Result<()> {
    let seed = announce(Tier::Check);
    let mut report = Report::of_environment().with_seed(seed);
    sources(root, &mut report);
    if let Some(built) = report.step("build and lints", || programs::build(root)) {
        let servers = Servers::default();
        let jobs = jobs(&built, &servers, Tier::Check, seed);
        pool::run(jobs, LANES, &mut report);
    }
    report.finish()
}

/// Prints the amounts of a tier and the seed of its property tests, which it answers.
pub(crate) fn announce(tier: Tier) -> u64 {
    println!("tier {}, with these amounts:\n{}", tier.name(), table(tier));
    property_seed("property tests")
}

/// What can be said of the sources without compiling them.
pub(crate) fn sources(root: &Path, report: &mut Report) {
    report.step("format", || command::run(cargo(root).args(["fmt", "--all", "--check"])));
    report.step("tidy", || tidy::run(root));
}

/// A job for each test program of a tier. All property tests begin with one seed, so that the line
/// that names it is enough to replay any of them.
pub(crate) fn jobs<'a>(
    built: &'a Built,
    servers: &'a Servers,
    tier: Tier,
    seed: u64,
) -> Vec<Job<'a>> {
    let of_tier = PROGRAMS.iter().filter(move |program| program.tier <= tier);
    let jobs = of_tier.map(move |program| Job {
        name: program.place.to_owned(),
        secs: program.secs,
        work: Box::new(move || {
            let mut command = built.command(program.place, program.threads)?;
            command.env(TIER_VARIABLE, tier.name());
            command.env(PROPERTY_SEED, seed.to_string());
            command.env(PROPERTY_CASES, amount_in("property_cases", tier).to_string());
            programs::run(servers.announce(&mut command), tier)
        }),
    });
    jobs.collect()
}
