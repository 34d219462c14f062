//! The subset of POSIX that a mounted store keeps, as named cases.
//!
//! Files and directories, by open, unlink, rename, rmdir, mkdir, truncate, ftruncate, utimensat,
//! fallocate and chmod. The names are the text of `docs/reference/posix.md`: a case that is renamed, added or
//! taken away changes what is promised. Each runs as root in a directory of its own and becomes
//! somebody else where it is about permissions.

mod bed;
mod chmod;
mod fallocate;
mod ftruncate;
mod mkdir;
mod open;
mod open_access;
mod rename;
mod rename_replace;
mod rmdir;
mod truncate;
mod unlink;
mod utimensat;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use crate::Person;
pub use bed::Bed;

/// One promise and how to try it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What is promised, in one line.
    pub name: &'static str,
    run: fn(&Bed) -> Result<()>,
}

const fn case(name: &'static str, run: fn(&Bed) -> Result<()>) -> Case {
    Case { name, run }
}

/// The calls and the cases of each, in the order of the page.
pub const CALLS: [(&str, &[&[Case]]); 10] = [
    ("open", &[&open::CASES, &open_access::CASES]),
    ("unlink", &[&unlink::CASES]),
    ("rename", &[&rename::CASES, &rename_replace::CASES]),
    ("rmdir", &[&rmdir::CASES]),
    ("mkdir", &[&mkdir::CASES]),
    ("truncate", &[&truncate::CASES]),
    ("ftruncate", &[&ftruncate::CASES]),
    ("utimensat", &[&utimensat::CASES]),
    ("fallocate", &[&fallocate::CASES]),
    ("chmod", &[&chmod::CASES]),
];

/// Every case with its call.
pub fn cases() -> impl Iterator<Item = (&'static str, Case)> {
    let of = |(call, groups): &(&'static str, &'static [&'static [Case]])| {
        let call = *call;
        groups.iter().flat_map(|group| group.iter()).map(move |case| (call, *case))
    };
    CALLS.iter().flat_map(of)
}

/// Tries every case under a directory that root may write; what failed, one line each.
pub fn failures(directory: &Path) -> Vec<String> {
    let tried = cases().enumerate().map(|(number, (call, case))| {
        let tried = try_case(&directory.join(format!("{call}-{number}")), case);
        tried.err().map(|error| format!("{call}: {}: {error:#}", case.name))
    });
    tried.flatten().collect()
}

fn try_case(directory: &Path, case: Case) -> Result<()> {
    Person::ROOT.does(|| {
        let bed = Bed::make(directory.to_owned())?;
        (case.run)(&bed)?;
        bed.clear()
    })
}

/// The page of the documentation.
pub fn page() -> String {
    let mut page = String::from(
        "# The POSIX a mounted store keeps\n\n\
         Every line is a case of a test: it is tried on the file system of the machine and on a real \
         mount (`tests/mount/src/posix`), and all of them hold. Files and directories only: hard \
         links, symbolic links and special files are refused with `EPERM`.\n\n\
         The limits of memories are limits of files: a file of more than 16 MiB is refused with \
         `EFBIG` while it is written, so what needs one of 2 GB fails here; one that is larger than \
         its store allows is refused when it is closed; and a path of more than 1,024 bytes or 20 \
         levels is refused with `ENAMETOOLONG` when its file is stored. `rename` and `truncate` give \
         `EBUSY` when someone else wrote the file meanwhile. What else a mount does and does not do \
         is in the [guide](../guides/mount.md).\n",
    );
    for (call, groups) in CALLS {
        write!(page, "\n## {call}\n\n").expect("a text takes more text");
        for case in groups.iter().flat_map(|group| group.iter()) {
            writeln!(page, "- {}", case.name).expect("a text takes more text");
        }
    }
    page
}
