//! What a character is to the scanner: part of a spaced word, of a script without spaces, of a
//! Hangul word, an extension of what stands before it, or nothing.
//!
//! Scripts that do not put spaces between words (Han, kana, Thai, Lao, Khmer, Myanmar) have no word
//! ends to find without a dictionary, so they are recognised here and indexed in pairs elsewhere.

use unicode_normalization::char::is_combining_mark;

/// How the words of a script are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Letters and digits between separators.
    Spaced,
    /// No separators at all.
    Unspaced,
    /// Separators, but endings grow on the word.
    Hangul,
}

/// The script of a character that can start a word; none for separators, symbols and marks.
pub(super) fn script_of(c: char) -> Option<Script> {
    match u32::from(c) {
        0..=0x7F => c.is_ascii_alphanumeric().then_some(Script::Spaced),
        // A letter by its category, but it is written as an apostrophe.
        0x02BC => None,
        // Most text that is not ASCII falls in here: one comparison before the long list.
        0x80..=0x0E00 => c.is_alphanumeric().then_some(Script::Spaced),
        // The digits of these scripts stand alone like any others.
        0x0E50..=0x0E59 | 0x0ED0..=0x0ED9 | 0x1040..=0x1049 | 0x17E0..=0x17E9 => {
            Some(Script::Spaced)
        }
        0x0E01..=0x0EFF            // Thai, Lao
        | 0x1000..=0x109F          // Myanmar
        | 0x1780..=0x17FF          // Khmer
        | 0x3005..=0x3007          // ideographic repetition and zero
        | 0x3041..=0x30FF          // Hiragana, Katakana
        | 0x3105..=0x312F          // Bopomofo
        | 0x31A0..=0x31BF
        | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF          // Han
        | 0x4E00..=0x9FFF
        | 0xA9E0..=0xA9FE          // Myanmar, extended
        | 0xAA60..=0xAA7F
        | 0xF900..=0xFAFF          // Han, compatibility
        | 0xFF66..=0xFF9F          // Katakana, half width
        | 0x20000..=0x3FFFF => c.is_alphanumeric().then_some(Script::Unspaced),
        0x1100..=0x11FF            // conjoining parts of syllables
        | 0x3131..=0x318E
        | 0xA960..=0xA97F
        | 0xAC00..=0xD7A3          // syllables
        | 0xD7B0..=0xD7FF
        | 0xFFA0..=0xFFDC => c.is_alphanumeric().then_some(Script::Hangul),
        _ => c.is_alphanumeric().then_some(Script::Spaced),
    }
}

/// Whether the character belongs to the word before it: a mark, or something that cannot be seen
/// and does not part words (a soft hyphen, a joiner).
pub(super) fn is_extending(c: char) -> bool {
    !c.is_ascii() && (is_invisible_joint(c) || is_combining_mark(c))
}

/// Invisible inside a word; left out of every term.
pub(super) fn is_invisible_joint(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200C}' | '\u{200D}' | '\u{2060}')
}

/// The apostrophes people type or their editors put in.
pub(super) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{02BC}' | '\u{FF07}')
}

/// Whether the character continues the unit of writing that the one before it began: a mark, a half
/// width voicing sign, or the vowel or end of a Hangul syllable written in parts.
pub(super) fn continues_cluster(c: char) -> bool {
    is_extending(c) || matches!(u32::from(c), 0xFF9E | 0xFF9F | 0x1160..=0x11FF | 0xD7B0..=0xD7FF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts() {
        let table = [
            ('a', Some(Script::Spaced)),
            ('7', Some(Script::Spaced)),
            ('_', None),
            ('é', Some(Script::Spaced)),
            ('я', Some(Script::Spaced)),
            ('ع', Some(Script::Spaced)),
            ('א', Some(Script::Spaced)),
            ('क', Some(Script::Spaced)),
            ('猫', Some(Script::Unspaced)),
            ('の', Some(Script::Unspaced)),
            ('タ', Some(Script::Unspaced)),
            ('ー', Some(Script::Unspaced)),
            ('ก', Some(Script::Unspaced)),
            ('๓', Some(Script::Spaced)),
            ('ລ', Some(Script::Unspaced)),
            ('ក', Some(Script::Unspaced)),
            ('က', Some(Script::Unspaced)),
            ('𠮷', Some(Script::Unspaced)),
            ('한', Some(Script::Hangul)),
            ('Ａ', Some(Script::Spaced)),
            ('・', None),
            ('。', None),
            ('\u{0}', None),
            ('😀', None),
            ('\u{200B}', None),
            ('\u{2019}', None),
            ('\u{02BC}', None),
            ('\u{301}', None),
        ];
        for (c, script) in table {
            assert_eq!(script_of(c), script, "{c:?}");
        }
    }

    #[test]
    fn extensions() {
        for c in ['\u{301}', '\u{AD}', '\u{200D}', '\u{94D}', '\u{FE0F}'] {
            assert!(is_extending(c), "{c:?}");
        }
        for c in ['a', ' ', '\u{200B}', '猫'] {
            assert!(!is_extending(c), "{c:?}");
        }
    }
}
