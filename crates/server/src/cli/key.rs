//! `loci key`: create, list, revoke. A secret is printed where it is made and nowhere else.

use super::client::Client;
use super::find::{self, encode};
use super::output::{Format, table, text, text_or_dash};
use crate::exit::Failure;
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key; its secret is shown once
    Create(KeyCreateArgs),
    /// List keys, without their secrets
    List,
    /// Revoke a key at once
    Revoke {
        /// Key id (apikey_…)
        id: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct KeyCreateArgs {
    /// A name to recognise it by
    #[arg(long)]
    pub(crate) name: String,
    /// How much it may do [default: readwrite]
    #[arg(long, value_enum)]
    pub(crate) level: Option<KeyLevel>,
    /// Only this store; repeat for several
    #[arg(long = "store", value_name = "STORE")]
    pub(crate) stores: Vec<String>,
    /// For this principal, by id or name, instead of yourself
    #[arg(long, value_name = "PRINCIPAL")]
    pub(crate) principal: Option<String>,
    /// Bound to this session: only its stores, and no longer than it
    #[arg(long, value_name = "SESN")]
    pub(crate) session: Option<String>,
    /// Stops working after this many seconds
    #[arg(long, value_name = "SECS")]
    pub(crate) expires: Option<u64>,
    /// A platform's key: acts for any agent that a request names
    #[arg(long, conflicts_with_all = ["session", "admin"])]
    pub(crate) acts_for_agents: bool,
    /// An administrator's key: everything
    #[arg(long, conflicts_with_all = ["level", "stores", "principal", "session"])]
    pub(crate) admin: bool,
}

/// How much a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyLevel {
    /// Search only
    Search,
    /// Read everything
    Read,
    /// Read and write memories
    Readwrite,
    /// Everything its principal may do
    Full,
}

impl KeyLevel {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Read => "read",
            Self::Readwrite => "readwrite",
            Self::Full => "full",
        }
    }
}

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    command: &KeyCommand,
) -> Result<(), Failure> {
    match command {
        KeyCommand::Create(args) => create(client, format, args).await,
        KeyCommand::List => list(client, format).await,
        KeyCommand::Revoke { id } => {
            let key = client.delete(&format!("/v1/api_keys/{}", encode(id))).await?;
            format.show(&key, || format!("{}  revoked", text(&key, "id")))
        }
    }
}

async fn create(client: &mut Client, format: Format, args: &KeyCreateArgs) -> Result<(), Failure> {
    // Whoever types this is often the administrator: a key that can do everything has to be asked
    // for by name.
    let level = match (args.admin, args.level) {
        (true, _) => KeyLevel::Full,
        (false, level) => level.unwrap_or(KeyLevel::Readwrite),
    };
    let mut body = json!({"name": args.name, "level": level.name()});
    if !args.stores.is_empty() {
        let mut stores = Vec::with_capacity(args.stores.len());
        for store in &args.stores {
            stores.push(find::store(client, store).await?);
        }
        body["stores"] = json!(stores);
    }
    if let Some(principal) = &args.principal {
        body["principal"] = json!(principal);
    }
    if let Some(session) = &args.session {
        body["session_id"] = json!(session);
    }
    if let Some(seconds) = args.expires {
        body["expires_in_seconds"] = json!(seconds);
    }
    if args.acts_for_agents {
        body["acts_for_agents"] = json!(true);
    }
    let mut key = client.post_once("/v1/api_keys", &body).await?;
    if let Some(fields) = key.as_object_mut() {
        // Its first characters are for lists; next to the secret they would only be taken for it.
        fields.remove("hint");
    }
    format.show(&key, || {
        let (id, secret) = (text(&key, "id"), text(&key, "secret"));
        format!("id      {id}\nlevel   {}\nsecret  {secret}\n", text(&key, "level"))
    })
}

async fn list(client: &mut Client, format: Format) -> Result<(), Failure> {
    let keys = client.get("/v1/api_keys").await?;
    let row = |key: &Value| {
        let state = match (key["revoked_at"].is_null(), key["expires_at"].as_str()) {
            (false, _) => "revoked".to_owned(),
            (true, Some(end)) => format!("until {end}"),
            (true, None) => "valid".to_owned(),
        };
        let stores =
            key["stores"].as_array().map_or("all".to_owned(), |some| some.len().to_string());
        vec![
            text(key, "id").to_owned(),
            text_or_dash(key, "level"),
            stores,
            state,
            text_or_dash(key, "principal"),
            text(key, "name").to_owned(),
        ]
    };
    let rows: Vec<_> = keys["data"].as_array().into_iter().flatten().map(row).collect();
    let heading = ["ID", "LEVEL", "STORES", "STATE", "PRINCIPAL", "NAME"];
    format.show(&keys, || table(&heading, &rows))
}
