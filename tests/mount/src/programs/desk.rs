//! Where a program works: a folder of the directory under test, a folder elsewhere, and what may be
//! asked about both afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::Witness;

/// No program takes longer than this, in seconds; one that hangs is ended.
const PATIENCE: &str = "120";

/// One program's place.
pub(super) struct Desk<'a> {
    /// Empty at the start, in the directory under test.
    pub(super) folder: PathBuf,
    /// Empty at the start, on the machine's own disk.
    pub(super) outside: PathBuf,
    pub(super) witness: &'a mut dyn Witness,
    /// What the folder is called in the store.
    prefix: String,
}

impl<'a> Desk<'a> {
    pub(super) fn make(
        name: &str,
        directory: &Path,
        outside: &Path,
        witness: &'a mut dyn Witness,
    ) -> Result<Self> {
        let (folder, outside) = (directory.join(name), outside.join(name));
        fs::create_dir(&folder).context("cannot make the folder")?;
        fs::create_dir(&outside).context("cannot make the folder outside")?;
        Ok(Self { folder, outside, witness, prefix: format!("/{name}") })
    }

    /// Runs a shell script in the folder; `$OUT` is the folder outside. What it printed.
    pub(super) fn sh(&self, script: &str) -> Result<String> {
        self.run(&["sh", "-euc", script])
    }

    /// Runs a program in the folder that must succeed; what it printed.
    pub(super) fn run(&self, words: &[&str]) -> Result<String> {
        let (succeeded, printed) = self.try_run(words)?;
        ensure!(succeeded, "{}: {printed}", words.join(" "));
        Ok(printed)
    }

    /// Runs a program in the folder; whether it succeeded, and what it printed on both streams.
    pub(super) fn try_run(&self, words: &[&str]) -> Result<(bool, String)> {
        let output = Command::new("timeout")
            .args(["--kill-after=5", PATIENCE])
            .args(words)
            .current_dir(&self.folder)
            .env("OUT", &self.outside)
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", &self.outside)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(std::process::Stdio::null())
            .output()
            .with_context(|| format!("cannot run {}", words[0]))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((output.status.success(), text(&output.stdout) + &text(&output.stderr)))
    }

    /// What the file holds, for readers of files and for the witness.
    pub(super) fn holds(&mut self, name: &str, wanted: &str) -> Result<()> {
        let found = fs::read(self.folder.join(name)).with_context(|| format!("reading {name}"))?;
        let found = String::from_utf8_lossy(&found);
        ensure!(found == wanted, "{name} holds {found:?}, not {wanted:?}");
        if let Some(kept) = self.witness.content(&format!("{}/{name}", self.prefix))? {
            let kept = String::from_utf8_lossy(&kept);
            ensure!(kept == wanted, "{name} is kept as {kept:?}, not {wanted:?}");
        }
        Ok(())
    }

    /// The versions of what is at a name, oldest first, and no others.
    pub(super) fn versions(&mut self, name: &str, wanted: &[&str]) -> Result<()> {
        if let Some(found) = self.witness.operations(&format!("{}/{name}", self.prefix))? {
            ensure!(found == wanted, "versions of {name} are {found:?}, not {wanted:?}");
        }
        Ok(())
    }

    /// Who is at a name.
    pub(super) fn who(&mut self, name: &str) -> Result<Option<String>> {
        self.witness.identity(&format!("{}/{name}", self.prefix))
    }

    /// The same memory as before is at a name.
    pub(super) fn still(&mut self, name: &str, who: Option<&String>) -> Result<()> {
        let found = self.who(name)?;
        ensure!(found.as_ref() == who, "{name} is {found:?}, not {who:?}");
        Ok(())
    }

    /// Exactly these files are there, for readers of directories and for the witness.
    pub(super) fn files(&mut self, wanted: &[&str]) -> Result<()> {
        let listed = self.sh("find . -type f | sed 's,^[.]/,,' | LC_ALL=C sort")?;
        let listed: Vec<&str> = listed.lines().collect();
        ensure!(listed == wanted, "there are {listed:?}, not {wanted:?}");
        if let Some(paths) = self.witness.paths()? {
            let below = format!("{}/", self.prefix);
            let kept: Vec<&str> =
                paths.iter().filter_map(|path| path.strip_prefix(below.as_str())).collect();
            ensure!(kept == wanted, "kept are {kept:?}, not {wanted:?}");
        }
        Ok(())
    }
}
