//! English words that carry no topic. They are in nearly every memory, so they cost postings and
//! tell nothing apart; dropping them is worth several points of recall for questions.
//!
//! The table is built by the compiler: a lookup is one multiplication and, rarely, a second probe.

/// Pronouns, articles, prepositions, auxiliaries, question words, and contractions as people type
/// them without the apostrophe. Modals that are also names or months (may, might, must) are not in.
#[rustfmt::skip]
const STOP_WORDS: [&str; 157] = [
    // Articles, determiners, quantity.
    "a", "an", "the", "this", "that", "these", "those", "some", "any", "each", "both", "few",
    "more", "most", "other", "such", "same", "own", "all", "no", "nor", "not", "only", "too",
    "very",
    // Pronouns.
    "i", "me", "my", "myself", "we", "our", "ours", "ourselves", "you", "your", "yours", "yourself",
    "yourselves", "he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its",
    "itself", "they", "them", "their", "theirs", "themselves",
    // To be, to have, to do, and what goes with a verb.
    "am", "is", "are", "was", "were", "be", "been", "being", "have", "has", "had", "having", "do",
    "does", "did", "doing", "can", "cannot", "could", "will", "would", "shall", "should",
    // Question words.
    "what", "which", "who", "whom", "whose", "when", "where", "why", "how",
    // Conjunctions.
    "and", "or", "but", "if", "because", "as", "until", "while", "than", "so", "then", "also",
    "though",
    // Prepositions and places.
    "of", "at", "by", "for", "with", "about", "against", "between", "into", "through", "during",
    "before", "after", "above", "below", "to", "from", "up", "down", "in", "out", "on", "off",
    "over", "under", "again", "further", "once", "here", "there", "upon", "onto",
    // Contractions, and what an apostrophe leaves behind.
    "im", "ive", "youre", "youve", "hes", "shes", "theyre", "weve", "dont", "doesnt", "didnt",
    "isnt", "arent", "wasnt", "werent", "havent", "hasnt", "hadnt", "cant", "couldnt", "wont",
    "wouldnt", "shouldnt", "ll", "ve", "re",
];

const SLOTS: usize = 512;
static TABLE: [u128; SLOTS] = table();

/// Whether the folded word is a stop word.
pub(super) fn is_stop_word(word: &str) -> bool {
    let Some(packed) = pack(word.as_bytes()) else { return false };
    let mut slot = slot_of(packed);
    loop {
        match TABLE[slot] {
            0 => return false,
            held if held == packed => return true,
            _ => slot = (slot + 1) % SLOTS,
        }
    }
}

/// A word of up to ten bytes as a number, never 0; longer ones are no stop words.
const fn pack(word: &[u8]) -> Option<u128> {
    if word.is_empty() || word.len() > 10 {
        return None;
    }
    let mut packed = 0;
    let mut at = 0;
    while at < word.len() {
        packed = packed << 8 | word[at] as u128;
        at += 1;
    }
    Some(packed)
}

const fn slot_of(packed: u128) -> usize {
    let mixed = (packed as u64 ^ (packed >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (64 - SLOTS.trailing_zeros())) as usize
}

const fn table() -> [u128; SLOTS] {
    let mut table = [0; SLOTS];
    let mut at = 0;
    while at < STOP_WORDS.len() {
        let Some(packed) = pack(STOP_WORDS[at].as_bytes()) else {
            panic!("a stop word has at most ten bytes")
        };
        let mut slot = slot_of(packed);
        while table[slot] != 0 {
            assert!(table[slot] != packed, "a stop word is listed once");
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = packed;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_are_listed_and_nothing_else() {
        for word in STOP_WORDS {
            assert!(is_stop_word(word), "{word}");
        }
        for word in ["", "may", "timezone", "x", "themselvess", "caroline", "10", "猫", "\u{0}"] {
            assert!(!is_stop_word(word), "{word}");
        }
    }
}
