//! What a model says that a text claims, held to the text. A model is not believed: every fact must
//! quote the words that say so, be about the speaker or about a name that occurs, name a thing that
//! stands in the quotation, give times only in words of the text, and pass the guards of the rules.
//! What does not verify is dropped, and why is told.
//!
//! Pure: the same text and the same words of a model give the same claims, whenever they are held to
//! each other. So what is kept of a reading is what the model said, and it is verified at each use.

use crate::claim::{Aspect, Claim, Mention, Trust, Utterance};
use crate::extract::{Bound, Guards, day_in, is_function_word};
use crate::graph::key;
use crate::ontology::{Label, Relation};
use std::collections::HashSet;
use std::ops::Range;

/// The subject that is whoever speaks.
pub const SPEAKER: &str = "speaker";
/// The most facts of one text.
pub const FACTS_MAX: usize = 32;
/// The longest quotation, in bytes.
pub const QUOTE_BYTES_MAX: usize = 600;
/// The longest name of a subject or an object, in bytes.
pub const NAME_BYTES_MAX: usize = 160;
/// The most words of a subject's name.
const NAME_WORDS_MAX: usize = 6;
/// How sure a model is taken to be.
const CONFIDENCE: f32 = 0.5;

/// One fact, as a model tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Told {
    /// [`SPEAKER`], or a name from the text.
    pub subject: String,
    /// The name of a relation.
    pub relation: String,
    /// What stands in the quotation.
    pub object: String,
    /// The name of the sort of thing the object is.
    pub kind: Option<String>,
    /// The words of the text that say so.
    pub quote: String,
    /// Whether it is said not to be so.
    pub is_negated: bool,
    /// Whether it is said to be over.
    pub is_over: bool,
    /// The words of the text that say from when on.
    pub since: Option<String>,
    /// The words of the text that say until when.
    pub until: Option<String>,
}

/// Why a fact was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unfit {
    /// It has no shape that can be read, or there were too many or too long ones.
    Shape,
    /// The text does not have the words it quotes.
    Quote,
    /// There is no such relation or sort of thing.
    Relation,
    /// It is about somebody who does not occur.
    Subject,
    /// It is about a thing that the quotation does not name.
    Object,
    /// It gives a time that the text does not.
    Time,
    /// Rules leave those words alone.
    Guard,
    /// It was told already.
    Repeat,
}

impl Unfit {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Shape,
        Self::Quote,
        Self::Relation,
        Self::Subject,
        Self::Object,
        Self::Time,
        Self::Guard,
        Self::Repeat,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::Quote => "quote",
            Self::Relation => "relation",
            Self::Subject => "subject",
            Self::Object => "object",
            Self::Time => "time",
            Self::Guard => "guard",
            Self::Repeat => "repeat",
        }
    }
}

/// What became of what a model said.
#[derive(Debug, Default)]
pub struct Admitted {
    /// The claims that the text bears out.
    pub claims: Vec<Claim>,
    /// What was told of them, in the same order.
    pub told: Vec<Told>,
    /// Why others were dropped.
    pub unfit: Vec<Unfit>,
}

/// Holds what a model said to the text it was said of.
pub fn admit(utterance: Utterance<'_>, told: Vec<Told>, reader: &str) -> Admitted {
    let mut admitted = Admitted::default();
    if told.is_empty() {
        return admitted;
    }
    let guards = Guards::of(utterance);
    let mut known = HashSet::new();
    for one in told {
        let claim = match admitted.claims.len() {
            FACTS_MAX.. => Err(Unfit::Shape),
            _ => one.claim(utterance, &guards, reader),
        };
        let claim = claim.and_then(|claim| {
            let names = (key(&claim.subject.name), key(&claim.object.name));
            let is_new = known.insert((names, claim.relation, claim.is_negated));
            if is_new { Ok(claim) } else { Err(Unfit::Repeat) }
        });
        match claim {
            Ok(claim) => {
                admitted.claims.push(claim);
                admitted.told.push(one);
            }
            Err(unfit) => admitted.unfit.push(unfit),
        }
    }
    admitted
}

