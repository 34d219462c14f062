//! How programs save a file that is there, and one that is new: the programs themselves where every
//! machine has them, and the calls that the others make. One save is one version of the memory that
//! was there; a backup that stays is a memory of its own; nothing else is left.

use std::fs::{self, File};
use std::io::Write;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::desk::Desk;

const OLD: &str = "an old line\n";
const NEW: &str = "an new line\n";
/// How long a backup may take to be stored.
const LATEST: Duration = Duration::from_secs(30);

/// Saves a text at a name of the folder.
type Save = fn(&Desk<'_>, &str, &str) -> Result<()>;

/// What programs do, call by call.
pub(super) const SEQUENCES: [(&str, Save); 7] = [
    ("Claude Code", |desk, name, text| {
        beside(desk, name, &format!("{name}.tmp.4711.8f3a2b1c"), text)
    }),
    ("VS Code, atomic", |desk, name, text| beside(desk, name, &format!("{name}.vsctmp"), text)),
    ("gedit", |desk, name, text| beside(desk, name, ".goutputstream-A1B2C3", text)),
    ("KDE", |desk, name, text| beside(desk, name, &format!("{name}.kLsQz2"), text)),
    ("write-file-atomic", |desk, name, text| {
        beside(desk, name, &format!("{name}.3892734511"), text)
    }),
    ("VS Code, in place", |desk, name, text| synced(desk, name, text)),
    ("JetBrains", |desk, name, text| {
        let at = |end: &str| desk.folder.join(format!("{name}{end}"));
        let is_new = !at("").exists();
        if is_new {
            return synced(desk, name, text);
        }
        synced(desk, &format!("{name}___jb_tmp___"), text)?;
        fs::rename(at(""), at("___jb_old___"))?;
        fs::rename(at("___jb_tmp___"), at(""))?;
        Ok(fs::remove_file(at("___jb_old___"))?)
    }),
];

/// Writes a file and asks for it to be on the disk.
fn synced(desk: &Desk<'_>, name: &str, text: &str) -> Result<()> {
    let mut file = File::create(desk.folder.join(name))?;
    file.write_all(text.as_bytes())?;
    Ok(file.sync_all()?)
}

fn beside(desk: &Desk<'_>, name: &str, first: &str, text: &str) -> Result<()> {
    synced(desk, first, text)?;
    Ok(fs::rename(desk.folder.join(first), desk.folder.join(name))?)
}

pub(super) fn sequences(desk: &mut Desk<'_>) -> Result<()> {
    let mut names = Vec::new();
    for (at, (program, save)) in SEQUENCES.iter().enumerate() {
        let (old, new) = (format!("{at}-old.md"), format!("{at}-new.md"));
        desk.sh(&format!("printf '{}' > {old}", OLD.replace('\n', "\\n")))?;
        let who = desk.who(&old)?;
        for turn in ["one\n", "two\n"] {
            save(desk, &old, turn)?;
            desk.holds(&old, turn)?;
            desk.still(&old, who.as_ref())?;
        }
        let told = |error: anyhow::Error| error.context(*program);
        desk.versions(&old, &["created", "modified", "modified"]).map_err(told)?;
        save(desk, &new, NEW)?;
        desk.holds(&new, NEW)?;
        desk.versions(&new, &["created"]).map_err(told)?;
        names.extend([new, old]);
    }
    desk.files(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A program that edits `notes.md` and leaves what it was at `backup`.
fn with_backup(desk: &mut Desk<'_>, script: &str, backup: &str) -> Result<()> {
    let write = format!("printf '{}' > notes.md", OLD.replace('\n', "\\n"));
    desk.sh(&write)?;
    let who = desk.who("notes.md")?;
    desk.sh(script)?;
    desk.holds("notes.md", NEW)?;
    desk.still("notes.md", who.as_ref())?;
    desk.versions("notes.md", &["created", "modified"])?;
    ensure!(fs::read_to_string(desk.folder.join(backup))? == OLD, "{backup} is something else");
    settled(desk, backup)?;
    desk.versions(backup, &["created"])?;
    // Once more, over the backup of the first time.
    desk.sh(&write)?;
    desk.sh(script)?;
    desk.holds("notes.md", NEW)?;
    desk.still("notes.md", who.as_ref())?;
    desk.versions("notes.md", &["created", "modified", "modified", "modified"])?;
    settled(desk, backup)?;
    desk.files(&["notes.md", backup])
}

/// Waits until the witness has a backup; it is stored when nothing more happens to it.
fn settled(desk: &mut Desk<'_>, backup: &str) -> Result<()> {
    let began = Instant::now();
    loop {
        match desk.holds(backup, OLD) {
            Err(error) if began.elapsed() > LATEST => return Err(error),
            Err(_) => sleep(Duration::from_millis(20)),
            Ok(()) => return Ok(()),
        }
    }
}

const DIFF: &str =
    "printf -- '--- a\\n+++ b\\n@@ -1 +1 @@\\n-an old line\\n+an new line\\n' | patch -s";

pub(super) fn sed_backup(desk: &mut Desk<'_>) -> Result<()> {
    with_backup(desk, "sed -i.bak s/old/new/ notes.md", "notes.md.bak")
}

pub(super) fn perl_backup(desk: &mut Desk<'_>) -> Result<()> {
    with_backup(desk, "perl -pi.bak -e s/old/new/ notes.md", "notes.md.bak")
}

pub(super) fn patch_backup(desk: &mut Desk<'_>) -> Result<()> {
    with_backup(desk, &format!("{DIFF} -b notes.md"), "notes.md.orig")
}

pub(super) fn move_away(desk: &mut Desk<'_>) -> Result<()> {
    with_backup(desk, "mv notes.md notes.md.old; echo 'an new line' > notes.md", "notes.md.old")
}

/// A program that edits `notes.md` and leaves nothing.
fn without_backup(desk: &mut Desk<'_>, script: &str) -> Result<()> {
    desk.sh(&format!("printf '{}' > notes.md", OLD.replace('\n', "\\n")))?;
    let who = desk.who("notes.md")?;
    desk.sh(script)?;
    desk.holds("notes.md", NEW)?;
    desk.still("notes.md", who.as_ref())?;
    desk.versions("notes.md", &["created", "modified"])?;
    desk.files(&["notes.md"])
}

pub(super) fn patch(desk: &mut Desk<'_>) -> Result<()> {
    without_backup(desk, &format!("{DIFF} notes.md"))
}

pub(super) fn ed(desk: &mut Desk<'_>) -> Result<()> {
    without_backup(desk, "printf 's/old/new/\\nw\\nq\\n' | ed -s notes.md")
}

pub(super) fn awk(desk: &mut Desk<'_>) -> Result<()> {
    without_backup(
        desk,
        "awk '{ sub(/old/, \"new\") } 1' notes.md > notes.md.new && mv notes.md.new notes.md",
    )
}

pub(super) fn sort(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("printf 'b\\na\\nc\\n' > notes.md")?;
    let who = desk.who("notes.md")?;
    desk.sh("sort -o notes.md notes.md")?;
    desk.holds("notes.md", "a\nb\nc\n")?;
    desk.still("notes.md", who.as_ref())?;
    desk.versions("notes.md", &["created", "modified"])?;
    desk.sh("sort -r -o new.md notes.md")?;
    desk.versions("new.md", &["created"])?;
    desk.files(&["new.md", "notes.md"])
}

/// It removes what is there and makes it anew: that is another memory.
pub(super) fn install(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("echo 'an old line' > $OUT/one; install -m 640 $OUT/one notes.md")?;
    desk.holds("notes.md", OLD)?;
    desk.versions("notes.md", &["created"])?;
    ensure!(desk.sh("stat -c %a notes.md")?.trim() == "640", "install does not set the mode");
    desk.sh("echo 'an new line' > $OUT/two; install $OUT/two notes.md")?;
    desk.holds("notes.md", NEW)?;
    desk.versions("notes.md", &["created"])?;
    desk.files(&["notes.md"])
}

pub(super) fn dd(desk: &mut Desk<'_>) -> Result<()> {
    without_backup(desk, "echo 'an new line' | dd of=notes.md bs=3 status=none")?;
    desk.sh("printf OLD | dd of=notes.md bs=1 seek=3 conv=notrunc,fsync status=none")?;
    desk.holds("notes.md", "an OLD line\n")?;
    desk.versions("notes.md", &["created", "modified", "modified"])
}

/// In the way of npm's write-file-atomic.
pub(super) fn node(desk: &mut Desk<'_>) -> Result<()> {
    let script = "const fs = require('fs'); const name = 'notes.md.' + 3892734511; \
                  const file = fs.openSync(name, 'w', 0o666); \
                  fs.writeSync(file, fs.readFileSync('notes.md', 'utf8').replace('old', 'new')); \
                  fs.fsyncSync(file); fs.closeSync(file); fs.renameSync(name, 'notes.md');";
    without_backup(desk, &format!("node -e \"{script}\""))
}
