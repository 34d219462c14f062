//! The six tools of models: what they are called, what they take, what they do. A table and one
//! function, so that any transport can offer them.
//!
//! An answer is one text of JSON; a refusal is a readable text. What removes or publishes something
//! wants to be told that the user said yes, as a plain `true`.

mod schema;

use super::access::{Access, admitted, there_to_write};
use super::episode::{self, DESCRIPTION_CHARS_MAX, LABEL_CHARS_MAX, NewEpisode};
use super::find::find;
use super::query::{Query, required, text_of};
use super::remove;
use loci_engine::knowledge::FactId;
use loci_engine::{Context, Engine, Error, Place};
use loci_model::query::Amount;
use loci_model::{MemoryPath, Outcome, Visibility, limit};
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// Bytes of what was said in one answer.
const CONTENT_BYTES_MAX: usize = 512 * 1024;
const FOLDER: &str = "/episodes/";
/// Shown in the feed.
const REASON: &str = "qiforge";
const NO_SUCH_TOOL: &str = "there is no such tool";

/// A tool as a model sees it.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// What it is called by.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// What it takes: a JSON Schema, the same bytes every time.
    pub schema: fn() -> &'static str,
    /// Whether it changes nothing.
    pub is_read_only: bool,
}

/// Every tool, in the order in which they are shown.
pub const TOOLS: [Tool; 6] = [
    Tool {
        name: "search_memory_engine",
        description: "Search long-term memory of this user and this oracle's own knowledge: facts, \
            people and things, topics, and what was said. Give a full question as the query. The \
            answer is JSON; `facts[].uuid` and `episodes[].uuid` name what can be deleted.",
        schema: schema::search,
        is_read_only: true,
    },
    Tool {
        name: "add_memory",
        description: "Remember something about this user or this conversation: a short name and the \
            content in full sentences. It can be found at once.",
        schema: schema::add,
        is_read_only: false,
    },
    Tool {
        name: "add_oracle_knowledge",
        description: "Add to what this oracle knows, for every user (public) or for its owners only \
            (private). Only owners of the oracle may; ask the user before, and pass \
            confirmed_insertion_from_user true only if they said yes.",
        schema: schema::add_knowledge,
        is_read_only: false,
    },
    Tool {
        name: "delete_episode",
        description: "Delete one episode by the uuid that a search shows. Ask the user before, and \
            pass confirmed_deletion_from_user true only if they said yes.",
        schema: schema::delete_episode,
        is_read_only: false,
    },
    Tool {
        name: "delete_edge",
        description: "Delete one fact by the uuid that a search shows. Ask the user before, and pass \
            confirmed_deletion_from_user true only if they said yes.",
        schema: schema::delete_edge,
        is_read_only: false,
    },
    Tool {
        name: "clear",
        description: "Delete everything that is remembered about this user in this room. Ask the \
            user before, and pass confirmed_deletion_from_user true only if they said yes.",
        schema: schema::clear,
        is_read_only: false,
    },
];

/// The tools over an engine.
#[derive(Clone)]
pub struct Tools(pub Engine);

impl Tools {
    /// Runs a tool. `Err` is what a model is told that asked for something that cannot be done.
    pub async fn call(
        &self,
        access: &Access,
        name: &str,
        arguments: &Value,
    ) -> Result<String, String> {
        let engine = &self.0;
        let answer = match name {
            "search_memory_engine" => {
                let query = Query::of_tool(arguments)?;
                let found = find(engine, access, &query).await.map_err(told)?;
                let bytes = found.bytes().min(CONTENT_BYTES_MAX);
                let write = move || serde_json::to_string(&found.counted(CONTENT_BYTES_MAX));
                let written = engine.written(bytes, write).await.map_err(told)?;
                return written.map_err(|_| NO_SUCH_TOOL.to_owned());
            }
            "add_memory" => {
                let new = New::read(arguments)?;
                let place = access.place().map_err(told)?;
                let kept = new.keep(engine, &access.context, &place, Visibility::Context).await;
                added(&kept.map_err(told)?)
            }
            "add_oracle_knowledge" => self.add_knowledge(access, arguments).await?,
            "delete_episode" => {
                let id = uuid_of(arguments, "episode_uuid")?;
                confirmed(arguments, "confirmed_deletion_from_user")?;
                let is_gone = remove::episode(engine, access, id).await.map_err(told)?;
                deleted(is_gone, "episode", id)?
            }
            "delete_edge" => {
                let id = uuid_of(arguments, "edge_uuid")?;
                confirmed(arguments, "confirmed_deletion_from_user")?;
                let fact = FactId::parse(&id.to_string()).ok_or("edge_uuid must be a UUID")?;
                let is_gone = remove::fact(engine, access, fact).await.map_err(told)?;
                deleted(is_gone, "fact", id)?
            }
            "clear" => {
                confirmed(arguments, "confirmed_deletion_from_user")?;
                let count = remove::everything(engine, access).await.map_err(told)?;
                json!({ "message": "memory cleared", "success": true, "deleted": count })
            }
            _ => return Err(NO_SUCH_TOOL.to_owned()),
        };
        Ok(answer.to_string())
    }

