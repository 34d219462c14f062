//! Folding: one form for words that differ in case, width, accents or composition only.
//!
//! Compatibility decomposition, accents off, lower case, and the few Latin letters that Unicode
//! does not decompose but people type without. Signs that carry meaning in their script (Indic
//! vowels, Japanese voicing) stay. Folding a folded word changes nothing.

use super::characters::is_invisible_joint;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

/// Characters of one word; what is longer is cut. Longer runs are digests and encodings, which
/// nobody types, and an index term must not be as long as a memory.
pub(super) const WORD_CHARS_MAX: usize = 64;

/// Characters of one cluster, so that a base with a thousand marks stays a small term.
const CLUSTER_CHARS_MAX: usize = 8;

/// Appends the folded form of an ASCII word, which the caller has cut to the limit.
pub(super) fn fold_ascii(word: &str, into: &mut String) {
    let start = into.len();
    into.push_str(word);
    into[start..].make_ascii_lowercase();
}

/// Appends the folded form of any word, cut at the limit.
pub(super) fn fold_word(word: &str, into: &mut String) {
    if word.is_ascii() {
        return fold_ascii(&word[..word.len().min(WORD_CHARS_MAX)], into);
    }
    let folded = word
        .chars()
        // Before the marks are put in order, or a joiner would keep two of them apart.
        .filter(|c| !is_invisible_joint(*c))
        .nfkd()
        .filter(|c| !is_folded_away(*c))
        .flat_map(char::to_lowercase)
        .filter(|c| !is_folded_away(*c));
    let mut left = WORD_CHARS_MAX;
    let mut utf8 = [0; 4];
    for c in folded {
        let letters = plain_letters(c).unwrap_or_else(|| c.encode_utf8(&mut utf8));
        let count = letters.chars().count();
        if count > left {
            break;
        }
        left -= count;
        into.push_str(letters);
    }
}

/// Appends the folded form of one cluster of a script that is indexed in pairs. Composed, so that
/// Hangul syllables and voiced kana are one character however they were written.
pub(super) fn fold_cluster(cluster: &str, into: &mut String) {
    let mut chars = cluster.chars();
    if let (Some(only), None) = (chars.next(), chars.next())
        && matches!(u32::from(only), 0x3041..=0x3096 | 0x30A1..=0x30FA | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3)
    {
        return into.push(only);
    }
    into.extend(
        cluster
            .chars()
            .take(CLUSTER_CHARS_MAX)
            .nfkc()
            .filter(|c| !is_invisible_joint(*c) && !is_variation_selector(*c)),
    );
}

/// What a decomposed word loses: accents, joiners, and whatever compatibility forms expand to that
/// is no letter or digit (spaces, fraction slashes).
fn is_folded_away(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_alphanumeric();
    }
    if is_combining_mark(c) {
        // Classes 7 to 9 are nukta, kana voicing and virama: another letter, not an accent.
        let class = canonical_combining_class(c);
        return (class != 0 && !(7..=9).contains(&class)) || is_variation_selector(c);
    }
    !c.is_alphanumeric()
}

fn is_variation_selector(c: char) -> bool {
    matches!(u32::from(c), 0xFE00..=0xFE0F | 0xE0100..=0xE01EF)
}

/// Letters without a decomposition that are commonly typed with plain ones.
fn plain_letters(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ı' => "i",
        'ς' => "σ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folded(word: &str) -> String {
        let mut into = String::new();
        fold_word(word, &mut into);
        into
    }

    #[test]
    fn words() {
        let table = [
            ("Timezone", "timezone"),
            ("Café", "cafe"),
            ("Cafe\u{301}", "cafe"),
            ("ÅNGSTRÖM", "angstrom"),
            ("İstanbul", "istanbul"),
            ("Straße", "strasse"),
            ("Øresund", "oresund"),
            ("ＡＢＣ１２", "abc12"),
            ("ﬁne", "fine"),
            ("co\u{AD}operate", "cooperate"),
            ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
            ("Σίσυφος", "σισυφοσ"),
            ("ёлка", "елка"),
            ("שָׁלוֹם", "שלום"),
            ("हिन्दी", "हिन्दी"),
            ("m²", "m2"),
        ];
        for (word, expected) in table {
            assert_eq!(folded(word), expected, "{word}");
        }
    }

    #[test]
    fn clusters() {
        for (cluster, expected) in
            [("か\u{3099}", "が"), ("ｶﾞ", "ガ"), ("\u{1112}\u{1161}\u{11AB}", "한"), ("猫", "猫")]
        {
            let mut into = String::new();
            fold_cluster(cluster, &mut into);
            assert_eq!(into, expected);
        }
    }

    #[test]
    fn long_words_are_cut() {
        assert_eq!(folded(&"é".repeat(1000)), "e".repeat(WORD_CHARS_MAX));
        assert_eq!(folded(&"x".repeat(1000)), "x".repeat(WORD_CHARS_MAX));
    }

    proptest! {
        #[test]
        fn folding_is_idempotent_and_bounded(word in "[\\p{L}\\p{N}\\p{M}\u{AD}\u{200D}]{0,80}") {
            let once = folded(&word);
            prop_assert!(once.chars().count() <= WORD_CHARS_MAX);
            prop_assert_eq!(folded(&once), once);
        }
    }
}
