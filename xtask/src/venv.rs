//! Python packages for the suites, each set in a venv of its own under `.xtask/`.
//!
//! A venv's name carries the hash of its requirements, so a changed file makes a new one and an
//! unchanged file costs nothing. A half-made one is made again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::step;

/// A venv holding exactly these requirements.
pub(crate) fn with(root: &Path, name: &str, requirements: &Path) -> Result<PathBuf> {
    let text = fs::read(requirements).with_context(|| format!("{}", requirements.display()))?;
    let venv = root.join(".xtask").join(format!("venv-{name}-{}", short_hash(&text)));
    let done = venv.join("xtask-complete");
    if done.is_file() {
        return Ok(venv);
    }
    if venv.exists() {
        fs::remove_dir_all(&venv)?;
    }
    step::run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let mut install = Command::new(venv.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
    step::run(install.arg(requirements))?;
    fs::write(&done, "")?;
    Ok(venv)
}

/// Enough of a hash to tell two versions of a file apart.
pub(crate) fn short_hash(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes)[..8])
}
