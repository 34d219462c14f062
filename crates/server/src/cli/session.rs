//! `loci session`: stores attached for a model, the note that tells it about them, and the key with
//! which a sandbox reaches them. One command prepares all of it.

use super::client::Client;
use super::find::{self, encode};
use super::output::{Format, table, text};
use super::port::Wanted;
use crate::exit::Failure;
use clap::{Subcommand, ValueEnum};
use loci_model::Access;
use serde_json::{Value, json};

/// What a session made by hand says about its agent and environment, which it must name.
const AGENT: &str = "loci-cli";
const ENVIRONMENT: &str = "local";

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// Make a session with stores attached
    Create(SessionCreateArgs),
    /// Print the text that tells a model which stores it has
    Note {
        /// Session id (sesn_…)
        id: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct SessionCreateArgs {
    /// Store id or name, with :ro for reading only or :rw; repeat for several
    #[arg(long = "store", value_name = "STORE[:ro|:rw]")]
    stores: Vec<String>,
    /// Access to stores that do not say it themselves
    #[arg(long, value_enum, default_value_t = AccessName::Rw)]
    access: AccessName,
    /// What the model is told about a store; the first is for the first store, and so on
    #[arg(long, value_name = "TEXT")]
    instructions: Vec<String>,
    /// A title for people
    #[arg(long)]
    title: Option<String>,
    /// Also make a key that opens this session's stores and nothing else; its secret is shown once
    #[arg(long = "with-key")]
    with_key: bool,
}

/// How a session may use a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AccessName {
    /// Look only
    Ro,
    /// Look and write
    Rw,
}

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    command: &SessionCommand,
) -> Result<(), Failure> {
    match command {
        SessionCommand::Create(args) => create(client, format, args).await,
        SessionCommand::Note { id } => {
            let note = client.get(&format!("/v1/sessions/{}/note", encode(id))).await?;
            format.show(&note, || text(&note, "text").to_owned())
        }
    }
}

async fn create(client: &Client, format: Format, args: &SessionCreateArgs) -> Result<(), Failure> {
    if args.instructions.len() > args.stores.len() {
        return Err(Failure::usage("there are more --instructions than stores"));
    }
    let mut resources = Vec::with_capacity(args.stores.len());
    for (index, given) in args.stores.iter().enumerate() {
        let Wanted { named, access } = Wanted::parse(given);
        let id = find::store(client, &named).await?;
        let access = match (access, args.access) {
            (Some(Access::ReadOnly), _) | (None, AccessName::Ro) => "read_only",
            (Some(Access::ReadWrite), _) | (None, AccessName::Rw) => "read_write",
        };
        let mut resource = json!({
            "type": "memory_store", "memory_store_id": id, "access": access,
        });
        if let Some(told) = args.instructions.get(index).filter(|told| !told.is_empty()) {
            resource["instructions"] = json!(told);
        }
        resources.push(resource);
    }
    let mut body = json!({
        "agent": AGENT,
        "environment_id": ENVIRONMENT,
        "resources": resources,
    });
    if let Some(title) = &args.title {
        body["title"] = json!(title);
    }
    let mut session = client.post("/v1/sessions", &body).await?;
    if args.with_key {
        session["api_key"] = key(client, text(&session, "id")).await?;
    }
    let shown = human(&session);
    format.show(&session, || shown)
}

/// A key that is bound to the session.
async fn key(client: &Client, session: &str) -> Result<Value, Failure> {
    let wanted = json!({
        "name": format!("sandbox of {session}"),
        "session_id": session,
        "level": "readwrite",
        "audience": "model",
    });
    let mut key = client.post_once("/v1/api_keys", &wanted).await?;
    if let Some(fields) = key.as_object_mut() {
        // Its first characters are for lists; next to the secret they would only be taken for it.
        fields.remove("hint");
    }
    Ok(key)
}

fn human(session: &Value) -> String {
    let row = |resource: &Value| {
        ["memory_store_id", "access", "mount_path"]
            .map(|name| text(resource, name).to_owned())
            .into()
    };
    let rows: Vec<_> = session["resources"].as_array().into_iter().flatten().map(row).collect();
    let mut shown = text(session, "id").to_owned();
    if !rows.is_empty() {
        shown.push('\n');
        shown.push_str(table(&["STORE", "ACCESS", "DIRECTORY"], &rows).trim_end());
    }
    if let Some(secret) = session["api_key"]["secret"].as_str() {
        shown.push_str(&format!("\nkey     {}\nsecret  {secret}", text(&session["api_key"], "id")));
    }
    shown
}
