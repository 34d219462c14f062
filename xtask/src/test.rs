//! `cargo xtask test`: everything. Checks, black-box tests on the real binary, real SDKs.
//!
//! The black-box parts use the dev-profile binary: building it costs little after the unit tests,
//! and its overflow checks and debug assertions stay on while the server is mistreated.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::check::{self, cargo};
use crate::postgres::{self, Wanted};
use crate::step::{self, Report};
use crate::{sdk, tools};

/// Runs every suite and prints the sum.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut report = Report::new();
    // Missing tools are named before the long part, not twenty minutes into it.
    report.step("tools", tools::prepare);
    let servers = postgres::step(root, Wanted::Both, &mut report);
    check::steps(root, Wanted::Both, &servers, &mut report);
    let built = report.step("build", || {
        step::run(cargo(root).args(["build", "--package", "loci"]))?;
        step::run(cargo(root).args(["test", "--package", "loci-it", "--no-run"]))
    });
    if built {
        let binary = binary(root, "debug");
        report.step("black-box tests", || {
            let flags = ["test", "--package", "loci-it", "--no-fail-fast"];
            let mut tests = cargo(root);
            step::run_tests(servers.announce(tests.args(flags).env("LOCI_BIN", &binary)))
        });
        sdk::steps(root, &binary, &servers, &mut report);
    }
    drop(servers);
    report.finish()
}

/// Where cargo put the binary of a profile: near this program, wherever the target folder is.
pub(crate) fn binary(root: &Path, profile: &str) -> PathBuf {
    let own = std::env::current_exe().ok();
    let target = own.as_deref().and_then(Path::parent).and_then(Path::parent);
    target.map_or_else(|| root.join("target"), Path::to_owned).join(profile).join("loci")
}
