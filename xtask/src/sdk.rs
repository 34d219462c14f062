//! Runs the vendor SDK suites in `tests/sdk` against the real binary.
//!
//! Python: each `requirements-<name>.txt` is one SDK release, in a venv of its own under `.xtask/`.
//! TypeScript: each folder with a `package.json` is one suite. `webagents`: the memory skills of that
//! package, one release. `mobius-python` and `mobius-typescript`: both revisions of that wire; they
//! also start servers of their own, by `LOCI_BIN`, to kill them. Every suite gets a fresh server through `LOCI_BASE_URL` and `LOCI_API_KEY`,
//! so none can lean on what another left behind. The newest releases run a second time against a
//! server on PostgreSQL, where they must see the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::postgres::Servers;
use crate::server::{ADMIN_KEY, Backing, Server};
use crate::step::{self, Report, Verdict};
use crate::venv::{self, short_hash};

/// The SDK releases that must be covered; a missing requirements file is a failure, not a skip.
const PYTHON_RELEASES: [&str; 3] = ["current", "legacy", "first"];

/// The release that also runs against PostgreSQL.
const ON_POSTGRES: &str = "current";

/// The releases of the Mobius client, one for each revision of its wire.
const MOBIUS_RELEASES: [&str; 2] = ["0.0.61", "0.5.0"];

/// One step for each suite.
pub(crate) fn steps(root: &Path, binary: &Path, servers: &Servers, report: &mut Report) {
    for release in PYTHON_RELEASES {
        let name = format!("Python SDK, {release}");
        report.step(&name, || python(root, binary, release, Backing::directory()?));
    }
    report.step("TypeScript SDK", || typescript(root, binary, Backing::directory()?));
    report.step("webagents, SQLite", || webagents(root, binary, Backing::directory()?));
    for release in MOBIUS_RELEASES {
        let name = format!("Mobius for Python, {release}");
        report.step(&name, || mobius_python(root, binary, release, Backing::directory()?));
    }
    let name = "Mobius for TypeScript";
    report.step(name, || mobius_typescript(root, binary, Backing::directory()?));
    report.step("MCP for Python", || mcp_python(root, binary, Backing::directory()?));
    report.step("MCP for TypeScript", || mcp_typescript(root, binary, Backing::directory()?));
    report.step("MCP conformance", || mcp_conformance(root, binary, Backing::directory()?));
    report.step("QiForge runtime", || qiforge(root, binary, Backing::directory()?));
    let database = || Backing::database(&servers.floor_url()?);
    report.step(&format!("Python SDK, {ON_POSTGRES}, on PostgreSQL"), || {
        python(root, binary, ON_POSTGRES, database()?)
    });
    report.step("TypeScript SDK, on PostgreSQL", || typescript(root, binary, database()?));
    report.step("webagents, on PostgreSQL", || webagents(root, binary, database()?));
    for release in MOBIUS_RELEASES {
        let name = format!("Mobius for Python, {release}, on PostgreSQL");
        report.step(&name, || mobius_python(root, binary, release, database()?));
    }
    report.step("Mobius for TypeScript, on PostgreSQL", || {
        mobius_typescript(root, binary, database()?)
    });
    report.step("QiForge runtime, on PostgreSQL", || qiforge(root, binary, database()?));
    report.step("MCP for Python, on PostgreSQL", || mcp_python(root, binary, database()?));
    report.step("MCP for TypeScript, on PostgreSQL", || mcp_typescript(root, binary, database()?));
}

fn python(root: &Path, binary: &Path, release: &str, backing: Backing) -> Verdict {
    let folder = python_folder(root)?;
    let requirements = folder.join(format!("requirements-{release}.txt"));
    let venv = venv::with(root, release, &requirements)?;
    let server = Server::start(binary, backing)?;
    let mut command = pytest(&venv, &folder);
    command.env("LOCI_SDK_RELEASE", release);
    step::run_tests(against(&server, &mut command))
}

