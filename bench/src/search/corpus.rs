//! Memories and questions that are made up, always the same ones.
//!
//! Words come as often as words do: the word of rank r about once in r. They are those of the
//! built-in model's vocabulary, which has them by frequency, and beyond its end pairs of them, so
//! that texts are cut into about as many tokens as real ones.

use loci_search::text::TextQuery;

const VOCABULARY: &str = include_str!("../../../crates/search/model/vocab.txt");
const WORDS: usize = 60_000;
const WORD_CHARS_MIN: usize = 4;
const TEXT_WORDS: (u64, u64) = (12, 31);
const NAMES: [&str; 12] = [
    "Ana", "Boris", "Chen", "Dana", "Emil", "Farah", "Goran", "Hana", "Ivan", "Jelena", "Karim",
    "Lea",
];
/// Of a thousand memories in a row, so many are turns of chats; the rest are notes.
const TURNS_PER_THOUSAND: u64 = 300;
const TURNS_PER_CHAT: u64 = 100;
/// Ranks of a question's words: one that is in some hundredths of all memories, one in about two of
/// a thousand, two in about one of ten thousand.
const QUERY_RANKS: [(usize, usize); 4] = [(5, 50), (200, 2_000), (2_000, 30_000), (2_000, 30_000)];

/// Random numbers that are the same every time: splitmix64.
pub(crate) struct Dice(u64);

impl Dice {
    /// Different for each purpose and number.
    pub(crate) fn new(purpose: u64, n: u64) -> Self {
        Self(purpose.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ n.wrapping_mul(0xa076_1d64_78bd_642f))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to below 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }
}

/// Everything that is written and asked.
pub(crate) struct Corpus {
    words: Vec<String>,
}

impl Corpus {
    pub(crate) fn new() -> Self {
        let is_plain = |word: &&str| {
            word.len() >= WORD_CHARS_MIN && word.bytes().all(|byte| byte.is_ascii_lowercase())
        };
        let simple: Vec<&str> = VOCABULARY.lines().filter(is_plain).collect();
        let mut words: Vec<String> = simple.iter().map(|word| (*word).to_owned()).collect();
        words.truncate(WORDS);
        let mut dice = Dice::new(1, 0);
        while words.len() < WORDS {
            let mut part = || simple[dice.next() as usize % simple.len()];
            words.push(format!("{}{}", part(), part()));
        }
        Self { words }
    }

    /// A word; the logarithm of its rank is evenly spread.
    fn word(&self, dice: &mut Dice) -> &str {
        let rank = (dice.share() * (self.words.len() as f64).ln()).exp() as usize;
        &self.words[rank.saturating_sub(1).min(self.words.len() - 1)]
    }

    /// The text of a memory.
    pub(crate) fn text(&self, n: u64) -> String {
        let mut dice = Dice::new(2, n);
        let words = dice.between(TEXT_WORDS.0, TEXT_WORDS.1);
        let mut text = String::new();
        if is_turn(n) {
            text.push_str(NAMES[dice.next() as usize % NAMES.len()]);
            text.push(':');
        }
        for _ in 0..words {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(self.word(&mut dice));
        }
        text
    }

    /// A question of four words, all of which count.
    pub(crate) fn query(&self, n: u64) -> String {
        let mut dice = Dice::new(3, n);
        loop {
            let mut draw =
                |(least, most)| &self.words[dice.between(least as u64, most as u64) as usize];
            let words = QUERY_RANKS.map(|ranks| draw(ranks).as_str());
            let query = words.join(" ");
            if TextQuery::parse(&query).terms.len() == QUERY_RANKS.len() {
                return query;
            }
        }
    }
}

fn is_turn(n: u64) -> bool {
    n % 1000 < TURNS_PER_THOUSAND
}

/// Where a memory is.
pub(crate) fn path(n: u64) -> String {
    let (thousand, within) = (n / 1000, n % 1000);
    if is_turn(n) {
        let chat = thousand * (TURNS_PER_THOUSAND / TURNS_PER_CHAT) + within / TURNS_PER_CHAT;
        format!("/chats/{chat:05}/turn_{:03}.md", within % TURNS_PER_CHAT)
    } else {
        format!("/d{:03}/note_{n:07}.md", thousand % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn texts_and_questions_are_always_the_same() {
        let (one, other) = (Corpus::new(), Corpus::new());
        for n in 0..50 {
            assert_eq!(one.text(n), other.text(n));
            assert_eq!(one.query(n), other.query(n));
        }
    }

    #[test]
    fn a_common_word_is_in_about_a_tenth_of_all_texts() {
        let corpus = Corpus::new();
        let word = &corpus.words[20];
        let holds = |n: &u64| corpus.text(*n).split(' ').any(|other| other == word);
        let share = (0..5_000).filter(holds).count() as f64 / 5_000.0;
        assert!((0.05..0.2).contains(&share), "{share}");
    }

    #[test]
    fn no_two_memories_have_the_same_path() {
        let paths: HashSet<String> = (0..20_000).map(path).collect();
        assert_eq!(paths.len(), 20_000);
    }
}
