//! Date filters: groups of comparisons. Within a group one must hold, and every group must; that is
//! how the contract has it.

use loci_engine::knowledge::{Comparison, Dates, Operator};
use loci_model::Timestamp;
use serde_json::Value;

/// Groups of one filter, and comparisons of one group.
const LIST_MAX: usize = 16;

/// Reads a filter; null is none.
pub(super) fn read(name: &str, value: Option<&Value>) -> Result<Dates, String> {
    let groups = match value {
        None | Some(Value::Null) => return Ok(Dates::default()),
        Some(Value::Array(groups)) => groups,
        Some(_) => return Err(format!("{name} must be a list of lists")),
    };
    let group = |group: &Value| match group {
        Value::Array(list) if list.len() <= LIST_MAX => {
            list.iter().map(|one| comparison(name, one)).collect::<Result<Vec<_>, _>>()
        }
        Value::Array(_) => Err(format!("{name} takes groups of up to {LIST_MAX}")),
        _ => Err(format!("{name} must be a list of lists")),
    };
    if groups.len() > LIST_MAX {
        return Err(format!("{name} takes up to {LIST_MAX} groups"));
    }
    groups.iter().map(group).collect::<Result<_, _>>().map(Dates)
}

fn comparison(name: &str, value: &Value) -> Result<Comparison, String> {
    let operator = value.get("comparison_operator").and_then(Value::as_str);
    let Some(operator) = operator.and_then(Operator::by_sign) else {
        return Err(format!(
            "{name}.comparison_operator must be one of = <> > < >= <= IS NULL, IS NOT NULL"
        ));
    };
    let date = match value.get("date") {
        None | Some(Value::Null) => None,
        Some(Value::String(date)) => {
            let wrong = || format!("{name}.date must be a date in ISO 8601");
            Some(moment(date).ok_or_else(wrong)?)
        }
        Some(_) => return Err(format!("{name}.date must be a text")),
    };
    let needs_date = !matches!(operator, Operator::IsNull | Operator::IsNotNull);
    if needs_date && date.is_none() {
        return Err(format!("{name}.date is needed by its comparison_operator"));
    }
    Ok(Comparison { operator, date })
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

    fn check(filter: &Value, moment: Option<Timestamp>, expected: bool) {
        let dates = read("valid_at", Some(filter)).unwrap();
        assert_eq!(dates.hold(moment), expected, "{filter} {moment:?}");
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
            check(&json!([[is(operator, "2026-06-01")]]), may, before);
            check(&json!([[is(operator, "2026-06-01T00:00:00")]]), june, same);
            check(&json!([[is(operator, "2026-06-01")]]), None, false);
        }
        let spring = json!([[is(">=", "2026-04-01")], [is("<", "2026-06-01")]]);
        check(&spring, may, true);
        check(&spring, june, false);
        let either = json!([[is("<", "2026-05-01"), is(">", "2026-05-15")]]);
        check(&either, june, true);
        check(&either, may, false);
    }

    #[test]
    fn what_is_not_there_is_asked_for_by_itself() {
        let null = json!([[{"date": null, "comparison_operator": "IS NULL"}]]);
        check(&null, None, true);
        check(&null, at("2026-05-01"), false);
        let some = json!([[{"comparison_operator": "IS NOT NULL"}]]);
        check(&some, None, false);
        check(&some, at("2026-05-01"), true);
        check(&json!([]), None, true);
        check(&json!([[]]), None, true);
    }

    #[test]
    fn mistakes_are_named() {
        let why = |value: Value| read("created_at", Some(&value)).unwrap_err();
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
