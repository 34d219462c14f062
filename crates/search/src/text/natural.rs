//! The order people expect of names with numbers: `turn_2` before `turn_10`.
//!
//! Runs of ASCII digits compare by value, everything else by code point. Names that differ only in
//! leading zeros come shorter first, so that the order is total and equal means identical.

use std::cmp::Ordering;

/// Compares two names in natural order.
pub fn natural_cmp(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    // Equal values of different length decide only if nothing else does.
    let mut by_length = Ordering::Equal;
    loop {
        match (a.first(), b.first()) {
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (number_a, rest_a) = split_digits(a);
                let (number_b, rest_b) = split_digits(b);
                let (value_a, value_b) = (without_zeros(number_a), without_zeros(number_b));
                let order = value_a.len().cmp(&value_b.len()).then_with(|| value_a.cmp(value_b));
                if order.is_ne() {
                    return order;
                }
                by_length = by_length.then(number_a.len().cmp(&number_b.len()));
                (a, b) = (rest_a, rest_b);
            }
            (Some(x), Some(y)) if x == y => (a, b) = (&a[1..], &b[1..]),
            (None, None) => return by_length,
            (x, y) => return x.cmp(&y),
        }
    }
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at(len)
}

fn without_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    &digits[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_in_order() {
        let ordered = [
            "",
            "/a/session_1/turn_2.md",
            "/a/session_01/turn_2.md",
            "/a/session_2/turn_1.md",
            "/a/session_2/turn_01.md",
            "/a/session_2/turn_9.md",
            "/a/session_2/turn_010.md",
            "/a/session_10",
            "/a/session_99999999999999999999999",
            "/a/session_x",
            "/b",
            "ä",
        ];
        for (at, a) in ordered.iter().enumerate() {
            for (bt, b) in ordered.iter().enumerate() {
                assert_eq!(natural_cmp(a, b), at.cmp(&bt), "{a} {b}");
            }
        }
    }

    proptest! {
        #[test]
        fn is_a_total_order(
            a in "[ab01é]{0,6}", b in "[ab01é]{0,6}", c in "[ab01é]{0,6}",
        ) {
            prop_assert_eq!(natural_cmp(&a, &b), natural_cmp(&b, &a).reverse());
            prop_assert_eq!(natural_cmp(&a, &b) == Ordering::Equal, a == b);
            let mut sorted = [a, b, c];
            sorted.sort_by(|a, b| natural_cmp(a, b));
            prop_assert!(natural_cmp(&sorted[0], &sorted[2]).is_le());
            prop_assert!(natural_cmp(&sorted[0], &sorted[1]).is_le());
        }
    }
}
