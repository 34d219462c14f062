//! `/v1/environments`: made and read. Nothing runs here, so a configuration is kept as it was given, with
//! what the client libraries insist on filled in.

use super::{Sort, find, make, read};
use crate::anthropic::body;
use crate::anthropic::call::{Answer, Call};
use crate::anthropic::error::Envelope;
use crate::anthropic::query::refuse;
use crate::anthropic::render::{Shown, json};
use loci_engine::Error;
use loci_model::store::validate_labels;
use loci_model::{Memory, Timestamp, limit};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

const ENVIRONMENTS: Sort = Sort { folder: "/environments", prefix: "env_", noun: "environment" };

/// An environment to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CreateEnvironment)]
pub(in crate::anthropic) struct CreateEnvironment {
    #[schema(min_length = 1, max_length = 255)]
    name: String,
    /// `{"type": "cloud"}` when not given.
    #[schema(value_type = Option<Object>)]
    config: Option<Config>,
    description: Option<String>,
    /// Up to 16 pairs; keys of 1 to 64, values of up to 512 characters.
    metadata: Option<BTreeMap<String, String>>,
    /// `organization` (when not given) or `account`; given back, and nobody else sees it either way.
    scope: Option<Scope>,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EnvironmentScope)]
pub(in crate::anthropic) enum Scope {
    #[default]
    Organization,
    Account,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Config {
    Cloud {
        #[serde(default, deserialize_with = "or_default")]
        networking: Networking,
        #[serde(default, deserialize_with = "or_default")]
        packages: Packages,
    },
    SelfHosted {},
}

#[derive(Default, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Networking {
    #[default]
    Unrestricted,
    Limited {
        #[serde(default, deserialize_with = "or_default")]
        allow_mcp_servers: bool,
        #[serde(default, deserialize_with = "or_default")]
        allow_package_managers: bool,
        #[serde(default, deserialize_with = "or_default")]
        allowed_hosts: Vec<String>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Packages {
    #[serde(deserialize_with = "or_default")]
    apt: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    cargo: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    gem: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    go: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    npm: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pip: Vec<String>,
    r#type: PackagesType,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PackagesType {
    Packages,
}

impl Default for Packages {
    fn default() -> Self {
        let (apt, cargo, gem, go, npm, pip) = Default::default();
        Self { apt, cargo, gem, go, npm, pip, r#type: PackagesType::Packages }
    }
}

/// Null is as good as nothing.
fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// What is kept of an environment.
#[derive(Serialize, Deserialize)]
struct Record {
    id: String,
    name: String,
    config: Config,
    description: Option<String>,
    metadata: BTreeMap<String, String>,
    scope: Scope,
}

/// An environment, with every key.
#[derive(Serialize, ToSchema)]
#[schema(as = Environment)]
pub(in crate::anthropic) struct EnvironmentBody {
    id: String,
    /// Always `environment`.
    r#type: &'static str,
    name: String,
    #[schema(value_type = Object)]
    config: Config,
    /// Empty when it has none: the first client libraries insist on a text.
    description: String,
    metadata: BTreeMap<String, String>,
    scope: Scope,
    /// Always null.
    archived_at: Option<&'static str>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Shown<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Shown<Timestamp>,
}

/// Makes an environment.
#[utoipa::path(
    post,
    path = "/v1/environments",
    tag = "environments",
    request_body = CreateEnvironment,
    responses((status = 200, body = EnvironmentBody), (status = "4XX", body = Envelope<'_>))
)]
pub(in crate::anthropic) async fn create(call: Call) -> Answer {
    let new: CreateEnvironment = body::read(&call.body)?;
    if new.name.is_empty() || new.name.chars().count() > limit::NAME_CHARS_MAX {
        let why = format!("takes 1 to {} characters", limit::NAME_CHARS_MAX);
        return Err(refuse("name", why));
    }
    let metadata = new.metadata.unwrap_or_default();
    validate_labels(&metadata).map_err(Error::from)?;
    let cloud =
        || Config::Cloud { networking: Networking::default(), packages: Packages::default() };
    let record = |id| {
        Ok(Record {
            id,
            name: new.name,
            config: new.config.unwrap_or_else(cloud),
            description: new.description,
            metadata,
            scope: new.scope.unwrap_or_default(),
        })
    };
    let memory = make(&call, &ENVIRONMENTS, record).await?;
    show(&memory)
}

/// Shows an environment.
#[utoipa::path(
    get,
    path = "/v1/environments/{environment_id}",
    tag = "environments",
    params(("environment_id" = String, Path)),
    responses((status = 200, body = EnvironmentBody), (status = "4XX", body = Envelope<'_>))
)]
pub(in crate::anthropic) async fn retrieve(call: Call) -> Answer {
    let id = call.param("environment_id").unwrap_or_default();
    let memory = find(&call, &ENVIRONMENTS, id).await?;
    show(&memory.ok_or(Error::NotFound(ENVIRONMENTS.noun))?)
}

fn show(memory: &Memory) -> Answer {
    let record: Record = read(memory).ok_or(Error::NotFound(ENVIRONMENTS.noun))?;
    Ok(json(&EnvironmentBody {
        id: record.id,
        r#type: "environment",
        name: record.name,
        config: record.config,
        description: record.description.unwrap_or_default(),
        metadata: record.metadata,
        scope: record.scope,
        archived_at: None,
        created_at: Shown(memory.created_at),
        updated_at: Shown(memory.updated_at),
    }))
}
