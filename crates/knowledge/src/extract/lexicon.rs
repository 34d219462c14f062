//! What single words are, read once from `lexicon.txt`: a word may be of several classes, and all of
//! them come with one look. The lists are evidence, never the whole truth: most names are in none.

use std::collections::HashMap;
use std::sync::OnceLock;

/// A set of classes, one bit each.
pub(super) type Classes = u64;

/// Names the classes, in the order of their bits, by the heading of their section.
macro_rules! classes {
    ($($name:ident = $heading:literal)+) => {
        #[derive(Clone, Copy)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "an index of bits")]
        enum Index { $($name),+ }
        $(pub(super) const $name: Classes = 1 << Index::$name as u32;)+
        const HEADINGS: &[(&str, Classes)] = &[$(($heading, $name)),+];
    };
}

classes! {
    ADVERB = "adverb"
    TRAILING = "trailing"
    HEDGE = "hedge"
    SCARCE = "scarce"
    HYPERBOLE = "hyperbole"
    AUXILIARY = "auxiliary"
    DETERMINER = "determiner"
    PRONOUN = "pronoun"
    NOMINATIVE = "nominative"
    PREPOSITION = "preposition"
    CONJUNCTION = "conjunction"
    WH = "wh"
    OPENER = "opener"
    KIN = "kin"
    COLLEAGUE = "colleague"
    FIRST_NAME = "first name"
    PLACE = "place"
    LANGUAGE = "language"
    CODE_LANGUAGE = "code language"
    TOOL = "tool"
    COMPANY = "company"
    ORG_NOUN = "org noun"
    GROUP_NOUN = "group noun"
    TEAM_NOUN = "team noun"
    ROLE = "role"
    NOT_ROLE = "not role"
    STATE = "state"
    ILLNESS = "illness"
    PET = "pet"
    OWNABLE = "ownable"
    ACTIVITY = "activity"
    INSTRUMENT = "instrument"
    SPORT = "sport"
    FEAT = "feat"
    WORK_PIECE = "work piece"
    VAGUE = "vague"
    NO_PLACE = "no place"
    HOUSING = "housing"
    MONTH = "month"
    WEEKDAY = "weekday"
    SEASON = "season"
    UNIT = "unit"
    NUMBER = "number"
    NATIONALITY = "nationality"
    STORE = "store"
    COMMON = "common"
    REPORT = "report"
    MEDICINE = "medicine"
    FAMILY_ROLE = "family role"
    DEGREE = "degree"
    AWARD = "award"
}

static LEXICON: &str = include_str!("lexicon.txt");

/// Words that are two, written as one.
const CONTRACTIONS: &[(&str, &str, &str)] = &[
    ("im", "i", "am"),
    ("ive", "i", "have"),
    ("dont", "do", "not"),
    ("doesnt", "does", "not"),
    ("didnt", "did", "not"),
    ("cant", "can", "not"),
    ("cannot", "can", "not"),
    ("wont", "will", "not"),
    ("isnt", "is", "not"),
    ("arent", "are", "not"),
    ("wasnt", "was", "not"),
    ("werent", "were", "not"),
    ("havent", "have", "not"),
    ("hasnt", "has", "not"),
    ("wouldnt", "would", "not"),
    ("couldnt", "could", "not"),
    ("shouldnt", "should", "not"),
    ("theyre", "they", "are"),
    ("youre", "you", "are"),
    ("shes", "she", "'s"),
    ("hes", "he", "'s"),
    ("thats", "that", "'s"),
    ("gonna", "going", "to"),
    ("wanna", "want", "to"),
    ("gotta", "got", "to"),
    ("tryna", "trying", "to"),
    ("kinda", "kind", "of"),
    ("alot", "a", "lot"),
];

struct Lexicon {
    words: HashMap<&'static str, Classes, foldhash::fast::FixedState>,
    contractions: HashMap<&'static str, (&'static str, &'static str), foldhash::fast::FixedState>,
}

fn lexicon() -> &'static Lexicon {
    static READ: OnceLock<Lexicon> = OnceLock::new();
    READ.get_or_init(|| {
        let mut words: HashMap<_, Classes, _> = HashMap::default();
        let mut class = 0;
        for line in LEXICON.lines().filter(|line| !line.starts_with('#')) {
            if let Some(heading) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                let known = HEADINGS.iter().find(|(name, _)| *name == heading);
                class = known.map(|(_, class)| *class).expect("a heading that is listed above");
                continue;
            }
            for word in line.split_whitespace() {
                *words.entry(word).or_default() |= class;
            }
        }
        let contractions =
            CONTRACTIONS.iter().map(|(joined, one, two)| (*joined, (*one, *two))).collect();
        Lexicon { words, contractions }
    })
}

/// What a word in lower case is.
pub(super) fn classes(word: &str) -> Classes {
    lexicon().words.get(word).copied().unwrap_or(0)
}

/// What a noun is, in the plural too.
pub(super) fn noun(word: &str) -> Classes {
    let found = classes(word);
    let singular = [("ies", "y"), ("ches", "ch"), ("sses", "ss"), ("s", "")];
    singular.iter().filter_map(|(tail, end)| Some((word.strip_suffix(tail)?, end))).fold(
        found,
        |all, (stem, end)| match end.is_empty() {
            true => all | classes(stem),
            false => all | classes(&format!("{stem}{end}")),
        },
    )
}

/// The two words that `word` is short for.
pub(super) fn contraction(word: &str) -> Option<(&'static str, &'static str)> {
    if !(2..=8).contains(&word.len()) {
        return None;
    }
    lexicon().contractions.get(word).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_words() {
        let all = lexicon().words.values().fold(0, |all, classes| all | classes);
        for (heading, class) in HEADINGS {
            assert!(all & class != 0, "no word under [{heading}]");
        }
    }

    #[test]
    fn plurals_are_nouns_too() {
        assert!(noun("dogs") & PET != 0);
        assert!(noun("puppies") & PET != 0);
        assert!(noun("cat") & PET != 0);
    }
}
