//! Where an answer goes on. A cursor is opaque to its reader, belongs to one sort of listing and one
//! question, and is refused for any other: a model that mixes them up is told, not misled.

use crate::trouble::Trouble;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Characters of a cursor: a path, ids, and what base64 makes of them.
pub(crate) const CHARS_MAX: usize = 2048;

/// A question whose answer has pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Question(u64);

impl Question {
    /// The question of a tool with these arguments. What only changes how long a page is does not
    /// belong to it.
    pub(crate) fn new(tool: &str, arguments: &[&str]) -> Self {
        let mut hasher = DefaultHasher::new();
        (tool, arguments).hash(&mut hasher);
        Self(hasher.finish())
    }

    /// The cursor for a position.
    pub(crate) fn cursor(self, position: &str) -> String {
        URL_SAFE_NO_PAD.encode(format!("{:016x}{position}", self.0))
    }

    /// The position of a cursor.
    pub(crate) fn position(self, cursor: &str) -> Result<String, Trouble> {
        let decoded = URL_SAFE_NO_PAD.decode(cursor).ok();
        let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        let position =
            text.and_then(|text| text.strip_prefix(&format!("{:016x}", self.0)).map(str::to_owned));
        position.ok_or_else(|| {
            Trouble::call("this cursor is of another question; leave it out to start again")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_belong_to_their_question() {
        let question = Question::new("list", &["a", "b"]);
        let cursor = question.cursor("/näher");
        assert_eq!(question.position(&cursor).unwrap(), "/näher");
        for other in [Question::new("list", &["a", "c"]), Question::new("find", &["a", "b"])] {
            assert!(other.position(&cursor).is_err());
        }
        for bad in ["", "!", "YWJj", &cursor[1..]] {
            assert!(question.position(bad).is_err(), "{bad}");
        }
    }
}
