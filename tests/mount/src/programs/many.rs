//! Two hundred writers at once.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use anyhow::{Result, anyhow, ensure};

use super::desk::Desk;

const WRITERS: usize = 200;

/// Every writer does its work at the same moment.
fn at_once(work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    let (start, work) = (Barrier::new(WRITERS), &work);
    thread::scope(|scope| {
        let start = &start;
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn(move || {
                    start.wait();
                    work(writer)
                })
            })
            .collect();
        let mut all = writers.into_iter().map(|writer| writer.join());
        all.try_for_each(|one| one.unwrap_or_else(|_| Err(anyhow!("a writer panicked"))))
    })
}

fn text(writer: usize) -> String {
    format!("writer {writer} was here\n")
}

/// Each its own file: one version each, all of them there.
pub(super) fn distinct(desk: &mut Desk<'_>) -> Result<()> {
    let folder = desk.folder.clone();
    at_once(|writer| Ok(fs::write(folder.join(format!("{writer:03}.md")), text(writer))?))?;
    let names: Vec<String> = (0..WRITERS).map(|writer| format!("{writer:03}.md")).collect();
    desk.files(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
    for (writer, name) in names.iter().enumerate() {
        desk.holds(name, &text(writer))?;
        desk.versions(name, &["created"])?;
    }
    Ok(())
}

/// All one file: every line is there once, and no more versions than writers.
pub(super) fn appending(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("echo begin > log.md")?;
    let file = desk.folder.join("log.md");
    at_once(|writer| append(&file, &text(writer)))?;
    let found = fs::read_to_string(&file)?;
    ensure!(found.lines().count() == WRITERS + 1, "{} lines", found.lines().count());
    let lines: BTreeSet<&str> = found.lines().collect();
    for writer in 0..WRITERS {
        ensure!(lines.contains(text(writer).trim_end()), "the line of writer {writer} is gone");
    }
    desk.holds("log.md", &found)?;
    if let Some(kept) = desk.witness.operations("/many-appends/log.md")? {
        ensure!((2..=WRITERS + 1).contains(&kept.len()), "{} versions", kept.len());
    }
    Ok(())
}

fn append(file: &Path, line: &str) -> Result<()> {
    let mut file = OpenOptions::new().append(true).open(file)?;
    file.write_all(line.as_bytes())?;
    Ok(())
}
