//! `cargo xtask check`: what must hold before every commit, without starting the server.
//!
//! Formatting, lints as errors, the tidy rules, then the unit and contract tests of every crate
//! but the black-box one, which needs the built binary. Tests that need pgvector wait for `test`.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::postgres::{self, Servers, Wanted};
use crate::step::{self, Report};
use crate::tally::Tally;
use crate::tidy;

/// The steps of `check` as a command of their own.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut report = Report::new();
    let servers = postgres::step(root, Wanted::Floor, &mut report);
    steps(root, Wanted::Floor, &servers, &mut report);
    drop(servers);
    report.finish()
}

/// The steps of `check`, added to a longer report. With both builds of PostgreSQL running, nothing
/// is left out.
pub(crate) fn steps(root: &Path, builds: Wanted, servers: &Servers, report: &mut Report) {
    report.step("format", || step::run(cargo(root).args(["fmt", "--all", "--check"])));
    report.step("lints", || {
        let flags = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
        step::run(cargo(root).args(flags))?;
        // What is released has to do without whatever the tests switch on in the crates it uses.
        step::run(cargo(root).args(["check", "--package", "loci"]))
    });
    report.step("tidy", || {
        tidy::run(root)?;
        Ok(Tally::default())
    });
    report.step("unit and contract tests", || {
        let mut tests = cargo(root);
        tests.args(["test", "--workspace", "--exclude", "loci-it", "--no-fail-fast"]);
        if builds == Wanted::Floor {
            tests.args(["--exclude", "loci-test-postgres", "--", "--skip", "pgvector"]);
        }
        step::run_tests(servers.announce(&mut tests))
    });
}

/// The cargo that started us, in the workspace root.
pub(crate) fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root);
    command
}
