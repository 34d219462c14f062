//! `loci grant`, `loci grants`, `loci revoke`: a store shared with somebody, and taken back.

use super::client::Client;
use super::find::{self, encode, store_url};
use super::output::{Format, table, text, text_or_dash};
use crate::exit::Failure;
use clap::ValueEnum;
use serde_json::{Value, json};

#[derive(Debug, clap::Args)]
pub(crate) struct GrantArgs {
    /// Store id, or a name only one store has
    store: String,
    /// A principal's name, id or UUID, or everyone
    grantee: String,
    /// How much
    #[arg(value_enum)]
    level: GrantLevel,
    /// Ends after this many seconds
    #[arg(long, value_name = "SECS")]
    expires_in: Option<u32>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GrantsArgs {
    /// Store id, or a name only one store has
    store: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RevokeArgs {
    /// Store id, or a name only one store has
    store: String,
    /// A principal's name, id or UUID, everyone, or a grant's id (grt_…)
    grantee: String,
}

/// How much a grant gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GrantLevel {
    /// Search only
    Search,
    /// Read everything
    Read,
    /// Read and write memories
    Readwrite,
}

impl GrantLevel {
    fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Read => "read",
            Self::Readwrite => "readwrite",
        }
    }
}

pub(super) async fn give(
    client: &mut Client,
    format: Format,
    args: &GrantArgs,
) -> Result<(), Failure> {
    let store = find::store(client, &args.store).await?;
    let mut body = json!({"grantee": args.grantee, "level": args.level.name()});
    if let Some(seconds) = args.expires_in {
        body["ttl_seconds"] = json!(seconds);
    }
    let grant = client.post(&format!("{}/grants", store_url(&store)), &body).await?;
    format.show(&grant, || {
        let until = grant["expires_at"].as_str().map(|end| format!("  until {end}"));
        format!("{}  {}{}", text(&grant, "id"), text(&grant, "level"), until.unwrap_or_default())
    })
}

pub(super) async fn list(
    client: &mut Client,
    format: Format,
    args: &GrantsArgs,
) -> Result<(), Failure> {
    let store = find::store(client, &args.store).await?;
    let grants = client.get(&format!("{}/grants", store_url(&store))).await?;
    let row = |grant: &Value| {
        vec![
            text(grant, "id").to_owned(),
            text_or_dash(grant, "level"),
            text_or_dash(grant, "expires_at"),
            text_or_dash(grant, "given_by"),
            grant["grantee_name"].as_str().unwrap_or_else(|| text(grant, "grantee")).to_owned(),
        ]
    };
    let rows: Vec<_> = grants["data"].as_array().into_iter().flatten().map(row).collect();
    format.show(&grants, || match rows.is_empty() {
        true => String::new(),
        false => table(&["ID", "LEVEL", "UNTIL", "GIVEN BY", "GRANTEE"], &rows),
    })
}

pub(super) async fn take_back(
    client: &mut Client,
    format: Format,
    args: &RevokeArgs,
) -> Result<(), Failure> {
    let store = find::store(client, &args.store).await?;
    let target = format!("{}/grants/{}", store_url(&store), encode(&args.grantee));
    let revoked = client.delete(&target).await?;
    format.show(&revoked, || revoked_lines(&revoked))
}

/// A line for every grant that an answer says is gone.
pub(super) fn revoked_lines(answer: &Value) -> String {
    let grants = answer["revoked"].as_array().into_iter().flatten();
    grants.filter_map(Value::as_str).map(|grant| format!("{grant}  revoked\n")).collect()
}
