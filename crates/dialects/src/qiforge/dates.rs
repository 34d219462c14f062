//! Date filters: groups of comparisons. Within a group one must hold, and every group must; that is
//! how the contract has it.

use loci_engine::search::Span;
use loci_model::Timestamp;
use serde_json::Value;

/// Groups of one filter, and comparisons of one group.
const LIST_MAX: usize = 16;

/// How a moment is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Other,
    After,
    Before,
    NotBefore,
    NotAfter,
    Missing,
    Present,
}

const OPERATORS: [(&str, Operator); 8] = [
    ("=", Operator::Equal),
    ("<>", Operator::Other),
    (">", Operator::After),
    ("<", Operator::Before),
    (">=", Operator::NotBefore),
    ("<=", Operator::NotAfter),
    ("IS NULL", Operator::Missing),
    ("IS NOT NULL", Operator::Present),
];

/// One comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) operator: Operator,
    pub(super) date: Option<Timestamp>,
}

/// A filter on one date; without groups everything passes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Dates(pub(super) Vec<Vec<Comparison>>);

impl Dates {
    /// Reads a filter; null is none.
    pub(super) fn read(name: &str, value: Option<&Value>) -> Result<Self, String> {
        let groups = match value {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::Array(groups)) => groups,
            Some(_) => return Err(format!("{name} must be a list of lists")),
        };
        let read = |group: &Value| match group {
            Value::Array(list) if list.len() <= LIST_MAX => {
                list.iter().map(|one| Comparison::read(name, one)).collect::<Result<Vec<_>, _>>()
            }
            Value::Array(_) => Err(format!("{name} takes groups of up to {LIST_MAX}")),
            _ => Err(format!("{name} must be a list of lists")),
        };
        if groups.len() > LIST_MAX {
            return Err(format!("{name} takes up to {LIST_MAX} groups"));
        }
        let mut read = groups.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        // A group that asks nothing refuses nothing.
        read.retain(|group| !group.is_empty());
        Ok(Self(read))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a moment passes; one that is not there is compared with nothing.
    pub(super) fn holds(&self, moment: Option<Timestamp>) -> bool {
        self.0.iter().all(|group| group.iter().any(|one| one.holds(moment)))
    }

    /// A span that everything lies in that passes, so that what does not need not be looked at.
    pub(super) fn span(&self) -> Span {
        let mut span = Span::default();
        for group in &self.0 {
            let [Comparison { operator, date: Some(date) }] = group.as_slice() else { continue };
            if matches!(operator, Operator::Equal | Operator::After | Operator::NotBefore) {
                span.since = span.since.max(Some(*date));
            }
            if matches!(operator, Operator::Equal | Operator::Before | Operator::NotAfter) {
                span.until = Some(span.until.map_or(*date, |until| until.min(*date)));
            }
        }
        span
    }

    /// A filter for what is no older than a moment.
    pub(super) fn since(moment: Timestamp) -> Self {
        let one = Comparison { operator: Operator::NotBefore, date: Some(moment) };
        Self(vec![vec![one]])
    }
}

impl Comparison {
    fn read(name: &str, value: &Value) -> Result<Self, String> {
        let operator = value.get("comparison_operator").and_then(Value::as_str);
        let operator = OPERATORS.iter().find(|(text, _)| Some(*text) == operator);
        let Some((text, operator)) = operator else {
            return Err(format!(
                "{name}.comparison_operator must be one of = <> > < >= <= IS NULL, IS NOT NULL"
            ));
        };
        let date = match value.get("date") {
            None | Some(Value::Null) => None,
            Some(Value::String(date)) => Some(
                moment(date).ok_or_else(|| format!("{name}.date must be a date in ISO 8601"))?,
            ),
            Some(_) => return Err(format!("{name}.date must be a text")),
        };
        let needs_date = !matches!(operator, Operator::Missing | Operator::Present);
        if needs_date && date.is_none() {
            return Err(format!("{name}.date is needed to compare with {text}"));
        }
        Ok(Self { operator: *operator, date })
    }

    fn holds(&self, moment: Option<Timestamp>) -> bool {
        match (self.operator, moment, self.date) {
            (Operator::Missing, moment, _) => moment.is_none(),
            (Operator::Present, moment, _) => moment.is_some(),
            (operator, Some(moment), Some(date)) => match operator {
                Operator::Equal => moment == date,
                Operator::Other => moment != date,
                Operator::After => moment > date,
                Operator::Before => moment < date,
                Operator::NotBefore => moment >= date,
                Operator::NotAfter => moment <= date,
                Operator::Missing | Operator::Present => false,
            },
            _ => false,
        }
    }
}

/// A moment as clients write it; a day is its beginning, and without a zone it is UTC.
fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let tries = [text.to_owned(), format!("{text}Z"), format!("{text}T00:00:00Z")];
    tries.iter().find_map(|one| Timestamp::parse(one).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(text: &str) -> Option<Timestamp> {
        Some(moment(text).unwrap())
    }

    fn check(filter: Value, moment: Option<Timestamp>, expected: bool) {
        let dates = Dates::read("valid_at", Some(&filter)).unwrap();
        assert_eq!(dates.holds(moment), expected, "{filter} {moment:?}");
        let is_in_span = moment.is_none_or(|moment| dates.span().holds(moment));
        assert!(is_in_span || !expected, "{filter} {moment:?}");
    }

    #[test]
    fn one_of_each_group_must_hold() {
        let is =
            |operator: &str, date: &str| json!({"comparison_operator": operator, "date": date});
        let (may, june) = (at("2026-05-01"), at("2026-06-01T00:00:00Z"));
        for (operator, before, same) in [
            ("=", false, true),
            ("<>", true, false),
            (">", false, false),
            ("<", true, false),
            (">=", false, true),
            ("<=", true, true),
        ] {
            check(json!([[is(operator, "2026-06-01")]]), may, before);
            check(json!([[is(operator, "2026-06-01T00:00:00")]]), june, same);
            check(json!([[is(operator, "2026-06-01")]]), None, false);
        }
        let spring = json!([[is(">=", "2026-04-01")], [is("<", "2026-06-01")]]);
        check(spring.clone(), may, true);
        check(spring, june, false);
        let either = json!([[is("<", "2026-05-01"), is(">", "2026-05-15")]]);
        check(either.clone(), june, true);
        check(either, may, false);
    }

    #[test]
    fn what_is_not_there_is_asked_for_by_itself() {
        let null = json!([[{"date": null, "comparison_operator": "IS NULL"}]]);
        check(null.clone(), None, true);
        check(null, at("2026-05-01"), false);
        let some = json!([[{"comparison_operator": "IS NOT NULL"}]]);
        check(some.clone(), None, false);
        check(some, at("2026-05-01"), true);
        check(json!([]), None, true);
        check(json!([[]]), None, true);
    }

    #[test]
    fn mistakes_are_named() {
        let why = |value: Value| Dates::read("created_at", Some(&value)).unwrap_err();
        for bad in [
            json!("2026"),
            json!([{}]),
            json!([["x"]]),
            json!([[{"comparison_operator": "=="}]]),
            json!([[{"comparison_operator": "="}]]),
            json!([[{"comparison_operator": "=", "date": 5}]]),
            json!([[{"comparison_operator": "=", "date": "yesterday"}]]),
            json!(vec![json!([]); 17]),
        ] {
            assert!(why(bad.clone()).starts_with("created_at"), "{bad}");
        }
    }
}
