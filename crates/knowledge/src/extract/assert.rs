//! Makes claims of a clause that is said as a fact: compares it with the frames of its verb, cuts
//! the objects, and puts in names and times.

use super::clauses::Clause;
use super::frames::{self, Course, Element, Frame, Who};
use super::group::Group;
use super::kinds::Wanted;
use super::lexicon::{
    ADVERB, COLLEAGUE, CONJUNCTION, HOUSING, ILLNESS, KIN, LANGUAGE, PET, PLACE, PREPOSITION,
    TRAILING, noun,
};
use super::names::{Naming, naming};
use super::objects::{self, Objects};
use super::possess::{self, Object};
use super::read::{Reader, Scene};
use super::subject::{Found, Subject};
use super::timing::{Judge, Outcome, Times};
use super::tokens::{Kind, Token};
use crate::claim::{Aspect, Claim, Mention, Trust};
use crate::ontology::{Label, Relation};
use std::ops::Range;

/// How sure a frame makes; everything below takes a share of it.
const PRIOR: f32 = 0.9;
/// The most claims of one text.
const CLAIMS_MAX: usize = 512;

/// An object: what it is called, which aspect it is of, and whether it has a name of its own.
type Named = (Mention, Aspect, bool);

impl<'t> Reader<'t> {
    /// Remembers a person who was named.
    pub(super) fn meet(&mut self, scene: &Scene<'_, 't>, subject: &Subject) {
        let name = match subject {
            Subject::Named(range) => self.slice(scene, range.clone()),
            Subject::Kin(range) => self.kin_name(scene, range.clone()),
            _ => return,
        };
        if !self.people.contains(&name) && self.people.len() < 8 {
            self.people.push(name);
        }
    }

    /// The claims of a clause with this subject and verb.
    pub(super) fn claims_of(
        &mut self,
        scene: &Scene<'_, 't>,
        clause: &Clause,
        found: &Found,
        group: &Group,
        times: Times,
    ) {
        let Some((subject, sureness)) = self.mention(scene, &found.subject) else { return };
        let is_thing = matches!(found.subject, Subject::Thing(_));
        for frame in frames::of(group.lemma) {
            let fits = match frame.who {
                Who::Person => !is_thing,
                Who::Thing => is_thing,
                Who::Either => true,
            };
            if !fits {
                continue;
            }
            let Some(start) = match_words(scene, group.end, clause.tokens.end, &frame.elements)
            else {
                continue;
            };
            let context = Context { scene, clause, group, times, subject: &subject, sureness };
            if self.frame(&context, frame, start) {
                return;
            }
        }
    }

    /// Makes the claims of one frame; whether there were any.
    fn frame(&mut self, context: &Context<'_, '_, 't>, frame: &Frame, start: usize) -> bool {
        let Context { scene, clause, .. } = *context;
        let end = clause.tokens.end;
        let simple = |name: String, label| (Mention { name, label }, Aspect::Other, false);
        let (objects, stop) = if frame.is_turned {
            (vec![simple(context.subject.name.clone(), context.subject.label)], start)
        } else if frame.wanted == Wanted::SelfOnly {
            (vec![simple(self.speaker.to_owned(), Some(Label::Person))], start)
        } else if let Some(constant) = &frame.constant {
            let is_bare = scene.tokens.get(start).filter(|_| start < end).is_none_or(|next| {
                scene.is_time[start]
                    || next.kind == Kind::Mark
                    || next.has(TRAILING | CONJUNCTION)
                    // "I never cook with gas": what is denied is less than all of it.
                    || next.has(PREPOSITION) && !context.group.is_negated
                    || next.is("a")
                        && scene.tokens.get(start + 1).is_some_and(|next| next.is("lot"))
            });
            if !is_bare {
                return false;
            }
            (vec![simple(constant.clone(), Some(Label::Habit))], start)
        } else {
            match self.objects(scene, start, end, frame.wanted) {
                Some((objects, stop)) => (objects, stop),
                None => return false,
            }
        };
        let mut any = false;
        for (mut object, aspect, is_name) in objects {
            if !frame.prefix.is_empty() {
                object.name = format!("{} {}", frame.prefix.replace('_', " "), object.name);
            }
            let judge = self.judge(context, is_name);
            let Some(outcome) = judge.outcome(frame.relation, frame.course) else { continue };
            let subject = match frame.is_turned {
                true => self.speaker_mention(),
                false => context.subject.clone(),
            };
            self.push(context, subject, object, aspect, outcome, &frame.rule);
            any = true;
        }
        if any || frame.course == Course::End || frame.course == Course::Begin {
            self.tails(context, frame, stop);
        }
        any
    }

