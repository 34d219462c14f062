//! What a file name tells: whether it can be a segment of a path, whether it is of the kind that
//! programs use for a moment only, and how a segment too long for a file name is shown.

use fuser::Errno;
use loci_model::{Content, Digest, MemoryPath, limit};
use std::ffi::OsStr;

/// Bytes of a file name, as every file system has it.
pub(crate) const NAME_BYTES_MAX: usize = 255;
/// Hex digits behind the `~` of a name that was shortened.
const MARK_DIGITS: usize = 16;
/// Names to try beside a file.
pub(crate) const ASIDE_MAX: u32 = 10;

/// How long a file of this name is likely to live. Asked only about files that are no memories yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasting {
    /// An ordinary name: stored when closed.
    Kept,
    /// Written to be renamed: stored when it is still there after a while.
    Passing,
    /// An editor's own: lives with the mount and is never stored.
    Scratch,
}

/// Classes a name.
pub fn lasting(name: &str) -> Lasting {
    if is_scratch(name) {
        Lasting::Scratch
    } else if is_passing(name) {
        Lasting::Passing
    } else {
        Lasting::Kept
    }
}

/// Backups `x~`, Emacs' `#x#` and `.#x`, Vim's `.x.swp` and its probe `4913`, and what FUSE and NFS
/// make of files that were removed while open.
fn is_scratch(name: &str) -> bool {
    let is_swap = || {
        // `.swp`, `.swo` and so on, and `.swpx`, by which Vim finds out what the file system can.
        let ending = name.rfind('.').map_or("", |dot| &name[dot..]);
        let is_one = ending.len() == 4 && ending.starts_with(".sw");
        name.len() > 5 && (is_one && ending.is_char_boundary(3) || ending == ".swpx")
    };
    (name.len() > 1 && name.ends_with('~'))
        || (name.len() > 2 && name.starts_with('#') && name.ends_with('#'))
        || name.starts_with(".#")
        || (name.starts_with('.') && is_swap())
        || name == "4913"
        || name.starts_with(".fuse_hidden")
        || name.starts_with(".nfs0")
}

