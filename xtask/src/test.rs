//! `cargo xtask test`: everything. Checks, black-box tests on the real binary, real SDKs.
//!
//! The black-box parts use the dev-profile binary: building it costs little after the unit tests,
//! and its overflow checks and debug assertions stay on while the server is mistreated.

use std::path::Path;

use anyhow::Result;

use crate::check::{self, cargo};
use crate::step::{self, Report};
use crate::{sdk, tools};

/// Runs every suite and prints the sum.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut report = Report::new();
    // Missing tools are named before the long part, not twenty minutes into it.
    report.step("tools", tools::prepare);
    check::steps(root, &mut report);
    let built = report.step("build", || {
        step::run(cargo(root).args(["build", "--package", "loci"]))?;
        step::run(cargo(root).args(["test", "--package", "loci-it", "--no-run"]))
    });
    if built {
        let binary = root.join("target/debug/loci");
        report.step("black-box tests", || {
            let flags = ["test", "--package", "loci-it", "--no-fail-fast"];
            step::run_tests(cargo(root).args(flags).env("LOCI_BIN", &binary))
        });
        sdk::steps(root, &binary, &mut report);
    }
    report.finish()
}
