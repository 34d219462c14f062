//! A foreign name that leads to a store: the id of an agent, a chat, a project. Doors whose stores
//! have no name of ours find them by it; a workspace has at most one store at an address.

use crate::{Invalid, PrincipalId, limit};
use std::fmt;

/// A valid address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(String);

impl Address {
    /// Checks an address.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let chars = text.chars().count();
        if chars == 0 || chars > limit::ADDRESS_CHARS_MAX || text.chars().any(char::is_control) {
            let max = limit::ADDRESS_CHARS_MAX;
            let why = format!("takes 1 to {max} characters, no control characters");
            return Err(Invalid::new("address", why));
        }
        Ok(Self(text.to_owned()))
    }

    /// Where a principal keeps what it remembers.
    pub fn home(principal: PrincipalId) -> Self {
        Self(format!("home:{principal}"))
    }

    /// Where an agent keeps what it remembers about those who call it, apart from what it tells
    /// everybody.
    pub fn callers(principal: PrincipalId) -> Self {
        Self(format!("callers:{principal}"))
    }

    /// Whether it is the home of a principal.
    pub fn is_home_of(&self, principal: PrincipalId) -> bool {
        *self == Self::home(principal)
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_bounded() {
        assert!(Address::parse("home:x").is_ok());
        for bad in ["", "a\nb", &"x".repeat(limit::ADDRESS_CHARS_MAX + 1)] {
            assert!(Address::parse(bad).is_err());
        }
        let one = PrincipalId::from_u128(1);
        assert!(Address::home(one).is_home_of(one) && !Address::callers(one).is_home_of(one));
        assert!(!Address::home(one).is_home_of(PrincipalId::from_u128(2)));
    }
}
