//! Answers held against the server's own OpenAPI document: status, content type and body. The part of
//! JSON Schema that the document uses, and nothing else: a keyword that is not known here fails the test
//! that meets it, so that none is passed over.

use crate::client::Reply;
use serde_json::{Map, Value};

/// Keywords that say nothing about which values are valid.
const SILENT: [&str; 9] = [
    "description",
    "title",
    "example",
    "examples",
    "default",
    "format",
    "deprecated",
    "propertyNames",
    "readOnly",
];

/// The document of a server.
pub struct Document(Value);

impl Document {
    /// Of `GET /openapi.json`.
    pub fn new(document: Value) -> Self {
        Self(document)
    }

    /// What is wrong with an answer to an operation, named as `METHOD /path`; `None` when it is as
    /// documented.
    pub fn problem(&self, operation: &str, reply: &Reply) -> Option<String> {
        let (method, path) = operation.split_once(' ').expect("an operation is METHOD /path");
        let documented = &self.0["paths"][path][method.to_lowercase()];
        let Some(responses) = documented["responses"].as_object() else {
            return Some("is not documented".to_owned());
        };
        let status = reply.status.to_string();
        let range = format!("{}XX", &status[..1]);
        let Some(response) = responses.get(&status).or_else(|| responses.get(&range)) else {
            return Some(format!("answers {status}, which is not documented"));
        };
        let response = self.resolved(response);
        let Some(content) = response["content"].as_object().filter(|it| !it.is_empty()) else {
            let is_empty = reply.body.is_empty();
            return (!is_empty).then(|| format!("has a body with {status} that is not documented"));
        };
        let sent = reply.header("content-type").unwrap_or_default();
        let sent = sent.split(';').next().unwrap_or_default().trim();
        let Some(media) = content.get(sent) else {
            let known: Vec<&String> = content.keys().collect();
            return Some(format!("answers {status} as {sent:?}, documented are {known:?}"));
        };
        let is_json = sent == "application/json";
        let schema = media.get("schema").filter(|_| is_json)?;
        match serde_json::from_slice(&reply.body) {
            Ok(body) => self.invalid(schema, &body, "$"),
            Err(error) => Some(format!("is no JSON: {error}")),
        }
        .map(|why| format!("{status}: {why}"))
    }

    fn resolved<'d>(&'d self, at: &'d Value) -> &'d Value {
        match at.get("$ref").and_then(Value::as_str) {
            None => at,
            Some(name) => {
                let pointer = name.strip_prefix('#').expect("references stay in the document");
                let found = self.0.pointer(pointer);
                found.unwrap_or_else(|| panic!("{name} leads nowhere"))
            }
        }
    }

    /// Why a value does not fit a schema.
    fn invalid(&self, schema: &Value, value: &Value, at: &str) -> Option<String> {
        let schema = match schema {
            Value::Bool(true) => return None,
            Value::Object(schema) => schema,
            other => panic!("{at}: no schema: {other}"),
        };
        schema.iter().find_map(|(keyword, wanted)| self.breaks(schema, keyword, wanted, value, at))
    }

