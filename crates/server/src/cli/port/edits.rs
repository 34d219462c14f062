//! Edits as the wire has them: what is kept is absent, what is cleared is null.

use bytes::Bytes;
use loci_model::{AttributesPatch, Expect, Patch, Visibility};
use loci_mount::port::{Act, At, Edit};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A batch as it goes over the wire.
pub(super) fn wire(edits: &[Edit], reason: &str) -> Bytes {
    #[derive(Serialize)]
    struct Batch<'a> {
        edits: Vec<Wire<'a>>,
        reason: &'a str,
        on_archived: &'a str,
    }
    let edits = edits.iter().map(Wire::of).collect();
    // An archived store is shown as read-only, and whoever removes a file in it hears that.
    let batch = Batch { edits, reason, on_archived: "refuse" };
    serde_json::to_vec(&batch).expect("texts and numbers are JSON").into()
}

/// One edit; what is absent is not said.
#[derive(Serialize, Default)]
struct Wire<'a> {
    op: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expect: Option<Holds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    attributes: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    separator: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    separate: Option<&'static str>,
}

/// What must hold.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Holds {
    Absent,
    Present,
    ContentSha256 { content_sha256: String },
    Revision { revision: u64 },
}

impl<'a> Wire<'a> {
    fn of(edit: &'a Edit) -> Self {
        let (path, memory_id) = match &edit.at {
            At::Memory(memory) => (None, Some(memory.to_string())),
            At::Path(path) => (Some(path.as_str()), None),
        };
        let expect = match edit.expect {
            Expect::Anything => None,
            Expect::Absent => Some(Holds::Absent),
            Expect::Present => Some(Holds::Present),
            Expect::Digest(digest) => {
                Some(Holds::ContentSha256 { content_sha256: digest.to_string() })
            }
            Expect::Revision(revision) => Some(Holds::Revision { revision }),
        };
        let about = Self { path, memory_id, expect, ..Self::default() };
        match &edit.act {
            Act::Put { text, to, attributes } => Self {
                op: "put",
                content: text.as_deref(),
                to: to.as_ref().map(|to| to.as_str()),
                attributes: patch(attributes),
                ..about
            },
            Act::Append { text, is_own_line: true } => Self {
                op: "append",
                text: Some(text),
                separator: Some("\n"),
                separate: Some("if_missing"),
                ..about
            },
            Act::Append { text, is_own_line: false } => {
                Self { op: "append", text: Some(text), ..about }
            }
            Act::Remove => Self { op: "remove", ..about },
        }
    }
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

fn set<T: Serialize>(patch: &Patch<T>) -> Option<Value> {
    match patch {
        Patch::Keep => None,
        Patch::Set(value) => Some(json!(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::MemoryPath;

    fn wire(edit: &Edit) -> Value {
        let batch: Value =
            serde_json::from_slice(&super::wire(std::slice::from_ref(edit), "mount")).unwrap();
        assert_eq!((&batch["reason"], &batch["on_archived"]), (&json!("mount"), &json!("refuse")));
        batch["edits"][0].clone()
    }

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
        let append = |is_own_line| Edit {
            at: at("/a"),
            expect: Expect::Anything,
            act: Act::Append { text: "x".into(), is_own_line },
        };
        assert_eq!(wire(&append(false)), json!({"op": "append", "path": "/a", "text": "x"}));
        let expect = json!({"op": "append", "path": "/a", "text": "x", "separator": "\n",
            "separate": "if_missing"});
        assert_eq!(wire(&append(true)), expect);
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
