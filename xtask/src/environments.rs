//! Python and Node packages for the suites, installed once and shared by all of them.
//!
//! `uv` makes the Python environments under `.xtask/`: one for each set of requirements, named by its
//! hash, so a changed file makes a new one and an unchanged file costs nothing. Node's packages are
//! what the lock files say. A half-made environment is made again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::command::run_quietly;

/// The release of `uv` that makes the environments.
const UV: &str = "uv==0.13.8";

/// A Python environment with exactly these requirements.
pub(crate) fn python(root: &Path, requirements: &Path) -> Result<PathBuf> {
    let text = fs::read(requirements).with_context(|| format!("{}", requirements.display()))?;
    let venv = root.join(".xtask").join(format!("venv-{}", short_hash(&text)));
    made_once(&venv, || {
        let uv = uv(root)?;
        // Older releases of some packages still import what setuptools carried.
        run_quietly(Command::new(&uv).args(["venv", "--quiet", "--seed"]).arg(&venv))?;
        let mut install = Command::new(&uv);
        install.args(["pip", "install", "--quiet", "--python"]).arg(venv.join("bin/python"));
        run_quietly(install.arg("-r").arg(requirements))?;
        Ok(())
    })?;
    Ok(venv)
}

/// The `uv` program, from its package.
fn uv(root: &Path) -> Result<PathBuf> {
    let venv = root.join(".xtask").join(format!("uv-{}", short_hash(UV.as_bytes())));
    made_once(&venv, || {
        run_quietly(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        let mut install = Command::new(venv.join("bin/python"));
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", UV]);
        run_quietly(&mut install)?;
        Ok(())
    })?;
    Ok(venv.join("bin/uv"))
}

/// Installs what the lock file of a folder says, unless the same lock file was installed before.
pub(crate) fn node(folder: &Path) -> Result<()> {
    let lock = folder.join("package-lock.json");
    let text = fs::read(&lock).with_context(|| format!("{}", lock.display()))?;
    let stamp = short_hash(&text);
    let done = folder.join("node_modules/.xtask-complete");
    if fs::read_to_string(&done).is_ok_and(|found| found == stamp) {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--prefer-offline"]).current_dir(folder);
    run_quietly(&mut npm)?;
    fs::write(&done, stamp)?;
    Ok(())
}

fn made_once(folder: &Path, make: impl FnOnce() -> Result<()>) -> Result<()> {
    let done = folder.join("xtask-complete");
    if done.is_file() {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    make()?;
    fs::write(&done, "")?;
    Ok(())
}

/// Enough of a hash to tell two versions of a file apart.
fn short_hash(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes)[..8])
}
