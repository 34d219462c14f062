//! Reads the claims of one sentence: goes through its clauses, leaves out those that are not said as
//! facts, finds whom each is about, and hands verb and words to the table.

use super::clauses::{Clause, Link, Sentence, clauses};
use super::cues::{Cue, cues};
use super::dates::{self, Phrase};
use super::group::{Group, Person, group};
use super::lexicon::{ADVERB, AUXILIARY, DETERMINER, HEDGE, NOMINATIVE, REPORT, STATE, WH};
use super::subject::{Found, Subject, skip_openers, subject};
use super::timing::Times;
use super::tokens::Token;
use super::verbs::{self, BASE, ING, PAST, THIRD};
use crate::claim::Claim;
use jiff::civil::Date;
use loci_model::Timestamp;
use std::ops::Range;

/// What is known of the text while it is read.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) speaker: &'t str,
    pub(super) at: Timestamp,
    pub(super) today: Date,
    /// Whether the text has no capitals at all, as much chat.
    pub(super) is_lower: bool,
    /// Who was named so far.
    pub(super) people: Vec<String>,
    pub(super) claims: Vec<Claim>,
    /// Which bytes nobody says as a fact.
    pub(super) unsaid: Vec<Range<usize>>,
}

/// A sentence with its times.
pub(super) struct Scene<'a, 't> {
    pub(super) tokens: &'a [Token<'t>],
    pub(super) is_time: &'a [bool],
    pub(super) phrases: &'a [Phrase],
}

/// Which clauses after it a clause takes its doubt to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Govern {
    None,
    /// Those inside it.
    Inside,
    /// Those inside it, and those beside it that are not the speaker's own.
    Others,
    /// All but those set against it.
    All,
}

/// A clause as it was understood, for the one after it.
struct Before {
    found: Option<Found>,
    group: Option<Group>,
    govern: Govern,
    times: Times,
    has_infinitive: bool,
}