impl Told {
    fn claim(
        &self,
        utterance: Utterance<'_>,
        guards: &Guards,
        reader: &str,
    ) -> Result<Claim, Unfit> {
        let text = utterance.text;
        if self.quote.trim().is_empty() || self.quote.len() > QUOTE_BYTES_MAX {
            return Err(Unfit::Quote);
        }
        let start = text.find(&self.quote).ok_or(Unfit::Quote)?;
        let span = start..start + self.quote.len();
        let relation = Relation::by_name(&self.relation).ok_or(Unfit::Relation)?;
        let label = match &self.kind {
            Some(kind) => Some(Label::by_name(kind).ok_or(Unfit::Relation)?),
            None => None,
        };
        let subject = self.subject_in(utterance).ok_or(Unfit::Subject)?;
        let object = self.object_in(&subject.name).ok_or(Unfit::Object)?;
        let (valid_at, invalid_at) = self.times_in(utterance, &span)?;
        if guards.forbid(&span) {
            return Err(Unfit::Guard);
        }
        Ok(Claim {
            subject,
            relation,
            object: Mention { name: object.to_owned(), label },
            is_negated: self.is_negated,
            valid_at,
            invalid_at,
            // What only one value can hold of closes what was there before; a model is not trusted
            // to tell which aspect that is.
            aspect: Aspect::Other,
            is_additional: false,
            span,
            confidence: CONFIDENCE,
            reader: reader.to_owned(),
            trust: Trust::Model,
        })
    }

    /// The speaker, or a name that occurs in the text.
    fn subject_in(&self, utterance: Utterance<'_>) -> Option<Mention> {
        let name = self.subject.as_str();
        let person = Some(Label::Person);
        if name == SPEAKER || name.eq_ignore_ascii_case(utterance.speaker.trim()) {
            let name = match utterance.speaker.trim() {
                "" => "User",
                speaker => speaker,
            };
            return Some(Mention { name: name.to_owned(), label: person });
        }
        let words = name.split_whitespace().count();
        if name.len() > NAME_BYTES_MAX || !(1..=NAME_WORDS_MAX).contains(&words) {
            return None;
        }
        // In a text without capitals names have none.
        let is_lower = !utterance.text.contains(char::is_uppercase);
        let is_name = name
            .chars()
            .next()
            .is_some_and(|first| first.is_alphabetic() && (!first.is_lowercase() || is_lower));
        let says_nothing = name.split_whitespace().next().is_none_or(is_function_word);
        let occurs = occurs(utterance.text, name);
        (is_name && !says_nothing && occurs).then(|| Mention { name: name.to_owned(), label: None })
    }

    /// The object, where the quotation names it.
    fn object_in(&self, subject: &str) -> Option<&str> {
        let name = self.object.as_str();
        let is_fit = !name.trim().is_empty() && name.len() <= NAME_BYTES_MAX;
        let says_nothing = name.split_whitespace().all(is_function_word);
        let is_other = key(name) != key(subject) && !key(name).is_empty();
        (is_fit && !says_nothing && is_other && occurs(&self.quote, name)).then_some(name)
    }

    /// From when to when, in words of the text that our own calendar understands.
    fn times_in(
        &self,
        utterance: Utterance<'_>,
        span: &Range<usize>,
    ) -> Result<(Option<loci_model::Timestamp>, Option<loci_model::Timestamp>), Unfit> {
        let quote = &utterance.text[span.clone()];
        let day = |phrase: &Option<String>, bound| match phrase {
            None => Ok(None),
            Some(phrase) if occurs(utterance.text, phrase) => {
                let day = day_in(phrase, quote, utterance.at, bound);
                day.map(Some).ok_or(Unfit::Time)
            }
            Some(_) => Err(Unfit::Time),
        };
        let since = day(&self.since, Bound::Begin)?;
        let until = day(&self.until, Bound::End)?;
        if since.zip(until).is_some_and(|(since, until)| since > until) {
            return Err(Unfit::Time);
        }
        let until = if self.is_over { until.or(Some(utterance.at)) } else { until };
        Ok((since, until))
    }
}

