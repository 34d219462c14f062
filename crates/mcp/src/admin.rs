//! Tools for looking after memory: stores, who they are shared with, and the history of memories. An
//! operator chooses to offer them; a credential can do with them what it can do elsewhere, no more.
//!
//! Nothing here destroys content: what a model was talked into must stay possible to undo, so
//! redacting and erasing are for people.

use crate::arguments::Arguments;
use crate::memory::schema;
use crate::place;
use crate::seam::{Asked, Effect, Outcome, ToolDefinition, ToolSet, told};
use crate::trouble::Trouble;
use async_trait::async_trait;
use loci_engine::{Context, Engine, Error, NewGrant, NewStore, Purpose};
use loci_model::query::VersionQuery;
use loci_model::{
    At, AttributesPatch, Content, Edit, EditOp, Expect, Grantee, Level, OnSame, Operation, StoreId,
    VersionId, View, limit,
};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What stands for everybody where somebody is named.
const EVERYONE: &str = "everyone";
const VERSIONS: usize = 50;
const REASON: &str = "mcp";

/// Stores, grants and history.
pub struct AdminTools {
    engine: Engine,
}

impl AdminTools {
    /// The tools over an engine.
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }

    async fn run(&self, asked: &Asked<'_>) -> Result<String, Trouble> {
        let context = asked.credential()?;
        let given = asked.arguments;
        match asked.name {
            "stores_list" => {
                Arguments::of(given, &[])?;
                self.stores(&context).await
            }
            "store_create" => {
                self.create(&context, Arguments::of(given, &["name", "description"])?).await
            }
            "store_archive" => {
                self.archive(&context, Arguments::of(given, &["store", "confirm"])?).await
            }
            "grants_list" => self.grants(&context, Arguments::of(given, &["store"])?).await,
            "grant_give" => {
                self.share(&context, Arguments::of(given, &["store", "to", "level"])?).await
            }
            "grant_revoke" => {
                self.unshare(&context, Arguments::of(given, &["store", "from"])?).await
            }
            "memory_history" => {
                self.history(&asked.context()?, Arguments::of(given, &["path", "store"])?).await
            }
            "memory_restore" => {
                self.restore(
                    &asked.context()?,
                    Arguments::of(given, &["path", "store", "version_id"])?,
                )
                .await
            }
            other => Err(Trouble::call(format!("there is no tool {other:?}"))),
        }
    }

    async fn stores(&self, context: &Context) -> Result<String, Trouble> {
        let mut text = String::new();
        for one in self.engine.stores_of(context).await? {
            let archived = if one.store.archived_at.is_some() { ", archived" } else { "" };
            let level = format!("{:?}", place::level(&one, context)).to_lowercase();
            let (id, label) = (one.store.id, place::label(&one, context));
            let _ = writeln!(text, "{id} {label} ({level}{archived}) {}", one.store.description);
        }
        Ok(if text.is_empty() { "There are no stores yet.".to_owned() } else { text })
    }

    async fn create(&self, context: &Context, given: Arguments<'_>) -> Result<String, Trouble> {
        let name = given.needed("name", limit::STORE_NAME_CHARS_MAX)?.to_owned();
        let description = given.text("description", limit::DESCRIPTION_CHARS_MAX)?;
        let description = description.unwrap_or_default().to_owned();
        let new = NewStore { name, description, ..NewStore::default() };
        let store = self.engine.create_store(context, new).await?;
        Ok(format!("Made {} {}", store.id, store.name))
    }

    async fn archive(&self, context: &Context, given: Arguments<'_>) -> Result<String, Trouble> {
        let store = self.named(context, &given).await?;
        if !given.flag("confirm")? {
            let why = "an archived store can never be written again; ask the user, then confirm";
            return Err(Trouble::call(why));
        }
        let store = self.engine.archive_store(context, store).await?;
        Ok(format!("Archived {} {}", store.id, store.name))
    }

    async fn grants(&self, context: &Context, given: Arguments<'_>) -> Result<String, Trouble> {
        let store = self.named(context, &given).await?;
        let mut text = String::new();
        for grant in self.engine.grants(context, store).await? {
            let to = match grant.grantee {
                Grantee::Everyone => EVERYONE.to_owned(),
                Grantee::Principal(id) => {
                    let found = self.engine.named(context, &id.to_string()).await?;
                    found.map_or_else(|| id.to_string(), |one| one.name)
                }
            };
            let level = format!("{:?}", grant.level).to_lowercase();
            let until = grant.expires_at.map(|at| format!(" until {at}")).unwrap_or_default();
            let _ = writeln!(text, "{to}: {level}{until}");
        }
        Ok(if text.is_empty() { "It is shared with nobody.".to_owned() } else { text })
    }

    async fn share(&self, context: &Context, given: Arguments<'_>) -> Result<String, Trouble> {
        let store = self.named(context, &given).await?;
        let level = match given.needed("level", 16)? {
            "search" => Level::Search,
            "read" => Level::Read,
            "readwrite" => Level::ReadWrite,
            _ => return Err(Trouble::call("level takes search, read or readwrite")),
        };
        let to = given.needed("to", limit::NAME_CHARS_MAX)?;
        // Whether they may is asked before names of others are looked up.
        self.engine.require_share(context, store).await?;
        let grantee = self.grantee(context, to).await?;
        let new = NewGrant { grantee, level, expires_at: None };
        self.engine.share(context, store, new).await?;
        Ok(format!("{to} has {} now.", given.needed("level", 16)?))
    }

    async fn unshare(&self, context: &Context, given: Arguments<'_>) -> Result<String, Trouble> {
        let store = self.named(context, &given).await?;
        let from = given.needed("from", limit::NAME_CHARS_MAX)?;
        self.engine.require_share(context, store).await?;
        let grantee = self.grantee(context, from).await?;
        let gone = self.engine.revoke_from(context, store, grantee).await?.len();
        Ok(format!("{gone} grants were taken back."))
    }

    async fn grantee(&self, context: &Context, name: &str) -> Result<Grantee, Trouble> {
        if name == EVERYONE {
            return Ok(Grantee::Everyone);
        }
        match self.engine.find_grantee(context, name).await {
            Ok(found) => Ok(Grantee::Principal(found.id)),
            Err(Error::NotFound(_)) => Err(Trouble::call("there is nobody of that name")),
            Err(error) => Err(error.into()),
        }
    }

    async fn history(&self, context: &Context, given: Arguments<'_>) -> Result<String, Trouble> {
        let path = given.path()?;
        let store = self.named(context, &given).await?;
        let at = At::Path(None, path.clone());
        let memory = match self.engine.get(context, store, &at, View::Basic).await {
            Ok(memory) => Some(memory.id),
            Err(Error::NotFound("memory")) => None,
            Err(error) => return Err(error.into()),
        };
        let query = VersionQuery {
            memory,
            operation: None,
            actor: None,
            since: None,
            until: None,
            view: View::Basic,
            before_seq: None,
            limit: VERSIONS,
        };
        let mut text = String::new();
        for version in self.engine.versions(context, store, &query).await?.items {
            // Without a memory there, the history of the store tells what was.
            if memory.is_none() && version.path.as_ref() != Some(&path) {
                continue;
            }
            let did = match version.operation {
                _ if version.redaction.is_some() => "redacted",
                Operation::Created => "created",
                Operation::Modified => "modified",
                Operation::Deleted => "deleted",
            };
            let size =
                version.size_bytes.map(|bytes| format!(", {bytes} bytes")).unwrap_or_default();
            let (id, number, at) = (version.id, version.revision, version.created_at);
            let _ = writeln!(text, "{id} (version {number}, {did}, {at}{size})");
        }
        match text.is_empty() {
            true => Err(Error::NotFound("memory").into()),
            false => Ok(text),
        }
    }

    async fn restore(&self, context: &Context, given: Arguments<'_>) -> Result<String, Trouble> {
        let path = given.path()?;
        let store = self.named(context, &given).await?;
        let id: VersionId = given.needed("version_id", limit::NAME_CHARS_MAX)?.parse()?;
        let version = self.engine.version(context, store, id, View::Full).await?;
        let Some(content @ Content::Text(_)) = version.content else {
            return Err(Trouble::call("this version has no text to restore"));
        };
        let edit = Edit {
            at: At::Path(None, path),
            expect: Expect::Anything,
            on_same: OnSame::Skip,
            op: EditOp::Put {
                content: Some(content),
                to: None,
                attributes: AttributesPatch::default(),
            },
        };
        let outcome = self.engine.commit_one(context, store, edit, REASON).await?;
        Ok(format!("{} is at version {} now.", outcome.memory.path, outcome.memory.revision))
    }

    async fn named(&self, context: &Context, given: &Arguments<'_>) -> Result<StoreId, Trouble> {
        let found = place::find(&self.engine, context, given.store()?, Purpose::Change).await?;
        Ok(found.ok_or(Error::NotFound("memory store"))?)
    }
}

