//! What an object must be for a frame to count. "I run a team" and "I run a marathon" differ in
//! nothing but that, so most of the precision is decided here. A kind looks at the words of the
//! object alone and says what sort of thing it is, or that it is none of its own.

use super::lexicon::{
    CODE_LANGUAGE, COLLEAGUE, COMPANY, FIRST_NAME, GROUP_NOUN, HOUSING, KIN, LANGUAGE, NO_PLACE,
    NOT_ROLE, ORG_NOUN, PET, PLACE, ROLE, STORE, TEAM_NOUN, TOOL, WORK_PIECE, noun,
};
use super::nature::{View, is_no_org, is_region, is_role, taste_label};
use super::things;
use super::tokens::Token;
use super::verbs::{self, ING};
use crate::claim::Aspect;
use crate::ontology::Label;

/// Which prepositions an object keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// "of" only.
    Short,
    /// These.
    Noun(&'static [&'static str]),
    /// All: it is a verb with whatever belongs to it.
    Phrase,
}

/// Names the kinds of the table.
macro_rules! wanted {
    ($($name:ident = $word:literal)+) => {
        /// What an object must be.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Wanted { $($name),+ }

        impl Wanted {
            pub(super) fn by_name(name: &str) -> Option<Self> {
                match name { $($word => Some(Self::$name),)+ _ => None }
            }
        }
    };
}

wanted! {
    Thing = "thing"
    Taste = "taste"
    Preference = "preference"
    Place = "place"
    NewPlace = "newplace"
    Visited = "visited"
    Trip = "trip"
    Person = "person"
    KnownPerson = "knownperson"
    Coworker = "coworker"
    NamedKin = "namedkin"
    NamedPet = "namedpet"
    Role = "role"
    Org = "org"
    Employer = "employer"
    Workplace = "workplace"
    Company = "company"
    Group = "group"
    Membership = "membership"
    Band = "band"
    Team = "team"
    Project = "project"
    WorkPiece = "workpiece"
    Tool = "tool"
    KnownTool = "knowntool"
    Medicine = "medicine"
    Worn = "worn"
    Lang = "lang"
    CodeLang = "codelang"
    Subject = "subject"
    Course = "course"
    Lessons = "lessons"
    Topic = "topic"
    Skill = "skill"
    Activity = "activity"
    Habit = "habit"
    Going = "going"
    Game = "game"
    Illness = "illness"
    Allergen = "allergen"
    State = "state"
    Diet = "diet"
    Identity = "identity"
    Age = "age"
    Own = "own"
    Goal = "goal"
    VerbGoal = "verbgoal"
    PlannedGoal = "plannedgoal"
    Feat = "feat"
    Won = "won"
    Degree = "degree"
    Award = "award"
    Published = "published"
    Cause = "cause"
    Belief = "belief"
    Effect = "effect"
    Means = "means"
    SelfOnly = "self"
    Rest = "rest"
}

impl Wanted {
    pub(super) fn reach(self) -> Reach {
        match self {
            Self::Taste => Reach::Noun(&["of", "with", "without", "from", "about"]),
            Self::Goal | Self::VerbGoal | Self::PlannedGoal | Self::Means => Reach::Phrase,
            Self::Feat | Self::Degree | Self::Course | Self::Won | Self::Award => {
                Reach::Noun(&["of", "in", "for", "on"])
            }
            Self::Project | Self::WorkPiece | Self::Published => {
                Reach::Noun(&["of", "about", "on", "for"])
            }
            Self::Role => Reach::Noun(&["of"]),
            Self::Team => Reach::Noun(&["of"]),
            Self::Membership => Reach::Noun(&["of", "for"]),
            Self::Effect | Self::Belief => Reach::Noun(&["of", "in"]),
            _ => Reach::Short,
        }
    }

    /// Whether a gerund or an infinitive can be the object.
    pub(super) fn takes_verbs(self) -> bool {
        matches!(
            self,
            Self::Taste
                | Self::Preference
                | Self::Topic
                | Self::Skill
                | Self::Thing
                | Self::Goal
                | Self::Means
                | Self::Allergen
        )
    }

    /// Whether a comma may part several.
    pub(super) fn takes_lists(self) -> bool {
        !matches!(
            self,
            Self::Place
                | Self::NewPlace
                | Self::Org
                | Self::Employer
                | Self::Role
                | Self::Goal
                | Self::VerbGoal
        )
    }

    /// Words that end this kind of object.
    pub(super) fn stops_at(self, word: &str) -> bool {
        match self {
            Self::Preference => {
                ["over", "to", "rather", "instead", "than", "when", "for"].contains(&word)
            }
            Self::Taste => {
                ["more", "most", "best", "since", "when", "to", "instead", "like"].contains(&word)
            }
            Self::Goal | Self::VerbGoal | Self::Means => ["so", "by"].contains(&word),
            Self::Tool => ["to", "instead"].contains(&word),
            Self::Role => ["living", "working", "based", "to"].contains(&word),
            _ => word == "to" || word == "instead",
        }
    }

