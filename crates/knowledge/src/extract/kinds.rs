//! What an object must be for a frame to count. "I run a team" and "I run a marathon" differ in
//! nothing but that, so most of the precision is decided here. A kind looks at the words of the
//! object alone and says what sort of thing it is, or that it is none of its own.

use super::lexicon::{
    self, ACTIVITY, AWARD, CODE_LANGUAGE, COLLEAGUE, COMPANY, DEGREE, FAMILY_ROLE, FEAT, FIRST_NAME,
    GROUP_NOUN, HOUSING, ILLNESS, INSTRUMENT, KIN, LANGUAGE, MEDICINE, NATIONALITY, NO_PLACE,
    NOT_ROLE, ORG_NOUN, OWNABLE, PET, PLACE, ROLE, SPORT, STATE, STORE, TEAM_NOUN, TOOL, VAGUE,
    WORK_PIECE, noun,
};
use super::tokens::{Kind, Token};
use super::verbs::{self, BASE, ING};
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
    Town = "town"
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
            Self::Taste => Reach::Noun(&["of", "with", "from", "about"]),
            Self::Goal | Self::VerbGoal | Self::PlannedGoal | Self::Means => Reach::Phrase,
            Self::Feat | Self::Degree | Self::Course | Self::Won | Self::Award => {
                Reach::Noun(&["of", "in", "for", "on"])
            }
            Self::Project | Self::WorkPiece | Self::Published => Reach::Noun(&["of", "about", "on", "for"]),
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
            Self::Taste | Self::Preference | Self::Topic | Self::Skill | Self::Thing | Self::Goal
                | Self::Means | Self::Allergen
        )
    }

    /// Whether a comma may part several.
    pub(super) fn takes_lists(self) -> bool {
        !matches!(
            self,
            Self::Place | Self::NewPlace | Self::Town | Self::Org | Self::Employer | Self::Role
                | Self::Goal | Self::VerbGoal
        )
    }

    /// Words that end this kind of object.
    pub(super) fn stops_at(self, word: &str) -> bool {
        match self {
            Self::Preference => ["over", "to", "rather", "instead", "than", "when", "for"].contains(&word),
            Self::Taste => ["more", "most", "best", "since", "when", "to", "instead", "like"].contains(&word),
            Self::Goal | Self::VerbGoal | Self::Means => ["so", "by"].contains(&word),
            Self::Tool => ["to", "instead"].contains(&word),
            _ => word == "to" || word == "instead",
        }
    }

    /// What the words are, if they are what is wanted.
    pub(super) fn check(self, words: &[Token<'_>], is_lower: bool) -> Option<(Option<Label>, Aspect)> {
        let (first, last) = (words.first()?, words.last()?);
        let head = head(words);
        let classes = noun(head.word);
        let any = words.iter().fold(0, |all, token| all | token.classes);
        let is_name = words.iter().any(|token| token.is_capital);
        let is_vague = last.has(VAGUE) && words.len() == 1 || first.has(VAGUE) && !is_name;
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
                is(!words.iter().any(|token| token.is_one_of(&["your", "you", "this", "it", "idea", "way"])))?;
                Some((taste_label(words, classes), Aspect::Other))
            }
            Self::Place => {
                is(classes & NO_PLACE == 0 && !first.has(NO_PLACE) && !is_vague)?;
                is(is_name || any & PLACE != 0 || classes & HOUSING != 0 || is_lower && words.len() <= 2
                    || is_region(head.word))?;
                is(!(is_name && any & TOOL != 0 && any & PLACE == 0))?;
                plain(Label::Location)
            }
            Self::NewPlace | Self::Town | Self::Visited => {
                is(any & STORE == 0 || any & PLACE != 0)?;
                is(any & (TOOL | COMPANY) == 0 || any & PLACE != 0)?;
                let is_place = is_name && !last.is("team") || any & PLACE != 0
                    || self == Self::NewPlace && is_region(head.word);
                is(is_place && !(self == Self::Town && any & PLACE == 0))?;
                is(classes & (ORG_NOUN | GROUP_NOUN | ROLE) == 0 && !first.has(FIRST_NAME & !PLACE) || any & PLACE != 0)?;
                plain(Label::Location)
            }
            Self::Trip => {
                is(any & PLACE != 0 && any & STORE == 0)?;
                plain(Label::Location)
            }
            Self::Person | Self::KnownPerson | Self::Coworker => {
                let is_kin = classes & (KIN | COLLEAGUE) != 0;
                let is_person = is_name && any & (PLACE | TOOL | COMPANY | LANGUAGE | CODE_LANGUAGE) == 0
                    && classes & (ORG_NOUN | ROLE) == 0 && words.len() <= 3
                    || first.has(FIRST_NAME);
                is(is_person || is_kin && self != Self::KnownPerson)?;
                plain(Label::Person)
            }
            Self::NamedKin => {
                is(lexicon::noun(first.word) & KIN != 0)?;
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
                is(is_name || classes & (ORG_NOUN | GROUP_NOUN) != 0 || any & COMPANY != 0 || words.len() <= 3)?;
                is(verbs::readings(first.word).iter().all(|(_, forms)| forms & ING == 0))?;
                plain(Label::Organization)
            }
            Self::Employer => {
                is(!is_vague && !is_no_org(words) && any & PLACE == 0)?;
                is(is_name || any & COMPANY != 0 || classes & ORG_NOUN != 0)?;
                is(classes & (GROUP_NOUN | NOT_ROLE) == 0 && any & KIN == 0)?;
                is(!first.has(FIRST_NAME) || words.len() > 1)?;
                plain(Label::Organization)
            }
            Self::Company => {
                is(!is_vague)?;
                is(is_name || classes & (ORG_NOUN | GROUP_NOUN | WORK_PIECE) != 0)?;
                plain(Label::Organization)
            }
            Self::Group => {
                is(classes & GROUP_NOUN != 0 || words.iter().any(|token| noun(token.word) & GROUP_NOUN != 0))?;
                is(!words.iter().any(|token| token.is_one_of(&["call", "meeting", "chat"])))?;
                plain(Label::Group)
            }
            Self::Membership => {
                is(!is_vague)?;
                is(is_name || words.iter().any(|token| noun(token.word) & (GROUP_NOUN | TEAM_NOUN | ORG_NOUN) != 0))?;
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
            Self::Project => {
                is(!is_vague && classes & (KIN | ILLNESS) == 0)?;
                is(!first.is_one_of(&["myself", "being", "getting"]) )?;
                plain(Label::Project)
            }
            Self::WorkPiece => {
                is(words.iter().any(|token| noun(token.word) & WORK_PIECE != 0))?;
                plain(Label::Project)
            }
            Self::Tool => {
                is(!is_vague && classes & (KIN | NOT_ROLE) == 0)?;
                is(!words.iter().any(|token| token.is_one_of(&["your", "word", "words", "term", "bathroom"])))?;
                plain(Label::Tool)
            }
            Self::KnownTool => {
                is(any & (TOOL | CODE_LANGUAGE) != 0)?;
                plain(Label::Tool)
            }
            Self::Medicine => {
                is(words.iter().any(|token| noun(token.word) & MEDICINE != 0))?;
                plain(Label::Product)
            }
            Self::Worn => {
                let worn = ["glasses", "contacts", "lenses", "aids", "braces", "prosthesis", "pump"];
                is(worn.contains(&head.word))?;
                plain(Label::Product)
            }
            Self::Lang => {
                is(any & LANGUAGE != 0)?;
                plain(Label::Language)
            }
            Self::CodeLang => {
                is(any & (CODE_LANGUAGE | TOOL) != 0)?;
                plain(Label::Skill)
            }
            Self::Subject => {
                is(!is_vague && !first.is_one_of(&["hard", "abroad", "together", "more", "the", "at", "that"]))?;
                is(!first.has(ADVERB_OR_LESS) && any & KIN == 0)?;
                Some((Some(if any & LANGUAGE != 0 { Label::Language } else { Label::LearningGoal }), Aspect::Other))
            }
            Self::Course | Self::Lessons => {
                let courses = ["course", "class", "classes", "lessons", "lesson", "degree", "phd", "master's",
                    "masters", "bachelor's", "mba", "bootcamp", "diploma", "doctorate", "msc", "bsc", "workshop"];
                is(words.iter().any(|token| courses.contains(&token.word)))?;
                plain(Label::LearningGoal)
            }
            Self::Topic => {
                is(!is_vague && !words.iter().any(|token| token.is_one_of(&["your", "you"])))?;
                plain(Label::Interest)
            }
            Self::Skill => {
                is(!is_vague)?;
                let label = if any & LANGUAGE != 0 { Label::Language } else { Label::Skill };
                plain(label)
            }
            Self::Activity => {
                is(classes & (ACTIVITY | SPORT) != 0 || any & ACTIVITY != 0)?;
                plain(Label::Hobby)
            }
            Self::Habit => {
                let is_gerund = first.word.ends_with("ing") && first.word.len() > 4;
                is(is_gerund && !first.is_one_of(&["using", "working", "trying", "being", "thinking", "feeling", "learning", "getting", "going", "doing", "something", "looking", "living"])
                    || is_vice(head.word))?;
                plain(Label::Habit)
            }
            Self::Going => {
                is(first.word.ends_with("ing") && (any & ACTIVITY != 0 || first.is_one_of(&["dancing", "camping", "sailing"])))?;
                plain(Label::Hobby)
            }
            Self::Game => {
                is(classes & (INSTRUMENT | SPORT) != 0 || any & (INSTRUMENT | SPORT) != 0)?;
                plain(Label::Hobby)
            }
            Self::Illness => {
                is(words.iter().any(|token| noun(token.word) & ILLNESS != 0))?;
                is(!words.iter().any(|token| token.is_one_of(&["question", "about"])))?;
                plain(Label::Attribute)
            }
            Self::Allergen => {
                is(!is_vague || head.word == "work")?;
                is(!last.is_one_of(&["bullshit", "nonsense", "mondays", "drama", "work", "mornings", "exercise", "meetings", "effort", "commitment", "responsibility", "stupidity", "homework"]))?;
                plain(Label::Attribute)
            }
            Self::State => {
                is(is_state(words))?;
                let aspect = match first.word {
                    "married" | "divorced" | "engaged" | "single" | "widowed" | "separated" => Aspect::Relationship,
                    _ if is_diet(head.word) || is_diet(first.word) => Aspect::Diet,
                    "retired" | "unemployed" | "self-employed" => Aspect::Role,
                    _ => Aspect::Other,
                };
                Some((Some(Label::Attribute), aspect))
            }
            Self::Diet => {
                is(is_diet(head.word) || words.iter().all(|token| token.has(STATE)) && is_diet(first.word))?;
                Some((Some(Label::Attribute), Aspect::Diet))
            }
            Self::Identity => {
                is(words.len() == 1 && first.has(NATIONALITY) && (first.is_capital || is_lower)
                    || classes & FAMILY_ROLE != 0 && words.len() <= 3
                    || words.iter().any(|token| token.is("of")) && noun(first.word) & FAMILY_ROLE != 0
                    || words.len() == 2 && matches!((first.word, last.word), ("morning" | "night" | "dog" | "cat" | "people", "person") | ("night", "owl") | ("early", "bird") | ("only", "child")))?;
                Some((Some(Label::Identity), if is_diet(head.word) { Aspect::Diet } else { Aspect::Other }))
            }
            Self::Age => {
                let years = first.word.parse::<u8>().ok().filter(|years| (5..=110).contains(years));
                let is_hyphened = first.word.ends_with("-year-old");
                is(years.is_some() || is_hyphened)?;
                is(words.len() == 1 || words[1].is_one_of(&["years", "year", "yrs", "yo", "y/o"]))?;
                Some((Some(Label::Attribute), Aspect::Age))
            }
            Self::Own => {
                let classes = words.iter().fold(0, |all, token| all | noun(token.word));
                is(noun(head.word) & (PET | OWNABLE) != 0 || is_name && classes & (PET | OWNABLE) != 0)?;
                is(!last.is_one_of(&["appointment", "question", "problem", "trouble", "meeting", "payment", "crash"]))?;
                plain(if classes & PET != 0 && classes & OWNABLE == 0 { Label::Pet } else { Label::Product })
            }
            Self::Goal => {
                is(!is_vague || words.len() > 2)?;
                is(!words.iter().any(|token| token.is_one_of(&["you", "your", "it"])))?;
                plain(Label::Goal)
            }
            Self::VerbGoal => {
                is(verbs::can_be(first.word, BASE) || first.kind == Kind::Word && !first.has(VAGUE))?;
                let is_errand = ["figure", "understand", "find", "get", "fix", "debug", "see", "decide", "install",
                    "make", "solve", "use", "set", "remember", "say", "think", "explain", "ask", "be", "help",
                    "know", "do", "have", "compile", "connect", "open", "print", "create", "add", "convert", "parse"];
                is(!is_errand.contains(&first.word) || words.len() > 2 && first.is_one_of(&["get", "make", "find", "do"])
                    && words.iter().any(|token| noun(token.word) & (FEAT | DEGREE | ORG_NOUN | OWNABLE) != 0 || token.is_one_of(&["fit", "healthier", "job", "shape"])))?;
                is(!words.iter().any(|token| token.is_one_of(&["you", "your", "it", "this", "that"])))?;
                plain(Label::Goal)
            }
            Self::PlannedGoal => {
                let plans = ["trip", "wedding", "move", "vacation", "holiday", "hike", "party", "tour", "expedition"];
                is(words.iter().any(|token| plans.contains(&token.word)))?;
                plain(Label::Goal)
            }
            Self::Feat => {
                is(words.iter().any(|token| noun(token.word) & FEAT != 0))?;
                is(!words.iter().any(|token| token.is_one_of(&["chapter", "page", "reading"])))?;
                plain(Label::Milestone)
            }
            Self::Won => {
                is(words.iter().any(|token| noun(token.word) & (FEAT | AWARD) != 0) || is_name)?;
                is(!words.iter().any(|token| token.is_one_of(&["lottery", "argument", "heart", "bet"])) )?;
                plain(Label::Milestone)
            }
            Self::Degree => {
                is(words.iter().any(|token| noun(token.word) & DEGREE != 0))?;
                plain(Label::Milestone)
            }
            Self::Award => {
                is(noun(head.word) & AWARD != 0 && !last.is_one_of(&["game", "match", "place", "title"]))?;
                plain(Label::Milestone)
            }
            Self::Published => {
                is(words.iter().any(|token| noun(token.word) & (WORK_PIECE | FEAT) != 0))?;
                plain(Label::Milestone)
            }
            Self::Cause | Self::Belief => {
                is(!is_vague && !words.iter().any(|token| token.is_one_of(&["you", "your", "decision", "answer", "myself"])))?;
                is(any & KIN == 0 || self == Self::Cause)?;
                plain(if self == Self::Belief { Label::Belief } else { Label::Cause })
            }
            Self::Effect => {
                is(!is_vague && !last.is_one_of(&["chance", "break", "hope", "advice", "example", "ride", "call", "smile", "laugh"]))?;
                nothing
            }
            Self::Means => plain(Label::CopingStrategy),
        }
    }
}

