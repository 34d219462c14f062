//! Where the same files are made and read: a directory of the disk, the FUSE file system in memory, a
//! mounted store. Each is gone when dropped, whatever happened.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::memory;
use crate::child::{KEY, Server};

const PATIENCE: Duration = Duration::from_secs(60);
/// Vectors would take a core of the machine for as long as they are behind.
const NO_MODEL: &str = "[search]\nembedder = \"none\"\n";

/// How a mount reaches its store.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// By the data directory that a server holds.
    Directory,
    /// By the server's address.
    Http,
}

/// A directory to work in.
pub(super) struct Place {
    pub(super) at: PathBuf,
    serving: Option<Child>,
    /// What the mount is of.
    _server: Option<Server>,
}

impl Place {
    /// A directory of the disk.
    pub(super) fn disk(scratch: &Path) -> anyhow::Result<Self> {
        let at = scratch.join("disk");
        fs::create_dir(&at)?;
        Ok(Self { at, serving: None, _server: None })
    }

    /// The file system in memory.
    pub(super) fn memory(scratch: &Path) -> anyhow::Result<Self> {
        let at = scratch.join("memory");
        fs::create_dir(&at)?;
        let mut child = Command::new(std::env::current_exe()?)
            .arg("memory-files")
            .arg(&at)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().context("no output")?;
        let place = Self { at, serving: Some(child), _server: None };
        let first = BufReader::new(stdout).lines().next().context("the file system ended")??;
        ensure!(first == memory::READY, "the file system says {first:?}");
        Ok(place)
    }

    /// A mounted store of a server, which makes vectors or does not.
    pub(super) fn mounted(
        loci: &Path,
        scratch: &Path,
        way: Way,
        has_vectors: bool,
    ) -> anyhow::Result<Self> {
        let (at, data) = (scratch.join("mounted"), scratch.join("data"));
        fs::create_dir(&at)?;
        let settings = if has_vectors { "" } else { NO_MODEL };
        let server = Server::loci_with(loci, &data, settings)?;
        let made = Command::new(loci)
            .args(["put", "bench", "/first.md", "--create-store", "--text", "first", "--data"])
            .arg(&data)
            .stdout(Stdio::null())
            .status()?;
        ensure!(made.success(), "the store cannot be made");
        let mut mounting = Command::new(loci);
        mounting.arg("mount").arg(&at).args(["--flat", "--foreground", "--store", "bench"]);
        match way {
            Way::Directory => mounting.arg("--data").arg(&data),
            Way::Http => mounting.arg("--url").arg(format!("http://{}", server.address)),
        };
        let child = mounting
            .env("LOCI_KEY", KEY)
            .env("XDG_STATE_HOME", scratch.join("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        let mut place = Self { at, serving: Some(child), _server: Some(server) };
        place.await_mount()?;
        Ok(place)
    }

    fn await_mount(&mut self) -> anyhow::Result<()> {
        let began = Instant::now();
        while !is_mounted(&self.at) {
            let child = self.serving.as_mut().context("nothing is mounted here")?;
            ensure!(child.try_wait()?.is_none(), "the mount ended");
            ensure!(began.elapsed() < PATIENCE, "not mounted after {PATIENCE:?}");
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(mut child) = self.serving.take() else { return };
        drop(child.stdin.take());
        if self._server.is_some() {
            let _ = Command::new("kill").arg(child.id().to_string()).status();
        }
        let began = Instant::now();
        while began.elapsed() < PATIENCE && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        let _ = child.wait();
        if is_mounted(&self.at) {
            let _ = Command::new("umount").arg("--lazy").arg(&self.at).status();
        }
    }
}

fn is_mounted(at: &Path) -> bool {
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev());
    match (device(at), at.parent().map(device)) {
        (Ok(own), Some(Ok(above))) => own != above,
        (own, _) => own.is_err(),
    }
}
