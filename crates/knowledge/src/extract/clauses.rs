//! Sentences, and the clauses they are made of. A clause is a run of tokens with one verb of its
//! own, and knows by which word it hangs on the one before it. Whatever is doubtful stays together:
//! a clause that is too long says nothing, one that is too short could say what nobody said.

use super::lexicon::{ADVERB, AUXILIARY, DETERMINER, FIRST_NAME, NOMINATIVE, PREPOSITION, WH};
use super::tokens::{Kind, Token};
use super::verbs::{self, BASE, ING, PARTICIPLE, PAST, THIRD};
use std::ops::Range;

/// How far ahead the verb of a clause is looked for.
const LOOK_AHEAD: usize = 6;

/// A sentence: its tokens, and how it ends.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub(super) tokens: Range<usize>,
    pub(super) is_question: bool,
    /// Whether it is the first on its line.
    pub(super) begins_line: bool,
}

/// How a clause hangs on the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// It is the first.
    First,
    /// By "and", a comma, a dash or a bracket.
    And,
    /// By "but", "so", "because": said beside it.
    Beside,
    /// By "that", or by nothing at all: what somebody says or thinks.
    Inside,
    /// By "if" and the like.
    If,
    /// By "when" and the like.
    When,
    /// By "who".
    Who,
    /// By "which" or "where".
    Which,
}

#[derive(Debug, Clone)]
pub(super) struct Clause {
    pub(super) tokens: Range<usize>,
    pub(super) link: Link,
}

/// The sentences of a text, at most `most`.
pub(super) fn sentences(tokens: &[Token<'_>], most: usize) -> Vec<Sentence> {
    let mut found = Vec::new();
    let (mut start, mut begins_line) = (0, true);
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Stop {
            continue;
        }
        let asks = tokens[at..].iter().take_while(|token| token.kind == Kind::Stop);
        let is_question = asks.take(4).any(|token| token.is("?"));
        if start < at {
            found.push(Sentence { tokens: start..at, is_question, begins_line });
        }
        if found.len() == most {
            return found;
        }
        begins_line = token.is("\n") || (begins_line && start == at);
        start = at + 1;
    }
    if start < tokens.len() {
        let tokens = start..tokens.len();
        found.push(Sentence { tokens, is_question: false, begins_line });
    }
    found
}

/// The clauses of a sentence; `is_time` says which of its tokens belong to a phrase of time.
pub(super) fn clauses(tokens: &[Token<'_>], is_time: &[bool]) -> Vec<Clause> {
    let mut splitter = Splitter {
        tokens,
        is_time,
        found: Vec::new(),
        start: 0,
        link: Link::First,
        is_plain: false,
    };
    let mut at = 0;
    while at < tokens.len() {
        at = splitter.step(at);
    }
    splitter.close(tokens.len());
    splitter.found
}

struct Splitter<'a> {
    tokens: &'a [Token<'a>],
    is_time: &'a [bool],
    found: Vec<Clause>,
    start: usize,
    link: Link,
    /// Whether a subject was met whose verbs carry no ending.
    is_plain: bool,
}

