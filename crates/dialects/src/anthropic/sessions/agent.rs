//! The agent of a session, as given and as shown. There is no registry to look an agent up in, so
//! what the caller did not say is filled with the emptiest value its type allows.

use crate::anthropic::body;
use crate::anthropic::error::Problem;
use crate::anthropic::query::refuse;
use loci_model::limit;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The agent of a session, with every key.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = SessionAgent)]
pub(in crate::anthropic) struct AgentBody {
    pub(super) id: String,
    /// Always `agent`.
    r#type: String,
    pub(super) version: u64,
    name: String,
    description: Option<String>,
    system: Option<String>,
    /// At least an `id`.
    #[schema(value_type = Object)]
    model: Value,
    #[schema(value_type = Vec<Object>)]
    tools: Vec<Value>,
    #[schema(value_type = Vec<Object>)]
    skills: Vec<Value>,
    #[schema(value_type = Vec<Object>)]
    mcp_servers: Vec<Value>,
    #[schema(value_type = Option<Object>)]
    multiagent: Option<Value>,
    #[schema(value_type = Object)]
    execution_identity: Value,
}

/// An agent as a request gives it: a reference, optionally with what shall differ.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    r#type: String,
    id: String,
    version: Option<u64>,
    name: Option<String>,
    description: Option<String>,
    system: Option<String>,
    model: Option<Value>,
    tools: Option<Vec<Value>>,
    skills: Option<Vec<Value>>,
    mcp_servers: Option<Vec<Value>>,
    multiagent: Option<Value>,
    execution_identity: Option<Value>,
}

impl AgentBody {
    /// The agent with this id and nothing else known about it.
    pub(super) fn named(id: &str, version: u64) -> Self {
        Self {
            id: id.to_owned(),
            r#type: "agent".into(),
            version,
            name: id.to_owned(),
            description: Some(String::new()),
            system: None,
            model: json!({"id": "unknown"}),
            tools: Vec::new(),
            skills: Vec::new(),
            mcp_servers: Vec::new(),
            multiagent: None,
            execution_identity: json!({"type": "service_account"}),
        }
    }

    /// Reads the `agent` of a request: an id, or an object.
    pub(super) fn read(agent: Value) -> Result<Self, Problem> {
        let given = match agent {
            Value::String(id) => return Ok(Self::named(checked_id(&id)?, 1)),
            agent => body::read_value::<Given>("agent", agent)?,
        };
        if !matches!(given.r#type.as_str(), "agent" | "agent_with_overrides") {
            return Err(refuse("agent", "type must be agent"));
        }
        let version = given.version.unwrap_or(1);
        // SQL integers are signed; no agent has that many versions.
        if version == 0 || i64::try_from(version).is_err() {
            return Err(refuse("agent", "version must be at least 1"));
        }
        let bare = Self::named(checked_id(&given.id)?, version);
        Ok(Self {
            name: given.name.unwrap_or(bare.name),
            description: given.description.or(bare.description),
            system: given.system,
            model: given.model.map_or(Ok(bare.model), model)?,
            tools: given.tools.unwrap_or_default(),
            skills: given.skills.unwrap_or_default(),
            mcp_servers: given.mcp_servers.unwrap_or_default(),
            multiagent: given.multiagent,
            execution_identity: given.execution_identity.unwrap_or(bare.execution_identity),
            ..bare
        })
    }
}

/// An id that is not ours to make: any text of sensible length.
fn checked_id(id: &str) -> Result<&str, Problem> {
    check_foreign_id("agent", id).map(|()| id)
}

/// Checks an id of something this server keeps no registry of.
pub(super) fn check_foreign_id(field: &'static str, id: &str) -> Result<(), Problem> {
    if id.is_empty() || id.chars().count() > limit::NAME_CHARS_MAX {
        let why = format!("an id takes 1 to {} characters", limit::NAME_CHARS_MAX);
        return Err(refuse(field, why));
    }
    Ok(())
}

/// A model may be given by its name alone; it is always shown as an object.
fn model(model: Value) -> Result<Value, Problem> {
    match model {
        Value::String(id) => Ok(json!({"id": id})),
        Value::Object(fields) if fields.get("id").is_some_and(Value::is_string) => {
            Ok(Value::Object(fields))
        }
        _ => Err(refuse("agent", "model must be an id or an object with an id")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_objects_are_read() {
        let named = AgentBody::read(json!("agent_x")).unwrap();
        assert_eq!(
            (named.id.as_str(), named.version, named.name.as_str()),
            ("agent_x", 1, "agent_x")
        );
        let object = json!({"type": "agent", "id": "agent_y", "version": 3, "name": "Yo",
            "model": "some-model", "system": "be brief"});
        let object = AgentBody::read(object).unwrap();
        assert_eq!((object.version, object.name.as_str()), (3, "Yo"));
        assert_eq!(object.model, json!({"id": "some-model"}));
        assert_eq!(object.system.as_deref(), Some("be brief"));
        assert_eq!(object.execution_identity, json!({"type": "service_account"}));
    }

    #[test]
    fn bad_agents_are_refused() {
        for bad in [
            json!(null),
            json!(7),
            json!(["agent_x"]),
            json!(""),
            json!("x".repeat(256)),
            json!({"id": "agent_x"}),
            json!({"type": "agent"}),
            json!({"type": "teapot", "id": "agent_x"}),
            json!({"type": "agent", "id": "agent_x", "version": 0}),
            json!({"type": "agent", "id": "agent_x", "version": -1}),
            json!({"type": "agent", "id": "agent_x", "version": u64::MAX}),
            json!({"type": "agent", "id": "agent_x", "colour": "red"}),
            json!({"type": "agent", "id": "agent_x", "model": {"speed": "fast"}}),
        ] {
            assert!(AgentBody::read(bad.clone()).is_err(), "{bad}");
        }
    }
}