impl<'t> Reader<'t> {
    /// Takes note that nobody says these words as a fact.
    pub(super) fn leave(&mut self, tokens: &[Token<'t>]) {
        if let (Some(first), Some(last)) = (tokens.first(), tokens.last()) {
            self.unsaid.push(first.start..last.end);
        }
    }

    /// Reads one sentence; its tokens only.
    pub(super) fn sentence(&mut self, tokens: &[Token<'t>], sentence: &Sentence) {
        let looks_ahead = looks_ahead(tokens);
        let phrases = dates::phrases(tokens, self.today, looks_ahead);
        let mut is_time = vec![false; tokens.len()];
        for phrase in &phrases {
            is_time[phrase.tokens.clone()].fill(true);
        }
        let clauses = clauses(tokens, &is_time);
        let cues = cues(tokens);
        let scene = Scene { tokens, is_time: &is_time, phrases: &phrases };
        let asked = first_question(&scene, &clauses, sentence.is_question);
        let mut before: Option<Before> = None;
        for (number, clause) in clauses.iter().enumerate() {
            if asked.is_some_and(|asked| number >= asked) {
                self.leave(&tokens[clause.tokens.start..]);
                break;
            }
            let cue = cues.iter().find(|(at, _)| clause.tokens.contains(at)).map(|(_, cue)| *cue);
            let follows_if = clauses.get(number + 1).is_some_and(|next| {
                next.link == Link::If && !is_polite(&tokens[next.tokens.clone()])
            });
            before = Some(self.clause(&scene, clause, cue, follows_if, before.as_ref(), sentence));
        }
    }

    fn clause(
        &mut self,
        scene: &Scene<'_, 't>,
        clause: &Clause,
        cue: Option<Cue>,
        follows_if: bool,
        before: Option<&Before>,
        sentence: &Sentence,
    ) -> Before {
        let tokens = &scene.tokens[clause.tokens.clone()];
        let own_times = Times::of(
            scene.phrases.iter().filter(|phrase| clause.tokens.contains(&phrase.tokens.start)),
        );
        // "Last year, I moved": the time stands before the clause.
        let times = match before {
            Some(before) if own_times.is_empty() && before.group.is_none() => before.times,
            _ => own_times,
        };
        let start = skip_openers(scene.tokens, scene.is_time, &clause.tokens);
        let mut read = self.whose(scene, clause, start, before, sentence);
        let is_own = read
            .as_ref()
            .is_some_and(|(found, _)| found.subject == Subject::Speaker && found.end > start);
        let is_if = clause.link == Link::If && !is_polite(tokens);
        let inherited = match before.map_or(Govern::None, |before| before.govern) {
            Govern::None => Govern::None,
            // What is set against the doubt is free of it, and so is what "I" say beside it.
            _ if clause.link == Link::Beside => Govern::None,
            Govern::Inside if matches!(clause.link, Link::Inside | Link::Which | Link::Who) => {
                Govern::Inside
            }
            Govern::Inside => Govern::None,
            Govern::Others if clause.link == Link::And && is_own => Govern::None,
            other => other,
        };
        let govern = match cue {
            _ if is_if => Govern::All,
            Some(Cue::Unsaid) => Govern::All,
            _ if tokens.iter().any(|token| token.has(HEDGE)) => Govern::All,
            _ if inherited != Govern::None => inherited,
            _ => reported(tokens, is_own),
        };
        let is_hedged = tokens.iter().any(|token| token.has(HEDGE));
        let is_said =
            inherited == Govern::None && cue.is_none() && !is_if && !is_hedged && !follows_if;
        let is_when = clause.link == Link::When;
        let has_infinitive =
            tokens.windows(2).any(|pair| pair[0].is("to") && verbs::can_be(pair[1].word, BASE));
        let is_yet_to_be =
            is_when && read.as_ref().is_none_or(|(_, group)| is_open(group.as_ref()));
        if !is_said || is_yet_to_be {
            self.leave(tokens);
        } else {
            let is_gone = tokens.iter().any(|token| token.is("anymore"))
                || tokens
                    .windows(2)
                    .any(|pair| pair[0].is("any") && pair[1].is_one_of(&["more", "longer"]));
            if let Some((_, Some(group))) = &mut read
                && is_gone
                && group.is_negated
            {
                (group.is_negated, group.has_ended) = (false, true);
            }
            self.naming(scene, clause, start, times);
            let is_possession = self.possession(scene, clause, start, times);
            if let Some((found, Some(group))) = read.as_ref().filter(|_| !is_possession) {
                self.claims_of(scene, clause, found, group, times);
            }
        }
        let (found, group) = match read {
            Some((found, group)) => (Some(found), group),
            None => (None, None),
        };
        if let Some(found) = &found {
            self.meet(scene, &found.subject);
        }
        Before { found, group, govern, times: own_times, has_infinitive }
    }

    /// Whom the clause is about, and its verb.
    fn whose(
        &self,
        scene: &Scene<'_, 't>,
        clause: &Clause,
        start: usize,
        before: Option<&Before>,
        sentence: &Sentence,
    ) -> Option<(Found, Option<Group>)> {
        let tokens = scene.tokens;
        let end = clause.tokens.end;
        let verb = |found: &Found| {
            let group = group(&tokens[..end], scene.is_time, found.end, found.person);
            group.filter(|group| group.end <= end)
        };
        let first = tokens.get(start).filter(|_| start < end)?;
        let is_bare_verb = verbs::can_be(first.word, THIRD | PAST | BASE)
            || first.has(AUXILIARY)
            || first.is_one_of(&["not", "never", "no"]);
        let may_have_subject = !is_bare_verb
            || first.has(NOMINATIVE)
            || first.is_capital && clause.link != Link::First;
        if may_have_subject && let Some(found) = subject(tokens, start, end) {
            let group = verb(&found);
            let is_person = !matches!(found.subject, Subject::Thing(_));
            if group.is_some() || is_person {
                return Some((found, group));
            }
        }
        let carried = before.and_then(|before| Some((before, before.found.as_ref()?)));
        if let Some((before, found)) = carried
            && matches!(clause.link, Link::And | Link::Beside | Link::Who)
        {
            let found = Found { end: start, ..found.clone() };
            let was_doing = before.group.is_some_and(|group| group.is_progressive);
            if was_doing && verbs::can_be(first.word, ING) && clause.link == Link::And {
                return Some((found, doing(tokens, start)));
            }
            let group = verb(&found).filter(|group| !(group.is_base && before.has_infinitive));
            return group.map(|group| (found, Some(group)));
        }
        if clause.link == Link::First
            || clause.link == Link::Beside && before.is_some_and(|before| before.group.is_none())
        {
            return self.note(scene, clause, start, sentence);
        }
        if let Some(found) = subject(tokens, start, end) {
            let group = verb(&found);
            return Some((found, group));
        }
        None
    }

    /// A line without a subject, as notes are: the speaker's.
    fn note(
        &self,
        scene: &Scene<'_, 't>,
        clause: &Clause,
        start: usize,
        sentence: &Sentence,
    ) -> Option<(Found, Option<Group>)> {
        let (tokens, end) = (scene.tokens, clause.tokens.end);
        let first = &tokens[start];
        let found = |person| Found { subject: Subject::Speaker, end: start, person };
        let read = |person| {
            let group = group(&tokens[..end], scene.is_time, start, person)?;
            Some((found(person), Some(group)))
        };
        let has_finite = tokens[start + 1..end].iter().any(|token| {
            token.is_one_of(&["is", "are", "was", "were", "has", "can", "will", "'s"])
        });
        if verbs::can_be(first.word, ING) {
            return (!has_finite).then(|| Some((found(Person::Plain), doing(tokens, start))))?;
        }
        let is_opinion =
            ["love", "like", "hate", "enjoy", "prefer", "dislike", "loves"].contains(&first.word);
        if is_opinion && !first.is("loves") {
            return (!has_finite).then(|| read(Person::Plain))?;
        }
        if first.is("been") {
            let mut group = group(&tokens[..end], scene.is_time, start, Person::Plain)?;
            group.is_perfect = true;
            return Some((found(Person::Plain), Some(group)));
        }
        let denies = first.is_one_of(&["do", "can"]) && tokens.get(start + 1)?.is("not");
        if denies {
            let (found, group) = read(Person::Plain)?;
            let lemma = group?.lemma;
            let is_opinion = ["like", "enjoy", "stand", "bear", "love"]
                .iter()
                .any(|verb| verbs::lemma(verb) == Some(lemma));
            return is_opinion.then_some((found, group));
        }
        let is_no_fan = first.is("not")
            && tokens[start + 1..end].iter().take(3).any(|token| token.is_one_of(&["fan", "into"]));
        if is_no_fan {
            let (lemma, end) = (verbs::lemma("be")?, start + 1);
            let group = Group { lemma, end, is_negated: true, ..Group::default() };
            return Some((found(Person::Third), Some(group)));
        }
        let is_state = first.has(STATE) && end - start <= 6
            || first.is_one_of(&[
                "allergic",
                "based",
                "interested",
                "fluent",
                "lactose",
                "proficient",
            ]);
        if is_state && sentence.begins_line && !has_finite {
            let lemma = verbs::lemma("be")?;
            return Some((
                found(Person::Third),
                Some(Group { lemma, end: start, ..Group::default() }),
            ));
        }
        let is_finite = verbs::can_be(first.word, THIRD | PAST)
            || first.is_one_of(&["is", "has", "does", "was", "used", "no", "never"]);
        let asks = tokens.get(start + 1).is_some_and(|next| next.has(NOMINATIVE) || next.is("the"))
            && first.has(AUXILIARY);
        (is_finite && !asks).then(|| read(Person::Either))?
    }
}

/// "working on": what somebody is doing, said without "am".
fn doing(tokens: &[Token<'_>], at: usize) -> Option<Group> {
    let (lemma, _) = verbs::readings(tokens[at].word).iter().find(|(_, forms)| forms & ING != 0)?;
    Some(Group { lemma: *lemma, end: at + 1, is_progressive: true, ..Group::default() })
}

/// Whether a verb leaves open when: "when I move" is not yet, "when I lived" is over.
fn is_open(group: Option<&Group>) -> bool {
    group.is_none_or(|group| !group.is_past)
}

/// What a clause with a verb of saying or thinking takes with it.
fn reported(tokens: &[Token<'_>], is_own: bool) -> Govern {
    match tokens.iter().any(|token| token.has(REPORT)) {
        true if is_own => Govern::Inside,
        true => Govern::Others,
        false => Govern::None,
    }
}

/// "if that helps", "if you're wondering": a courtesy, no condition.
fn is_polite(tokens: &[Token<'_>]) -> bool {
    let is_other =
        tokens.iter().take(3).any(|token| token.is_one_of(&["you", "that", "it", "anyone"]));
    is_other
        && tokens.iter().any(|token| {
            token.is_one_of(&[
                "helps",
                "help",
                "matters",
                "wondering",
                "curious",
                "interested",
                "asking",
                "relevant",
                "useful",
                "wonder",
                "ask",
                "care",
            ])
        })
}

/// Whether the sentence tells what will be, so that "in June" is the next.
pub(super) fn looks_ahead(tokens: &[Token<'_>]) -> bool {
    tokens.iter().any(|token| token.is_one_of(&["will", "shall"]))
        || tokens.windows(3).any(|three| {
            let is_now = three[0].is_one_of(&["am", "are", "is", "'s"]);
            let is_planned = |token: &Token<'_>| {
                token.is_one_of(&[
                    "moving",
                    "starting",
                    "joining",
                    "relocating",
                    "leaving",
                    "flying",
                    "going",
                    "retiring",
                    "switching",
                    "visiting",
                    "travelling",
                    "traveling",
                    "graduating",
                    "quitting",
                    "beginning",
                    "running",
                    "getting",
                    "competing",
                    "turning",
                ])
            };
            is_now && (is_planned(&three[1]) || three[1].has(ADVERB) && is_planned(&three[2]))
        })
        || tokens
            .windows(2)
            .any(|pair| pair[0].is("i") && pair[1].is_one_of(&["start", "begin", "join", "move"]))
}

/// The first clause that asks; all of them if the sentence asks without the form of a question.
fn first_question(scene: &Scene<'_, '_>, clauses: &[Clause], is_question: bool) -> Option<usize> {
    let asks = |clause: &Clause| {
        let start = skip_openers(scene.tokens, scene.is_time, &clause.tokens);
        let mut at = start;
        // "thanks, can you": an opener before it changes nothing.
        while at > clause.tokens.start && scene.tokens[at - 1].has(WH) {
            at -= 1;
        }
        let Some(first) = scene.tokens.get(at).filter(|_| at < clause.tokens.end) else {
            return false;
        };
        let next = scene.tokens.get(at + 1);
        let is_wh = first.has(WH) && clause.link != Link::When
            || is_question && matches!(clause.link, Link::Who | Link::Which);
        let is_turned = first.has(AUXILIARY)
            && !first.is("'s")
            && next.is_some_and(|next| {
                next.has(NOMINATIVE)
                    || is_question
                        && (next.has(DETERMINER)
                            || next.is_one_of(&["this", "that", "it", "there", "anyone", "not"]))
            });
        let is_any = is_question
            && first.is_one_of(&[
                "any",
                "anyone",
                "anybody",
                "thoughts",
                "ideas",
                "recommendations",
                "suggestions",
                "tips",
                "got",
            ]);
        is_wh || is_turned || is_any
    };
    // "I live in Hull, don't you know it": a tag makes all of it a question.
    let is_tag = match scene.tokens {
        [.., comma, verb, last] => {
            let is_short = verb.has(AUXILIARY) || verb.is("not");
            last.has(NOMINATIVE) && is_short && (comma.is(",") || comma.has(AUXILIARY))
        }
        _ => false,
    };
    if is_tag && is_question {
        return Some(0);
    }
    let found = clauses.iter().position(asks);
    match (found, is_question) {
        (Some(found), _) => Some(found),
        (None, true) => Some(0),
        (None, false) => None,
    }
}