    async fn add_knowledge(&self, access: &Access, arguments: &Value) -> Result<Value, String> {
        let new = New::read(arguments)?;
        confirmed(arguments, "confirmed_insertion_from_user")?;
        let space = match text_of(arguments, "knowledge_space_type")? {
            None => text_of(arguments, "knowledge_scope_type")?,
            space => space,
        };
        let visibility = match space {
            Some("public") => Visibility::Context,
            Some("private") => Visibility::Internal,
            _ => return Err("knowledge_space_type must be public or private".to_owned()),
        };
        let knowledge = access.knowledge_to_write(&self.0).await.map_err(told)?;
        let kept = new.keep(&self.0, &knowledge.context, &knowledge.place, visibility).await;
        Ok(added(&kept.map_err(told)?))
    }
}

/// What is to be remembered.
struct New<'a> {
    name: &'a str,
    content: &'a str,
    source: &'a str,
    description: &'a str,
}

impl<'a> New<'a> {
    fn read(arguments: &'a Value) -> Result<Self, String> {
        let new = Self {
            name: required(arguments, "name")?,
            content: required(arguments, "content")?,
            source: text_of(arguments, "source")?.filter(|text| !text.is_empty()).unwrap_or("text"),
            description: text_of(arguments, "source_description")?.unwrap_or_default(),
        };
        for (name, text, chars_max) in [
            ("name", new.name, LABEL_CHARS_MAX),
            ("source", new.source, limit::TAG_CHARS_MAX),
            ("source_description", new.description, DESCRIPTION_CHARS_MAX),
        ] {
            if text.chars().count() > chars_max {
                return Err(format!("{name} takes up to {chars_max} characters"));
            }
        }
        if new.content.len() > limit::CONTENT_BYTES_MAX {
            let (bytes, max) = (new.content.len(), limit::CONTENT_BYTES_MAX);
            return Err(format!("content is {bytes} bytes, limit {max}"));
        }
        Ok(new)
    }

    async fn keep(
        self,
        engine: &Engine,
        context: &Context,
        place: &Place,
        visibility: Visibility,
    ) -> Result<Outcome, Error> {
        // Asked before anything is counted, because asking costs nothing.
        there_to_write(engine, context, place).await?;
        let texts = [self.name, self.content, self.source, self.description];
        let bytes = texts.iter().map(|text| text.len() as u64).sum();
        let store = admitted(engine, context, place, Amount { memories: 1, bytes }).await?;
        let seams = engine.seams();
        let id = Uuid::from_u128(seams.memory_id(seams.now()).as_u128());
        let new = NewEpisode {
            path: MemoryPath::parse(&format!("{FOLDER}{id}"))?,
            content: self.content,
            name: Some(self.name),
            speaker: None,
            source: self.source,
            description: self.description,
            visibility,
            metadata: Map::new(),
        };
        engine.commit_one(context, store, new.edit(), REASON).await
    }
}

fn added(outcome: &Outcome) -> Value {
    let uuid = episode::uuid(&outcome.memory);
    json!({ "message": "episode added", "success": true, "uuid": uuid })
}

fn deleted(is_gone: bool, what: &str, id: Uuid) -> Result<Value, String> {
    match is_gone {
        true => Ok(
            json!({ "message": format!("{what} deleted"), "success": true, "uuid": id.to_string() }),
        ),
        false => Err(format!("there is no {what} {id} here")),
    }
}

/// Only a plain `true` is a yes.
fn confirmed(arguments: &Value, name: &str) -> Result<(), String> {
    match arguments.get(name) {
        Some(Value::Bool(true)) => Ok(()),
        _ => Err(format!("{name} must be true: ask the user first")),
    }
}

fn uuid_of(arguments: &Value, name: &str) -> Result<Uuid, String> {
    let text = required(arguments, name)?;
    Uuid::try_parse(text.trim()).map_err(|_| format!("{name} must be a UUID"))
}

/// What a model is told about a failure; inner words go to the log.
#[expect(clippy::needless_pass_by_value, reason = "it is the end of the failure")]
fn told(error: Error) -> String {
    if let Error::Internal(why) = &error {
        tracing::error!(why, "internal error");
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_engine::knowledge::Strategy;

    #[test]
    fn schemas_are_plain_objects_that_adapters_keep_whole() {
        for tool in TOOLS {
            let text = (tool.schema)();
            assert_eq!(text, (tool.schema)(), "{}", tool.name);
            let schema: Value = serde_json::from_str(text).unwrap();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            let properties = schema["properties"].as_object().unwrap();
            for name in schema["required"].as_array().unwrap() {
                assert!(properties.contains_key(name.as_str().unwrap()), "{name}");
            }
            for banned in ["anyOf", "oneOf", "allOf", "$ref", "const"] {
                assert!(!text.contains(banned), "{} has {banned}", tool.name);
            }
            assert!(tool.description.len() > 40);
        }
        let search: Value = serde_json::from_str(schema::search()).unwrap();
        let names: Vec<Value> = Strategy::ALL.iter().map(|one| json!(one.name())).collect();
        assert_eq!(search["properties"]["strategy"]["enum"], Value::Array(names));
    }

    #[test]
    fn only_true_is_a_yes() {
        let said = |value: Value| confirmed(&json!({ "yes": value }), "yes");
        assert!(said(json!(true)).is_ok());
        for no in [json!(false), json!("true"), json!(1), json!(null), json!([true])] {
            assert!(said(no).is_err());
        }
        assert!(confirmed(&json!({}), "yes").is_err());
    }
}