    fn tails(&mut self, context: &Context<'_, '_, 't>, frame: &Frame, stop: usize) {
        let Context { scene, clause, .. } = *context;
        let end = clause.tokens.end;
        let mut at = stop;
        for _ in 0..frame.tails.len() {
            while at < end
                && (scene.is_time[at] || scene.tokens[at].is_one_of(&[",", "there", "here"]))
            {
                at += 1;
            }
            // "at a hospital in Madrid as a nurse": where it is says nothing here.
            if at + 2 < end && scene.tokens[at].is("in") && scene.tokens[at + 1].has(PLACE) {
                at += 2;
            }
            let Some(word) = scene.tokens.get(at).filter(|_| at < end) else { return };
            let tail = frame.tails.iter().find(|tail| tail.prepositions.contains(&word.word));
            let Some(tail) = tail else { return };
            // "living in": what the word stands with belongs to it.
            let is_verb = word.is_one_of(&["living", "working", "based"]);
            let begin = match scene.tokens.get(at + 1) {
                Some(next) if is_verb && next.is_one_of(&["in", "at", "for", "near"]) => at + 2,
                _ => at + 1,
            };
            let Some((objects, stop)) = self.objects(scene, begin, end, tail.wanted) else {
                return;
            };
            at = stop;
            for (object, aspect, is_name) in objects {
                let judge = self.judge(context, is_name);
                let Some(outcome) = judge.outcome(tail.relation, tail.course) else { continue };
                let subject = context.subject.clone();
                self.push(context, subject, object, aspect, outcome, &frame.rule);
            }
        }
    }

