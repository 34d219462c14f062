//! One PostgreSQL server: made with `initdb`, started, mistreated, started again, removed.
//!
//! It keeps its port and password for life, so that an address given to a client stays true over
//! restarts. Only processes started here are ever signalled. Every wait has an end.

mod replica;

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::Signal;

use crate::account::Account;
use crate::build::Build;
use crate::memory;
use crate::port;
use crate::process::{self, Leftovers};
use crate::scratch::Scratch;
use crate::settings::Settings;

/// The superuser of every server.
const USER: &str = "loci";
const INIT_TIMEOUT: Duration = Duration::from_secs(120);
/// Recovery after a kill is part of a start.
const START_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_TIMEOUT: Duration = Duration::from_secs(60);
const QUIT_TIMEOUT: Duration = Duration::from_secs(10);
const PORTS_TRIED: usize = 10;
/// What remains of a killed server holds its shared memory for a moment.
const START_AGAIN_PAUSE: Duration = Duration::from_millis(200);
const LOG_SHOWN: u64 = 8 * 1024;
/// The lock file's line that says whether connections are accepted.
const STATUS_LINE: usize = 7;
/// A standby says something else.
const ACCEPTING: [&str; 2] = ["ready", "standby"];

/// A server of our own, gone when dropped.
pub struct Postgres {
    bin: PathBuf,
    account: Account,
    port: u16,
    password: String,
    running: Option<Child>,
    leftovers: Leftovers,
    scratch: Scratch,
}

impl Postgres {
    /// A server of this build with the usual settings.
    pub fn start(build: Build) -> Result<Self> {
        Self::start_with(build, &Settings::default())
    }

    /// A server of this build.
    pub fn start_with(build: Build, settings: &Settings) -> Result<Self> {
        Self::start_from(&build.bin()?, settings)
    }