/// Whether a text has these words, and not only as parts of others.
fn occurs(text: &str, words: &str) -> bool {
    if words.trim().is_empty() {
        return false;
    }
    let is_part = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        !is_part(before) && !is_part(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::Timestamp;

    const TEXT: &str = "We talked for long. Lena has been running the choir since March 2020. \
                        I sold the boat in 2019. Maybe Lena owns a horse.";

    fn said(text: &str) -> Utterance<'_> {
        Utterance { speaker: "Ada", at: Timestamp::from_micros(1_700_000_000_000_000), text }
    }

    fn choir() -> Told {
        Told {
            subject: "Lena".into(),
            relation: "Manages".into(),
            object: "the choir".into(),
            kind: Some("Group".into()),
            quote: "Lena has been running the choir since March 2020".into(),
            since: Some("since March 2020".into()),
            ..Told::default()
        }
    }

    fn boat() -> Told {
        Told {
            subject: SPEAKER.into(),
            relation: "Owns".into(),
            object: "boat".into(),
            quote: "I sold the boat in 2019".into(),
            is_over: true,
            until: Some("in 2019".into()),
            ..Told::default()
        }
    }

    fn why(told: Told) -> Unfit {
        let shown = format!("{told:?}");
        let admitted = admit(said(TEXT), vec![told], "test:model");
        assert!(admitted.claims.is_empty() && admitted.told.is_empty(), "{shown}");
        admitted.unfit[0]
    }

    #[test]
    fn what_the_text_bears_out_is_a_claim() {
        let admitted = admit(said(TEXT), vec![choir(), boat()], "test:model");
        assert!(admitted.unfit.is_empty(), "{:?}", admitted.unfit);
        let [choir, boat] = admitted.claims.as_slice() else { panic!("{admitted:?}") };
        assert_eq!((choir.subject.name.as_str(), choir.relation), ("Lena", Relation::Manages));
        assert_eq!(choir.object.label, Some(Label::Group));
        assert_eq!(choir.valid_at.map(|at| at.to_string()[..10].to_owned()).unwrap(), "2020-03-01");
        assert_eq!(&TEXT[choir.span.clone()], admitted.told[0].quote);
        assert_eq!((choir.trust, choir.reader.as_str()), (Trust::Model, "test:model"));
        assert_eq!(boat.subject.name, "Ada");
        assert_eq!(
            boat.invalid_at.map(|at| at.to_string()[..10].to_owned()).unwrap(),
            "2020-01-01"
        );
    }

    #[test]
    fn what_the_text_does_not_bear_out_is_dropped() {
        assert_eq!(why(Told { quote: "Lena runs the choir".into(), ..choir() }), Unfit::Quote);
        assert_eq!(why(Told { quote: " ".into(), ..choir() }), Unfit::Quote);
        assert_eq!(why(Told { relation: "Adores".into(), ..choir() }), Unfit::Relation);
        assert_eq!(why(Told { kind: Some("Choir".into()), ..choir() }), Unfit::Relation);
        for subject in ["Bob", "Le", "We", "I", "", "the choir", "long", "Lena\nBob"] {
            assert_eq!(
                why(Told { subject: subject.into(), ..choir() }),
                Unfit::Subject,
                "{subject}"
            );
        }
        for object in ["a band", "cho", "Lena", "", "the", "boat"] {
            assert_eq!(why(Told { object: object.into(), ..choir() }), Unfit::Object, "{object}");
        }
        for since in ["since 2018", "2020-03-01", "long", "", "in 2019 "] {
            let told = Told { since: Some(since.into()), ..choir() };
            assert_eq!(why(told), Unfit::Time, "{since}");
        }
        let horse = Told {
            relation: "Owns".into(),
            object: "horse".into(),
            quote: "Lena owns a horse".into(),
            since: None,
            kind: None,
            ..choir()
        };
        assert_eq!(why(horse), Unfit::Guard, "it is hedged");
    }

    #[test]
    fn a_fact_is_told_once_and_there_are_not_too_many() {
        let admitted = admit(said(TEXT), vec![choir(), choir()], "m");
        assert_eq!((admitted.claims.len(), admitted.unfit), (1, vec![Unfit::Repeat]));
        let words: Vec<String> = (0..40).map(|n| format!("Thing{n}")).collect();
        let text = format!("I own {}.", words.join(" "));
        let told = |object: &String| Told {
            subject: SPEAKER.into(),
            relation: "Owns".into(),
            object: object.clone(),
            quote: text[..text.len() - 1].to_owned(),
            ..Told::default()
        };
        let admitted = admit(said(&text), words.iter().map(told).collect(), "m");
        assert_eq!((admitted.claims.len(), admitted.unfit.len()), (FACTS_MAX, 8));
    }
}