    fn judge<'a>(&self, context: &Context<'a, '_, 't>, is_name: bool) -> Judge<'a> {
        Judge {
            group: context.group,
            times: context.times,
            at: self.at,
            today: self.today,
            is_name,
        }
    }

    /// The objects at `start` that are what is wanted, and where they end.
    fn objects(
        &self,
        scene: &Scene<'_, 't>,
        start: usize,
        end: usize,
        wanted: Wanted,
    ) -> Option<(Vec<Named>, usize)> {
        let Objects { pieces, end: stop } =
            objects::cut(scene.tokens, scene.is_time, start, end, wanted)?;
        let mut found = Vec::new();
        for (number, piece) in pieces.into_iter().enumerate() {
            let words = &scene.tokens[piece.clone()];
            let Some((label, aspect)) = wanted.check(words, self.is_lower) else {
                if number == 0 {
                    return None;
                }
                continue;
            };
            let Some(narrow) = narrowed(scene.tokens, piece.clone(), wanted) else {
                if number == 0 {
                    return None;
                }
                continue;
            };
            // "a flat in Porto" is Porto.
            let is_housing = wanted == Wanted::Place
                && noun(words[words.len() - 1].word) & HOUSING != 0
                && stop < end
                && scene.tokens[stop].is_one_of(&["in", "near", "outside", "of"]);
            if is_housing && let Some(town) = self.objects(scene, stop + 1, end, Wanted::NewPlace) {
                return Some(town);
            }
            let is_name = words.iter().any(|token| token.is_capital || token.kind == Kind::Quoted);
            let name = self.object_name(scene, narrow);
            if !name.is_empty() {
                found.push((Mention { name, label }, aspect, is_name));
            }
        }
        (!found.is_empty()).then_some((found, stop))
    }

    /// "my favourite band is Wilco" and the like; whether the clause is one.
    pub(super) fn possession(
        &mut self,
        scene: &Scene<'_, 't>,
        clause: &Clause,
        start: usize,
        times: Times,
    ) -> bool {
        let end = clause.tokens.end;
        let Some(said) = possess::possession(scene.tokens, start, end) else { return false };
        let wanted = match said.object {
            Object::Thing => Wanted::Taste,
            Object::Verb => Wanted::Goal,
            Object::Name => Wanted::KnownPerson,
            Object::Role => Wanted::Role,
            Object::Pet => Wanted::Thing,
            Object::Org => Wanted::Org,
            Object::Language => Wanted::Lang,
        };
        let Some((objects, _)) = self.objects(scene, said.end, end, wanted) else { return true };
        let subject = self.speaker_mention();
        let group =
            Group { is_past: said.is_past, is_negated: said.is_negated, ..Group::default() };
        let context =
            Context { scene, clause, group: &group, times, subject: &subject, sureness: 1.0 };
        for (mut object, aspect, is_name) in objects {
            if said.object == Object::Pet {
                object.label = Some(Label::Pet);
            }
            let course =
                if said.relation == Relation::CurrentlyIs { Course::Role } else { Course::State };
            let judge = self.judge(&context, is_name);
            if let Some(outcome) = judge.outcome(said.relation, course) {
                self.push(&context, subject.clone(), object, aspect, outcome, "rules:my");
            }
        }
        true
    }

    /// "My name is Ana" and the like: what the speaker is called.
    pub(super) fn naming(
        &mut self,
        scene: &Scene<'_, 't>,
        clause: &Clause,
        start: usize,
        times: Times,
    ) {
        let end = clause.tokens.end;
        let Some(Naming { name, is_beside }) = naming(scene.tokens, scene.is_time, start, end)
        else {
            return;
        };
        let subject = self.speaker_mention();
        let group = Group { is_additional: is_beside, ..Group::default() };
        let context =
            Context { scene, clause, group: &group, times, subject: &subject, sureness: 1.0 };
        let object = Mention { name: self.slice(scene, name), label: Some(Label::Person) };
        let judge = self.judge(&context, true);
        if let Some(outcome) = judge.outcome(Relation::CurrentlyIs, Course::State) {
            self.push(&context, subject.clone(), object, Aspect::Name, outcome, "rules:name");
        }
    }

    fn push(
        &mut self,
        context: &Context<'_, '_, 't>,
        subject: Mention,
        object: Mention,
        aspect: Aspect,
        outcome: Outcome,
        rule: &str,
    ) {
        let Context { scene, clause, group, sureness, .. } = *context;
        let Outcome { relation, is_negated, valid_at, invalid_at } = outcome;
        let is_known = self.claims.iter().rev().take(16).any(|claim| {
            claim.relation == relation
                && claim.subject.name == subject.name
                && claim.object.name == object.name
                && claim.is_negated == is_negated
        });
        let is_circular = subject.name == object.name;
        if is_known || is_circular || self.claims.len() >= CLAIMS_MAX {
            return;
        }
        let words = object.name.split(' ').count();
        let length = if words > 4 { 0.9 } else { 1.0 };
        let tokens = &scene.tokens[clause.tokens.clone()];
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return };
        let is_beside =
            tokens.iter().any(|token| token.is_one_of(&["part-time", "parttime", "side"]));
        self.claims.push(Claim {
            subject,
            relation,
            object,
            is_negated,
            valid_at,
            invalid_at,
            aspect: if matches!(relation, Relation::CurrentlyIs | Relation::WasPreviously) {
                aspect
            } else {
                Aspect::Other
            },
            is_additional: group.is_additional || is_beside,
            span: first.start..last.end,
            confidence: PRIOR * sureness * length,
            reader: rule.to_owned(),
            trust: Trust::Rules,
        });
    }

    fn speaker_mention(&self) -> Mention {
        Mention { name: self.speaker.to_owned(), label: Some(Label::Person) }
    }

    /// A subject by name, and how sure it is that it is meant.
    fn mention(&self, scene: &Scene<'_, 't>, subject: &Subject) -> Option<(Mention, f32)> {
        let person = |name| Mention { name, label: Some(Label::Person) };
        Some(match subject {
            Subject::Speaker => (self.speaker_mention(), 1.0),
            Subject::Named(range) => (person(self.slice(scene, range.clone())), 1.0),
            Subject::Kin(range) => (person(self.kin_name(scene, range.clone())), 1.0),
            Subject::Pronoun => match self.people.as_slice() {
                [only] => (person(only.clone()), 0.8),
                _ => return None,
            },
            Subject::Thing(range) => {
                let name = self.slice(scene, range.clone());
                (Mention { name, label: None }, 0.95)
            }
        })
    }

    fn kin_name(&self, scene: &Scene<'_, 't>, range: Range<usize>) -> String {
        format!("{}'s {}", self.speaker, self.slice(scene, range))
    }

    /// What an object is called: a relative by whose it is, a quotation without its marks.
    fn object_name(&self, scene: &Scene<'_, 't>, range: Range<usize>) -> String {
        let tokens = &scene.tokens[range.clone()];
        let is_mine = range.start > 0 && scene.tokens[range.start - 1].is_one_of(&["my", "our"]);
        let is_kin = |token: &Token<'_>| noun(token.word) & (KIN | COLLEAGUE) != 0;
        if is_mine && tokens.last().is_some_and(is_kin) {
            return self.kin_name(scene, range);
        }
        self.slice(scene, range)
    }

    fn slice(&self, scene: &Scene<'_, 't>, range: Range<usize>) -> String {
        let tokens = &scene.tokens[range];
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return String::new();
        };
        let text = self.text.get(first.start..last.end).unwrap_or("");
        let text = match tokens.iter().any(|token| token.kind == Kind::Quoted) {
            true => text.trim_matches(['"', '\'', '“', '”', '‘', '’', '`', '«', '»', '„']),
            false => text,
        };
        let mut name = String::with_capacity(text.len());
        for word in text.split_whitespace() {
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(word);
        }
        name
    }
}

