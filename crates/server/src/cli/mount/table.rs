//! What is mounted where, as the kernel tells it. A mount of ours names its process in its source, so
//! that whoever ends it can wait for the process, without a file that could be left behind.

use crate::exit::Failure;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The kind of our mounts.
const KIND: &str = "fuse.loci";
const SOURCE: &str = "loci";
const TABLE: &str = "/proc/self/mountinfo";

/// The source of the mount of this process.
pub(super) fn own_source() -> String {
    format!("{SOURCE}:{}", std::process::id())
}

/// A mount of ours.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mounted {
    /// The process that serves it, as far as its source says.
    pub(super) pid: Option<i32>,
}

/// Whatever is on top at this place: ours, somebody else's, or nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Top {
    Nothing,
    Ours(Mounted),
    Other(String),
}

/// What is mounted at exactly this place.
pub(super) fn look(place: &Path) -> Result<Top, Failure> {
    let table = fs::read(TABLE);
    let table = table.map_err(|error| Failure::io(format_args!("cannot read {TABLE}"), &error))?;
    Ok(find(&String::from_utf8_lossy(&table), place))
}

fn find(table: &str, place: &Path) -> Top {
    let mut top = Top::Nothing;
    for line in table.lines() {
        let Some((before, after)) = line.split_once(" - ") else { continue };
        let Some(target) = before.split(' ').nth(4) else { continue };
        if Path::new(&unescape(target)) != place {
            continue;
        }
        let mut after = after.split(' ');
        let (kind, source) = (after.next().unwrap_or(""), after.next().unwrap_or(""));
        // A later line lies on top of an earlier one.
        top = match kind == KIND {
            true => {
                let pid = source.split_once(':').and_then(|(_, pid)| pid.parse().ok());
                Top::Ours(Mounted { pid })
            }
            false => Top::Other(kind.to_owned()),
        };
    }
    top
}

/// The table writes spaces and the like as three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let digits = more.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (first, code) {
            (b'\\', Some(code)) => {
                bytes.push(code);
                rest = &more[3..];
            }
            _ => {
                bytes.push(first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A place as the table names it. The place itself may not answer, when its process is dead.
pub(super) fn resolve(dir: &Path) -> io::Result<PathBuf> {
    let failed = match fs::canonicalize(dir) {
        Ok(place) => return Ok(place),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
        Err(error) => error,
    };
    let whole = std::path::absolute(dir)?;
    match (whole.parent(), whole.file_name()) {
        (Some(parent), Some(name)) => Ok(fs::canonicalize(parent)?.join(name)),
        _ => Err(failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:40 / /mnt/a\\040b rw,nosuid shared:2 - fuse.loci loci:123 rw,user_id=0
41 22 0:41 / /mnt/c rw - fuse.loci loci rw
42 22 0:42 / /mnt/c rw - tmpfs tmpfs rw
";

    #[test]
    fn the_top_is_found() {
        let at = |place: &str| find(TABLE, Path::new(place));
        assert_eq!(at("/mnt/a b"), Top::Ours(Mounted { pid: Some(123) }));
        assert_eq!(at("/mnt/c"), Top::Other("tmpfs".into()));
        assert_eq!(at("/mnt"), Top::Nothing);
    }

    #[test]
    fn a_place_is_named_as_the_table_does() {
        let folder = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(folder.path()).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(".", &link).unwrap();
        assert_eq!(resolve(&link).unwrap(), real);
        assert!(resolve(&folder.path().join("missing")).is_err());
    }
}
