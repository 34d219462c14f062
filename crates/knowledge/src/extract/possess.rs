//! What somebody has, said by naming it: "my favourite band is Wilco", "my dog is called Rex", "my
//! goal is to run a marathon". The noun decides what is said.

use super::lexicon::{COLLEAGUE, KIN, OWNABLE, PET, noun};
use super::tokens::{Kind, Token};
use crate::ontology::Relation;

/// What "my so-and-so is …" says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Possession {
    pub(super) relation: Relation,
    pub(super) is_negated: bool,
    /// The token after "is", where the object begins.
    pub(super) end: usize,
    pub(super) object: Object,
    /// Whether it was so.
    pub(super) is_past: bool,
}

/// How the object of a possession is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Object {
    Thing,
    Verb,
    Name,
    Role,
    Pet,
    Org,
    Language,
}

const NOUNS: &[(&str, Relation, Object)] = &[
    ("goal", Relation::Pursuing, Object::Verb),
    ("aim", Relation::Pursuing, Object::Verb),
    ("resolution", Relation::Pursuing, Object::Verb),
    ("objective", Relation::Pursuing, Object::Verb),
    ("hobby", Relation::Practices, Object::Thing),
    ("hobbies", Relation::Practices, Object::Thing),
    ("pastime", Relation::Practices, Object::Thing),
    ("passion", Relation::Likes, Object::Thing),
    ("employer", Relation::EmployedAt, Object::Org),
    ("job", Relation::CurrentlyIs, Object::Role),
    ("profession", Relation::CurrentlyIs, Object::Role),
    ("occupation", Relation::CurrentlyIs, Object::Role),
    ("major", Relation::Studying, Object::Thing),
    ("specialty", Relation::ExpertiseIn, Object::Thing),
    ("speciality", Relation::ExpertiseIn, Object::Thing),
    ("expertise", Relation::ExpertiseIn, Object::Thing),
    ("strength", Relation::ExpertiseIn, Object::Thing),
    ("interests", Relation::InterestedIn, Object::Thing),
    ("diet", Relation::CurrentlyIs, Object::Thing),
];

/// Reads "my … is" at `at`.
pub(super) fn possession(tokens: &[Token<'_>], at: usize, end: usize) -> Option<Possession> {
    let is_users = tokens.get(at)?.is("user") || tokens[at].is("the");
    let start = match tokens[at].word {
        "my" | "our" => at + 1,
        "user" if tokens.get(at + 1)?.is("'s") => at + 2,
        "the" if tokens.get(at + 1)?.is("user") && tokens.get(at + 2)?.is("'s") => at + 3,
        _ if tokens[at].is_one_of(&["favorite", "favourite"]) => at,
        _ => return None,
    };
    let most = end.min(start + 7);
    let be = (start + 1..most).find(|place| {
        tokens[*place].is_one_of(&["is", "are", "was", "were", "'s"])
            && !(tokens[*place].is("'s") && is_owner(tokens, *place))
    })?;
    let nouns = &tokens[start..be];
    if nouns.iter().any(|token| token.kind == Kind::Mark) {
        return None;
    }
    let mut next = be + 1;
    let mut is_negated = false;
    while next < end
        && tokens[next].is_one_of(&[
            "not",
            "definitely",
            "always",
            "probably",
            "currently",
            "still",
            "now",
            "actually",
        ])
    {
        if tokens[next].is("probably") {
            return None;
        }
        is_negated |= tokens[next].is("not");
        next += 1;
    }
    let is_past = tokens[be].is_one_of(&["was", "were"]);
    let found =
        |relation, object, end| Some(Possession { relation, is_negated, end, object, is_past });
    let is_called = tokens.get(next).is_some_and(|token| token.is_one_of(&["called", "named"]));
    let last = nouns.last()?;
    let classes = noun(last.word);
    if nouns.iter().any(|token| token.is_one_of(&["favorite", "favourite", "fav", "fave"])) {
        let is_worst = nouns[0].is("least");
        let relation = if is_worst { Relation::Dislikes } else { Relation::Likes };
        return (!is_past && !is_negated).then(|| found(relation, Object::Thing, next)).flatten();
    }
    if nouns[0].is("go-to") && !is_negated {
        return found(Relation::Uses, Object::Thing, next);
    }
    // "my wife's name is Bea", "my dog's name is Rex".
    if last.is("name") && nouns.len() >= 3 && nouns[nouns.len() - 2].is("'s") {
        let owner = noun(nouns[nouns.len() - 3].word);
        return match owner {
            _ if owner & PET != 0 => found(Relation::Owns, Object::Pet, next),
            _ if owner & KIN != 0 => found(Relation::Knows, Object::Name, next),
            _ if owner & COLLEAGUE != 0 => found(Relation::WorksWith, Object::Name, next),
            _ => None,
        };
    }
    if is_called && classes & PET != 0 {
        return found(Relation::Owns, Object::Pet, next + 1);
    }
    if classes & (KIN | COLLEAGUE) != 0 && !is_users {
        let names =
            is_called || tokens.get(next).is_some_and(|token| token.is_capital && next + 2 >= end);
        let relation = if classes & KIN != 0 { Relation::Knows } else { Relation::WorksWith };
        let next = if is_called { next + 1 } else { next };
        return names.then(|| found(relation, Object::Name, next)).flatten();
    }
    if classes & OWNABLE != 0 && tokens.get(next).is_some_and(|token| token.is_one_of(&["a", "an"]))
    {
        return found(Relation::Owns, Object::Thing, next);
    }
    if nouns.len() >= 2
        && last.is_one_of(&["language", "tongue"])
        && nouns[nouns.len() - 2].is_one_of(&["native", "first", "mother"])
    {
        return found(Relation::ExpertiseIn, Object::Language, next);
    }
    let (_, relation, object) = NOUNS.iter().find(|(word, _, _)| last.is(word))?;
    (!is_past).then(|| found(*relation, *object, next)).flatten()
}

/// Whether the "'s" at `at` makes an owner of the word before it: "my wife's name".
fn is_owner(tokens: &[Token<'_>], at: usize) -> bool {
    tokens
        .get(at + 1)
        .is_some_and(|next| next.is_one_of(&["name", "names", "favorite", "favourite"]))
}