impl Splitter<'_> {
    fn close(&mut self, end: usize) {
        if self.start < end {
            self.found.push(Clause { tokens: self.start..end, link: self.link });
        }
    }

    /// Ends the clause before `end` and begins the next at `next`.
    fn cut(&mut self, end: usize, next: usize, link: Link) -> usize {
        self.close(end);
        self.start = next;
        self.link = link;
        next
    }

    /// Looks at one token and returns the next to look at.
    fn step(&mut self, at: usize) -> usize {
        let token = &self.tokens[at];
        if self.is_time[at] {
            return at + 1;
        }
        self.is_plain |= token.is_one_of(&["i", "we", "they"]);
        if token.kind == Kind::Mark {
            return self.mark(at);
        }
        if let Some(link) = self.hinge(at) {
            return self.cut(at, at + 1, link);
        }
        let is_inside = at > self.start && token.has(NOMINATIVE) && self.pronoun_acts(at);
        if is_inside {
            // "Last year I moved": what stands before is no clause that could govern it.
            return self.cut(at, at, Link::Inside) + 1;
        }
        at + 1
    }

    fn mark(&mut self, at: usize) -> usize {
        match self.tokens[at].word {
            "," => {
                let next = at + 1;
                if next >= self.tokens.len() {
                    return next;
                }
                if let Some(link) = self.hinge(next) {
                    return self.cut(at, next + 1, link);
                }
                let asks = self.tokens[next].has(WH)
                    || self.tokens[next].is_one_of(&["any", "thoughts", "suggestions", "tips"]);
                match asks || self.begins_clause(next) || self.begins_predicate(next) {
                    true => self.cut(at, next, Link::And),
                    false => next,
                }
            }
            "(" | ")" | "[" | "]" | ":" => self.cut(at, at + 1, Link::Beside),
            "-" => {
                let is_apart = self.tokens.get(at + 1).is_some_and(|next| {
                    at > 0
                        && self.tokens[at - 1].end < self.tokens[at].start
                        && next.start > self.tokens[at].end
                });
                if is_apart { self.cut(at, at + 1, Link::Beside) } else { at + 1 }
            }
            _ => at + 1,
        }
    }

    /// The link that the word at `at` makes, if it is a hinge between clauses.
    fn hinge(&self, at: usize) -> Option<Link> {
        let next = at + 1;
        let word = self.tokens[at].word;
        let opens = || self.begins_clause(next);
        match word {
            "if" | "unless" | "whether" | "supposing" | "assuming" | "provided" => Some(Link::If),
            "because" | "cause" | "cuz" | "although" | "whereas" | "but" | "however" | "except" => {
                Some(Link::Beside)
            }
            "though" | "yet" | "so" | "plus" if opens() => Some(Link::Beside),
            "so" if self.begins_predicate(next) && at > self.start => Some(Link::Beside),
            "since" | "while" | "as" if opens() => Some(Link::Beside),
            "when" | "whenever" | "once" | "after" | "before" | "until" | "till" if opens() => {
                Some(Link::When)
            }
            "who" if at > self.start || at == 0 => (at > 0).then_some(Link::Who),
            "which" | "where" | "whose" | "whom" if at > 0 => Some(Link::Which),
            "that" if opens() && at > self.start => Some(Link::Inside),
            "that" if at > self.start && self.begins_predicate(next) => Some(Link::Which),
            "and" | "or" | "&" | "then" if at > self.start && opens() => Some(Link::And),
            "and" | "or" | "&" if at > self.start && self.begins_predicate(next) => Some(Link::And),
            _ => None,
        }
    }

    fn skip(&self, mut at: usize) -> usize {
        let most = (at + LOOK_AHEAD).min(self.tokens.len());
        while at < most
            && (self.is_time[at]
                || self.tokens[at].has(ADVERB) && !verbs::can_be(self.tokens[at].word, THIRD)
                || self.tokens[at].is_one_of(&["not", "never", "and", "but", "so"]))
        {
            at += 1;
        }
        at
    }

    /// Whether the pronoun at `at` has a verb of its own.
    fn pronoun_acts(&self, at: usize) -> bool {
        let next = self.skip(at + 1);
        let Some(verb) = self.tokens.get(next) else { return false };
        let is_subject_only = self.tokens[at].is_one_of(&["i", "we", "he", "she", "they"]);
        if next > at + 1 && !is_subject_only {
            return false;
        }
        verb.has(AUXILIARY) || verbs::can_be(verb.word, BASE | THIRD | PAST) || verb.is("no")
    }

    fn begins_clause(&self, at: usize) -> bool {
        let at = self.skip(at);
        let Some(first) = self.tokens.get(at) else { return false };
        if first.kind == Kind::Mark {
            return false;
        }
        if first.has(NOMINATIVE) {
            return self.pronoun_acts(at);
        }
        let is_noun_phrase = first.has(DETERMINER | FIRST_NAME)
            || first.is_capital
            || first.is_one_of(&["this", "that", "everyone", "nobody", "people", "user"]);
        let end = (at + LOOK_AHEAD).min(self.tokens.len());
        for (place, token) in self.tokens.iter().enumerate().take(end).skip(at + 1) {
            let follows_noun = is_noun_phrase && place > at;
            if token.kind == Kind::Mark || token.is_one_of(&["and", "or", "to"]) {
                return false;
            }
            let is_finite = ["is", "are", "was", "were", "has", "does", "did", "will", "can", "'s"]
                .contains(&token.word);
            if is_finite && !(token.is("'s") && self.is_possessive(place)) {
                return follows_noun || place == at + 1;
            }
            if token.has(PREPOSITION) && !token.is("of") {
                return false;
            }
            if follows_noun
                && verbs::can_be(token.word, THIRD | PAST)
                && place + 1 < self.tokens.len()
            {
                return true;
            }
        }
        false
    }

    /// Whether the "'s" at `at` makes an owner of the word before it.
    fn is_possessive(&self, at: usize) -> bool {
        self.tokens.get(at + 1).is_some_and(|next| {
            !next.has(AUXILIARY | DETERMINER | ADVERB | PREPOSITION)
                && !verbs::can_be(next.word, ING | PARTICIPLE)
                && !next.is("not")
        })
    }

    /// Whether a predicate without a subject of its own begins here.
    fn begins_predicate(&self, at: usize) -> bool {
        let at = self.skip(at);
        let (Some(first), Some(next)) = (self.tokens.get(at), self.tokens.get(at + 1)) else {
            return false;
        };
        if next.kind == Kind::Mark || next.is_one_of(&["and", "or"]) {
            return false;
        }
        if first.has(AUXILIARY) && !first.is_one_of(&["be", "being", "'s"]) {
            return true;
        }
        if verbs::can_be(first.word, THIRD | PAST) && !first.is_capital {
            return true;
        }
        if verbs::can_be(first.word, BASE) && self.is_plain {
            let is_opinion =
                first.is_one_of(&["love", "like", "hate", "enjoy", "prefer", "dislike"]);
            return is_opinion
                || next.has(PREPOSITION | DETERMINER)
                || next.is_capital
                || next.kind == Kind::Number;
        }
        verbs::can_be(first.word, ING) && self.is_progressive()
    }

    /// Whether the clause so far says what somebody is doing.
    fn is_progressive(&self) -> bool {
        let from = self.tokens.len().min(self.start + 6);
        self.tokens[self.start..from].windows(2).any(|pair| {
            pair[0].is_one_of(&["am", "are", "is", "been", "'s"])
                && verbs::can_be(pair[1].word, ING)
        })
    }
}
