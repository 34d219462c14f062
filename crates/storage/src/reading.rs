//! What readers found in memories: rows that follow the feed, as vectors do. A reading is what a
//! slow or costly reader, such as a model, says that a text claims; it is kept because it costs too
//! much to make twice. It names the version it was made from, goes when that loses its text, and
//! counts as long as the memory's content is still what was read.

use loci_model::{Invalid, Memory, MemoryId, StoreId, Timestamp, VersionId, WorkspaceId, limit};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What one reader found in one memory.
#[derive(Clone, PartialEq, Eq)]
pub struct Reading {
    /// In which.
    pub memory: MemoryId,
    /// The version that was read.
    pub version: VersionId,
    /// Who read it, such as `anthropic:claude-x`.
    pub reader: String,
    /// What it claims, as whoever put it wrote it down.
    pub claims: String,
    /// When it was read.
    pub at: Timestamp,
}

/// Claims quote what was read, so they do not show, only that they differ.
struct Hidden<'a>(&'a str);

impl fmt::Debug for Hidden<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        write!(f, "<{} bytes, {:016x}>", self.0.len(), hasher.finish())
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory, version, reader, claims, at } = self;
        f.debug_struct("Reading")
            .field("memory", memory)
            .field("version", version)
            .field("reader", reader)
            .field("claims", &Hidden(claims))
            .field("at", at)
            .finish()
    }
}

/// How far the readings of a store have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadingEnd {
    /// The store.
    pub store: StoreId,
    /// Counts what was put and forgotten.
    pub number: u64,
    /// The number at which readings were forgotten last; 0 when that never happened.
    pub forgotten: u64,
}

/// The memories that were read after a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewlyRead {
    /// The number this goes up to.
    pub through: u64,
    /// Each once for every reader, in the order of reading.
    pub memories: Vec<MemoryId>,
}

/// What changed and was not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadablePage {
    /// The last feed number looked at; the one asked for when nothing changed.
    pub through: u64,
    /// Live, unexpired text memories whose content the reader has not read, each once.
    pub memories: Vec<Memory>,
}

/// A store that a reader is behind in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadingLag {
    /// The store's tenant.
    pub workspace: WorkspaceId,
    /// The store.
    pub store: StoreId,
    /// Up to which feed number it was read.
    pub through: u64,
}

/// What reading cost on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Days since 1970.
    pub day: u32,
    /// Requests made, failed ones included.
    pub requests: u64,
    /// Tokens sent and received.
    pub tokens: u64,
}

impl Spent {
    /// What is known after spending more: costs of the same day add up, those of a later day take
    /// their place, those of an earlier one are over.
    #[must_use]
    pub fn and(self, more: Self) -> Self {
        if more.day > self.day {
            return more;
        }
        if more.day < self.day {
            return self;
        }
        let requests = self.requests.saturating_add(more.requests);
        Self { day: self.day, requests, tokens: self.tokens.saturating_add(more.tokens) }
    }
}

/// How far a reader has come in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadingMark {
    /// Which reader.
    pub reader: String,
    /// Up to which feed number the store was read.
    pub through: u64,
    /// What that cost on the last day that anything was read.
    pub spent: Spent,
}

/// What a reader found in a version, before it has a place.
#[derive(Clone, PartialEq, Eq)]
pub struct NewReading {
    /// The version that was read.
    pub version: VersionId,
    /// What it claims.
    pub claims: String,
    /// When it was read.
    pub at: Timestamp,
}

impl fmt::Debug for NewReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, claims, at } = self;
        f.debug_struct("NewReading")
            .field("version", version)
            .field("claims", &Hidden(claims))
            .field("at", at)
            .finish()
    }
}

/// Readings of one store by one reader, how far they reach, and what they cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadingBatch {
    /// The store's tenant.
    pub workspace: WorkspaceId,
    /// Of which store.
    pub store: StoreId,
    /// By which reader.
    pub reader: String,
    /// Everything up to this feed number was looked at after this batch.
    pub through: u64,
    /// What it cost; added to what the reader spent in this store on the same day.
    pub spent: Spent,
    /// What versions claim. Those of versions that lost their text in the meantime are dropped.
    pub readings: Vec<NewReading>,
}

impl ReadingBatch {
    /// Checks sizes: a pure check that every engine makes.
    pub fn check(&self) -> Result<(), Invalid> {
        check_reader(&self.reader)?;
        let (found, max) = (self.readings.len(), limit::READING_BATCH_MAX);
        if found > max {
            return Err(Invalid::new("readings", format!("are {found}, limit {max}")));
        }
        let max = limit::READING_BYTES_MAX;
        // A zero byte has no place in the text columns of some engines.
        let is_fit = |claims: &str| claims.len() <= max && !claims.contains('\0');
        if !self.readings.iter().all(|reading| is_fit(&reading.claims)) {
            return Err(Invalid::new("readings", format!("take up to {max} bytes of text")));
        }
        let max = u64::from(u32::MAX);
        if self.spent.requests > max || self.spent.tokens > max {
            return Err(Invalid::new("spent", format!("takes up to {max} at once")));
        }
        Ok(())
    }
}

/// Checks the name of a reader.
pub fn check_reader(name: &str) -> Result<(), Invalid> {
    let max = limit::READER_CHARS_MAX;
    if name.is_empty() || name.chars().count() > max || name.contains(char::is_control) {
        return Err(Invalid::new("reader", format!("takes 1 to {max} printable characters")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_a_day_add_up_and_a_new_day_starts_at_nothing() {
        let spent = |day, requests| Spent { day, requests, tokens: requests * 10 };
        assert_eq!(spent(3, 2).and(spent(3, 5)), spent(3, 7));
        assert_eq!(spent(3, 2).and(spent(4, 5)), spent(4, 5));
        assert_eq!(spent(3, 2).and(spent(2, 5)), spent(3, 2));
    }

    #[test]
    fn a_reader_has_a_name() {
        assert!(check_reader("anthropic:claude-x").is_ok());
        for name in ["", "a\nb", "a\0b", &"x".repeat(limit::READER_CHARS_MAX + 1)] {
            assert!(check_reader(name).is_err(), "{name:?}");
        }
    }
}
