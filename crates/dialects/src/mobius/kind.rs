//! The four kinds of entries. The model knows more: whatever has none of these is shown as a fact.

use super::error::Problem;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Fact,
    Preference,
    Episode,
    Summary,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Fact, Self::Preference, Self::Episode, Self::Summary];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Preference => "preference",
            Self::Episode => "episode",
            Self::Summary => "summary",
        }
    }

    /// A kind that was sent.
    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| Problem::invalid("kind must be fact, preference, episode or summary"))
    }

    /// What a memory's kind is shown as.
    pub(super) fn of(kind: Option<&str>) -> Self {
        let found = Self::ALL.into_iter().find(|known| Some(known.name()) == kind);
        found.unwrap_or(Self::Fact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_facts() {
        assert_eq!(Kind::of(None), Kind::Fact);
        assert_eq!(Kind::of(Some("observation")), Kind::Fact);
        for kind in Kind::ALL {
            assert_eq!(
                (Kind::of(Some(kind.name())), Kind::parse(kind.name()).ok()),
                (kind, Some(kind))
            );
        }
        assert!(Kind::parse("Fact").is_err());
    }
}
