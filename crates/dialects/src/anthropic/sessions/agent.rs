//! An agent, as given and as shown, by itself or in a session. What neither the request says nor was said when the
//! agent was made here is filled with the emptiest value its type allows.

use super::tools::{Tool, word_or_object};
use crate::anthropic::body;
use crate::anthropic::error::Problem;
use crate::anthropic::query::refuse;
use loci_model::limit;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The version of every agent that is made here, and of one that is named without a version.
pub(in crate::anthropic) const FIRST_VERSION: u64 = 1;

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
    model: Model,
    #[schema(value_type = Vec<Object>)]
    tools: Vec<Tool>,
    #[schema(value_type = Vec<Object>)]
    skills: Vec<Skill>,
    #[schema(value_type = Vec<Object>)]
    mcp_servers: Vec<McpServer>,
    /// Always null.
    #[schema(value_type = Option<Object>)]
    multiagent: (),
    /// Always `{"type": "service_account"}`.
    #[schema(value_type = Object)]
    execution_identity: ExecutionIdentity,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    id: String,
    #[serde(default, deserialize_with = "word_or_object", skip_serializing_if = "Option::is_none")]
    effort: Option<Effort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inference_geo: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<Speed>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Effort {
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Speed {
    Standard,
    Fast,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Skill {
    Anthropic { skill_id: String, version: Option<String> },
    Custom { skill_id: String, version: Option<String> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum McpServer {
    Url { name: String, url: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ExecutionIdentity {
    ServiceAccount,
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
    tools: Option<Vec<Tool>>,
    skills: Option<Vec<Skill>>,
    mcp_servers: Option<Vec<McpServer>>,
}

/// An agent to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct CreateAgent {
    #[schema(min_length = 1, max_length = 255)]
    name: String,
    /// A model's name, or an object with at least an `id`.
    #[schema(value_type = serde_json::Value)]
    model: Value,
    description: Option<String>,
    system: Option<String>,
    #[schema(value_type = Option<Vec<Object>>)]
    tools: Option<Vec<Tool>>,
    #[schema(value_type = Option<Vec<Object>>)]
    skills: Option<Vec<Skill>>,
    #[schema(value_type = Option<Vec<Object>>)]
    mcp_servers: Option<Vec<McpServer>>,
    /// Up to 16 pairs; keys of 1 to 64, values of up to 512 characters.
    pub(in crate::anthropic) metadata: Option<BTreeMap<String, String>>,
    /// Only `{"type": "service_account"}`.
    #[schema(value_type = Option<Object>)]
    #[serde(rename = "execution_identity")]
    _execution_identity: Option<ExecutionIdentity>,
}

impl AgentBody {
    /// An agent with what it is made with.
    pub(in crate::anthropic) fn made(id: &str, new: CreateAgent) -> Result<Self, Problem> {
        check_foreign_id("name", &new.name)?;
        let tools: Result<Vec<Tool>, _> =
            new.tools.into_iter().flatten().map(Tool::completed).collect();
        Ok(Self {
            name: new.name,
            description: new.description,
            system: new.system,
            model: Model::read(new.model)?,
            tools: tools?,
            skills: new.skills.into_iter().flatten().map(Skill::pinned).collect(),
            mcp_servers: new.mcp_servers.unwrap_or_default(),
            ..Self::named(id, FIRST_VERSION)
        })
    }

    /// The agent with this id and nothing else known about it.
    pub(super) fn named(id: &str, version: u64) -> Self {
        Self {
            id: id.to_owned(),
            r#type: "agent".into(),
            version,
            name: id.to_owned(),
            description: Some(String::new()),
            system: None,
            model: Model::named("unknown"),
            tools: Vec::new(),
            skills: Vec::new(),
            mcp_servers: Vec::new(),
            multiagent: (),
            execution_identity: ExecutionIdentity::ServiceAccount,
        }
    }

    /// Reads the `agent` of a request: an id, or an object. `known` is the agent that was made here
    /// under the id, if one was; the object says what differs.
    pub(super) fn read(agent: Value, known: Option<Self>) -> Result<Self, Problem> {
        let given = match agent {
            Value::String(id) => {
                let id = checked_id(&id)?;
                return Ok(known.unwrap_or_else(|| Self::named(id, FIRST_VERSION)));
            }
            agent => body::read_value::<Given>("agent", agent)?,
        };
        if !matches!(given.r#type.as_str(), "agent" | "agent_with_overrides") {
            return Err(refuse("agent", "type must be agent"));
        }
        let version = given.version.unwrap_or(FIRST_VERSION);
        // SQL integers are signed; no agent has that many versions.
        if version == 0 || i64::try_from(version).is_err() {
            return Err(refuse("agent", "version must be at least 1"));
        }
        let id = checked_id(&given.id)?;
        let bare = match known {
            Some(known) => Self { version, ..known },
            None => Self::named(id, version),
        };
        let tools: Option<Result<Vec<Tool>, Problem>> =
            given.tools.map(|tools| tools.into_iter().map(Tool::completed).collect());
        let skills = given.skills.map(|skills| skills.into_iter().map(Skill::pinned).collect());
        Ok(Self {
            name: given.name.unwrap_or(bare.name),
            description: given.description.or(bare.description),
            system: given.system.or(bare.system),
            model: given.model.map_or(Ok(bare.model), Model::read)?,
            tools: tools.unwrap_or(Ok(bare.tools))?,
            skills: skills.unwrap_or(bare.skills),
            mcp_servers: given.mcp_servers.unwrap_or(bare.mcp_servers),
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

impl Model {
    fn named(id: &str) -> Self {
        Self { id: id.to_owned(), effort: None, inference_geo: None, speed: None }
    }

    /// A model may be given by its name alone; it is always shown as an object.
    fn read(model: Value) -> Result<Self, Problem> {
        match model {
            Value::String(id) => Ok(Self::named(&id)),
            model => body::read_value("agent.model", model),
        }
    }
}

impl Skill {
    /// The skill with a version: there is no registry to ask for the number of the latest.
    fn pinned(mut self) -> Self {
        let (Self::Anthropic { version, .. } | Self::Custom { version, .. }) = &mut self;
        version.get_or_insert_with(|| "latest".to_owned());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ids_and_objects_are_read() {
        let named = AgentBody::read(json!("agent_x"), None).unwrap();
        assert_eq!(
            (named.id.as_str(), named.version, named.name.as_str()),
            ("agent_x", 1, "agent_x")
        );
        let object = json!({"type": "agent", "id": "agent_y", "version": 3, "name": "Yo",
            "model": "some-model", "system": "be brief"});
        let object = AgentBody::read(object, None).unwrap();
        assert_eq!((object.version, object.name.as_str()), (3, "Yo"));
        assert_eq!(object.model, Model::named("some-model"));
        assert_eq!(object.system.as_deref(), Some("be brief"));
        let shown = serde_json::to_value(&object).unwrap();
        assert_eq!(shown["execution_identity"], json!({"type": "service_account"}));
        assert!(shown["multiagent"].is_null());
    }

    #[test]
    fn what_was_said_when_it_was_made_is_shown_unless_it_differs() {
        let new = json!({"name": "Scout", "model": "some-model", "system": "be brief"});
        let made = || {
            let new = serde_json::from_value(new.clone()).unwrap();
            AgentBody::made("agent_x", new).unwrap()
        };
        let plain = AgentBody::read(json!("agent_x"), Some(made())).unwrap();
        assert_eq!((&*plain.name, plain.system.as_deref()), ("Scout", Some("be brief")));
        let given = json!({"type": "agent", "id": "agent_x", "version": 1, "system": "be long"});
        let differs = AgentBody::read(given, Some(made())).unwrap();
        assert_eq!((&*differs.name, differs.system.as_deref()), ("Scout", Some("be long")));
        assert_eq!(differs.model, Model::named("some-model"));
        for bad in [
            json!({"name": "", "model": "m"}),
            json!({"name": "x"}),
            json!({"name": "x", "model": "m", "multiagent": {"type": "coordinator"}}),
            json!({"name": "x", "model": "m", "execution_identity": {"type": "aws_role"}}),
        ] {
            let read = serde_json::from_value::<CreateAgent>(bad.clone());
            let made = read.ok().and_then(|new| AgentBody::made("agent_x", new).ok());
            assert!(made.is_none(), "{bad}");
        }
    }

    #[test]
    fn what_shall_differ_is_shown_whole() {
        let given = json!({"type": "agent_with_overrides", "id": "agent_x",
            "model": {"id": "m", "effort": "high", "speed": "fast", "inference_geo": null},
            "skills": [{"type": "anthropic", "skill_id": "xlsx"},
                {"type": "custom", "skill_id": "skill_1", "version": "2"}],
            "mcp_servers": [{"type": "url", "name": "n", "url": "https://example.org"}],
            "tools": [{"type": "mcp_toolset", "mcp_server_name": "n"}]});
        let shown = serde_json::to_value(AgentBody::read(given, None).unwrap()).unwrap();
        assert_eq!(shown["type"], "agent");
        assert_eq!(shown["model"], json!({"id": "m", "effort": {"type": "high"}, "speed": "fast"}));
        assert_eq!(shown["skills"][0]["version"], "latest");
        assert_eq!(shown["skills"][1]["version"], "2");
        assert!(shown["tools"][0]["default_config"]["enabled"].is_boolean());
        let again: AgentBody = serde_json::from_value(shown.clone()).unwrap();
        assert_eq!(serde_json::to_value(again).unwrap(), shown);
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
            json!({"type": "agent", "id": "agent_x", "model": {"id": "m", "speed": "warp"}}),
            json!({"type": "agent", "id": "agent_x", "model": {"id": "m", "effort": "none"}}),
            json!({"type": "agent", "id": "agent_x", "tools": [{"type": "teapot"}]}),
            json!({"type": "agent", "id": "agent_x", "tools": ["bash"]}),
            json!({"type": "agent", "id": "agent_x", "skills": [{"type": "anthropic"}]}),
            json!({"type": "agent", "id": "agent_x", "mcp_servers": [{"type": "url"}]}),
            json!({"type": "agent", "id": "agent_x", "multiagent": {"type": "coordinator"}}),
            json!({"type": "agent", "id": "agent_x", "execution_identity": {"type": "me"}}),
        ] {
            assert!(AgentBody::read(bad.clone(), None).is_err(), "{bad}");
        }
    }
}