#[async_trait]
impl ToolSet for AdminTools {
    fn tools(&self) -> Vec<ToolDefinition> {
        let text = |what: &str| json!({ "type": "string", "maxLength": 1024, "description": what });
        let store = || text("Name or id of a store; your own if you do not say.");
        let path = || text("Path of the memory.");
        let level = json!({ "type": "string", "enum": ["search", "read", "readwrite"] });
        let tool =
            |name: &'static str, what: &'static str, effect, properties: Value, needed: &[&str]| {
                let input_schema = schema(properties, needed);
                ToolDefinition { name: name.into(), description: what.into(), input_schema, effect }
            };
        vec![
            tool(
                "stores_list",
                "List the memory stores you can use.",
                Effect::Reads,
                json!({}),
                &[],
            ),
            tool(
                "store_create",
                "Make a memory store.",
                Effect::Adds,
                json!({ "name": text("Its name."), "description": text("What it is for.") }),
                &["name"],
            ),
            tool(
                "store_archive",
                "Make a store read-only for good. Ask the user first.",
                Effect::Sets,
                json!({
                    "store": store(),
                    "confirm": { "type": "boolean", "description": "true when the user agreed." },
                }),
                &["store", "confirm"],
            ),
            tool(
                "grants_list",
                "List who a store is shared with.",
                Effect::Reads,
                json!({ "store": store() }),
                &[],
            ),
            tool(
                "grant_give",
                "Share a store with somebody. Only when the user asks for it.",
                Effect::Sets,
                json!({
                    "store": store(),
                    "to": text("Name or id of an agent or user, or everyone."),
                    "level": level,
                }),
                &["to", "level"],
            ),
            tool(
                "grant_revoke",
                "Take back what somebody was given in a store.",
                Effect::Sets,
                json!({ "store": store(), "from": text("Name or id, or everyone.") }),
                &["from"],
            ),
            tool(
                "memory_history",
                "List the newest versions of a memory.",
                Effect::Reads,
                json!({ "path": path(), "store": store() }),
                &["path"],
            ),
            tool(
                "memory_restore",
                "Write an old version of a memory back, as a new version.",
                Effect::Sets,
                json!({
                    "path": path(),
                    "store": store(),
                    "version_id": text("From memory_history."),
                }),
                &["path", "version_id"],
            ),
        ]
    }

    async fn call(&self, asked: &Asked<'_>) -> Outcome {
        told(self.run(asked).await)
    }
}