    fn breaks(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        wanted: &Value,
        value: &Value,
        at: &str,
    ) -> Option<String> {
        let said =
            |is_broken: bool| is_broken.then(|| format!("{at}: {keyword} {wanted}: {value}"));
        let of_all = |schemas: &Value| -> usize {
            let schemas = schemas.as_array().expect("a list of schemas").iter();
            schemas.filter(|schema| self.invalid(schema, value, at).is_none()).count()
        };
        let chars = || value.as_str().map(|text| text.chars().count() as u64);
        let items = || value.as_array().map(|items| items.len() as u64);
        let limit = || wanted.as_u64().expect("a limit is a number");
        match keyword {
            "$ref" => {
                let schema = Value::Object(schema.clone());
                self.invalid(self.resolved(&schema), value, at)
            }
            "type" => said(!is_of(wanted, value)),
            "enum" => said(!wanted.as_array().expect("a list of values").contains(value)),
            "const" => said(wanted != value),
            "oneOf" => said(of_all(wanted) != 1),
            "anyOf" => said(of_all(wanted) == 0),
            "allOf" => {
                let mut schemas = wanted.as_array().expect("a list of schemas").iter();
                schemas.find_map(|schema| self.invalid(schema, value, at))
            }
            "required" => {
                let fields = value.as_object()?;
                let names = wanted.as_array().expect("a list of names").iter();
                let missing = names.filter_map(Value::as_str).find(|it| !fields.contains_key(*it));
                missing.map(|name| format!("{at}: {name} is missing"))
            }
            "properties" => value.as_object()?.iter().find_map(|(name, value)| {
                self.invalid(wanted.get(name)?, value, &format!("{at}.{name}"))
            }),
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
                let mut others = value.as_object()?.iter().filter(|(name, _)| !is_known(name));
                match wanted {
                    Value::Bool(false) => {
                        others.next().map(|(name, _)| format!("{at}: {name} is not documented"))
                    }
                    wanted => others.find_map(|(name, value)| {
                        self.invalid(wanted, value, &format!("{at}.{name}"))
                    }),
                }
            }
            "items" => value.as_array()?.iter().enumerate().find_map(|(place, value)| {
                match wanted {
                    // After those that have schemas of their own there are no more.
                    Value::Bool(false) => None,
                    wanted => self.invalid(wanted, value, &format!("{at}[{place}]")),
                }
            }),
            "prefixItems" => {
                let schemas = wanted.as_array().expect("a list of schemas").iter();
                let mut pairs = schemas.zip(value.as_array()?).enumerate();
                pairs.find_map(|(place, (schema, value))| {
                    self.invalid(schema, value, &format!("{at}[{place}]"))
                })
            }
            "minLength" => said(chars().is_some_and(|chars| chars < limit())),
            "maxLength" => said(chars().is_some_and(|chars| chars > limit())),
            "minItems" => said(items().is_some_and(|items| items < limit())),
            "maxItems" => said(items().is_some_and(|items| items > limit())),
            "minimum" => said(value.as_f64() < wanted.as_f64() && value.is_number()),
            "maximum" => said(value.as_f64() > wanted.as_f64() && value.is_number()),
            "maxProperties" => {
                said(value.as_object().is_some_and(|fields| fields.len() as u64 > limit()))
            }
            "pattern" | "discriminator" => None,
            silent if SILENT.contains(&silent) => None,
            unknown => panic!("{at}: the document uses {unknown}, which is not known here"),
        }
    }
}

/// Whether a value is of a type, or of one of several.
fn is_of(wanted: &Value, value: &Value) -> bool {
    match wanted {
        Value::Array(any) => any.iter().any(|wanted| is_of(wanted, value)),
        wanted => match wanted.as_str().expect("a type has a name") {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "number" => value.is_number(),
            "integer" => value.is_i64() || value.is_u64(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            unknown => panic!("no type: {unknown}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_does_not_fit_is_named() {
        let document = Document::new(json!({"components": {"schemas": {
            "Name": {"type": "string", "minLength": 1, "maxLength": 3},
        }}}));
        let schema = json!({
            "type": "object", "required": ["name"], "additionalProperties": false,
            "properties": {
                "name": {"$ref": "#/components/schemas/Name"},
                "more": {"oneOf": [{"type": "null"}, {"type": "array", "items": {"type": "integer", "minimum": 0}}]},
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": ["number", "null"]}], "items": false},
            },
        });
        for good in [
            json!({"name": "a"}),
            json!({"name": "äöü", "more": null, "map": {"a": "b"}, "pair": ["a", 1.5]}),
            json!({"name": "a", "more": [0, 1], "pair": ["a", null]}),
        ] {
            assert_eq!(document.invalid(&schema, &good, "$"), None, "{good}");
        }
        for bad in [
            json!([]),
            json!({}),
            json!({"name": ""}),
            json!({"name": "abcd"}),
            json!({"name": null}),
            json!({"name": "a", "other": 1}),
            json!({"name": "a", "more": "x"}),
            json!({"name": "a", "more": [-1]}),
            json!({"name": "a", "map": {"a": 1}}),
            json!({"name": "a", "pair": [1, 1]}),
        ] {
            assert!(document.invalid(&schema, &bad, "$").is_some(), "{bad}");
        }
    }
}
