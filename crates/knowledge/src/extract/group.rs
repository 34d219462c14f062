//! The verb of a clause with everything that belongs to it: auxiliaries, negation, adverbs. From
//! these come tense, doubt and denial; whatever is not understood ends in no reading at all.

use super::lexicon::{ADVERB, HEDGE, HYPERBOLE, SCARCE};
use super::tokens::Token;
use super::verbs::{self, BASE, Forms, ING, Lemma, PARTICIPLE, PAST, THIRD};

/// How many tokens a group may have.
const GROUP_MAX: usize = 10;

/// What the verb group of a clause says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Group {
    pub(super) lemma: Lemma,
    /// The token after the verb.
    pub(super) end: usize,
    pub(super) is_past: bool,
    pub(super) is_perfect: bool,
    pub(super) is_progressive: bool,
    pub(super) is_future: bool,
    pub(super) is_negated: bool,
    /// "used to", "no longer": it was so and is not.
    pub(super) has_ended: bool,
    /// "used to", which tells an end from a mere past.
    pub(super) used_to: bool,
    /// "can", which says what somebody is able to do.
    pub(super) is_ability: bool,
    /// Maybe, would, almost: said, but not as a fact.
    pub(super) is_doubtful: bool,
    /// "also".
    pub(super) is_additional: bool,
    /// An adverb that says how often.
    pub(super) is_habit: bool,
    /// The verb stands in its bare form, as after "to".
    pub(super) is_base: bool,
}

/// Whose verb it is, which decides the forms it can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Person {
    /// I, we, they: no ending.
    Plain,
    /// He, she, a name.
    Third,
    /// Nobody is named.
    Either,
}

