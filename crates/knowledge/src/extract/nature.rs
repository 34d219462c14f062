//! What the words of an object are by nature: its head, a role, a diet, a state, a place. Shared by
//! the kinds of people and places and those of things.

use super::lexicon::{
    self, ACTIVITY, CODE_LANGUAGE, INSTRUMENT, NOT_ROLE, PLACE, ROLE, SPORT, STATE, TOOL, VAGUE,
    noun,
};
use super::tokens::{Kind, Token};
use crate::ontology::Label;

/// An object seen from all sides, once.
#[derive(Clone, Copy)]
pub(super) struct View<'a, 't> {
    pub(super) words: &'a [Token<'t>],
    pub(super) first: &'a Token<'t>,
    pub(super) last: &'a Token<'t>,
    pub(super) head: &'a Token<'t>,
    /// What its head is.
    pub(super) classes: u64,
    /// What any of its words is.
    pub(super) any: u64,
    pub(super) is_name: bool,
    /// Whether it could be anything.
    pub(super) is_vague: bool,
    /// Whether nothing in the text has a capital.
    pub(super) is_lower: bool,
}

impl<'a, 't> View<'a, 't> {
    pub(super) fn of(words: &'a [Token<'t>], is_lower: bool) -> Option<Self> {
        let (first, last) = (words.first()?, words.last()?);
        let head = head(words);
        let is_name = words.iter().any(|token| token.is_capital);
        Some(Self {
            words,
            first,
            last,
            head,
            classes: noun(head.word),
            any: words.iter().fold(0, |all, token| all | token.classes),
            is_name,
            is_vague: last.has(VAGUE) && words.len() == 1 || first.has(VAGUE) && !is_name,
            is_lower,
        })
    }

    /// Whether one of its words is one of these.
    pub(super) fn has_one_of(&self, words: &[&str]) -> bool {
        self.words.iter().any(|token| token.is_one_of(words))
    }
}

/// The noun that carries the meaning: the last before "of", "in" and the like.
pub(super) fn head<'a, 't>(words: &'a [Token<'t>]) -> &'a Token<'t> {
    let end = words.iter().skip(1).position(|token| {
        token.has(lexicon::PREPOSITION) || token.is("named") || token.is("called")
    });
    let end = end.map_or(words.len(), |end| end + 1);
    &words[end - 1]
}

pub(super) fn taste_label(words: &[Token<'_>], classes: u64) -> Option<Label> {
    let any = words.iter().fold(classes, |all, token| all | token.classes);
    match any {
        _ if any & (ACTIVITY | SPORT | INSTRUMENT) != 0 => Some(Label::Hobby),
        _ if any & PLACE != 0 => Some(Label::Location),
        _ if any & (TOOL | CODE_LANGUAGE) != 0 => Some(Label::Tool),
        _ => None,
    }
}

pub(super) fn is_role(words: &[Token<'_>], head: &Token<'_>, classes: u64) -> bool {
    if words.len() > 6 || classes & NOT_ROLE != 0 && classes & ROLE == 0 {
        return false;
    }
    if words[0].is_one_of(&[
        "former", "ex", "big", "huge", "great", "terrible", "bad", "good", "better", "fast",
        "slow", "light", "heavy", "natural", "picky", "decent", "horrible", "awful", "early",
        "regular",
    ]) {
        return false;
    }
    let by_ending = ["ologist", "ician", "ographer", "keeper", "smith", "maker", "wright"]
        .iter()
        .any(|ending| head.word.ends_with(ending));
    let of_what = words.iter().position(|token| token.is("of"));
    let is_head = [
        "head",
        "director",
        "vp",
        "chief",
        "manager",
        "president",
        "owner",
        "founder",
        "co-founder",
        "dean",
        "lead",
    ];
    let leads = of_what.is_some_and(|of| of > 0 && is_head.contains(&words[of - 1].word));
    (classes & ROLE != 0 || by_ending || leads)
        && (of_what.is_none() || leads)
        && !(head.is_one_of(&["lead", "graduate", "junior", "senior", "cook", "electrical"])
            && words.len() == 1)
}

pub(super) fn is_no_org(words: &[Token<'_>]) -> bool {
    let first = words[0].word;
    words[0].kind == Kind::Number
        || [
            "home",
            "night",
            "nights",
            "least",
            "once",
            "first",
            "moment",
            "desk",
            "living",
            "free",
            "peanuts",
            "days",
            "hours",
            "pace",
            "weekend",
            "weekends",
            "full",
            "half",
            "times",
            "same",
            "different",
            "night",
            "noon",
            "dawn",
            "dusk",
            "work",
            "lunch",
            "scale",
            "end",
            "beginning",
            "start",
            "best",
            "odds",
            "hard",
            "long",
            "christmas",
            "breakfast",
            "dinner",
            "minimum",
            "random",
            "money",
            "change",
            "fun",
            "problems",
            "two",
            "three",
            "college",
            "sea",
            "school-board",
            "everyone",
            "everybody",
            "anyone",
            "years",
            "months",
            "weeks",
            "now",
            "heart",
            "speed",
            "music",
            "advice",
        ]
        .contains(&first)
            && !(words.len() > 1 && words.iter().any(|token| token.is_capital))
        || words.iter().any(|token| {
            token.is_one_of(&[
                "myself", "himself", "pay", "desk", "pace", "boss", "mercy", "time", "heart",
            ])
        })
}

pub(super) fn is_region(word: &str) -> bool {
    [
        "countryside",
        "suburbs",
        "city",
        "mountains",
        "coast",
        "downtown",
        "abroad",
        "village",
        "alps",
        "island",
    ]
    .contains(&word)
}

pub(super) fn is_vice(word: &str) -> bool {
    [
        "alcohol",
        "caffeine",
        "sugar",
        "meat",
        "dairy",
        "gluten",
        "cigarettes",
        "nicotine",
        "coffee",
        "soda",
        "gambling",
    ]
    .contains(&word)
}

pub(super) fn is_diet(word: &str) -> bool {
    [
        "vegan",
        "vegetarian",
        "pescatarian",
        "keto",
        "kosher",
        "halal",
        "gluten-free",
        "dairy-free",
        "sober",
        "teetotal",
        "plant-based",
        "paleo",
        "sugar-free",
        "lactose-intolerant",
        "celiac",
        "coeliac",
    ]
    .contains(&word)
}

/// "vegan", "happily married", "six months pregnant", "type 1 diabetic".
pub(super) fn is_state(words: &[Token<'_>]) -> bool {
    let last = words[words.len() - 1];
    let is_few = words.len() <= 4;
    is_few
        && last.has(STATE)
        && words[..words.len() - 1].iter().all(|token| {
            token.has(STATE | lexicon::ADVERB | lexicon::NUMBER | lexicon::UNIT | lexicon::MONTH)
                || token.kind == Kind::Number
                || token.is_one_of(&[
                    "type",
                    "legally",
                    "partially",
                    "happily",
                    "newly",
                    "recently",
                    "strictly",
                    "strict",
                    "ethical",
                ])
        })
        || words.len() <= 3
            && words[0].has(STATE)
            && words[0].is_one_of(&["married", "divorced", "pregnant", "retired", "widowed"])
}
