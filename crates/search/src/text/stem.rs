//! English stemming after Porter (1980): "painted", "painting" and "paints" meet in one term.
//!
//! In place, on a lower-case ASCII word of at most 64 letters, without allocation or a cache: which
//! letters are vowels fits in one number, and the measure the rules ask for is a count of its bits.

/// Cuts the word to its stem. Words of one or two letters stay.
pub(super) fn stem(word: &mut String) {
    debug_assert!(word.bytes().all(|b| b.is_ascii_lowercase()));
    if word.len() <= 2 || word.len() > 64 {
        return;
    }
    plural(word);
    past_and_progressive(word);
    final_y(word);
    double_suffix(word);
    single_suffix(word);
    bare_suffix(word);
    final_e(word);
}

/// The vowels of a word, one bit per letter.
#[derive(Clone, Copy)]
struct Vowels(u64);

impl Vowels {
    fn of(word: &str) -> Self {
        let mut bits = 0_u64;
        let mut is_after_vowel = true;
        for (at, letter) in word.bytes().enumerate() {
            let is_vowel = match letter {
                b'a' | b'e' | b'i' | b'o' | b'u' => true,
                // A vowel after a consonant; at the start it is a consonant.
                b'y' => !is_after_vowel,
                _ => false,
            };
            bits |= u64::from(is_vowel) << at;
            is_after_vowel = is_vowel;
        }
        Self(bits)
    }

    /// The bits of the first `len` letters.
    fn first(self, len: usize) -> u64 {
        if len >= 64 { self.0 } else { self.0 & ((1 << len) - 1) }
    }

    fn any(self, len: usize) -> bool {
        self.first(len) != 0
    }

    /// How often a vowel is followed by a consonant within the first `len` letters.
    fn measure(self, len: usize) -> u32 {
        if len < 2 {
            return 0;
        }
        let followed = self.first(len - 1);
        (followed & !(self.first(len) >> 1)).count_ones()
    }

    fn is_vowel(self, at: usize) -> bool {
        self.0 >> at & 1 == 1
    }
}

/// Whether the first `len` letters end consonant, vowel, consonant, the last not w, x or y: a short
/// syllable, which takes an e ("hop" from "hoping").
fn ends_short(word: &str, vowels: Vowels, len: usize) -> bool {
    len >= 3
        && !vowels.is_vowel(len - 3)
        && vowels.is_vowel(len - 2)
        && !vowels.is_vowel(len - 1)
        && !matches!(word.as_bytes()[len - 1], b'w' | b'x' | b'y')
}

fn plural(word: &mut String) {
    if !word.ends_with('s') {
        return;
    }
    if word.ends_with("sses") || word.ends_with("ies") {
        word.truncate(word.len() - 2);
    } else if !word.ends_with("ss") {
        word.truncate(word.len() - 1);
    }
}

fn past_and_progressive(word: &mut String) {
    let suffix = if word.ends_with("ed") {
        2
    } else if word.ends_with("ing") {
        3
    } else {
        return;
    };
    let vowels = Vowels::of(word);
    if word.ends_with("eed") {
        if vowels.measure(word.len() - 3) > 0 {
            word.truncate(word.len() - 1);
        }
        return;
    }
    let len = word.len() - suffix;
    if !vowels.any(len) {
        return;
    }
    word.truncate(len);
    match word.as_bytes() {
        [.., b'a', b't'] | [.., b'b', b'l'] | [.., b'i', b'z'] => word.push('e'),
        [.., before, last] if before == last && !vowels.is_vowel(len - 1) => {
            if !matches!(last, b'l' | b's' | b'z') {
                word.truncate(len - 1);
            }
        }
        _ => {
            if vowels.measure(len) == 1 && ends_short(word, vowels, len) {
                word.push('e');
            }
        }
    }
}

fn final_y(word: &mut String) {
    if word.ends_with('y') && Vowels::of(word).any(word.len() - 1) {
        word.truncate(word.len() - 1);
        word.push('i');
    }
}

/// Suffixes made of two: the longest that fits becomes the shorter one.
fn double_suffix(word: &mut String) {
    // The letter before the last tells most words at once that no rule applies.
    let [.., letter, _] = word.as_bytes() else { return };
    let rules: &[(&str, &str)] = match letter {
        b'a' => &[("ational", "ate"), ("tional", "tion")],
        b'c' => &[("enci", "ence"), ("anci", "ance")],
        b'e' => &[("izer", "ize")],
        b'l' => {
            &[("abli", "able"), ("alli", "al"), ("entli", "ent"), ("ousli", "ous"), ("eli", "e")]
        }
        b'o' => &[("ization", "ize"), ("ation", "ate"), ("ator", "ate")],
        b's' => &[("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")],
        b't' => &[("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")],
        _ => return,
    };
    replace(word, rules);
}

