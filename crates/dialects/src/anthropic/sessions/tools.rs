//! The tools of a session's agent. No agent runs here, so tools are only kept and shown; but client
//! libraries insist on the whole shape of each, so what a request leaves out is filled in and what
//! no library could read back is refused.

use crate::anthropic::error::Problem;
use crate::anthropic::query::refuse;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

/// A tool, or a set of them.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub(in crate::anthropic) enum Tool {
    #[serde(rename = "agent_toolset_20260401")]
    BuiltIn {
        #[serde(default)]
        configs: Vec<BuiltInConfig>,
        #[serde(default)]
        default_config: Option<Settings>,
    },
    #[serde(rename = "mcp_toolset")]
    Mcp {
        mcp_server_name: String,
        #[serde(default)]
        configs: Vec<McpConfig>,
        #[serde(default)]
        default_config: Option<Settings>,
    },
    #[serde(rename = "custom")]
    Custom { name: String, description: String, input_schema: Map<String, Value> },
}

/// What can be set for a tool or a whole set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct Settings {
    enabled: Option<bool>,
    permission_policy: Option<Policy>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Policy {
    AlwaysAllow,
    AlwaysAsk,
    Auto,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct McpConfig {
    name: String,
    enabled: Option<bool>,
    permission_policy: Option<Policy>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct BuiltInConfig {
    name: BuiltIn,
    /// The same again; early releases do not send it.
    r#type: Option<BuiltIn>,
    enabled: Option<bool>,
    permission_policy: Option<Policy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_domains: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_domains: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_content_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url_sources: Option<UrlSources>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_location: Option<UserLocation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BuiltIn {
    Bash,
    Edit,
    Read,
    Write,
    Glob,
    Grep,
    WebFetch,
    WebSearch,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UrlSources {
    #[serde(default, deserialize_with = "word_or_object")]
    client_tool_results: Option<ToolFilter>,
    #[serde(default, deserialize_with = "word_or_object")]
    server_tool_results: Option<ToolFilter>,
    #[serde(default, deserialize_with = "word_or_object")]
    user_input: Option<AllOrNone>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum AllOrNone {
    All,
    None,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum ToolFilter {
    All,
    None,
    Only { tools: Vec<ToolReference> },
    Except { tools: Vec<ToolReference> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum ToolReference {
    ToolReference { name: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum UserLocation {
    Approximate {
        city: Option<String>,
        country: Option<String>,
        region: Option<String>,
        timezone: Option<String>,
    },
}

impl Tool {
    /// The tool with everything said that a client library looks for.
    pub(super) fn completed(mut self) -> Result<Self, Problem> {
        match &mut self {
            Self::BuiltIn { configs, default_config } => {
                let shared = default_config.unwrap_or_default().or(true, Policy::AlwaysAllow);
                *default_config = Some(shared);
                for config in configs {
                    if config.r#type.is_some_and(|given| given != config.name) {
                        return Err(refuse("agent", "a tool's type and name must be the same"));
                    }
                    config.r#type = Some(config.name);
                    config.enabled = config.enabled.or(shared.enabled);
                    config.permission_policy =
                        config.permission_policy.or(shared.permission_policy);
                }
            }
            Self::Mcp { configs, default_config, .. } => {
                let shared = default_config.unwrap_or_default().or(true, Policy::AlwaysAsk);
                *default_config = Some(shared);
                for config in configs {
                    config.enabled = config.enabled.or(shared.enabled);
                    config.permission_policy =
                        config.permission_policy.or(shared.permission_policy);
                }
            }
            Self::Custom { input_schema, .. } => check_schema(input_schema)?,
        }
        Ok(self)
    }
}

impl Settings {
    fn or(self, enabled: bool, policy: Policy) -> Self {
        Self {
            enabled: self.enabled.or(Some(enabled)),
            permission_policy: self.permission_policy.or(Some(policy)),
        }
    }
}

/// Checks the parts of a JSON schema that client libraries have types for.
fn check_schema(schema: &Map<String, Value>) -> Result<(), Problem> {
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    let has_properties = schema.get("properties").is_none_or(|it| it.is_null() || it.is_object());
    let has_names = schema.get("required").is_none_or(|required| match required {
        Value::Null => true,
        Value::Array(names) => names.iter().all(Value::is_string),
        _ => false,
    });
    match is_object && has_properties && has_names {
        true => Ok(()),
        false => Err(refuse("agent", "input_schema must be a JSON schema of an object")),
    }
}

/// Reads a choice that may be given as its bare name.
pub(super) fn word_or_object<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let value = match Option::<Value>::deserialize(deserializer)? {
        None => return Ok(None),
        Some(Value::String(word)) => json!({ "type": word }),
        Some(value) => value,
    };
    T::deserialize(value).map(Some).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(given: Value) -> Option<Value> {
        let tool: Tool = serde_json::from_value(given).ok()?;
        let tool = tool.completed().ok()?;
        let value = serde_json::to_value(&tool).unwrap();
        let again: Tool = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(again, tool, "what is kept can be read again");
        Some(value)
    }

    #[test]
    fn what_is_left_out_is_filled_in() {
        let allow = json!({"type": "always_allow"});
        assert_eq!(
            shown(json!({"type": "agent_toolset_20260401"})).unwrap(),
            json!({"type": "agent_toolset_20260401", "configs": [],
                "default_config": {"enabled": true, "permission_policy": allow}})
        );
        let given = json!({"type": "agent_toolset_20260401",
            "default_config": {"enabled": false, "permission_policy": null},
            "configs": [{"name": "bash"},
                {"name": "web_fetch", "type": "web_fetch", "enabled": true, "max_content_tokens": 5,
                 "permission_policy": {"type": "auto"},
                 "url_sources": {"user_input": "none", "client_tool_results":
                    {"type": "only", "tools": [{"type": "tool_reference", "name": "x"}]}}}]});
        let shown_set = shown(given).unwrap();
        let configs = &shown_set["configs"];
        assert_eq!(
            configs[0],
            json!({"name": "bash", "type": "bash", "enabled": false, "permission_policy": allow})
        );
        assert_eq!(configs[1]["url_sources"]["user_input"], json!({"type": "none"}));
        assert_eq!(configs[1]["permission_policy"], json!({"type": "auto"}));
        let given =
            json!({"type": "mcp_toolset", "mcp_server_name": "m", "configs": [{"name": "t"}]});
        let set = shown(given).unwrap();
        assert_eq!(set["configs"][0]["permission_policy"], json!({"type": "always_ask"}));
        let custom = json!({"type": "custom", "name": "n", "description": "d",
            "input_schema": {"type": "object", "properties": {"a": {}}, "required": ["a"], "x": 1}});
        assert_eq!(shown(custom.clone()).unwrap(), custom);
    }

    #[test]
    fn what_no_library_could_read_is_refused() {
        for bad in [
            json!({}),
            json!({"type": "bash"}),
            json!({"type": "agent_toolset_20260401", "colour": "red"}),
            json!({"type": "agent_toolset_20260401", "configs": [{"name": "teapot"}]}),
            json!({"type": "agent_toolset_20260401", "configs": [{"name": "bash", "type": "edit"}]}),
            json!({"type": "agent_toolset_20260401", "default_config": {"enabled": "yes"}}),
            json!({"type": "mcp_toolset"}),
            json!({"type": "mcp_toolset", "mcp_server_name": "m", "configs": [{}]}),
            json!({"type": "custom", "name": "n", "input_schema": {"type": "object"}}),
            json!({"type": "custom", "name": "n", "description": "d", "input_schema": {}}),
            json!({"type": "custom", "name": "n", "description": "d",
                "input_schema": {"type": "object", "required": "a"}}),
        ] {
            assert_eq!(shown(bad.clone()), None, "{bad}");
        }
    }
}
