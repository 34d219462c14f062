//! Whose an entry is within an agent's memory: everybody's, or one user's. A user's entries lie in a
//! namespace `u:USER`; other doors know that as a directory.
//!
//! Keys that this door takes are plain; what other doors wrote at other paths is shown under its
//! path, and can be changed through them.

use super::error::Problem;
use crate::key::Name;
use loci_model::MemoryPath;

/// What the namespaces of users begin with.
const USER: &str = "u:";
/// What the paths in them begin with.
pub(super) const PRIVATE: &str = "/:u:";
const KEY_CHARS_MAX: usize = 256;
pub(super) const USER_CHARS_MAX: usize = 200;

/// What this door calls a memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Label {
    /// Empty for what is everybody's.
    pub(super) user: String,
    pub(super) key: String,
}

impl Label {
    /// An entry that a request names.
    pub(super) fn parse(user: &str, key: &str) -> Result<Self, Problem> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        let is_key = (1..=KEY_CHARS_MAX).contains(&key.len()) && key.bytes().all(is_plain);
        if !is_key || matches!(key, "." | "..") {
            let why = format!(
                "memory_key takes 1 to {KEY_CHARS_MAX} letters, digits, dots, underscores, colons \
                 and hyphens, and is not . or .."
            );
            return Err(Problem::invalid(why));
        }
        if user.chars().count() > USER_CHARS_MAX {
            let why = format!("user_id takes up to {USER_CHARS_MAX} characters");
            return Err(Problem::invalid(why));
        }
        let label = Self { user: user.to_owned(), key: key.to_owned() };
        // What takes more room as a path than there is is refused before anything is made for it.
        label.name().path().map_err(|_| Problem::invalid("user_id is too long"))?;
        Ok(label)
    }

    /// What a memory at a path is called.
    pub(super) fn of(path: &MemoryPath) -> Self {
        let Name { namespace, key } = Name::of(path);
        match namespace.strip_prefix(USER) {
            Some(user) if !user.is_empty() => Self { user: user.to_owned(), key },
            _ if namespace.is_empty() => Self { user: String::new(), key },
            _ => Self { user: String::new(), key: path.as_str()[1..].to_owned() },
        }
    }

    /// Its name in the model's words.
    pub(super) fn name(&self) -> Name {
        let namespace = match self.user.as_str() {
            "" => String::new(),
            user => format!("{USER}{user}"),
        };
        Name { namespace, key: self.key.clone() }
    }

    pub(super) fn is_shared(&self) -> bool {
        self.user.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str) -> (String, String) {
        let Label { user, key } = Label::of(&MemoryPath::parse(path).unwrap());
        (user, key)
    }

    #[test]
    fn labels_come_back() {
        for (user, key) in [("", "user.timezone"), ("", ":x"), ("ada", "k"), ("a/b:ü", "K-1_2")] {
            let label = Label::parse(user, key).unwrap();
            let path = label.name().path().unwrap();
            assert_eq!(Label::of(&path), label);
            assert_eq!(path.as_str().starts_with(PRIVATE), !user.is_empty(), "{path}");
        }
        assert_eq!(Label::parse("ada", "k").unwrap().name().path().unwrap().as_str(), "/:u:ada/k");
    }

    #[test]
    fn what_others_wrote_has_a_key() {
        assert_eq!(shown("/notes/today.md"), (String::new(), "notes/today.md".into()));
        assert_eq!(shown("/:plan/k"), (String::new(), ":plan/k".into()));
        assert_eq!(shown("/:u:/k"), (String::new(), ":u:/k".into()));
    }

    #[test]
    fn keys_are_plain() {
        for bad in ["", ".", "..", "a b", "a/b", "ä", "a%", &"k".repeat(257)] {
            assert!(Label::parse("", bad).is_err(), "{bad}");
        }
        for good in ["...", "a.b:c_d-e", "0", &"k".repeat(256)] {
            assert!(Label::parse("", good).is_ok(), "{good}");
        }
        assert!(Label::parse(&"u".repeat(201), "k").is_err());
    }
}
