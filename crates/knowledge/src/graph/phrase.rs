//! A fact as a sentence. Written from its parts and not quoted: a quotation would bring along
//! whatever else the text said, and "I" would be whoever reads it.

use crate::claim::Aspect;
use crate::ontology::Relation;

/// The verb of a relation: as it is, as it is not, and as it was.
fn verb(relation: Relation) -> (&'static str, &'static str, &'static str) {
    match relation {
        Relation::Knows => ("knows", "does not know", "knew"),
        Relation::WorksWith => ("works with", "does not work with", "worked with"),
        Relation::Causes => ("causes", "does not cause", "caused"),
        Relation::Enables => ("enables", "does not enable", "enabled"),
        Relation::Blocks => ("blocks", "does not block", "blocked"),
        Relation::PartOf => ("is part of", "is not part of", "was part of"),
        Relation::BelongsTo => ("belongs to", "does not belong to", "belonged to"),
        Relation::Practices => ("practices", "does not practice", "used to practice"),
        Relation::Uses => ("uses", "does not use", "used to use"),
        Relation::Pursuing => ("is pursuing", "is not pursuing", "was pursuing"),
        Relation::Requires => ("needs", "does not need", "needed"),
        Relation::Achieved => ("achieved", "did not achieve", "achieved"),
        Relation::EmployedAt => ("works at", "does not work at", "worked at"),
        Relation::WorksOn => ("works on", "does not work on", "worked on"),
        Relation::Manages => ("manages", "does not manage", "managed"),
        Relation::LivesAt => ("lives in", "does not live in", "lived in"),
        Relation::VisitedLocation => ("visited", "has not visited", "visited"),
        Relation::LocatedIn => ("is located in", "is not located in", "was located in"),
        Relation::Prefers => ("prefers", "does not prefer", "preferred"),
        Relation::Likes => ("likes", "does not like", "liked"),
        Relation::Dislikes => ("dislikes", "does not dislike", "disliked"),
        Relation::InterestedIn => ("is interested in", "is not interested in", "was interested in"),
        Relation::ExpertiseIn => ("is good at", "is not good at", "was good at"),
        Relation::Studying => ("is studying", "is not studying", "was studying"),
        Relation::LearnedFrom => ("learned from", "did not learn from", "learned from"),
        Relation::Triggers => ("triggers", "does not trigger", "triggered"),
        Relation::Motivates => ("motivates", "does not motivate", "motivated"),
        Relation::ManagesVia => ("copes through", "does not cope through", "coped through"),
        Relation::Influences => ("influences", "does not influence", "influenced"),
        Relation::Supports => ("supports", "does not support", "supported"),
        Relation::MemberOf => ("is a member of", "is not a member of", "was a member of"),
        Relation::Owns => ("has", "does not have", "had"),
        Relation::CurrentlyIs => ("is", "is not", "was"),
        Relation::WasPreviously => ("was", "was not", "was"),
        Relation::AlignedWith => ("agrees with", "does not agree with", "agreed with"),
        Relation::ConflictsWith => {
            ("is in conflict with", "is not in conflict with", "was in conflict with")
        }
        Relation::RelatesTo => ("is related to", "is not related to", "was related to"),
    }
}

/// What a sentence is made of.
pub(crate) struct Parts<'a> {
    pub(crate) subject: &'a str,
    pub(crate) relation: Relation,
    pub(crate) object: &'a str,
    pub(crate) aspect: Aspect,
    pub(crate) is_negated: bool,
    pub(crate) is_over: bool,
}

/// The sentence, without a full stop.
pub(crate) fn sentence(parts: &Parts<'_>) -> String {
    let is_name = parts.aspect == Aspect::Name
        && matches!(parts.relation, Relation::CurrentlyIs | Relation::WasPreviously);
    if is_name {
        let verb = match (parts.is_negated, parts.is_over) {
            (false, false) => "is",
            (true, _) => "is not",
            (false, true) => "was",
        };
        return format!("{}'s name {verb} {}", parts.subject, parts.object);
    }
    let (is, is_not, was) = verb(parts.relation);
    let verb = match (parts.is_negated, parts.is_over) {
        (false, false) => is,
        (true, _) => is_not,
        (false, true) => was,
    };
    let is_role = parts.aspect == Aspect::Role
        && matches!(parts.relation, Relation::CurrentlyIs | Relation::WasPreviously);
    let article = match is_role && is_plain(parts.object) {
        true => article(parts.object),
        false => "",
    };
    format!("{} {verb} {article}{}", parts.subject, parts.object)
}

/// Whether a role is named in general ("nurse") and not as somebody in particular ("head of sales").
fn is_plain(object: &str) -> bool {
    const RANKS: [&str; 5] = ["ceo", "cto", "cfo", "coo", "head"];
    let first = object.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_counted = first.starts_with(|c: char| c.is_ascii_digit());
    !is_counted && !RANKS.contains(&&*first) && !object.contains(" of ") && !object.ends_with('s')
}

fn article(object: &str) -> &'static str {
    match object.chars().next().map(|first| first.to_ascii_lowercase()) {
        Some('a' | 'e' | 'i' | 'o') => "an ",
        _ => "a ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_read_well_in_every_tense() {
        let check = |relation, object, aspect, is_negated, is_over, expected| {
            let parts = Parts { subject: "Ana", relation, object, aspect, is_negated, is_over };
            assert_eq!(sentence(&parts), expected);
        };
        let other = Aspect::Other;
        check(Relation::EmployedAt, "Acme", other, false, false, "Ana works at Acme");
        check(Relation::EmployedAt, "Acme", other, false, true, "Ana worked at Acme");
        check(Relation::Owns, "car", other, true, false, "Ana does not have car");
        check(Relation::CurrentlyIs, "engineer", Aspect::Role, false, false, "Ana is an engineer");
        check(
            Relation::CurrentlyIs,
            "head of sales",
            Aspect::Role,
            false,
            true,
            "Ana was head of sales",
        );
        check(Relation::CurrentlyIs, "34", Aspect::Age, false, false, "Ana is 34");
        let is_called = "Ana's name is Ana Lopez";
        check(Relation::CurrentlyIs, "Ana Lopez", Aspect::Name, false, false, is_called);
    }
}
