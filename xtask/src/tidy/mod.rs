//! `cargo xtask tidy`: rules about the source tree that the compiler does not check.
//!
//! Crate arrows, file headers and lengths, names, where `Serialize` may stand, the numbering of
//! decision pages, and the tests that the page of findings names. Also a test, so that `cargo test` alone catches a breach.

mod arrows;
mod decisions;
mod findings;
mod source;

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Result, bail};

/// Reports every breach, then fails if there was one.
pub(crate) fn run(root: &Path) -> Result<()> {
    let breaches = breaches(root)?;
    for breach in &breaches {
        println!("{breach}");
    }
    if !breaches.is_empty() {
        bail!("{} tidy rules broken", breaches.len());
    }
    Ok(())
}

fn breaches(root: &Path) -> Result<Vec<String>> {
    let mut breaches = arrows::breaches(root)?;
    let sources = rust_files(root)?;
    for path in &sources {
        let shown = path.strip_prefix(root).unwrap_or(path).to_owned();
        breaches.extend(source::breaches(&shown, &fs::read_to_string(path)?));
    }
    breaches.extend(findings::breaches(root, &sources)?);
    breaches.extend(decisions::breaches(&root.join("docs/decisions"))?);
    Ok(breaches)
}

/// Every `.rs` file of the workspace, sorted, without build output and foreign packages.
pub(crate) fn rust_files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> =
        ["crates", "xtask", "tests", "bench"].iter().map(|name| root.join(name)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            let name = entry.file_name();
            if entry.file_type()?.is_dir() {
                if name != "target" && name != "node_modules" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tree_is_tidy() {
        let breaches = super::breaches(&crate::root()).unwrap();
        assert!(breaches.is_empty(), "{}", breaches.join("\n"));
    }
}