    /// What the words are, if they are what is wanted.
    pub(super) fn check(
        self,
        words: &[Token<'_>],
        is_lower: bool,
    ) -> Option<(Option<Label>, Aspect)> {
        let view = View::of(words, is_lower)?;
        let View { first, last, head, classes, any, is_name, is_vague, .. } = view;
        let plain = |label| Some((Some(label), Aspect::Other));
        let nothing = Some((None, Aspect::Other));
        let is = |holds: bool| holds.then_some(());
        match self {
            Self::SelfOnly | Self::Rest => nothing,
            Self::Thing => {
                is(!is_vague)?;
                nothing
            }
            Self::Taste | Self::Preference => {
                is(!is_vague || is_name)?;
                is(!words
                    .iter()
                    .any(|token| token.is_one_of(&["your", "you", "this", "it", "idea", "way"])))?;
                Some((taste_label(words, classes), Aspect::Other))
            }
            Self::Place => {
                is(classes & NO_PLACE == 0 && !first.has(NO_PLACE) && !is_vague)?;
                is(is_name
                    || any & PLACE != 0
                    || classes & HOUSING != 0
                    || is_lower && words.len() <= 2
                    || is_region(head.word))?;
                is(!(is_name && any & TOOL != 0 && any & PLACE == 0))?;
                plain(Label::Location)
            }
            Self::NewPlace | Self::Visited => {
                is(any & STORE == 0 || any & PLACE != 0)?;
                is(any & (TOOL | COMPANY) == 0 || any & PLACE != 0)?;
                let is_place = is_name && !last.is("team")
                    || any & PLACE != 0
                    || self == Self::NewPlace && is_region(head.word);
                is(is_place)?;
                is(classes & (ORG_NOUN | GROUP_NOUN | ROLE) == 0
                    && !first.has(FIRST_NAME & !PLACE)
                    || any & PLACE != 0)?;
                plain(Label::Location)
            }
            Self::Trip => {
                is(any & PLACE != 0 && any & STORE == 0)?;
                plain(Label::Location)
            }
            Self::Person | Self::KnownPerson | Self::Coworker => {
                let is_kin = classes & (KIN | COLLEAGUE) != 0;
                let is_person = is_name
                    && any & (PLACE | TOOL | COMPANY | LANGUAGE | CODE_LANGUAGE) == 0
                    && classes & (ORG_NOUN | ROLE) == 0
                    && words.len() <= 3
                    || first.has(FIRST_NAME);
                is(is_person || is_kin && self != Self::KnownPerson)?;
                plain(Label::Person)
            }
            Self::NamedKin => {
                is(noun(first.word) & KIN != 0)?;
                is(words.len() > 2 && words[1].is_one_of(&["named", "called"]))?;
                plain(Label::Person)
            }
            Self::NamedPet => {
                is(words.iter().any(|token| noun(token.word) & PET != 0))?;
                is(words.iter().any(|token| token.is_one_of(&["named", "called"])) || is_name)?;
                plain(Label::Pet)
            }
            Self::Role => {
                is(is_role(words, head, classes))?;
                Some((Some(Label::Job), Aspect::Role))
            }
            Self::Org => {
                is(!is_vague && !is_no_org(words))?;
                is(is_name
                    || classes & (ORG_NOUN | GROUP_NOUN) != 0
                    || any & COMPANY != 0
                    || words.len() <= 3)?;
                is(verbs::readings(first.word).iter().all(|(_, forms)| forms & ING == 0))?;
                plain(Label::Organization)
            }
            Self::Employer => {
                is(!is_vague && !is_no_org(words) && any & PLACE == 0)?;
                is(is_name || any & COMPANY != 0 || classes & ORG_NOUN != 0)?;
                is(any & TOOL == 0 || any & COMPANY != 0)?;
                is(classes & (GROUP_NOUN | NOT_ROLE) == 0 && any & KIN == 0)?;
                is(!first.has(FIRST_NAME) || words.len() > 1)?;
                plain(Label::Organization)
            }
            Self::Workplace => {
                is(classes & ORG_NOUN != 0)?;
                plain(Label::Organization)
            }
            Self::Company => {
                is(!is_vague)?;
                is(is_name || classes & (ORG_NOUN | GROUP_NOUN | WORK_PIECE) != 0)?;
                plain(Label::Organization)
            }
            Self::Group => {
                is(classes & GROUP_NOUN != 0
                    || words.iter().any(|token| noun(token.word) & GROUP_NOUN != 0))?;
                is(!words.iter().any(|token| token.is_one_of(&["call", "meeting", "chat"])))?;
                plain(Label::Group)
            }
            Self::Membership => {
                is(!is_vague)?;
                is(is_name
                    || words
                        .iter()
                        .any(|token| noun(token.word) & (GROUP_NOUN | TEAM_NOUN | ORG_NOUN) != 0))?;
                plain(Label::Group)
            }
            Self::Band => {
                is(words.iter().any(|token| noun(token.word) & (GROUP_NOUN) != 0)
                    || is_name && any & PLACE == 0 && self == Self::Band && words.len() > 1)?;
                plain(Label::Group)
            }
            Self::Team => {
                is(words.iter().any(|token| noun(token.word) & TEAM_NOUN != 0))?;
                is(!words.iter().any(|token| token.is_one_of(&["risk"])))?;
                plain(Label::Group)
            }
            other => things::check(other, &view),
        }
    }
}
