//! A copy of the data that is on its way to whoever asked for it. A copy that was begun before a
//! scrub may hold what was scrubbed, so the scrub is not answered while there is such a copy.

use std::any::Any;
use std::fmt;

/// Keeps scrubs that come after the copy was begun from being answered, until it is dropped: when the
/// copy has been sent, or is where its owner wanted it.
#[must_use = "a copy that is still being sent is held"]
pub struct CopyHold {
    _guard: Box<dyn Any + Send + Sync>,
}

impl CopyHold {
    /// Holds whatever ends the hold when it is dropped.
    pub fn new(guard: impl Any + Send + Sync) -> Self {
        Self { _guard: Box::new(guard) }
    }
}

impl fmt::Debug for CopyHold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CopyHold")
    }
}