/// So many letters, digits or `_`.
fn is_random(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Six characters behind a dot may be a word such as `.config`; that of mktemp is seldom one.
fn looks_random(text: &str) -> bool {
    is_random(text, 6)
        && text.bytes().any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

/// `sed -i`, `perl -i`, `patch`, rsync, Python's tempfile, mktemp, GIO, KDE, Claude Code, VS Code,
/// JetBrains, npm's write-file-atomic, and whatever calls itself temporary.
fn is_passing(name: &str) -> bool {
    let (stem, ending) = match name.rfind('.') {
        Some(dot) => (&name[..dot], Some(&name[dot + 1..])),
        None => ("", None),
    };
    name.strip_prefix("sed").is_some_and(|rest| is_random(rest, 6))
        || name.strip_prefix("XX").is_some_and(|rest| is_random(rest, 6))
        || name.strip_prefix("tmp").is_some_and(|rest| is_random(rest, 8))
        || (stem.starts_with('.') && stem.len() > 1 && ending.is_some_and(|it| is_random(it, 6)))
        || ending.is_some_and(|it| {
            it == "tmp"
                || it == "vsctmp"
                || looks_random(it)
                || it.strip_prefix('o').is_some_and(looks_random)
                // A hash in digits; fewer of them may be a date.
                || (stem.contains('.') && (9..=10).contains(&it.len()) && is_number(it))
        })
        || is_marked_by_process(name)
        || ["___jb_tmp___", "___jb_old___"].iter().any(|end| name.ends_with(end))
        || [".goutputstream-", ".!", ".tmp"].iter().any(|start| name.starts_with(start))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `name.tmp.<process>.<hex>`.
fn is_marked_by_process(name: &str) -> bool {
    let Some((_, rest)) = name.rsplit_once(".tmp.") else { return false };
    let Some((process, mark)) = rest.split_once('.') else { return is_number(rest) };
    is_number(process) && !mark.is_empty() && mark.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The names of files beside which a file of this name is passing: what is behind them (and before
/// them a dot) is what programs put behind the name of the file that they are about to replace.
pub(crate) fn originals(name: &str) -> impl Iterator<Item = &str> {
    let cuts = name.char_indices().map(|(at, _)| at).filter(|at| *at > 0);
    let stems = cuts.filter(|at| is_for_a_moment(&name[*at..])).map(|at| &name[..at]);
    stems
        .flat_map(|stem| [Some(stem), stem.strip_prefix('.').filter(|it| !it.is_empty())])
        .flatten()
}

/// Whether this is what programs put behind the name of a file they are about to replace.
fn is_for_a_moment(suffix: &str) -> bool {
    let Some(ending) = suffix.strip_prefix('.') else { return false };
    ["tmp", "temp", "new", "part", "bck"].iter().any(|start| ending.starts_with(start))
        || (ending.len() > 4 && is_number(ending))
}

/// Whether a file of the first name that is renamed to the second becomes its own backup, so that
/// something else is about to take its place.
pub(crate) fn is_backup(name: &str, to: &str) -> bool {
    to.strip_prefix(name).is_some_and(|suffix| suffix.starts_with(['.', '~', '_', '-']))
}

/// The same where a file of the second name is there already: only what is called a backup replaces
/// one without being its next version.
pub(crate) fn is_called_backup(name: &str, to: &str) -> bool {
    let suffix = to.strip_prefix(name).unwrap_or_default();
    let word = suffix.trim_start_matches(['.', '_', '-']).trim_end_matches('_');
    is_backup(name, to)
        && (suffix == "~"
            || is_number(word)
            || ["bak", "bck", "backup", "old", "orig", "save", "jb_old", "prev"].contains(&word))
}

/// A file name as a segment of a path: UTF-8, short enough, and without what no path may have.
pub(crate) fn check(name: &OsStr) -> Result<&str, Errno> {
    if name.len() > NAME_BYTES_MAX {
        return Err(Errno::ENAMETOOLONG);
    }
    name.to_str().ok_or(Errno::EILSEQ)
}

/// Refuses a new name that no memory could have. That a whole path is too long shows when it is
/// saved: directories may be deeper than memories can lie.
pub(crate) fn check_new(name: &OsStr) -> Result<&str, Errno> {
    let name = check(name)?;
    MemoryPath::parse(&format!("/{name}")).map_err(|_| Errno::EINVAL)?;
    Ok(name)
}

/// A path to save something at.
pub(crate) fn path(text: &str) -> Result<MemoryPath, Errno> {
    MemoryPath::parse(text).map_err(|_| {
        let is_long = text.len() > limit::PATH_BYTES_MAX
            || text.matches('/').count() > limit::PATH_SEGMENTS_MAX;
        if is_long { Errno::ENAMETOOLONG } else { Errno::EINVAL }
    })
}

/// How a segment is shown: as it is, or if it is too long for a file name, its beginning, `~` and
/// digits that tell it from others. The same segment is always shown the same way.
pub(crate) fn shown(segment: &str) -> Option<String> {
    if segment.len() <= NAME_BYTES_MAX {
        return None;
    }
    let mark = Content::Text(segment.to_owned()).digest().to_string();
    let mut cut = NAME_BYTES_MAX - 1 - MARK_DIGITS;
    while !segment.is_char_boundary(cut) {
        cut -= 1;
    }
    Some(format!("{}~{}", &segment[..cut], &mark[..MARK_DIGITS]))
}

/// The name beside `name` where the content of somebody who lost a race goes: for the first few of
/// them numbered, then marked by the content.
pub(crate) fn aside(name: &str, attempt: u32, digest: Digest) -> String {
    let ending = match attempt {
        1 => ".conflict".to_owned(),
        n if n < ASIDE_MAX => format!(".conflict-{n}"),
        _ => format!(".conflict-{}", &digest.to_string()[..MARK_DIGITS]),
    };
    let mut cut = name.len().min(NAME_BYTES_MAX - ending.len());
    while !name.is_char_boundary(cut) {
        cut -= 1;
    }
    format!("{}{ending}", &name[..cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_own_names_are_scratch() {
        for name in [
            "notes.md~",
            "#notes.md#",
            ".#notes.md",
            ".notes.md.swp",
            ".notes.md.swx",
            ".a.swo",
            ".f.swpx",
            "4913",
            ".fuse_hidden0001",
            ".nfs0000123",
        ] {
            assert_eq!(lasting(name), Lasting::Scratch, "{name}");
        }
    }

    #[test]
    fn names_made_to_be_renamed_are_passing() {
        for name in [
            "sedAb3dE9",
            ".notes.md.Xy12Zz",
            "tmpab12cd_9",
            "notes.tmp",
            ".goutputstream-ABC123",
            "notes.md.kL8sQ2",
            ".!123!notes",
            ".tmp-write",
            "notes.md.tmp.4711.8f3a2b1c",
            "notes.md.tmp.4711",
            "notes.md.vsctmp",
            "notes.md___jb_tmp___",
            "notes.md___jb_old___",
            "XXl1wwpB",
            "notes.md.oRLZiIQ",
            "package.json.3892734511",
        ] {
            assert_eq!(lasting(name), Lasting::Passing, "{name}");
        }
    }

    #[test]
    fn ordinary_names_are_kept() {
        for name in [
            "notes.md",
            "sed",
            "sedate",
            "tmp",
            "temporary",
            "a.config",
            "x.sqlite",
            "~",
            "##",
            ".env",
            ".profile",
            ".bashrc",
            "4914",
            "a.swp",
            "todo.txt",
            "tmpl.html",
            ".gitignore",
            "README.md.bak",
            "日本語.md",
            "x.package",
            "notes.tmp.md",
            "notes.tmp.x.y",
            "XXL.md",
            "notes.md.20240101",
            "notes.md.orderly",
            "a.3892734511",
            "notes.md.new",
        ] {
            assert_eq!(lasting(name), Lasting::Kept, "{name}");
        }
    }

    #[test]
    fn what_is_behind_the_name_of_a_neighbour_tells_too() {
        let is_beside = |name, original| originals(name).any(|it| it == original);
        for name in [
            "f.md.new",
            ".f.md.new",
            "f.md.part",
            "f.md.12345",
            "f.md.tmp2",
            "f.md.bck1",
            "f.md.temp",
        ] {
            assert!(is_beside(name, "f.md"), "{name}");
        }
        for name in ["f.md.1", "f.md.bak", "f.mdx", "f.md", "f.md.next", "new", ".new"] {
            assert!(!is_beside(name, "f.md"), "{name}");
        }
    }

    #[test]
    fn backups_are_told_by_what_they_are_backups_of() {
        for name in ["f.md.bak", "f.md~", "f.md_old", "f.md-1", "f.md___jb_old___", "f.md.1"] {
            assert!(is_backup("f.md", name) && is_called_backup("f.md", name), "{name}");
        }
        assert!(is_backup("notes", "notes.md") && !is_called_backup("notes", "notes.md"));
        assert!(!is_backup("f.md", "g.md.bak") && !is_backup("f.md", "f.mdx"));
    }

    #[test]
    fn names_are_refused_by_what_is_wrong_with_them() {
        use std::os::unix::ffi::OsStrExt;
        let code = |bytes: &[u8]| check_new(OsStr::from_bytes(bytes)).err();
        assert_eq!(code(b"ok"), None);
        assert_eq!(code(b"a\xff"), Some(Errno::EILSEQ));
        assert_eq!(code(b"a\nb"), Some(Errno::EINVAL));
        assert_eq!(code("e\u{301}".as_bytes()), Some(Errno::EINVAL));
        assert_eq!(code(&[b'x'; 256]), Some(Errno::ENAMETOOLONG));
        assert_eq!(path(&format!("/{}", "x".repeat(1024))), Err(Errno::ENAMETOOLONG));
        assert_eq!(path(&"/a".repeat(21)), Err(Errno::ENAMETOOLONG));
    }

    #[test]
    fn long_segments_are_shown_short_and_apart() {
        assert_eq!(shown(&"x".repeat(255)), None);
        let (one, two) = ("ä".repeat(200), format!("{}y", "ä".repeat(199)));
        let (short_one, short_two) = (shown(&one).unwrap(), shown(&two).unwrap());
        assert!(short_one.len() <= NAME_BYTES_MAX && short_one.starts_with("ää"));
        assert_ne!(short_one, short_two);
        assert_eq!(shown(&one).unwrap(), short_one);
        assert_ne!(lasting(&short_one), Lasting::Scratch);
    }

    #[test]
    fn there_is_always_a_name_beside() {
        let digest = Content::Text("x".into()).digest();
        assert_eq!(aside("notes.md", 1, digest), "notes.md.conflict");
        assert_eq!(aside("notes.md", 2, digest), "notes.md.conflict-2");
        let last = aside("notes.md", ASIDE_MAX, digest);
        assert_eq!(last, format!("notes.md.conflict-{}", &digest.to_string()[..16]));
        assert!(aside(&"ä".repeat(127), ASIDE_MAX, digest).len() <= NAME_BYTES_MAX);
    }
}