/// What the claims of one clause have in common.
struct Context<'a, 's, 't> {
    scene: &'a Scene<'s, 't>,
    clause: &'a Clause,
    group: &'a Group,
    times: Times,
    subject: &'a Mention,
    sureness: f32,
}

impl Clone for Context<'_, '_, '_> {
    fn clone(&self) -> Self {
        *self
    }
}

impl Copy for Context<'_, '_, '_> {}

/// Compares the words after a verb with a frame and returns where its object begins.
fn match_words(
    scene: &Scene<'_, '_>,
    start: usize,
    end: usize,
    elements: &[Element],
) -> Option<usize> {
    let tokens = scene.tokens;
    let is_at =
        |at: usize, words: &[&str]| at < end && !scene.is_time[at] && tokens[at].is_one_of(words);
    let after_adverbs = |mut at: usize, words: &[&str]| {
        while at < end && !is_at(at, words) && (tokens[at].has(ADVERB) || scene.is_time[at]) {
            at += 1;
        }
        is_at(at, words).then_some(at + 1)
    };
    let mut at = start;
    let mut skips: Option<bool> = None;
    for element in elements {
        match element {
            Element::Any => skips = Some(false),
            Element::Burden => skips = Some(true),
            Element::Literal(words) => {
                at = match skips.take() {
                    None => after_adverbs(at, words)?,
                    Some(is_burden) => {
                        let found = (at + 1..end.min(at + 6)).find(|place| is_at(*place, words))?;
                        let skipped = &tokens[at..found];
                        let weighs = |token: &Token<'_>| {
                            noun(token.word) & ILLNESS != 0
                                || token.is_one_of(&[
                                    "stress",
                                    "nerves",
                                    "anger",
                                    "burnout",
                                    "grief",
                                    "pressure",
                                    "deadlines",
                                    "overwhelm",
                                    "worry",
                                    "panic",
                                    "pain",
                                ])
                        };
                        if is_burden && !skipped.iter().any(weighs) {
                            return None;
                        }
                        found + 1
                    }
                };
            }
            Element::Optional(words) => at = after_adverbs(at, words).unwrap_or(at),
        }
    }
    Some(at)
}

/// The part of an object that is its name: "dog named Rex" is Rex, "sister Ana" is Ana.
fn narrowed(tokens: &[Token<'_>], piece: Range<usize>, wanted: Wanted) -> Option<Range<usize>> {
    if wanted == Wanted::Lang {
        // "a little Portuguese" is Portuguese.
        let language = piece.clone().find(|at| tokens[*at].has(LANGUAGE))?;
        return Some(language..piece.end);
    }
    let is_people = matches!(wanted, Wanted::Person | Wanted::KnownPerson | Wanted::Coworker);
    if !matches!(wanted, Wanted::NamedPet | Wanted::NamedKin) && !is_people {
        return Some(piece);
    }
    let called = piece.clone().find(|at| tokens[*at].is_one_of(&["named", "called"]));
    if let Some(called) = called {
        return (called + 1 < piece.end).then_some(called + 1..piece.end);
    }
    let is_title = |token: &Token<'_>| noun(token.word) & (PET | KIN | COLLEAGUE) != 0;
    let start = piece.clone().rposition_of(|at| !tokens[at].is_capital || is_title(&tokens[at]));
    match start {
        Some(last) if last + 1 < piece.end => Some(last + 1..piece.end),
        None => Some(piece),
        Some(_) => is_people.then_some(piece),
    }
}

/// The last place for which something holds.
trait LastPlace {
    fn rposition_of(self, holds: impl Fn(usize) -> bool) -> Option<usize>;
}

impl LastPlace for Range<usize> {
    fn rposition_of(mut self, holds: impl Fn(usize) -> bool) -> Option<usize> {
        self.rfind(|at| holds(*at))
    }
}
