//! The kinds of things an object can be: tools, subjects, habits, states, goals, feats. The kinds of
//! people and places are in [`super::kinds`], which comes here for the rest.

use super::kinds::Wanted;
use super::lexicon::{
    self, ACTIVITY, AWARD, CODE_LANGUAGE, DEGREE, FAMILY_ROLE, FEAT, FIRST_NAME, ILLNESS,
    INSTRUMENT, KIN, LANGUAGE, MEDICINE, NATIONALITY, NOT_ROLE, ORG_NOUN, OWNABLE, PET, PLACE,
    SPORT, STATE, TOOL, VAGUE, WORK_PIECE, noun,
};
use super::nature::{View, is_diet, is_state, is_vice};
use super::tokens::Kind;
use super::verbs::{self, BASE};
use crate::claim::Aspect;
use crate::ontology::Label;

/// What the words are, if they are what is wanted.
pub(super) fn check(wanted: Wanted, view: &View<'_, '_>) -> Option<(Option<Label>, Aspect)> {
    let View { words, first, last, head, classes, any, is_name, is_vague, is_lower } = *view;
    let plain = |label| Some((Some(label), Aspect::Other));
    let nothing = Some((None, Aspect::Other));
    let is = |holds: bool| holds.then_some(());
    match wanted {
        Wanted::Project => {
            is(!is_vague && classes & (KIN | ILLNESS) == 0)?;
            is(!first.is_one_of(&["myself", "being", "getting"]))?;
            // "with Ana on the data team" is where, and not on what.
            is(!last.is_one_of(&["team", "squad", "crew", "department", "staff"]))?;
            plain(Label::Project)
        }
        Wanted::WorkPiece => {
            is(words.iter().any(|token| noun(token.word) & WORK_PIECE != 0))?;
            plain(Label::Project)
        }
        Wanted::Tool => {
            is(!is_vague && classes & (KIN | NOT_ROLE) == 0)?;
            is(!view.has_one_of(&["your", "word", "words", "term", "bathroom"]))?;
            plain(Label::Tool)
        }
        Wanted::KnownTool => {
            is(any & (TOOL | CODE_LANGUAGE) != 0)?;
            plain(Label::Tool)
        }
        Wanted::Medicine => {
            is(words.iter().any(|token| noun(token.word) & MEDICINE != 0))?;
            plain(Label::Product)
        }
        Wanted::Worn => {
            let worn = ["glasses", "contacts", "lenses", "aids", "braces", "prosthesis", "pump"];
            is(worn.contains(&head.word))?;
            plain(Label::Product)
        }
        Wanted::Lang => {
            is(any & LANGUAGE != 0)?;
            plain(Label::Language)
        }
        Wanted::CodeLang => {
            is(any & (CODE_LANGUAGE | TOOL) != 0)?;
            plain(Label::Skill)
        }
        Wanted::Subject => {
            is(!is_vague
                && !first.is_one_of(&["hard", "abroad", "together", "more", "the", "at", "that"]))?;
            is(!first.has(lexicon::ADVERB) && any & KIN == 0)?;
            Some((
                Some(if any & LANGUAGE != 0 { Label::Language } else { Label::LearningGoal }),
                Aspect::Other,
            ))
        }
        Wanted::Course | Wanted::Lessons => {
            let courses = [
                "course",
                "class",
                "classes",
                "lessons",
                "lesson",
                "degree",
                "phd",
                "master's",
                "masters",
                "bachelor's",
                "mba",
                "bootcamp",
                "diploma",
                "doctorate",
                "msc",
                "bsc",
                "workshop",
            ];
            is(words.iter().any(|token| courses.contains(&token.word)))?;
            plain(Label::LearningGoal)
        }
        Wanted::Topic => {
            is(!is_vague && !view.has_one_of(&["your", "you"]))?;
            plain(Label::Interest)
        }
        Wanted::Skill => {
            is(!is_vague)?;
            let label = if any & LANGUAGE != 0 { Label::Language } else { Label::Skill };
            plain(label)
        }
        Wanted::Activity => {
            is(classes & (ACTIVITY | SPORT) != 0 || any & ACTIVITY != 0)?;
            plain(Label::Hobby)
        }
        Wanted::Habit => {
            let is_gerund = first.word.ends_with("ing") && first.word.len() > 4;
            is(is_gerund
                && !first.is_one_of(&[
                    "using",
                    "working",
                    "trying",
                    "being",
                    "thinking",
                    "feeling",
                    "learning",
                    "getting",
                    "going",
                    "doing",
                    "something",
                    "looking",
                    "living",
                ])
                || is_vice(head.word))?;
            plain(Label::Habit)
        }
        Wanted::Going => {
            is(first.word.ends_with("ing")
                && (any & ACTIVITY != 0 || first.is_one_of(&["dancing", "camping", "sailing"])))?;
            plain(Label::Hobby)
        }
        Wanted::Game => {
            is(classes & (INSTRUMENT | SPORT) != 0 || any & (INSTRUMENT | SPORT) != 0)?;
            plain(Label::Hobby)
        }
        Wanted::Illness => {
            is(words.iter().any(|token| noun(token.word) & ILLNESS != 0))?;
            is(!view.has_one_of(&["question", "about"]))?;
            plain(Label::Attribute)
        }
        Wanted::Allergen => {
            is(!is_vague || head.word == "work")?;
            is(!last.is_one_of(&[
                "bullshit",
                "nonsense",
                "mondays",
                "drama",
                "work",
                "mornings",
                "exercise",
                "meetings",
                "effort",
                "commitment",
                "responsibility",
                "stupidity",
                "homework",
            ]))?;
            plain(Label::Attribute)
        }
        Wanted::State => {
            is(is_state(words))?;
            let aspect = match first.word {
                "married" | "divorced" | "engaged" | "single" | "widowed" | "separated" => {
                    Aspect::Relationship
                }
                _ if is_diet(head.word) || is_diet(first.word) => Aspect::Diet,
                "retired" | "unemployed" | "self-employed" => Aspect::Role,
                _ => Aspect::Other,
            };
            Some((Some(Label::Attribute), aspect))
        }
        Wanted::Diet => {
            is(is_diet(head.word)
                || words.iter().all(|token| token.has(STATE)) && is_diet(first.word))?;
            Some((Some(Label::Attribute), Aspect::Diet))
        }
        Wanted::Identity => {
            is(words.len() == 1 && first.has(NATIONALITY) && (first.is_capital || is_lower)
                || classes & FAMILY_ROLE != 0 && words.len() <= 3
                || words.iter().any(|token| token.is("of"))
                    && noun(first.word) & FAMILY_ROLE != 0
                || words.len() == 2
                    && matches!(
                        (first.word, last.word),
                        ("morning" | "night" | "dog" | "cat" | "people", "person")
                            | ("night", "owl")
                            | ("early", "bird")
                            | ("only", "child")
                    ))?;
            Some((
                Some(Label::Identity),
                if is_diet(head.word) { Aspect::Diet } else { Aspect::Other },
            ))
        }
        Wanted::Age => {
            let years = first.word.parse::<u8>().ok().filter(|years| (5..=110).contains(years));
            let is_hyphened = first.word.ends_with("-year-old");
            is(years.is_some() || is_hyphened)?;
            is(words.len() == 1 || words[1].is_one_of(&["years", "year", "yrs", "yo", "y/o"]))?;
            Some((Some(Label::Attribute), Aspect::Age))
        }
        Wanted::Own => {
            let classes = words.iter().fold(0, |all, token| all | noun(token.word));
            is(noun(head.word) & (PET | OWNABLE) != 0 || is_name && classes & (PET | OWNABLE) != 0)?;
            is(!last.is_one_of(&[
                "appointment",
                "question",
                "problem",
                "trouble",
                "meeting",
                "payment",
                "crash",
            ]))?;
            plain(if classes & PET != 0 && classes & OWNABLE == 0 {
                Label::Pet
            } else {
                Label::Product
            })
        }
        Wanted::Goal => {
            is(!is_vague || words.len() > 2)?;
            is(!view.has_one_of(&["you", "your", "it"]))?;
            plain(Label::Goal)
        }
        Wanted::VerbGoal => {
            is(verbs::can_be(first.word, BASE) || first.kind == Kind::Word && !first.has(VAGUE))?;
            let is_errand = [
                "figure",
                "understand",
                "find",
                "get",
                "fix",
                "debug",
                "see",
                "decide",
                "install",
                "make",
                "solve",
                "use",
                "set",
                "remember",
                "say",
                "think",
                "explain",
                "ask",
                "be",
                "help",
                "know",
                "do",
                "have",
                "compile",
                "connect",
                "open",
                "print",
                "create",
                "add",
                "convert",
                "parse",
            ];
            is(!is_errand.contains(&first.word)
                || words.len() > 2
                    && first.is_one_of(&["get", "make", "find", "do"])
                    && words.iter().any(|token| {
                        noun(token.word) & (FEAT | DEGREE | ORG_NOUN | OWNABLE) != 0
                            || token.is_one_of(&["fit", "healthier", "job", "shape"])
                    }))?;
            is(!view.has_one_of(&["you", "your", "it", "this", "that"]))?;
            plain(Label::Goal)
        }
        Wanted::PlannedGoal => {
            let plans = [
                "trip",
                "wedding",
                "move",
                "vacation",
                "holiday",
                "hike",
                "party",
                "tour",
                "expedition",
            ];
            is(words.iter().any(|token| plans.contains(&token.word)))?;
            plain(Label::Goal)
        }
        Wanted::Feat => {
            is(words.iter().any(|token| noun(token.word) & FEAT != 0))?;
            is(!view.has_one_of(&["chapter", "page", "reading"]))?;
            plain(Label::Milestone)
        }
        Wanted::Won => {
            is(words.iter().any(|token| noun(token.word) & (FEAT | AWARD) != 0) || is_name)?;
            is(!view.has_one_of(&["lottery", "argument", "heart", "bet"]))?;
            plain(Label::Milestone)
        }
        Wanted::Degree => {
            is(words.iter().any(|token| noun(token.word) & DEGREE != 0))?;
            plain(Label::Milestone)
        }
        Wanted::Award => {
            is(noun(head.word) & AWARD != 0
                && !last.is_one_of(&["game", "match", "place", "title"]))?;
            plain(Label::Milestone)
        }
        Wanted::Published => {
            is(words.iter().any(|token| noun(token.word) & (WORK_PIECE | FEAT) != 0))?;
            plain(Label::Milestone)
        }
        Wanted::Cause | Wanted::Belief => {
            is(!is_vague
                && !words.iter().any(|token| {
                    token.is_one_of(&["you", "your", "decision", "answer", "myself"])
                }))?;
            is(any & (KIN | FIRST_NAME) == 0 || wanted == Wanted::Cause)?;
            plain(if wanted == Wanted::Belief { Label::Belief } else { Label::Cause })
        }
        Wanted::Effect => {
            is(any & PLACE == 0)?;
            is(!is_vague
                && !last.is_one_of(&[
                    "chance", "break", "hope", "advice", "example", "ride", "call", "smile",
                    "laugh",
                ]))?;
            nothing
        }
        Wanted::Means => plain(Label::CopingStrategy),
        _ => None,
    }
}
