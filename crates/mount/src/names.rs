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

/// `sed -i`, rsync, Python's tempfile, mktemp, GIO, and whatever calls itself temporary.
fn is_passing(name: &str) -> bool {
    let random = |text: &str, count: usize| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    // Six characters behind a dot may be a word such as `.config`; that of mktemp is seldom one.
    let looks_random = |text: &str| {
        random(text, 6)
            && text.bytes().any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    let ending = name.rfind('.').map(|dot| &name[dot + 1..]);
    name.strip_prefix("sed").is_some_and(|rest| random(rest, 6))
        || name.strip_prefix("tmp").is_some_and(|rest| random(rest, 8))
        || (name.starts_with('.')
            && name[1..].contains('.')
            && ending.is_some_and(|it| random(it, 6)))
        || ending.is_some_and(|it| it == "tmp" || looks_random(it))
        || [".goutputstream-", ".!", ".tmp"].iter().any(|start| name.starts_with(start))
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
        ] {
            assert_eq!(lasting(name), Lasting::Kept, "{name}");
        }
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
