//! `cargo xtask test`: everything a submission needs. Lints, unit and contract tests on both engines,
//! black-box tests of the real binary, the real clients, a real browser, a real mount.
//!
//! Packages are installed while cargo compiles; then all suites run side by side, because most of
//! them wait most of the time. With `--deep` every suite runs with its full amounts and its timing
//! budgets, one after the other, so that the times are its own.

use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail};
use loci_test_kit::Tier;

use crate::command::run_quietly;
use crate::pool::{self, Job};
use crate::postgres::Servers;
use crate::programs::{self, Built};
use crate::report::Report;
use crate::suites::{SUITES, Suite};
use crate::{cargo, check, clients, environments, tools};

/// Suites that run at once: one more than the two cores that the command is made for.
const LANES: usize = 3;

/// Runs the suites of the tier, all of them or those that are named, and prints the sum.
pub(crate) fn run(root: &Path, tier: Tier, only: &[String]) -> Result<()> {
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|it| name.contains(it));
    let seed = check::announce(tier);
    let mut report = Report::of_environment().with_seed(seed);
    check::sources(root, &mut report);
    let (built, servers) = thread::scope(|scope| {
        let installing = scope.spawn(|| {
            let mut report = Report::of_environment();
            let suites = SUITES.iter().filter(|it| it.tier <= tier && is_wanted(it.name));
            let servers = install(root, suites, &mut report);
            (servers, report)
        });
        let built = report.step("build and lints", || programs::build(root));
        let (servers, installed) = installing.join().expect("the installing thread does not panic");
        report.take(installed);
        (built, servers)
    });
    if tier == Tier::Deep && only.is_empty() {
        report.step("the shipped binary", || shipped(root));
    }
    if let Some(built) = built {
        let mut jobs = check::jobs(&built, &servers, tier, seed);
        jobs.extend(suites(root, &built, &servers, tier));
        jobs.retain(|job| is_wanted(&job.name));
        if jobs.is_empty() {
            bail!("no suite of the tier {} is called so", tier.name());
        }
        pool::run(jobs, if tier == Tier::Deep { 1 } else { LANES }, &mut report);
    }
    drop(servers);
    report.finish()
}

/// Checks the binary as it is shipped. The tests build with all packages, whose features add up, and
/// with debug assertions; what only the binary alone lacks, or has, would go unnoticed.
fn shipped(root: &Path) -> Result<()> {
    let mut check = cargo(root);
    check.args(["check", "--release", "--package", "loci"]).env("RUSTFLAGS", "--deny warnings");
    run_quietly(&mut check).map(drop)
}

/// Makes everything from outside usable: tools, PostgreSQL, packages of the clients. After a failure
/// the suites that need it fail and say so.
fn install<'s>(
    root: &Path,
    mut suites: impl Iterator<Item = &'s Suite>,
    report: &mut Report,
) -> Servers {
    report.step("tools", tools::prepare);
    let servers = report.step("PostgreSQL", || Servers::start(root));
    report.step("packages of the clients", || {
        suites.try_for_each(|suite| clients::prepare(root, suite).context(suite.name))
    });
    report.step("console, sources", || {
        let folder = root.join("console");
        environments::node(&folder)?;
        run_quietly(Command::new("npm").args(["run", "check"]).current_dir(folder))
    });
    servers.unwrap_or_default()
}

fn suites<'a>(
    root: &'a Path,
    built: &'a Built,
    servers: &'a Servers,
    tier: Tier,
) -> impl Iterator<Item = Job<'a>> {
    SUITES.iter().filter(move |suite| suite.tier <= tier).map(move |suite| Job {
        name: suite.name.to_owned(),
        secs: suite.secs,
        work: Box::new(move || clients::run(root, suite, built.binary(), servers, tier)),
    })
}
