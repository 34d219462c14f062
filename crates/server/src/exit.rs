//! How a command ends: one exit code for each thing a script would do differently, and one line for
//! the person. The line never holds content or keys.

use loci_engine::codes;
use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// Why a command did not do what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It failed.
    Failure = 1,
    /// It was asked wrongly.
    Usage = 2,
    /// What it names is not there.
    NotFound = 3,
    /// Something else is there, or it has changed.
    Conflict = 4,
    /// The key does not allow it, or is no key.
    Denied = 5,
}

impl Exit {
    /// The exit for an HTTP status that is no success.
    pub(crate) fn from_status(status: u16) -> Self {
        match status {
            404 => Self::NotFound,
            409 | 412 => Self::Conflict,
            401 | 403 => Self::Denied,
            _ => Self::Failure,
        }
    }
}

/// A command's failure.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// One line for standard error; empty when nobody is there to read it.
    pub(crate) message: String,
    /// Whether the same may succeed later without anything being changed.
    pub(crate) may_pass: bool,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { exit, message, may_pass: false }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failure, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, message)
    }

    /// An I/O error while doing `what`.
    pub(crate) fn io(what: impl Display, error: &io::Error) -> Self {
        Self::failed(format!("{what}: {error}"))
    }

    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(self.exit as u8)
    }
}

/// Failing to print: the reader has gone, which is its right and no news to anybody.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::failed(""),
            _ => Self::io("cannot write the output", &error),
        }
    }
}

impl From<loci_engine::Error> for Failure {
    fn from(error: loci_engine::Error) -> Self {
        let code = codes::code(&error);
        let exit = Exit::from_status(code.status);
        let message = match error {
            // Here the reader of the message is the operator, who needs the inner text.
            loci_engine::Error::Internal(why) => why,
            other => other.to_string(),
        };
        Self { exit, message, may_pass: code.is_retryable }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_map_to_the_documented_codes() {
        let cases =
            [(400, 1), (401, 5), (403, 5), (404, 3), (409, 4), (412, 4), (500, 1), (507, 1)];
        for (status, code) in cases {
            assert_eq!(Exit::from_status(status) as u8, code, "{status}");
        }
    }
}