/// No object begins with these where a subject is studied.
const ADVERB_OR_LESS: u64 = lexicon::ADVERB;

/// The noun that carries the meaning: the last before "of", "in" and the like.
fn head<'a, 't>(words: &'a [Token<'t>]) -> &'a Token<'t> {
    let end = words.iter().skip(1).position(|token| token.has(lexicon::PREPOSITION) || token.is("named") || token.is("called"));
    let end = end.map_or(words.len(), |end| end + 1);
    &words[end - 1]
}

fn taste_label(words: &[Token<'_>], classes: u64) -> Option<Label> {
    let any = words.iter().fold(classes, |all, token| all | token.classes);
    match any {
        _ if any & (ACTIVITY | SPORT | INSTRUMENT) != 0 => Some(Label::Hobby),
        _ if any & PLACE != 0 => Some(Label::Location),
        _ if any & (TOOL | CODE_LANGUAGE) != 0 => Some(Label::Tool),
        _ => None,
    }
}

fn is_role(words: &[Token<'_>], head: &Token<'_>, classes: u64) -> bool {
    if words.len() > 6 || classes & NOT_ROLE != 0 && classes & ROLE == 0 {
        return false;
    }
    if words[0].is_one_of(&["former", "ex", "big", "huge", "great", "terrible", "bad", "good", "better", "fast",
        "slow", "light", "heavy", "natural", "picky", "decent", "horrible", "awful", "early", "regular"])
    {
        return false;
    }
    let by_ending = ["ologist", "ician", "ographer", "keeper", "smith", "maker", "wright"]
        .iter()
        .any(|ending| head.word.ends_with(ending));
    let of_what = words.iter().position(|token| token.is("of"));
    let is_head = ["head", "director", "vp", "chief", "manager", "president", "owner", "founder", "co-founder", "dean", "lead"];
    let leads = of_what.is_some_and(|of| of > 0 && is_head.contains(&words[of - 1].word));
    (classes & ROLE != 0 || by_ending || leads) && (of_what.is_none() || leads)
        && !(head.is_one_of(&["lead", "graduate", "junior", "senior", "cook", "electrical"]) && words.len() == 1)
}

fn is_no_org(words: &[Token<'_>]) -> bool {
    let first = words[0].word;
    words[0].kind == Kind::Number
        || [
            "home", "night", "nights", "least", "once", "first", "moment", "desk", "living", "free", "peanuts",
            "days", "hours", "pace", "weekend", "weekends", "full", "half", "times", "same", "different", "night",
            "noon", "dawn", "dusk", "work", "lunch", "scale", "end", "beginning", "start", "best", "odds",
            "hard", "long", "christmas", "breakfast", "dinner", "minimum", "random", "money", "change", "fun",
            "problems", "two", "three", "college" ,"sea", "school-board", "everyone", "everybody", "anyone", "years",
            "months", "weeks", "now", "heart", "speed", "music", "advice",
        ]
        .contains(&first)
            && !(words.len() > 1 && words.iter().any(|token| token.is_capital))
        || words.iter().any(|token| token.is_one_of(&["myself", "himself", "pay", "desk", "pace", "boss", "mercy", "time", "heart"]))
}

fn is_region(word: &str) -> bool {
    ["countryside", "suburbs", "city", "mountains", "coast", "downtown", "abroad", "village", "alps", "island"].contains(&word)
}

fn is_vice(word: &str) -> bool {
    ["alcohol", "caffeine", "sugar", "meat", "dairy", "gluten", "cigarettes", "nicotine", "coffee", "soda", "gambling"].contains(&word)
}

fn is_diet(word: &str) -> bool {
    ["vegan", "vegetarian", "pescatarian", "keto", "kosher", "halal", "gluten-free", "dairy-free", "sober", "teetotal",
        "plant-based", "paleo", "sugar-free", "lactose-intolerant", "celiac", "coeliac"].contains(&word)
}

/// "vegan", "happily married", "six months pregnant", "type 1 diabetic".
fn is_state(words: &[Token<'_>]) -> bool {
    let last = words[words.len() - 1];
    let is_few = words.len() <= 4;
    is_few && last.has(STATE)
        && words[..words.len() - 1].iter().all(|token| {
            token.has(STATE | lexicon::ADVERB | lexicon::NUMBER | lexicon::UNIT | lexicon::MONTH)
                || token.kind == Kind::Number
                || token.is_one_of(&["type", "legally", "partially", "happily", "newly", "recently", "strictly", "strict", "ethical"])
        })
        || words.len() <= 3 && words[0].has(STATE) && words[0].is_one_of(&["married", "divorced", "pregnant", "retired", "widowed"])
}
