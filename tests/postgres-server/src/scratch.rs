//! A temporary folder that a server's account can use, and that goes away with us however we end.
//!
//! A destructor does not run in a killed process, so a small shell stands guard: it reads a pipe
//! that only we hold open. When the pipe closes, because the folder is dropped or because we are
//! dead, the shell ends whatever PostgreSQL still runs on the data directory and removes the
//! files. It is in a process group of its own, so that Ctrl-C at the terminal does not reach it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::account::Account;
use crate::process;

/// Asked with the data directory and then every folder to remove. A process id out of a file may
/// belong to somebody else by now; ours is the one that works in the data directory.
const GUARD: &str = r#"
read -r _
pid=$(head -n 1 "$1/postmaster.pid" 2>/dev/null)
if [ -n "$pid" ] && [ "$(readlink "/proc/$pid/cwd")" = "$1" ]; then
    kill -CONT "$pid"
    kill -QUIT "$pid"
    tries=0
    while kill -0 "$pid" && [ "$tries" -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
    kill -KILL "$pid"
fi
shift
tries=0
until rm -rf -- "$@" || [ "$tries" -ge 20 ]; do sleep 0.5; tries=$((tries + 1)); done
"#;

/// The guard's longest way: ten seconds for the server, ten for the files.
const GUARD_TIMEOUT: Duration = Duration::from_secs(25);

/// A guarded temporary folder.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    data: PathBuf,
    guard: Child,
}

impl Scratch {
    /// A folder below the first temporary directory the account can reach.
    pub fn new(account: &Account) -> Result<Self> {
        Self::with_data_on(account, None)
    }

    /// The same, with the data directory in another folder, which has to be reachable itself.
    pub(crate) fn with_data_on(account: &Account, data_on: Option<&Path>) -> Result<Self> {
        let place = place(account)?;
        let folder = open_folder(&place)?;
        let elsewhere = data_on.map(open_folder).transpose()?;
        let base = elsewhere.as_ref().unwrap_or(&folder).path();
        let data = base.canonicalize()?.join("data");
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "guard"]).arg(&data).arg(folder.path());
        guard.args(elsewhere.as_ref().map(TempDir::path));
        guard.current_dir("/").process_group(0);
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let guard = guard.spawn().context("cannot start the guard of a temporary folder")?;
        // From here on the guard removes them.
        let path = folder.keep();
        elsewhere.map(TempDir::keep);
        Ok(Self { path, data, guard })
    }

    /// The folder. Others may pass through it but not write to it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the guard looks for a running server; not made yet.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        if !process::ended_within(&mut self.guard, GUARD_TIMEOUT) {
            // It is bounded in itself; only a machine that hangs gets here.
            let _ = self.guard.kill();
            let _ = self.guard.wait();
        }
    }
}

/// The temporary directory of this process if the account can reach it, else the machine's.
fn place(account: &Account) -> Result<PathBuf> {
    let places = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    let found = places.into_iter().find(|place| account.reaches(place));
    found.context("the account of the server can reach no temporary directory")
}

/// A new folder that others may pass through, as a server's account has to.
fn open_folder(place: &Path) -> Result<TempDir> {
    let folder = TempDir::with_prefix_in("loci-postgres-", place)
        .with_context(|| format!("no temporary folder in {}", place.display()))?;
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_removes_everything_inside() {
        let scratch = Scratch::new(&Account::choose().unwrap()).unwrap();
        let path = scratch.path().to_owned();
        fs::create_dir(path.join("full")).unwrap();
        fs::write(path.join("full/file"), "x").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn a_stale_process_id_harms_nobody() {
        let account = Account::choose().unwrap();
        let scratch = Scratch::new(&account).unwrap();
        let mut innocent = Command::new("sleep").arg("60").spawn().unwrap();
        fs::create_dir(scratch.data()).unwrap();
        let line = format!("{}\n", innocent.id());
        fs::write(scratch.data().join("postmaster.pid"), line).unwrap();
        drop(scratch);
        assert!(innocent.try_wait().unwrap().is_none(), "it still runs");
        innocent.kill().unwrap();
        innocent.wait().unwrap();
    }
}
