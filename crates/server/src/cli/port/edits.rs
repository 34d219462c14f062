//! Edits as the wire has them: what is kept is absent, what is cleared is null.

use loci_model::{AttributesPatch, Expect, Patch, Visibility};
use loci_mount::port::{Act, At, Edit};
use serde_json::{Map, Value, json};

/// One edit as JSON.
pub(super) fn wire(edit: &Edit) -> Value {
    let mut wire = Map::new();
    match &edit.at {
        At::Memory(memory) => wire.insert("memory_id".into(), json!(memory.to_string())),
        At::Path(path) => wire.insert("path".into(), json!(path.as_str())),
    };
    let expect = match edit.expect {
        Expect::Anything => None,
        Expect::Absent => Some(json!({"type": "absent"})),
        Expect::Present => Some(json!({"type": "present"})),
        Expect::Digest(digest) => {
            Some(json!({"type": "content_sha256", "content_sha256": digest.to_string()}))
        }
        Expect::Revision(revision) => Some(json!({"type": "revision", "revision": revision})),
    };
    if let Some(expect) = expect {
        wire.insert("expect".into(), expect);
    }
    match &edit.act {
        Act::Put { text, to, attributes } => {
            wire.insert("op".into(), json!("put"));
            if let Some(text) = text {
                wire.insert("content".into(), json!(text));
            }
            if let Some(to) = to {
                wire.insert("to".into(), json!(to.as_str()));
            }
            let attributes = patch(attributes);
            if !attributes.is_empty() {
                wire.insert("attributes".into(), Value::Object(attributes));
            }
        }
        Act::Append(text) => {
            wire.insert("op".into(), json!("append"));
            wire.insert("text".into(), json!(text));
            wire.insert("separator".into(), json!(""));
        }
        Act::Remove => {
            wire.insert("op".into(), json!("remove"));
        }
    }
    Value::Object(wire)
}

fn patch(patch: &AttributesPatch) -> Map<String, Value> {
    let visibility = match &patch.visibility {
        Patch::Keep => None,
        Patch::Set(Visibility::Context) => Some(json!("context")),
        Patch::Set(Visibility::Internal) => Some(json!("internal")),
        Patch::Set(Visibility::Quarantine) => Some(json!("quarantine")),
    };
    let metadata = match &patch.metadata {
        Patch::Keep => None,
        Patch::Set(None) => Some(Value::Null),
        // What is no JSON object is refused where it arrives.
        Patch::Set(Some(text)) => {
            Some(serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())))
        }
    };
    let expires_at = match &patch.expires_at {
        Patch::Keep => None,
        Patch::Set(end) => Some(json!(end.map(|end| end.to_string()))),
    };
    let fields = [
        ("kind", set(&patch.kind)),
        ("tags", set(&patch.tags)),
        ("importance", set(&patch.importance)),
        ("pinned", set(&patch.pinned)),
        ("visibility", visibility),
        ("expires_at", expires_at),
        ("source", set(&patch.source)),
        ("scope", set(&patch.scope)),
        ("summary", set(&patch.summary)),
        ("media_type", set(&patch.media_type)),
        ("metadata", metadata),
    ];
    let set = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    set.collect()
}

fn set<T: serde::Serialize>(patch: &Patch<T>) -> Option<Value> {
    match patch {
        Patch::Keep => None,
        Patch::Set(value) => Some(json!(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::MemoryPath;

    fn at(path: &str) -> At {
        At::Path(MemoryPath::parse(path).unwrap())
    }

    #[test]
    fn what_is_kept_is_not_said() {
        let put = Act::Put { text: Some("x".into()), to: None, attributes: Box::default() };
        let edit = Edit { at: at("/a"), expect: Expect::Absent, act: put };
        let expect = json!({"op": "put", "path": "/a", "content": "x",
            "expect": {"type": "absent"}});
        assert_eq!(wire(&edit), expect);
        let remove = Edit { at: at("/a"), expect: Expect::Anything, act: Act::Remove };
        assert_eq!(wire(&remove), json!({"op": "remove", "path": "/a"}));
    }

    #[test]
    fn what_is_cleared_is_null() {
        let attributes = AttributesPatch {
            kind: Patch::Set(None),
            tags: Patch::Set(vec!["a".into()]),
            pinned: Patch::Set(true),
            metadata: Patch::Set(Some(r#"{"n":1}"#.into())),
            ..AttributesPatch::default()
        };
        let to = Some(MemoryPath::parse("/b").unwrap());
        let act = Act::Put { text: None, to, attributes: Box::new(attributes) };
        let edit = Edit { at: at("/a"), expect: Expect::Revision(3), act };
        let expect = json!({"op": "put", "path": "/a", "to": "/b",
            "expect": {"type": "revision", "revision": 3},
            "attributes": {"kind": null, "tags": ["a"], "pinned": true, "metadata": {"n": 1}}});
        assert_eq!(wire(&edit), expect);
    }
}
