//! Programs that save a file by their own dance of temporary names: always one `modified` version of
//! the memory that was edited, and nothing left beside it.

use anyhow::Result;

use super::desk::Desk;

const BEFORE: &str = "an old line\nanother\n";
const AFTER: &str = "an new line\nanother\n";

fn edit(desk: &mut Desk<'_>, words: &[&str], left: &[&str]) -> Result<()> {
    desk.sh(&format!("printf '{}' > notes.md", BEFORE.replace('\n', "\\n")))?;
    let who = desk.who("notes.md")?;
    desk.versions("notes.md", &["created"])?;
    desk.run(words)?;
    desk.holds("notes.md", AFTER)?;
    desk.still("notes.md", who.as_ref())?;
    desk.versions("notes.md", &["created", "modified"])?;
    desk.sh(&format!("test \"$(ls -A | tr '\\n' ' ')\" = '{} '", left.join(" ")))?;
    // Twice: what the first left must not be in the way of the second.
    desk.sh(&format!("printf '{}' > notes.md", BEFORE.replace('\n', "\\n")))?;
    desk.run(words)?;
    desk.holds("notes.md", AFTER)?;
    desk.still("notes.md", who.as_ref())?;
    desk.versions("notes.md", &["created", "modified", "modified", "modified"])
}

pub(super) fn sed(desk: &mut Desk<'_>) -> Result<()> {
    edit(desk, &["sed", "-i", "s/old/new/", "notes.md"], &["notes.md"])
}

pub(super) fn perl(desk: &mut Desk<'_>) -> Result<()> {
    edit(desk, &["perl", "-pi", "-e", "s/old/new/", "notes.md"], &["notes.md"])
}

/// In ex mode, with these settings before the file is read.
fn vim_with(desk: &mut Desk<'_>, settings: &str, left: &[&str]) -> Result<()> {
    let words = [
        "vim",
        "-es",
        "-u",
        "NONE",
        "-i",
        "NONE",
        "--cmd",
        settings,
        "-c",
        "%s/old/new/",
        "-c",
        "wq",
        "notes.md",
    ];
    edit(desk, &words, left)
}

pub(super) fn vim(desk: &mut Desk<'_>) -> Result<()> {
    vim_with(desk, "set nocompatible", &["notes.md"])
}

pub(super) fn vim_backupcopy_no(desk: &mut Desk<'_>) -> Result<()> {
    vim_with(desk, "set nocompatible backupcopy=no", &["notes.md"])
}

pub(super) fn vim_backupcopy_yes(desk: &mut Desk<'_>) -> Result<()> {
    vim_with(desk, "set nocompatible backupcopy=yes", &["notes.md"])
}

pub(super) fn vim_nobackup(desk: &mut Desk<'_>) -> Result<()> {
    vim_with(desk, "set nocompatible nobackup nowritebackup", &["notes.md"])
}

pub(super) fn vim_backup(desk: &mut Desk<'_>) -> Result<()> {
    vim_with(desk, "set nocompatible backup backupskip=", &["notes.md", "notes.md~"])
}

/// At a terminal, with these options.
fn nano_with(desk: &mut Desk<'_>, options: &[&str], left: &[&str]) -> Result<()> {
    edit(desk, &[&["python3", "-c", include_str!("nano.py")], options].concat(), left)
}

pub(super) fn nano(desk: &mut Desk<'_>) -> Result<()> {
    nano_with(desk, &[], &["notes.md"])
}

pub(super) fn nano_backup(desk: &mut Desk<'_>) -> Result<()> {
    nano_with(desk, &["--backup"], &["notes.md", "notes.md~"])
}

/// The calls that Emacs makes: the first save renames the file to a backup and writes it anew.
pub(super) fn emacs(desk: &mut Desk<'_>) -> Result<()> {
    let script = "mv notes.md notes.md~; sed s/old/new/ notes.md~ > notes.md; sync notes.md";
    edit(desk, &["sh", "-euc", script], &["notes.md", "notes.md~"])
}
