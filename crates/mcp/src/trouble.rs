//! What went wrong, in words for a model: each says what to do next. Nothing of ours leaks into them,
//! and none of them repeats content.

use loci_engine::Error;
use loci_model::Invalid;
use std::fmt;

/// Why a tool did not do what was asked.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The call itself is wrong.
    Call(String),
    /// The engine refused.
    Engine(Error),
}

impl Trouble {
    /// The call itself is wrong.
    pub(crate) fn call(why: impl Into<String>) -> Self {
        Self::Call(why.into())
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<Invalid> for Trouble {
    fn from(invalid: Invalid) -> Self {
        Self::Engine(invalid.into())
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(why) => f.write_str(why),
            Self::Engine(error) => explain(error, f),
        }
    }
}

fn explain(error: &Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match error {
        Error::NotFound("memory") => {
            f.write_str("there is no memory at this path; look for it by searching or listing")
        }
        Error::NotFound("memory store") => f.write_str(
            "there is no such memory store, or it is not shared with you; leave out store to use \
             your own",
        ),
        // Which memory it is stays untold: it may be sealed, and models see no such paths.
        Error::PathTaken { .. } => f.write_str(
            "there is a memory at this path, above or below it, and none can lie above or below \
             another; choose another path",
        ),
        Error::ExpectFailed => f.write_str(
            "nothing was written: the memory is not what you expected; read it again and decide anew",
        ),
        Error::TextMatches { count: 0 } => {
            f.write_str("old_text does not occur in it; read the memory and copy the text exactly")
        }
        Error::TextMatches { count } => {
            write!(f, "old_text occurs {count} times; give more of the text around it")
        }
        Error::TooLarge { bytes, limit } => write!(
            f,
            "the text has {bytes} bytes and a memory takes {limit}; split it into several memories"
        ),
        Error::Repeat { path, .. } => write!(f, "the same content is already at {path}"),
        Error::Archived => f.write_str("this memory store is archived: it can be read only"),
        Error::Internal(why) => {
            tracing::error!(why, "internal error in a tool");
            f.write_str("internal error; trying again may work")
        }
        Error::Unavailable(why) => write!(f, "{why}; try again in a moment"),
        other => write!(f, "{other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn troubles_say_what_to_do_and_keep_our_secrets() {
        let said = |error: Error| Trouble::from(error).to_string();
        assert!(said(Error::NotFound("memory")).contains("searching"));
        assert!(said(Error::TextMatches { count: 3 }).contains("3 times"));
        assert!(!said(Error::Internal("table broke".into())).contains("table"));
        assert!(said(Error::Denied("this key does not allow that")).contains("does not allow"));
    }
}
