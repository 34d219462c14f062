//! Programs that people and agents use, at work in a directory: what they leave is what they would
//! leave anywhere, and each save is exactly one version of the right memory.
//!
//! A program works in a folder named after it. The versions are asked of a [`Witness`]; on a plain
//! directory only files can be looked at.

mod desk;
mod editors;
mod many;
mod python;
mod saves;
mod shell;
mod trees;

use std::path::Path;

use anyhow::Result;

use crate::Witness;
use desk::Desk;

type Work = fn(&mut Desk<'_>) -> Result<()>;

/// The programs by name, in the order they are tried.
const PROGRAMS: [(&str, Work); 40] = [
    ("shell-write", shell::write),
    ("shell-append", shell::append),
    ("shell-empty", shell::empty),
    ("shell-move", shell::move_about),
    ("shell-copy", shell::copy),
    ("shell-remove", shell::remove),
    ("python-write", python::write),
    ("python-replace", python::replace),
    ("python-update", python::update),
    ("sed", editors::sed),
    ("perl", editors::perl),
    ("saves", saves::sequences),
    ("sed-backup", saves::sed_backup),
    ("perl-backup", saves::perl_backup),
    ("patch", saves::patch),
    ("patch-backup", saves::patch_backup),
    ("move-away", saves::move_away),
    ("ed", saves::ed),
    ("awk", saves::awk),
    ("node", saves::node),
    ("vim", editors::vim),
    ("vim-backupcopy-no", editors::vim_backupcopy_no),
    ("vim-backupcopy-yes", editors::vim_backupcopy_yes),
    ("vim-nobackup", editors::vim_nobackup),
    ("vim-backup", editors::vim_backup),
    ("nano", editors::nano),
    ("nano-backup", editors::nano_backup),
    ("emacs", editors::emacs),
    ("sort", saves::sort),
    ("install", saves::install),
    ("dd", saves::dd),
    ("git", trees::git),
    ("git-inside", trees::git_inside),
    ("rsync", trees::rsync),
    ("tar", trees::tar),
    ("grep", trees::grep),
    ("find", trees::find),
    ("du", trees::du_and_df),
    ("many-files", many::distinct),
    ("many-appends", many::appending),
];

/// Lets every program work; what went wrong, one line each.
pub fn failures(directory: &Path, outside: &Path, witness: &mut dyn Witness) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, work) in PROGRAMS {
        let done =
            Desk::make(name, directory, outside, witness).and_then(|mut desk| work(&mut desk));
        failures.extend(done.err().map(|error| format!("{name}: {error:#}")));
    }
    failures
}
