//! `cargo xtask test`: everything. Checks, black-box tests on the real binary, real SDKs, a real browser.
//!
//! The black-box parts use the dev-profile binary that the unit tests of its package are built with:
//! its overflow checks and debug assertions stay on while the server is mistreated. Every step names
//! the whole workspace and picks test programs from it, because cargo builds all libraries anew for
//! every other choice of packages.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::check::{self, cargo};
use crate::postgres::{self, Wanted};
use crate::step::{self, Report};
use crate::{console, sdk, tools};

const BLACK_BOX: [&str; 4] = ["test", "--workspace", "--test", "it"];
/// A test program of the server's package: cargo builds the binary beside it.
const WITH_BINARY: &str = "search";
/// Most black-box tests wait most of the time: for a server to start, for an outage to be over.
const THREADS: &str = "4";

/// Runs every suite and prints the sum.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut report = Report::new();
    // Missing tools are named before the long part, not twenty minutes into it.
    report.step("tools", tools::prepare);
    let servers = postgres::step(root, Wanted::Both, &mut report);
    check::steps(root, Wanted::Both, &servers, &mut report);
    let built = report.step("build", || {
        step::run(cargo(root).args(BLACK_BOX).args(["--test", WITH_BINARY, "--no-run"]))
    });
    if built {
        let binary = binary(root, "debug");
        report.step("black-box tests", || {
            let mut tests = cargo(root);
            tests.args(BLACK_BOX).args(["--", "--test-threads", THREADS]).env("LOCI_BIN", &binary);
            step::run_tests(servers.announce(&mut tests))
        });
        sdk::steps(root, &binary, &servers, &mut report);
        console::steps(root, &binary, &mut report);
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
