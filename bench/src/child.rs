//! A server process that ends with its owner.

use anyhow::{Context, bail};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub(crate) const KEY: &str = "benchmark-key-of-no-importance";

pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts `loci serve` on a data directory.
    pub(crate) fn loci(binary: &Path, data: &Path) -> anyhow::Result<Self> {
        Self::start(serve(binary, data), "loci listening on http://")
    }

    /// Starts `loci serve` on a data directory with these settings, which are kept beside it.
    pub(crate) fn loci_with(binary: &Path, data: &Path, settings: &str) -> anyhow::Result<Self> {
        let file = data.with_extension("toml");
        std::fs::write(&file, settings)?;
        let mut command = serve(binary, data);
        command.arg("--config").arg(file);
        Self::start(command, "loci listening on http://")
    }

    /// Starts `loci serve` on a PostgreSQL database with the settings in a file.
    pub(crate) fn loci_on(binary: &Path, database: &str, settings: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(settings);
        command.env("LOCI_ADMIN_KEY", KEY).env("LOCI_DATABASE", database);
        Self::start(command, "loci listening on http://")
    }

    /// Starts this program's echo.
    pub(crate) fn echo() -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("echo");
        Self::start(command, "listening on http://")
    }

    fn start(mut command: Command, announcement: &str) -> anyhow::Result<Self> {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("server does not start")?;
        let stdout = child.stdout.take().context("server has no output")?;
        for line in BufReader::new(stdout).lines() {
            if let Some(address) = line?.strip_prefix(announcement) {
                return Ok(Self { address: address.trim().parse()?, child });
            }
        }
        let _ = child.kill();
        bail!("server ended without listening")
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Resident memory in bytes.
    pub(crate) fn resident_bytes(&self) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()).context("no VmRSS")?;
        Ok(kib.parse::<u64>()? * 1024)
    }
}

fn serve(binary: &Path, data: &Path) -> Command {
    let mut command = Command::new(binary);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
    command.env("LOCI_ADMIN_KEY", KEY);
    command
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
