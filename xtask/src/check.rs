//! `cargo xtask check`: the inner loop. Format, tidy rules, lints, and the unit and contract tests on
//! the in-memory and SQLite engines; nothing is installed and no server is started.

use std::path::Path;

use anyhow::Result;
use loci_test_kit::{TIER_VARIABLE, Tier};

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
    let mut report = Report::of_environment();
    sources(root, &mut report);
    if let Some(built) = report.step("build and lints", || programs::build(root)) {
        let servers = Servers::default();
        let jobs = jobs(&built, &servers, Tier::Check);
        pool::run(jobs, LANES, &mut report);
    }
    report.finish()
}

/// What can be said of the sources without compiling them.
pub(crate) fn sources(root: &Path, report: &mut Report) {
    report.step("format", || command::run(cargo(root).args(["fmt", "--all", "--check"])));
    report.step("tidy", || tidy::run(root));
}

/// A job for each test program of a tier.
pub(crate) fn jobs<'a>(built: &'a Built, servers: &'a Servers, tier: Tier) -> Vec<Job<'a>> {
    let of_tier = PROGRAMS.iter().filter(move |program| program.tier <= tier);
    let jobs = of_tier.map(move |program| Job {
        name: program.place.to_owned(),
        secs: program.secs,
        work: Box::new(move || {
            let mut command = built.command(program.place, program.threads)?;
            command.env(TIER_VARIABLE, tier.name());
            programs::run(servers.announce(&mut command))
        }),
    });
    jobs.collect()
}
