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

    /// The half-open range, byte by byte, of the addresses that begin with a text.
    pub fn range(beginning: &str) -> (String, String) {
        let mut end = beginning.to_owned();
        while let Some(last) = end.pop() {
            // Characters sort as their bytes in UTF-8 do.
            if let Some(next) = (last..=char::MAX).nth(1) {
                end.push(next);
                return (beginning.to_owned(), end);
            }
        }
        // After the last of all characters comes only what is longer than an address.
        let end = char::MAX.to_string().repeat(limit::ADDRESS_CHARS_MAX + 1);
        (beginning.to_owned(), end)
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

    #[test]
    fn a_range_holds_exactly_what_begins_so() {
        let longest = "\u{10ffff}".repeat(limit::ADDRESS_CHARS_MAX);
        let addresses = [
            "a",
            "visit",
            "visit9",
            "visit:",
            "visit:a",
            "visit:\u{10ffff}x",
            "visit;",
            "é:",
            "é\u{d7ff}a",
            "é\u{e000}",
            "\u{10ffff}a",
            &longest,
        ];
        let beginnings =
            ["", "visit:", "visit", "é", "é\u{d7ff}", "\u{10ffff}", "v\u{10ffff}", "b"];
        for beginning in beginnings {
            let (from, to) = Address::range(beginning);
            for address in addresses {
                let is_inside = *address >= *from && *address < *to;
                assert_eq!(is_inside, address.starts_with(beginning), "{address} {beginning}");
            }
        }
    }
}
