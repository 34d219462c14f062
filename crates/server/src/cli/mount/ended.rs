//! The last word of a mount: what it could not save, for whoever ended it. The process writes it
//! beside the marks of its user when it has unmounted, also if there is nothing to tell, and
//! `loci umount` takes it away. It names the moment its process was started, because the numbers of
//! processes come again.

use crate::config;
use loci_mount::Unsaved;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the names of such files begin with.
const PREFIX: &str = "ended-";
/// How long one waits for somebody to read it.
const READ_WITHIN: Duration = Duration::from_secs(60);

/// Where a process will leave its last word, and how it is known to be its own.
#[derive(Debug)]
pub(super) struct LastWord {
    file: PathBuf,
    started: u64,
}

impl LastWord {
    /// That of a process that runs; nothing if its user has no place for it.
    pub(super) fn of(pid: i32) -> Option<Self> {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let there = config::state_dir_by(|name| variable(&environ, name));
        let state = if environ.is_empty() { config::state_dir() } else { there }?;
        let file = state.join("mounts").join(format!("{PREFIX}{pid}"));
        Some(Self { file, started: started(pid)? })
    }

    /// That of this process.
    pub(super) fn own() -> Option<Self> {
        Self::of(i32::try_from(std::process::id()).ok()?)
    }

    /// Leaves it.
    pub(super) fn leave(&self, unsaved: &[Unsaved]) -> io::Result<()> {
        let mut text = format!("{}\n", self.started);
        for one in unsaved {
            text.push_str(&format!("{}\n", json!({"path": one.path, "why": one.why})));
        }
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
            forget_old(folder);
        }
        // A process of this number may have died before anybody read its last word.
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(&self.file)?;
        file.write_all(text.as_bytes())
    }

    /// Takes what the process left, when it is gone; nothing if it left nothing.
    pub(super) fn take(&self) -> Option<Vec<Value>> {
        let text = fs::read_to_string(&self.file).ok()?;
        let unsaved = self.parse(&text)?;
        // One that stays is dropped by the next mount that ends.
        let _ = fs::remove_file(&self.file);
        Some(unsaved)
    }

    fn parse(&self, text: &str) -> Option<Vec<Value>> {
        let (started, lines) = text.split_once('\n')?;
        if started.parse() != Ok(self.started) {
            return None;
        }
        lines.lines().map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// Drops what nobody has read.
fn forget_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in
        entries.flatten().filter(|it| it.file_name().as_bytes().starts_with(PREFIX.as_bytes()))
    {
        let written = entry.metadata().and_then(|found| found.modified());
        let age = written.ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > READ_WITHIN) {
            // Somebody else may have dropped it meanwhile.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// When a process was started, in the kernel's count since the machine was.
fn started(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program may hold anything, and ends with the last parenthesis.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(19)?.parse().ok()
}

/// A variable of an environment as the kernel shows it.
fn variable(environ: &[u8], name: &str) -> Option<String> {
    let mut all = environ.split(|byte| *byte == 0);
    let value = all.find_map(|one| one.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value.to_vec()).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_word_is_taken_once_and_only_as_that_of_its_process() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mounts").join("ended-7");
        let word = |started| LastWord { file: file.clone(), started };
        assert_eq!(word(1).take(), None);
        let one = Unsaved { path: "notes/a\nb".into(), why: "is not UTF-8 text".into() };
        word(1).leave(&[one]).unwrap();
        assert_eq!(word(2).take(), None, "another process had that number");
        let told = json!({"path": "notes/a\nb", "why": "is not UTF-8 text"});
        assert_eq!(word(1).take(), Some(vec![told]));
        assert_eq!(word(1).take(), None);
        word(1).leave(&[]).unwrap();
        word(3).leave(&[]).unwrap();
        assert_eq!(word(3).take(), Some(Vec::new()), "the newer one counts");
    }

    #[test]
    fn a_process_is_known_by_its_start_and_its_environment() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(started(own).unwrap() > 0);
        assert_eq!(started(i32::MAX), None);
        let environ = b"HOME=/home/a\0EMPTY=\0HOME2=/b\0";
        assert_eq!(variable(environ, "HOME").as_deref(), Some("/home/a"));
        assert_eq!(variable(environ, "EMPTY"), None);
        assert_eq!(variable(environ, "OME"), None);
    }
}
