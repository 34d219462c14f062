//! Builds all test programs and the binary in one pass, and runs one of them.
//!
//! clippy is the compiler of this pass: `clippy-driver` lints the workspace's crates while it compiles
//! them, so that lints cost no pass of their own. All packages are built at once, because cargo builds
//! the libraries again for every other choice of packages and features.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use loci_test_kit::Tier;
use serde_json::Value;

use crate::cargo;
use crate::command::{self, Finished, Show};

/// How `cargo clippy -- -D warnings` tells the driver about its arguments.
const DENY_WARNINGS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// What the pass built.
pub(crate) struct Built {
    programs: Vec<Program>,
    binary: PathBuf,
}

/// A test program.
struct Program {
    /// Its place in the workspace: `crates/model` for the unit tests of a package,
    /// `crates/engine/tests/engine` for a program of its own.
    place: String,
    executable: PathBuf,
    folder: PathBuf,
}

impl Built {
    /// The `loci` binary: of the dev profile, with overflow checks and debug assertions.
    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    /// A command that runs the program of this place with so many threads, and tells the time of every
    /// test.
    pub(crate) fn command(&self, place: &str, threads: Option<u32>) -> Result<Command> {
        let program = self.programs.iter().find(|program| program.place == place);
        let program = program.with_context(|| format!("{place} was not built"))?;
        let mut command = Command::new(&program.executable);
        command.current_dir(&program.folder).env("LOCI_BIN", &self.binary);
        // The runner of the stable toolchain tells times only when it is asked like this.
        command.args(["-Zunstable-options", "--report-time"]).env("RUSTC_BOOTSTRAP", "1");
        if let Some(threads) = threads {
            command.arg(format!("--test-threads={threads}"));
        }
        Ok(command)
    }
}

/// Runs a test program without showing its output.
pub(crate) fn run(command: &mut Command, tier: Tier) -> Result<Finished> {
    command::capture_suite(command, tier)
}

/// Builds and lints everything.
pub(crate) fn build(root: &Path) -> Result<Built> {
    let mut build = cargo(root);
    build.args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]);
    build.env("RUSTC_WORKSPACE_WRAPPER", driver()?).env("CLIPPY_ARGS", DENY_WARNINGS);
    let finished = command::capture(&mut build, Show::Nothing)?;
    if !finished.ok {
        let shown = finished.output.lines().filter(|line| !line.starts_with('{'));
        bail!("{} failed:\n{}", finished.command, shown.collect::<Vec<_>>().join("\n"));
    }
    let messages = finished.output.lines().filter_map(|line| serde_json::from_str(line).ok());
    read(root, messages)
}

fn driver() -> Result<PathBuf> {
    let mut ask = Command::new("rustc");
    let answer = ask.args(["--print", "sysroot"]).output().context("cannot run rustc")?;
    let sysroot = String::from_utf8(answer.stdout).context("the sysroot is no text")?;
    let driver = Path::new(sysroot.trim()).join("bin/clippy-driver");
    if !driver.is_file() {
        bail!("clippy is missing; rustup component add clippy");
    }
    Ok(driver)
}

fn read(root: &Path, messages: impl Iterator<Item = Value>) -> Result<Built> {
    let (mut programs, mut binary) = (Vec::new(), None);
    for message in messages {
        let Some(executable) = message["executable"].as_str().map(PathBuf::from) else { continue };
        let target = &message["target"];
        if message["profile"]["test"] != true {
            if target["name"] == "loci" {
                binary = Some(executable);
            }
            continue;
        }
        let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
        let folder = manifest.parent().unwrap_or(root).to_owned();
        let place = place(root, &folder, target);
        programs.push(Program { place, executable, folder });
    }
    let binary = binary.context("cargo built no binary named loci")?;
    Ok(Built { programs, binary })
}

/// The place of a target in the workspace, as the list of suites names it.
pub(crate) fn place(root: &Path, folder: &Path, target: &Value) -> String {
    let package = folder.strip_prefix(root).unwrap_or(folder).display().to_string();
    match (target["kind"][0].as_str(), target["name"].as_str()) {
        (Some("test"), Some(name)) => format!("{package}/tests/{name}"),
        _ => package,
    }
}