fn single_suffix(word: &mut String) {
    let rules: &[(&str, &str)] = match word.as_bytes().last() {
        Some(b'e') => &[("icate", "ic"), ("ative", ""), ("alize", "al")],
        Some(b'i') => &[("iciti", "ic")],
        Some(b'l') => &[("ical", "ic"), ("ful", "")],
        Some(b's') => &[("ness", "")],
        _ => return,
    };
    replace(word, rules);
}

/// The first rule whose suffix the word has decides, whether or not enough is left before it.
fn replace(word: &mut String, rules: &[(&str, &str)]) {
    let Some((suffix, by)) = rules.iter().find(|(suffix, _)| word.ends_with(suffix)) else {
        return;
    };
    let len = word.len() - suffix.len();
    if Vowels::of(word).measure(len) > 0 {
        word.truncate(len);
        word.push_str(by);
    }
}

fn bare_suffix(word: &mut String) {
    let [.., letter, _] = word.as_bytes() else { return };
    let suffixes: &[&str] = match letter {
        b'a' => &["al"],
        b'c' => &["ance", "ence"],
        b'e' => &["er"],
        b'i' => &["ic"],
        b'l' => &["able", "ible"],
        b'n' => &["ement", "ment", "ent", "ant"],
        b'o' => &["ion", "ou"],
        b's' => &["ism"],
        b't' => &["ate", "iti"],
        b'u' => &["ous"],
        b'v' => &["ive"],
        b'z' => &["ize"],
        _ => return,
    };
    let Some(suffix) = suffixes.iter().find(|suffix| word.ends_with(*suffix)) else { return };
    let len = word.len() - suffix.len();
    let is_allowed = *suffix != "ion" || matches!(word.as_bytes()[..len].last(), Some(b's' | b't'));
    if is_allowed && Vowels::of(word).measure(len) > 1 {
        word.truncate(len);
    }
}

fn final_e(word: &mut String) {
    if word.ends_with('e') {
        let len = word.len() - 1;
        let vowels = Vowels::of(word);
        let measure = vowels.measure(len);
        if measure > 1 || (measure == 1 && !ends_short(word, vowels, len)) {
            word.truncate(len);
        }
    }
    if word.ends_with("ll") && Vowels::of(word).measure(word.len()) > 1 {
        word.truncate(word.len() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stemmed(word: &str) -> String {
        let mut word = word.to_owned();
        stem(&mut word);
        word
    }

    #[test]
    fn rules() {
        #[rustfmt::skip]
        let table = [
            ("caresses", "caress"), ("ponies", "poni"), ("ties", "ti"), ("cats", "cat"),
            ("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"), ("bled", "bled"),
            ("motoring", "motor"), ("sing", "sing"), ("conflated", "conflat"), ("sized", "size"),
            ("hopping", "hop"), ("falling", "fall"), ("hissing", "hiss"), ("fizzed", "fizz"),
            ("failing", "fail"), ("filing", "file"), ("happy", "happi"), ("sky", "sky"),
            ("relational", "relat"), ("rational", "ration"), ("digitizer", "digit"),
            ("conformably", "conform"), ("radically", "radic"), ("vietnamization", "vietnam"),
            ("operator", "oper"), ("feudalism", "feudal"), ("decisiveness", "decis"),
            ("hopefulness", "hope"), ("formality", "formal"), ("sensibility", "sensibl"),
            ("triplicate", "triplic"), ("formative", "form"), ("electricity", "electr"),
            ("electrical", "electr"), ("goodness", "good"), ("revival", "reviv"),
            ("allowance", "allow"), ("airliner", "airlin"), ("adjustment", "adjust"),
            ("replacement", "replac"), ("dependent", "depend"), ("adoption", "adopt"),
            ("homologous", "homolog"), ("effective", "effect"), ("probate", "probat"),
            ("rate", "rate"), ("cease", "ceas"), ("controlling", "control"), ("rolling", "roll"),
            ("yes", "ye"), ("syzygy", "syzygi"), ("is", "is"), ("s", "s"), ("", ""),
            ("paints", "paint"), ("painted", "paint"), ("painting", "paint"),
        ];
        for (word, expected) in table {
            assert_eq!(stemmed(word), expected, "{word}");
        }
    }

    proptest! {
        #[test]
        fn a_stem_is_a_short_ascii_word(word in "[a-z]{1,64}") {
            let stem = stemmed(&word);
            prop_assert!(!stem.is_empty() && stem.len() <= word.len());
            prop_assert!(stem.bytes().all(|b| b.is_ascii_lowercase()));
            prop_assert_eq!(&stem[..1], &word[..1]);
        }
    }
}
