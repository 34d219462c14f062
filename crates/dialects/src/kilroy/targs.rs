//! A block's configuration, `targs`: what each option may be, with `${pipeline_uid}` filled in.
//!
//! Options that are empty, null or false are not set. One that breaks a rule stops the block and is
//! named, also where it is only compared with: what cannot have been written is a mistake, not a
//! search that finds nothing.

use super::error::{Outcome, says};
use super::place::{self, MemoryId};
use super::record::escape_kind;
use loci_model::{Attributes, limit};
use serde_json::{Map, Value};

const PIPELINE: &str = "${pipeline_uid}";
/// Characters of what stands for it. It is filled in as often as it is asked for.
const PIPELINE_CHARS_MAX: usize = place::SEGMENT_CHARS_MAX;

/// The options of one call.
#[derive(Debug)]
pub(super) struct Targs(Map<String, Value>);

impl Targs {
    /// Takes the options as they were sent.
    pub(super) fn new(mut fields: Map<String, Value>, pipeline: Option<&str>) -> Outcome<Self> {
        if pipeline.is_some_and(|uid| uid.chars().count() > PIPELINE_CHARS_MAX) {
            return says(format!("pipeline_uid takes up to {PIPELINE_CHARS_MAX} characters"));
        }
        for (name, value) in &mut fields {
            fill_in(value, pipeline);
            if has_variable(value) {
                return says(match pipeline {
                    None => format!(
                        "{name} has a ${{…}} that nothing is known to stand for; is pipeline_uid missing?"
                    ),
                    Some(_) => format!("{name} has a ${{…}} that nothing is known to stand for"),
                });
            }
        }
        Ok(Self(fields))
    }

    /// Which store.
    pub(super) fn memory_id(&self) -> Outcome<MemoryId<'_>> {
        match self.text("memory_id")? {
            Some(text) => MemoryId::parse(text),
            None => says("memory_id is required"),
        }
    }

    /// An option that is a text.
    pub(super) fn text(&self, name: &str) -> Outcome<Option<&str>> {
        match self.0.get(name) {
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(value) if is_set(value) => says(format!("{name} must be a string")),
            Some(_) | None => Ok(None),
        }
    }

    /// The kind, as it is kept.
    pub(super) fn kind(&self) -> Outcome<Option<String>> {
        let kind = self.text("kind")?.map(escape_kind);
        Attributes { kind: kind.clone(), ..Attributes::default() }.validate()?;
        Ok(kind)
    }

    pub(super) fn scope(&self) -> Outcome<Option<String>> {
        let scope = self.text("scope")?.map(str::to_owned);
        Attributes { scope: scope.clone(), ..Attributes::default() }.validate()?;
        Ok(scope)
    }

    pub(super) fn source(&self) -> Outcome<Option<String>> {
        let source = self.text("source")?.map(str::to_owned);
        Attributes { source: source.clone(), ..Attributes::default() }.validate()?;
        Ok(source)
    }

    /// The tags, each once: a list, the JSON of one, or words between commas.
    pub(super) fn tags(&self) -> Outcome<Vec<String>> {
        let mut tags: Vec<String> = Vec::new();
        for tag in self.tags_given()? {
            if !tag.is_empty() && !tags.contains(&tag) {
                tags.push(tag);
            }
            // Comparing each with each is for as many as there may be.
            if tags.len() > limit::TAGS_MAX {
                return says(format!("tags: takes up to {}", limit::TAGS_MAX));
            }
        }
        let attributes = Attributes { tags, ..Attributes::default() };
        attributes.validate()?;
        Ok(attributes.tags)
    }

    fn tags_given(&self) -> Outcome<Vec<String>> {
        let text = match self.0.get("tags") {
            Some(Value::Array(list)) => return of_list(list),
            Some(Value::String(text)) => text,
            Some(value) if is_set(value) => return says("tags must be a list of strings"),
            Some(_) | None => return Ok(Vec::new()),
        };
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(list)) => of_list(&list),
            _ => Ok(text.split(',').map(|tag| tag.trim().to_owned()).collect()),
        }
    }
}

/// Tags that came as a list. Numbers are what somebody forgot to quote.
fn of_list(list: &[Value]) -> Outcome<Vec<String>> {
    let tag = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => says("tags must be a list of strings"),
    };
    list.iter().map(tag).collect()
}

/// What hooks, which ask for truth, take for set.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Bool(true) | Value::Array(_) | Value::Object(_) => true,
    }
}

