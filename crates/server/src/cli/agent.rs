//! `loci agent`: those who can own stores and be granted access, and which memory they may use.

use super::client::Client;
use super::find::{self, encode};
use super::output::{Format, table, text};
use crate::exit::Failure;
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use std::ops::ControlFlow;

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Make an agent, a user or a service
    Create {
        /// A name that nobody has
        name: String,
        /// What sort
        #[arg(long, value_enum, default_value_t)]
        kind: AgentKind,
    },
    /// List agents, users, services and chats
    List,
    /// Show which memory somebody may use, or switch it on and off
    Memory(MemoryArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct MemoryArgs {
    /// Name, id or UUID
    name: String,
    /// Switch memory on
    #[arg(long, conflicts_with = "off")]
    on: bool,
    /// Switch all memory off
    #[arg(long)]
    off: bool,
    /// What it keeps for itself
    #[arg(long = "self", value_enum, value_name = "on|off")]
    own: Option<Switch>,
    /// The stores of the chats it is in
    #[arg(long, value_enum, value_name = "on|off")]
    chat: Option<Switch>,
    /// The stores of the users it is in a chat with
    #[arg(long, value_enum, value_name = "on|off")]
    user: Option<Switch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// What sort of principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum AgentKind {
    /// An agent
    #[default]
    Agent,
    /// A person
    User,
    /// A service account
    Service,
}

impl AgentKind {
    fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::User => "user",
            Self::Service => "service",
        }
    }
}

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    command: &AgentCommand,
) -> Result<(), Failure> {
    match command {
        AgentCommand::Create { name, kind } => {
            let body = json!({"name": name, "kind": kind.name()});
            let made = client.post("/v1/principals", &body).await?;
            format.show(&made, || format!("{}  {}", text(&made, "id"), text(&made, "name")))
        }
        AgentCommand::List => list(client, format).await,
        AgentCommand::Memory(args) => memory(client, format, args).await,
    }
}

async fn list(client: &mut Client, format: Format) -> Result<(), Failure> {
    let mut all = Vec::new();
    find::each(client, "/v1/principals", &[], |one| {
        all.push(one.clone());
        Ok(ControlFlow::Continue(()))
    })
    .await?;
    let row = |one: &Value| {
        let admin = if one["is_admin"] == true { "yes" } else { "-" };
        let cell = |name: &str| text(one, name).to_owned();
        vec![cell("id"), cell("uuid"), cell("kind"), admin.to_owned(), cell("name")]
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    format.show(&json!({ "data": all }), || table(&["ID", "UUID", "KIND", "ADMIN", "NAME"], &rows))
}

async fn memory(client: &mut Client, format: Format, args: &MemoryArgs) -> Result<(), Failure> {
    let url = format!("/v1/principals/{}/memory", encode(&args.name));
    let body = args.wanted();
    let shown = match body.as_object().is_some_and(|wanted| wanted.is_empty()) {
        true => client.get(&url).await?,
        false => client.post(&url, &body).await?,
    };
    format.show(&shown, || {
        let state = |name: &str| if shown[name] == true { "on" } else { "off" };
        let names = [("memory", "enabled"), ("self", "self"), ("chat", "chat"), ("user", "user")];
        names.map(|(label, name)| format!("{label:<6}  {}\n", state(name))).concat()
    })
}

impl MemoryArgs {
    /// What is to be switched, and nothing else.
    fn wanted(&self) -> Value {
        let whole = match (self.on, self.off) {
            (true, _) => Some(Switch::On),
            (false, true) => Some(Switch::Off),
            (false, false) => None,
        };
        let mut wanted = json!({});
        for (name, switch) in
            [("enabled", whole), ("self", self.own), ("chat", self.chat), ("user", self.user)]
        {
            if let Some(switch) = switch {
                wanted[name] = json!(switch == Switch::On);
            }
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_is_switched() {
        let said = |on, off, own| {
            let name = String::new();
            MemoryArgs { name, on, off, own, chat: None, user: None }.wanted()
        };
        assert_eq!(said(false, false, None), json!({}));
        assert_eq!(said(true, false, None), json!({"enabled": true}));
        assert_eq!(said(false, true, Some(Switch::On)), json!({"enabled": false, "self": true}));
        assert_eq!(said(false, false, Some(Switch::Off)), json!({"self": false}));
    }
}
