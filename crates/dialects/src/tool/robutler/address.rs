//! Which entry a command means: `path`, or `key`; `scope` or `store` say in which store, unless the
//! path does. Either way the entry has a path of the form `/memories/<key>` or
//! `/memories/shared/<store>/<key>` that answers repeat.
//!
//! Unlike the published client, a scope leads to the store it names; unlike it too, a plain name as
//! the destination of a rename stays in the store of the source.

use crate::tool::answer::{Stop, says};
use crate::tool::desk::Desk;
use crate::tool::input::Input;
use crate::tool::path::{ROOT, SHARED, plain_key};
use crate::tool::place::Whose;
use loci_model::limit;

/// Characters of a path.
const PATH_CHARS_MAX: usize = 256;
/// Characters of a key.
pub(super) const KEY_CHARS_MAX: usize = 200;

/// What a command is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target<'i> {
    /// Whose store.
    pub(super) whose: Whose<'i>,
    /// What answers call it.
    pub(super) shown: String,
    /// Which part of the store.
    pub(super) what: What,
    /// The store that a path names, if it does.
    shared: Option<&'i str>,
}

/// Which part of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// One entry.
    Entry(Key),
    /// The entries whose keys begin so.
    List(String),
    /// Nothing was named, not even everything.
    Nothing,
}

/// A key. Clients drop a last `.md`; what another door wrote with one is found by `given`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) plain: String,
    pub(super) given: String,
}

impl Key {
    /// A key that is meant to the letter.
    pub(super) fn exact(given: &str) -> Self {
        Self { plain: given.to_owned(), given: given.to_owned() }
    }

    fn new(given: &str) -> Result<Self, Stop> {
        if given.chars().count() > KEY_CHARS_MAX {
            return says(format!("key takes up to {KEY_CHARS_MAX} characters"));
        }
        let plain = plain_key(given).unwrap_or(given);
        Ok(Self { plain: plain.to_owned(), given: given.to_owned() })
    }
}

/// What a command is about, if it says so at all.
pub(super) fn target<'i>(desk: &Desk<'_>, input: &'i Input) -> Result<Option<Target<'i>>, Stop> {
    if let Some(path) = input.text("path", PATH_CHARS_MAX)? {
        let target = by_path(path)?;
        return Ok(Some(Target { whose: desk.whose_path(input, target.shared)?, ..target }));
    }
    let key = input.text("key", KEY_CHARS_MAX)?;
    if key.is_none() && !input.names_store() {
        return Ok(None);
    }
    let whose = desk.whose(input)?;
    let store = input.text("store", limit::NAME_CHARS_MAX)?.filter(|_| whose != Whose::Own);
    let within = store.map_or_else(|| format!("{ROOT}/"), |store| format!("{SHARED}{store}/"));
    let what = match key {
        None => What::List(String::new()),
        Some(key) => What::Entry(Key::new(key)?),
    };
    let shown = format!("{within}{}", key.unwrap_or_default());
    Ok(Some(Target { whose, shown, what, shared: None }))
}

/// What a path names.
fn by_path(path: &str) -> Result<Target<'_>, Stop> {
    let below = path.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let Some(below) = below else {
        return says("path must start with /memories");
    };
    let shared =
        path.strip_prefix(SHARED).filter(|rest| !rest.is_empty() && !rest.starts_with('/'));
    let (shared, rest) = match shared {
        None => (None, below.strip_prefix('/')),
        Some(rest) => match rest.split_once('/') {
            None => (Some(rest), None),
            Some((store, rest)) => (Some(store), Some(rest)),
        },
    };
    let whose = shared.map_or(Whose::Own, Whose::named);
    let what = match rest {
        None => What::Nothing,
        Some(key) if key.is_empty() || key.ends_with('/') => What::List(key.to_owned()),
        Some(key) => What::Entry(Key::new(key)?),
    };
    Ok(Target { whose, shown: path.to_owned(), what, shared })
}

/// Where a rename leads, seen from the source. Of two plain paths both are in the store that is
/// chosen beside them.
pub(super) fn destination<'i>(
    input: &Input,
    source: &Target<'i>,
    new: &'i str,
) -> Result<Target<'i>, Stop> {
    if new.starts_with(ROOT) {
        if new.chars().count() > PATH_CHARS_MAX {
            return says(format!("new_str takes up to {PATH_CHARS_MAX} characters"));
        }
        let dest = by_path(new)?;
        let is_chosen = dest.shared.is_none() && input.has("path") && input.names_store();
        return Ok(if is_chosen { Target { whose: source.whose, ..dest } } else { dest });
    }
    let what = What::Entry(Key::new(new)?);
    Ok(Target { whose: source.whose, shown: new.to_owned(), what, shared: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_stores_and_keys() {
        let entry = |key: &str| What::Entry(Key::new(key).unwrap());
        let list = |prefix: &str| What::List(prefix.to_owned());
        for (path, whose, what) in [
            ("/memories/a", Whose::Own, entry("a")),
            ("/memories/a/b", Whose::Own, entry("a/b")),
            ("/memories/", Whose::Own, list("")),
            ("/memories/sub/", Whose::Own, list("sub/")),
            ("/memories", Whose::Own, What::Nothing),
            ("/memories/shared/", Whose::Own, list("shared/")),
            ("/memories/shared/42", Whose::Named("42"), What::Nothing),
            ("/memories/shared/42/", Whose::Named("42"), list("")),
            ("/memories/shared/42/a/b", Whose::Named("42"), entry("a/b")),
            ("/memories/shared/self/a", Whose::Own, entry("a")),
        ] {
            let target = by_path(path).unwrap();
            assert_eq!((target.whose, target.what), (whose, what), "{path}");
            assert_eq!(target.shown, path);
        }
        for path in ["/memoriesX", "memories/a", "/etc", ""] {
            assert!(by_path(path).is_err(), "{path}");
        }
    }

    #[test]
    fn one_ending_is_dropped() {
        for (given, plain) in [("a.md", "a"), ("a.md.md", "a.md"), (".md", ".md"), ("a", "a")] {
            assert_eq!(Key::new(given).unwrap().plain, plain);
        }
        assert!(Key::new(&"k".repeat(200)).is_ok() && Key::new(&"k".repeat(201)).is_err());
    }
}
