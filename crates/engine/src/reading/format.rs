//! Facts as models tell them and as readings keep them: one JSON object each, every member known and
//! of its type. What has another shape is dropped and counted; it spoils nothing beside it.

use super::{FACTS_MAX, Told};
use loci_model::limit;
use serde_json::{Value, json};

/// Facts of an answer that are looked at.
const LOOKED_AT_MAX: usize = FACTS_MAX * 2;

/// What a reader said, before it was held to the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// The facts that have a shape.
    pub told: Vec<Told>,
    /// How many have none.
    pub shapeless: u64,
}

/// Every member that a fact may have.
const MEMBERS: [&str; 9] =
    ["subject", "relation", "object", "kind", "quote", "is_negated", "is_over", "since", "until"];

/// One fact, if it has the shape of one.
fn read(fact: &Value) -> Option<Told> {
    let fact = fact.as_object()?;
    if !fact.keys().all(|name| MEMBERS.contains(&name.as_str())) {
        return None;
    }
    let text = |name: &str| fact.get(name)?.as_str().map(str::to_owned);
    let maybe = |name: &str| match fact.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(value) => value.as_str().map(|text| Some(text.to_owned())),
    };
    let flag = |name: &str| fact.get(name).map_or(Some(false), Value::as_bool);
    Some(Told {
        subject: text("subject")?,
        relation: text("relation")?,
        object: text("object")?,
        kind: maybe("kind")?,
        quote: text("quote")?,
        is_negated: flag("is_negated")?,
        is_over: flag("is_over")?,
        since: maybe("since")?,
        until: maybe("until")?,
    })
}

fn write(told: &Told) -> String {
    let Told { subject, relation, object, kind, quote, is_negated, is_over, since, until } = told;
    let fact = json!({
        "subject": subject, "relation": relation, "object": object, "kind": kind, "quote": quote,
        "is_negated": is_negated, "is_over": is_over, "since": since, "until": until,
    });
    fact.to_string()
}

/// Reads an answer: an object whose only member `facts` is a list. What is not even that is one
/// shapeless fact, so that it shows in the counts.
pub fn parse_reply(answer: &Value) -> Reply {
    let facts = answer.as_object().filter(|answer| answer.len() == 1);
    match facts.and_then(|answer| answer.get("facts")).and_then(Value::as_array) {
        Some(facts) => parse(facts),
        None => Reply { told: Vec::new(), shapeless: 1 },
    }
}

fn parse(facts: &[Value]) -> Reply {
    let mut reply = Reply::default();
    for fact in facts.iter().take(LOOKED_AT_MAX) {
        match read(fact) {
            Some(told) => reply.told.push(told),
            None => reply.shapeless += 1,
        }
    }
    reply.shapeless += facts.len().saturating_sub(LOOKED_AT_MAX) as u64;
    reply
}

/// What is kept of facts that were held to their text, as many as there is room for.
pub(super) fn render(told: &[Told]) -> String {
    let mut text = String::from("[");
    for told in told {
        let fact = write(told);
        if text.len() + fact.len() + 2 > limit::READING_BYTES_MAX {
            break;
        }
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&fact);
    }
    text.push(']');
    text
}

/// What was kept; what is damaged says nothing.
pub(crate) fn kept(claims: &str) -> Vec<Told> {
    let facts: Option<Vec<Value>> = serde_json::from_str(claims).ok();
    facts.map(|facts| parse(&facts).told).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact() -> Value {
        json!({"subject": "speaker", "relation": "Owns", "object": "boat", "kind": null,
               "quote": "I own a boat", "is_negated": false, "is_over": false, "since": null,
               "until": null})
    }

    #[test]
    fn what_is_kept_is_what_was_told() {
        let reply = parse_reply(&json!({"facts": [fact()]}));
        assert_eq!((reply.told.len(), reply.shapeless), (1, 0));
        assert_eq!(kept(&render(&reply.told)), reply.told);
        assert_eq!(kept(&render(&[])), []);
        assert!(kept("").is_empty() && kept("{}").is_empty() && kept("[1]").is_empty());
    }

    #[test]
    fn what_has_another_shape_is_counted_and_spoils_nothing() {
        let mut odd = fact();
        odd["note"] = "more".into();
        let mut wrong = fact();
        wrong["is_over"] = "no".into();
        let reply = parse_reply(&json!({"facts": [odd, fact(), wrong, 7, null, {}]}));
        assert_eq!((reply.told.len(), reply.shapeless), (1, 5));
        for answer in [json!([]), json!({}), json!({"facts": 1}), json!(null), json!("x")] {
            assert_eq!(parse_reply(&answer), Reply { told: Vec::new(), shapeless: 1 });
        }
        let more = json!({"facts": [fact()], "also": 1});
        assert_eq!(parse_reply(&more).shapeless, 1);
        let many = json!({"facts": vec![fact(); LOOKED_AT_MAX + 3]});
        assert_eq!(parse_reply(&many).shapeless, 3);
    }

    #[test]
    fn what_is_kept_has_room() {
        let mut told = Told { quote: "\u{1}".repeat(600), ..Told::default() };
        told.object = "\u{1}".repeat(160);
        let text = render(&vec![told; 32]);
        assert!(text.len() <= limit::READING_BYTES_MAX && kept(&text).len() > 10);
    }
}
