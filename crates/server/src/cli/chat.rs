//! `loci chat`: who is in a chat, and so reaches its store and those of its users.

use super::client::Client;
use super::find::{self, encode};
use super::grant::revoked_lines;
use super::output::{Format, table, text};
use crate::exit::Failure;
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use std::ops::ControlFlow;

#[derive(Debug, Subcommand)]
pub(crate) enum ChatCommand {
    /// Put somebody into a chat; both are made if nobody has their names
    Add {
        /// The chat's name, id or UUID
        chat: String,
        /// The member's name, id or UUID
        member: String,
        /// What the member is; made as an agent when not given
        #[arg(long, value_enum)]
        kind: Option<MemberKind>,
    },
    /// Take somebody out, with the grants that stood on being in it
    Remove {
        /// The chat's name, id or UUID
        chat: String,
        /// The member's name, id or UUID
        member: String,
    },
    /// Show a chat and who is in it
    Show {
        /// The chat's name, id or UUID
        chat: String,
    },
    /// List chats with somebody in them
    List,
}

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemberKind {
    /// An agent
    Agent,
    /// A person
    User,
}

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    command: &ChatCommand,
) -> Result<(), Failure> {
    match command {
        ChatCommand::Add { chat, member, kind } => {
            let kind = kind.map(|kind| match kind {
                MemberKind::Agent => "agent",
                MemberKind::User => "user",
            });
            let joined = client.put(&member_url(chat, member), &json!({ "kind": kind })).await?;
            format.show(&joined, || {
                let (id, since) = (text(&joined, "id"), text(&joined, "since"));
                format!("{id}  {} since {since}", text(&joined, "kind"))
            })
        }
        ChatCommand::Remove { chat, member } => {
            let left = client.delete(&member_url(chat, member)).await?;
            format.show(&left, || format!("{member} left\n{}", revoked_lines(&left)))
        }
        ChatCommand::Show { chat } => show(client, format, chat).await,
        ChatCommand::List => list(client, format).await,
    }
}

fn member_url(chat: &str, member: &str) -> String {
    format!("/v1/chats/{}/members/{}", encode(chat), encode(member))
}

async fn show(client: &mut Client, format: Format, chat: &str) -> Result<(), Failure> {
    let chat = client.get(&format!("/v1/chats/{}", encode(chat))).await?;
    let row = |member: &Value| {
        ["id", "kind", "since", "name"].map(|name| text(member, name).to_owned()).into()
    };
    let rows: Vec<Vec<String>> =
        chat["members"].as_array().into_iter().flatten().map(row).collect();
    format.show(&chat, || {
        let named = format!("{}  {}\n", text(&chat, "id"), text(&chat, "name"));
        match rows.is_empty() {
            true => named,
            false => named + &table(&["MEMBER", "KIND", "SINCE", "NAME"], &rows),
        }
    })
}

async fn list(client: &mut Client, format: Format) -> Result<(), Failure> {
    let mut chats = Vec::new();
    find::each(client, "/v1/chats", &[], |chat| {
        chats.push(chat.clone());
        Ok(ControlFlow::Continue(()))
    })
    .await?;
    let row = |chat: &Value| {
        ["id", "uuid", "created_at", "name"].map(|name| text(chat, name).to_owned()).into()
    };
    let rows: Vec<Vec<String>> = chats.iter().map(row).collect();
    format.show(&json!({ "data": chats }), || match rows.is_empty() {
        true => String::new(),
        false => table(&["ID", "UUID", "CREATED", "NAME"], &rows),
    })
}
