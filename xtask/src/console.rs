//! The web console: its sources fit their types and are what is embedded, and a real browser uses it
//! against the real binary.

use std::path::Path;
use std::process::Command;

use crate::sdk::npm_install;
use crate::step::{self, Report};

/// One step without a browser, two with: what is timed has the machine to itself.
pub(crate) fn steps(root: &Path, binary: &Path, report: &mut Report) {
    let folder = root.join("console");
    report.step("console, sources", || {
        npm_install(&folder)?;
        step::run(npm(&folder).args(["run", "check"]))
    });
    report.step("console, in a browser", || {
        npm_install(&folder)?;
        step::run_tests(npm(&folder).arg("test").env("LOCI_BIN", binary))
    });
    report.step("console, its budgets", || {
        step::run_tests(npm(&folder).args(["run", "budgets"]).env("LOCI_BIN", binary))
    });
}

fn npm(folder: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(folder);
    npm
}