fn fill_in(value: &mut Value, pipeline: Option<&str>) {
    match value {
        Value::String(text) if text.contains(PIPELINE) => {
            if let Some(pipeline) = pipeline {
                *text = text.replace(PIPELINE, pipeline);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|one| fill_in(one, pipeline)),
        Value::Object(fields) => fields.values_mut().for_each(|one| fill_in(one, pipeline)),
        _ => {}
    }
}

/// Whether something is left that a deployment should have filled in: `${name}`. Other dollars and
/// braces are text, such as the price in `${{content}}`.
fn has_variable(value: &Value) -> bool {
    match value {
        Value::String(text) => text.match_indices("${").any(|(at, _)| {
            let rest = &text[at + 2..];
            let name = rest.split('}').next().unwrap_or_default();
            let is_closed = name.len() < rest.len() && !name.is_empty();
            is_closed && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))
        }),
        Value::Array(list) => list.iter().any(has_variable),
        Value::Object(fields) => fields.values().any(has_variable),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::Stop;
    use super::*;
    use serde_json::json;

    fn targs(fields: Value) -> Targs {
        let Value::Object(fields) = fields else { panic!("{fields} is no object") };
        Targs::new(fields, Some("a3d8")).unwrap()
    }

    fn said<T: std::fmt::Debug>(outcome: Outcome<T>) -> String {
        match outcome {
            Err(Stop::Says(words)) => words.into_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tags_are_taken_in_every_form() {
        for (given, expected) in [
            (json!("[\"a\", \"b c\"]"), vec!["a", "b c"]),
            (json!(["a", "b c", "a"]), vec!["a", "b c"]),
            (json!("a, b c ,a,,"), vec!["a", "b c"]),
            (json!("solo"), vec!["solo"]),
            (json!("[1, \"two\"]"), vec!["1", "two"]),
            (json!("[broken, list"), vec!["[broken", "list"]),
            (json!("\"quoted\""), vec!["\"quoted\""]),
            (json!([""]), vec![]),
            (json!("[]"), vec![]),
            (json!(""), vec![]),
            (json!(null), vec![]),
        ] {
            assert_eq!(targs(json!({ "tags": given })).tags().unwrap(), expected, "{given}");
        }
        for bad in [json!([{}]), json!("[[\"a\"]]"), json!({"a": 1}), json!(true), json!(7)] {
            assert!(said(targs(json!({ "tags": bad })).tags()).contains("tags"));
        }
        let many: Vec<String> = (0..65).map(|n| n.to_string()).collect();
        assert!(said(targs(json!({ "tags": many })).tags()).contains("tags"));
        assert!(said(targs(json!({"tags": ["x".repeat(129)]})).tags()).contains("tags"));
    }

    #[test]
    fn options_that_are_empty_are_not_set() {
        for value in [json!(null), json!(""), json!(false), json!(0)] {
            assert_eq!(targs(json!({ "kind": value })).kind().unwrap(), None, "{value}");
        }
        assert!(said(targs(json!({"kind": 5})).kind()).contains("kind must be a string"));
        assert!(said(targs(json!({"scope": ["a"]})).scope()).contains("scope must be a string"));
        assert!(said(targs(json!({})).memory_id()).contains("memory_id is required"));
    }

    #[test]
    fn what_is_too_long_or_unprintable_is_named() {
        assert!(said(targs(json!({"kind": "k".repeat(65)})).kind()).contains("kind"));
        assert!(said(targs(json!({"scope": "s".repeat(1025)})).scope()).contains("scope"));
        assert!(said(targs(json!({"source": "a\nb"})).source()).contains("source"));
        assert!(said(targs(json!({"scope": "\u{0}"})).scope()).contains("scope"));
        assert_eq!(targs(json!({"kind": "two words"})).kind().unwrap().unwrap(), "two%20words");
    }

    #[test]
    fn the_pipeline_is_filled_in_everywhere() {
        let filled = targs(json!({
            "memory_id": "instances/${pipeline_uid}/memories",
            "tags": ["${pipeline_uid}", "x"],
            "output_template": "${{content}} of ${pipeline_uid}, $5 {${}",
        }));
        assert_eq!(filled.memory_id().unwrap().as_str(), "instances/a3d8/memories");
        assert_eq!(filled.tags().unwrap(), ["a3d8", "x"]);
        let template = filled.text("output_template").unwrap().unwrap();
        assert_eq!(template, "${{content}} of a3d8, $5 {${}");
    }

    #[test]
    fn what_nothing_stands_for_is_refused() {
        let refused = |fields: Value, pipeline| {
            let Value::Object(fields) = fields else { panic!("{fields} is no object") };
            said(Targs::new(fields, pipeline))
        };
        let id = json!({"memory_id": "instances/${pipeline_uid}/m"});
        assert!(refused(id, None).contains("memory_id"));
        assert!(refused(json!({"scope": "${other}"}), Some("a")).contains("scope"));
        let loops = json!({"scope": "${pipeline_uid}"});
        assert!(refused(loops, Some("${pipeline_uid}")).contains("scope"));
        assert!(refused(json!({}), Some(&"x".repeat(129))).contains("pipeline_uid"));
    }
}