fn webagents(root: &Path, binary: &Path, backing: Backing) -> Verdict {
    let folder = root.join("tests/sdk/webagents");
    let venv = venv::with(root, "webagents", &folder.join("requirements.txt"))?;
    let server = Server::start(binary, backing)?;
    step::run_tests(against(&server, &mut pytest(&venv, &folder)))
}

fn pytest(venv: &Path, folder: &Path) -> Command {
    let mut command = Command::new(venv.join("bin/python"));
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "."]).current_dir(folder);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// The folder with the Python suites: `tests/sdk/python`, or `tests/sdk` itself.
fn python_folder(root: &Path) -> Result<PathBuf> {
    let sdk = root.join("tests/sdk");
    let found = [sdk.join("python"), sdk.clone()]
        .into_iter()
        .find(|folder| folder.join("requirements-current.txt").is_file());
    found.with_context(|| format!("no requirements-current.txt under {}", sdk.display()))
}

fn mobius_python(root: &Path, binary: &Path, release: &str, backing: Backing) -> Verdict {
    let folder = root.join("tests/sdk/mobius-python");
    let requirements = folder.join(format!("requirements-{release}.txt"));
    let venv = venv::with(root, &format!("mobius-{release}"), &requirements)?;
    let server = Server::start(binary, backing)?;
    let mut command = pytest(&venv, &folder);
    command.env("LOCI_BIN", binary);
    step::run_tests(against(&server, &mut command))
}

fn mcp_python(root: &Path, binary: &Path, backing: Backing) -> Verdict {
    let folder = root.join("tests/sdk/mcp-python");
    let venv = venv::with(root, "mcp", &folder.join("requirements.txt"))?;
    let server = Server::start(binary, backing)?;
    let mut command = pytest(&venv, &folder);
    command.env("LOCI_BIN", binary);
    step::run_tests(against(&server, &mut command))
}

fn mcp_typescript(root: &Path, binary: &Path, backing: Backing) -> Verdict {
    node(binary, &root.join("tests/sdk/mcp-typescript"), backing)
}

fn mcp_conformance(root: &Path, binary: &Path, backing: Backing) -> Verdict {
    node(binary, &root.join("tests/sdk/mcp-conformance"), backing)
}

fn qiforge(root: &Path, binary: &Path, backing: Backing) -> Verdict {
    node(binary, &root.join("tests/sdk/qiforge"), backing)
}

fn mobius_typescript(root: &Path, binary: &Path, backing: Backing) -> Verdict {
    node(binary, &root.join("tests/sdk/mobius-typescript"), backing)
}

fn typescript(root: &Path, binary: &Path, backing: Backing) -> Verdict {
    node(binary, &root.join("tests/sdk/typescript"), backing)
}

/// A suite of the test runner of Node.
fn node(binary: &Path, folder: &Path, backing: Backing) -> Verdict {
    if !folder.join("package.json").is_file() {
        bail!("{} has no package.json", folder.display());
    }
    npm_install(folder)?;
    let server = Server::start(binary, backing)?;
    let mut command = Command::new("node");
    command.args(["--test", "--test-reporter=spec"]).current_dir(folder).env("LOCI_BIN", binary);
    step::run_tests(against(&server, &mut command))
}

/// Installs what the lock file says, unless the same lock file was installed before.
pub(crate) fn npm_install(folder: &Path) -> Result<()> {
    let lock = folder.join("package-lock.json");
    let manifest = folder.join("package.json");
    let locked = lock.is_file();
    let text = fs::read(if locked { &lock } else { &manifest })?;
    let done = folder.join("node_modules/.xtask-complete");
    let stamp = short_hash(&text);
    if fs::read_to_string(&done).is_ok_and(|found| found == stamp) {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.arg(if locked { "ci" } else { "install" }).current_dir(folder);
    npm.args(["--no-audit", "--no-fund"]);
    step::run(&mut npm)?;
    fs::write(&done, stamp)?;
    Ok(())
}

fn against<'a>(server: &Server, command: &'a mut Command) -> &'a mut Command {
    command.env("LOCI_BASE_URL", server.base_url()).env("LOCI_API_KEY", ADMIN_KEY)
}
