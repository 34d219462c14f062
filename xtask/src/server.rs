//! A `loci serve` of our own for a suite: fresh data directory or database, free port, ended when
//! dropped.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tempfile::{NamedTempFile, TempDir};

/// The admin key of the servers started here; they live for one suite on the loopback address.
pub(crate) const ADMIN_KEY: &str = "xtask-suite-admin-key-0123456789abcdef";

const START_TIMEOUT: Duration = Duration::from_secs(90);
const READY: &str = "loci listening on ";

/// Where a server keeps what a suite writes; gone with the value.
pub(crate) enum Backing {
    Directory(TempDir),
    /// The address of a database.
    Database(String),
}

impl Backing {
    /// A fresh directory.
    pub(crate) fn directory() -> Result<Self> {
        Ok(Self::Directory(TempDir::with_prefix("loci-suite-")?))
    }

    /// Tells the binary, in its environment because a URL holds a password.
    fn name_to(&self, command: &mut Command) {
        command.env_remove("LOCI_DATA").env_remove("LOCI_DATABASE");
        match self {
            Self::Directory(folder) => command.env("LOCI_DATA", folder.path().join("data")),
            // The suites share two cores with all others; an answer may take a while.
            Self::Database(url) => {
                command.env("LOCI_DATABASE", url).env("LOCI_DATABASE_TIMEOUT_MS", "20000")
            }
        };
    }
}

/// A running server and where it keeps what is written.
pub(crate) struct Server {
    child: Child,
    base_url: String,
    _backing: Backing,
    _settings: NamedTempFile,
}

impl Server {
    /// Starts the binary with these settings and waits until it says where it listens.
    pub(crate) fn start(binary: &Path, backing: Backing, settings: &str) -> Result<Self> {
        let mut command = Command::new(binary);
        let mut file = NamedTempFile::with_prefix("loci-suite-")?;
        file.write_all(settings.as_bytes())?;
        command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(file.path());
        backing.name_to(&mut command);
        let mut child = command
            .env("LOCI_ADMIN_KEY", ADMIN_KEY)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let stdout = child.stdout.take().expect("stdout was asked for as a pipe");
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            // Reads to the end, so that the server never blocks on a full pipe.
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Some(url) = line.strip_prefix(READY) {
                    // Nobody listens any more only when the start already timed out.
                    let _ = send.send(url.trim().to_owned());
                }
            }
        });
        let answer = receive.recv_timeout(START_TIMEOUT);
        let server = Self {
            child,
            base_url: answer.clone().unwrap_or_default(),
            _backing: backing,
            _settings: file,
        };
        if answer.is_err() {
            bail!("the server did not say `{READY}…` within {START_TIMEOUT:?}");
        }
        Ok(server)
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if the process is gone already, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
