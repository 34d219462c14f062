//! Profiles: which sets of tools are offered. Small on purpose: every tool costs a model attention in
//! every conversation.

use clap::ValueEnum;
use serde::Deserialize;

/// A set of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Profile {
    /// Search, read, write, edit, list, forget, and what to begin with
    Default,
    /// The memory tool that Claude models know, on files below /memories
    MemoryTool,
    /// The tools of Mobius agents: recall, remember, forget
    Mobius,
    /// Stores, grants, history
    Admin,
}

impl Profile {
    const ALL: [Self; 4] = [Self::Default, Self::MemoryTool, Self::Mobius, Self::Admin];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::MemoryTool => "memory-tool",
            Self::Mobius => "mobius",
            Self::Admin => "admin",
        }
    }
}

/// A choice of profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Profiles(u8);

impl Default for Profiles {
    fn default() -> Self {
        Self::of(&[Profile::Default])
    }
}

impl Profiles {
    /// How many choices there are.
    pub(crate) const CHOICES: usize = 1 << Profile::ALL.len();

    pub(crate) fn of(profiles: &[Profile]) -> Self {
        Self(profiles.iter().fold(0, |bits, profile| bits | 1 << (*profile as u8)))
    }

    /// Names, joined by commas.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let named = |name: &str| Profile::from_str(name.trim(), false);
        let profiles: Result<Vec<Profile>, String> = text.split(',').map(named).collect();
        profiles.map(|profiles| Self::of(&profiles))
    }

    /// The inverse of [`Self::parse`].
    pub(crate) fn spelled(self) -> String {
        self.each().map(Profile::name).collect::<Vec<_>>().join(",")
    }

    pub(crate) fn has(self, profile: Profile) -> bool {
        self.0 & 1 << (profile as u8) != 0
    }

    /// What both have.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn each(self) -> impl Iterator<Item = Profile> {
        Profile::ALL.into_iter().filter(move |profile| self.has(*profile))
    }

    /// A number below [`Self::CHOICES`].
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_there_and_back() {
        let all = Profiles::of(&Profile::ALL);
        assert_eq!(Profiles::parse(&all.spelled()), Ok(all));
        assert_eq!(all.index(), Profiles::CHOICES - 1);
        assert_eq!(Profiles::parse("default, admin").unwrap().spelled(), "default,admin");
        assert_eq!(all.and(Profiles::default()), Profiles::default());
        for bad in ["", "everything", "default,,admin"] {
            assert!(Profiles::parse(bad).is_err(), "{bad}");
        }
        for profile in Profile::ALL {
            assert_eq!(Profile::from_str(profile.name(), false), Ok(profile));
        }
    }
}
