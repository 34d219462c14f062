//! The one error of this crate: a value that breaks a rule, with the field and the reason.

/// A value that cannot become a model type. The message is safe to show to the caller: it names the
/// field and the limit, never the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The field as callers know it, for example `path`.
    pub field: &'static str,
    /// What is wrong, lower case, no full stop.
    pub why: String,
}

impl Invalid {
    /// Builds an error for `field`.
    pub fn new(field: &'static str, why: impl Into<String>) -> Self {
        Self { field, why: why.into() }
    }
}

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.why)
    }
}

impl std::error::Error for Invalid {}
