//! Names that editors give to files of their own, which are never memories. A file that is written
//! under such a name and then renamed is seen under its real one.

/// Whether a file of this name is an editor's own.
pub(super) fn is_temporary(name: &str) -> bool {
    let is_swap = name.starts_with('.')
        && name
            .rsplit_once(".sw")
            .is_some_and(|(before, last)| !before.is_empty() && last.len() == 1);
    name.ends_with('~')
        || name.ends_with(".tmp")
        || name.len() > 1 && name.starts_with('#') && name.ends_with('#')
        || name.starts_with(".#")
        || name.starts_with(".fuse_hidden")
        || name.starts_with(".nfs")
        || name.starts_with(".goutputstream-")
        || name == "4913"
        || is_swap
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_names_are_told_from_memories() {
        for name in ["a.md~", "#a#", ".#a", ".a.swp", ".a.swx", "4913", ".nfs01", "x.tmp"] {
            assert!(is_temporary(name), "{name}");
        }
        for name in
            ["a.md", ".profile", "a.swp.md", "#", "#a", "49130", "tmp", ".swift", "c.conflict"]
        {
            assert!(!is_temporary(name), "{name}");
        }
    }
}