    /// A server of the build whose programs are in `bin`.
    pub fn start_from(bin: &Path, settings: &Settings) -> Result<Self> {
        let account = Account::choose()?;
        let in_memory = || memory::folder(&account).filter(|_| !settings.durable);
        let data_on = settings.data_on.clone().or_else(in_memory);
        let scratch = Scratch::with_data_on(&account, data_on.as_deref())?;
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).expect("the kernel gives random numbers");
        let mut server = Self {
            bin: bin.to_owned(),
            account,
            port: 0,
            password: hex::encode(secret),
            running: None,
            leftovers: Leftovers::default(),
            scratch,
        };
        server.initialise(settings)?;
        server.launch_anywhere()?;
        Ok(server)
    }

    /// Starts it on whatever port is free.
    fn launch_anywhere(&mut self) -> Result<()> {
        for _ in 0..PORTS_TRIED {
            self.port = port::free()?;
            match self.launch() {
                Ok(()) => return Ok(()),
                Err(Failed::PortTaken) => {}
                Err(Failed::Otherwise(error)) => return Err(error),
            }
        }
        bail!("{PORTS_TRIED} ports in a row were taken before PostgreSQL could listen")
    }

    fn initialise(&self, settings: &Settings) -> Result<()> {
        DirBuilder::new().mode(0o700).create(self.data())?;
        self.account.give(self.data())?;
        let password = self.scratch.path().join("password");
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&password)?;
        file.write_all(self.password.as_bytes())?;
        self.account.give(&password)?;
        let mut initdb = self.command("initdb");
        initdb.args(["--username", USER, "--auth", "scram-sha-256", "--pwfile"]).arg(&password);
        initdb.args(["--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync", "--pgdata"]);
        initdb.arg(self.data());
        if settings.durable {
            initdb.arg("--data-checksums");
        }
        let mut initdb = self.spawn(&mut initdb)?;
        if !process::ended_within(&mut initdb, INIT_TIMEOUT) {
            initdb.kill()?;
        }
        if !initdb.wait()?.success() {
            bail!("initdb failed:\n{}", self.log());
        }
        fs::remove_file(password)?;
        let mut conf = OpenOptions::new().append(true).open(self.data().join("postgresql.conf"))?;
        conf.write_all(settings.conf().as_bytes())?;
        Ok(())
    }

    /// Starts the postmaster and waits until it accepts connections.
    fn launch(&mut self) -> Result<(), Failed> {
        let log_before = fs::metadata(self.log_path()).map_or(0, |found| found.len());
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).args(["-p", &self.port.to_string()]);
        let mut child = self.spawn(&mut command)?;
        let began = Instant::now();
        while began.elapsed() < START_TIMEOUT {
            if self.is_ready(child.id()) {
                self.running = Some(child);
                self.leftovers = Leftovers::default();
                return Ok(());
            }
            if process::ended_within(&mut child, Duration::from_millis(10)) {
                let said = self.log_from(log_before);
                if said.contains("could not bind") || said.contains("Address already in use") {
                    return Err(Failed::PortTaken);
                }
                return Err(anyhow!("PostgreSQL ended instead of listening:\n{said}").into());
            }
        }
        process::signal(child.id(), Signal::QUIT);
        if !process::ended_within(&mut child, QUIT_TIMEOUT) {
            // Fails only if it just ended.
            let _ = child.kill();
            let _ = child.wait();
        }
        let said = self.log_from(log_before);
        Err(anyhow!("PostgreSQL does not listen after {START_TIMEOUT:?}:\n{said}").into())
    }

    /// Whether the lock file is this process's and says that it takes connections.
    fn is_ready(&self, pid: u32) -> bool {
        let lock = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let is_own = lock.lines().next().is_some_and(|line| line.trim() == pid.to_string());
        is_own && lock.lines().nth(STATUS_LINE).is_some_and(|line| ACCEPTING.contains(&line.trim()))
    }

    /// The address of the database `postgres`, as the superuser.
    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// The address of a database, as the superuser.
    pub fn url_of(&self, database: &str) -> String {
        format!("postgres://{USER}:{}@127.0.0.1:{}/{database}", self.password, self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of this build's programs, for example `psql` and `pgbench`.
    pub fn bin(&self) -> &Path {
        &self.bin
    }

    /// The data directory.
    pub fn data(&self) -> &Path {
        self.scratch.data()
    }

    /// The process id of the postmaster, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(Child::id)
    }

    /// The end of what the server printed. It may hold statements, so it is for a person only.
    pub fn log(&self) -> String {
        self.log_from(0)
    }

    /// Ends the server as an operator would: connections are cut, everything is written.
    pub fn stop(&mut self) -> Result<()> {
        let Some(mut child) = self.running.take() else {
            return Ok(());
        };
        process::signal(child.id(), Signal::INT);
        if process::ended_within(&mut child, STOP_TIMEOUT) {
            return Ok(());
        }
        self.running = Some(child);
        bail!("PostgreSQL still runs {STOP_TIMEOUT:?} after it was told to stop")
    }

    /// SIGKILL to every process at once, as a power cut would look to them.
    pub fn kill(&mut self) {
        let Some(mut child) = self.running.take() else {
            return;
        };
        // It stands still while its workers are listed: one that it starts after that would be
        // overlooked, wait for what a dead one holds, and keep the data from being opened again.
        process::signal(child.id(), Signal::STOP);
        // The postmaster first: it would start new workers for the dead ones.
        let mut pids = vec![child.id()];
        pids.extend(process::children(child.id()));
        self.leftovers = Leftovers::of(&pids, self.data());
        for pid in &pids {
            process::signal(*pid, Signal::KILL);
        }
        // A killed process always ends; a machine that takes longer shows at the next start.
        process::ended_within(&mut child, QUIT_TIMEOUT);
        process::gone_within(&pids, QUIT_TIMEOUT);
    }

    /// Starts a stopped, killed or crashed server on the same data and port.
    pub fn start_again(&mut self) -> Result<()> {
        if let Some(child) = &mut self.running {
            if child.try_wait()?.is_none() {
                bail!("the server still runs");
            }
            self.running = None;
        }
        let began = Instant::now();
        loop {
            let error = match self.launch() {
                Ok(()) => return Ok(()),
                Err(Failed::PortTaken) => anyhow!("another process took port {}", self.port),
                Err(Failed::Otherwise(error)) => error,
            };
            if began.elapsed() >= QUIT_TIMEOUT {
                return Err(error);
            }
            thread::sleep(START_AGAIN_PAUSE);
        }
    }

    /// Stops and starts it, as after a change of its settings.
    pub fn restart_fast(&mut self) -> Result<()> {
        self.stop()?;
        self.start_again()
    }

    /// Stops every process where it stands: the port accepts, and nothing ever answers.
    pub fn freeze(&self) {
        if let Some(pid) = self.pid() {
            process::signal(pid, Signal::STOP);
            for worker in process::children(pid) {
                process::signal(worker, Signal::STOP);
            }
        }
    }

    /// Lets a frozen server go on. The postmaster last: while it stands still no child comes or
    /// goes, so none of them is overlooked in the list and left standing with what it has locked.
    pub fn thaw(&self) {
        if let Some(pid) = self.pid() {
            for worker in process::children(pid) {
                process::signal(worker, Signal::CONT);
            }
            process::signal(pid, Signal::CONT);
        }
    }

    /// One of this build's programs, as the server's account and with nothing of our environment.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
        command.current_dir(self.scratch.path());
        self.account.run_as(&mut command);
        command
    }

    /// Starts a program that prints into the log, out of reach of Ctrl-C at our terminal.
    fn spawn(&self, command: &mut Command) -> Result<Child> {
        let log = OpenOptions::new().append(true).create(true).mode(0o600).open(self.log_path())?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).process_group(0);
        let spawned = command.spawn();
        spawned.with_context(|| format!("cannot start {}", command.get_program().display()))
    }

    fn log_path(&self) -> PathBuf {
        self.scratch.path().join("log")
    }

    fn log_from(&self, start: u64) -> String {
        let read = || -> Result<String> {
            let mut file = File::open(self.log_path())?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(start.max(length.saturating_sub(LOG_SHOWN))))?;
            let mut bytes = Vec::new();
            file.take(LOG_SHOWN).read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        read().unwrap_or_default()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // A frozen server cannot hear that it should end.
        self.thaw();
        if let Some(child) = &mut self.running {
            process::signal(child.id(), Signal::QUIT);
            if process::ended_within(child, QUIT_TIMEOUT) {
                self.running = None;
            }
        }
        self.kill();
        std::mem::take(&mut self.leftovers).release();
    }
}

impl fmt::Debug for Postgres {
    /// Without the password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Postgres").field("port", &self.port).finish_non_exhaustive()
    }
}

/// Why a start failed; only a taken port is worth another.
enum Failed {
    PortTaken,
    Otherwise(anyhow::Error),
}

impl From<anyhow::Error> for Failed {
    fn from(error: anyhow::Error) -> Self {
        Self::Otherwise(error)
    }
}