/// Reads the verb group that begins at `start`.
pub(super) fn group(
    tokens: &[Token<'_>],
    is_time: &[bool],
    start: usize,
    person: Person,
) -> Option<Group> {
    let mut group = Group::default();
    let be = verbs::lemma("be")?;
    let mut expected: Forms = match person {
        Person::Plain => BASE | PAST,
        Person::Third => THIRD | PAST,
        Person::Either => THIRD | PAST,
    };
    let mut has_be = false;
    let most = tokens.len().min(start + GROUP_MAX);
    let mut at = start;
    while at < most {
        let token = &tokens[at];
        let next = tokens.get(at + 1);
        let next_is = |words: &[&str]| next.is_some_and(|next| next.is_one_of(words));
        if is_time[at] && !has_be {
            at += 1;
            continue;
        }
        match token.word {
            "not" => {
                // "not only", "not just": said beside something else.
                group.is_doubtful |= next_is(&["only", "just", "merely", "necessarily", "exactly"]);
                group.is_negated = true;
                // "I am not a fan" keeps what is denied for the complement.
                at += 1;
                continue;
            }
            "never" => {
                group.is_negated = true;
                at += 1;
                continue;
            }
            "no" if next_is(&["longer"]) => {
                group.has_ended = true;
                at += 2;
                continue;
            }
            "used" if next_is(&["to"]) && !has_be => {
                (group.has_ended, group.used_to, group.is_past) = (true, true, true);
                expected = BASE;
                at += 2;
                continue;
            }
            "am" | "is" | "are" | "'s" | "was" | "were" | "be" | "been" | "being" => {
                let is_has = token.is("'s")
                    && next.is_some_and(|next| next.is_one_of(&["been", "got", "had"]));
                if is_has {
                    group.is_perfect = true;
                    expected = PARTICIPLE;
                    at += 1;
                    continue;
                }
                group.is_past |= matches!(token.word, "was" | "were");
                has_be = true;
                expected = ING;
                at += 1;
                continue;
            }
            "have" | "has" | "had" if !has_be => {
                let after = after_adverbs(tokens, at + 1);
                let is_auxiliary = tokens.get(after).is_some_and(|verb| {
                    verb.is_one_of(&["been", "got", "had", "gotten"])
                        || verbs::can_be(verb.word, PARTICIPLE) && !verb.is("read")
                });
                if is_auxiliary {
                    let is_got = tokens[after].is("got");
                    group.is_perfect = !is_got;
                    group.is_past |= token.is("had");
                    expected = PARTICIPLE;
                    at += 1;
                    if is_got {
                        return finish(group, verbs::lemma("have")?, after + 1);
                    }
                    continue;
                }
            }
            "do" | "does" | "did" => {
                let after = after_adverbs(tokens, at + 1);
                let is_auxiliary =
                    tokens.get(after).is_some_and(|verb| verbs::can_be(verb.word, BASE));
                if is_auxiliary {
                    group.is_past |= token.is("did");
                    expected = BASE;
                    at += 1;
                    continue;
                }
            }
            "will" | "shall" => {
                group.is_future = true;
                expected = BASE;
                at += 1;
                continue;
            }
            "can" => {
                group.is_ability = true;
                expected = BASE;
                at += 1;
                continue;
            }
            "going" if has_be && next_is(&["to"]) && is_base_at(tokens, at + 2) => {
                (group.is_future, has_be) = (true, false);
                expected = BASE;
                at += 2;
                continue;
            }
            "'d" => {
                // "I'd been", "I'd like".
                group.is_doubtful |= !next_is(&["been"]);
                (group.is_past, group.is_perfect) = (true, true);
                expected = PARTICIPLE | BASE;
                at += 1;
                continue;
            }
            "may" | "must" => {
                group.is_doubtful = true;
                expected = BASE;
                at += 1;
                continue;
            }
            "also" => group.is_additional = true,
            "previously" | "formerly" | "once" => group.is_past = true,
            "always" | "usually" | "often" | "regularly" | "frequently" | "sometimes" | "daily"
            | "typically" | "generally" | "occasionally" => group.is_habit = true,
            _ => {}
        }
        if token.has(HEDGE | SCARCE | HYPERBOLE) {
            group.is_doubtful = true;
            expected = BASE;
            at += 1;
            continue;
        }
        let reading = verbs::readings(token.word).iter().find(|(_, forms)| forms & expected != 0);
        if has_be {
            if token.has(ADVERB) && reading.is_none() {
                at += 1;
                continue;
            }
            return match reading {
                Some((lemma, _)) if *lemma != be && !is_adjective(token.word) => {
                    group.is_progressive = true;
                    finish(group, *lemma, at + 1)
                }
                _ => finish(group, be, at),
            };
        }
        if let Some((lemma, forms)) = reading {
            let can_be_present = forms & expected & (BASE | THIRD) != 0;
            let can_be_past = forms & expected & PAST != 0;
            let is_past_form = can_be_past && !(can_be_present && token.is("read"));
            group.is_past |= is_past_form && expected & PAST != 0;
            group.is_base = forms & BASE != 0 && !is_past_form;
            return finish(group, *lemma, at + 1);
        }
        if !token.has(ADVERB) {
            return None;
        }
        at += 1;
    }
    // "I am" with nothing after it, or with a phrase of time only.
    (has_be && at < tokens.len()).then(|| finish(group, be, at))?
}

fn finish(mut group: Group, lemma: Lemma, end: usize) -> Option<Group> {
    (group.lemma, group.end) = (lemma, end);
    Some(group)
}

fn after_adverbs(tokens: &[Token<'_>], start: usize) -> usize {
    let most = tokens.len().min(start + GROUP_MAX);
    (start..most)
        .find(|at| {
            let token = &tokens[*at];
            !(token.has(ADVERB) || token.is_one_of(&["not", "never"]))
                || verbs::can_be(token.word, BASE) && !token.has(ADVERB)
        })
        .unwrap_or(most)
}

fn is_base_at(tokens: &[Token<'_>], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| verbs::can_be(token.word, BASE))
}

/// Words in -ing that say how somebody is, not what somebody does.
fn is_adjective(word: &str) -> bool {
    ["dating", "living", "aiming", "blocking", "holding", "missing", "interesting"].contains(&word)
}
