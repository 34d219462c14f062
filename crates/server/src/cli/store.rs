//! `loci store`: list, show, create.

use super::args::StoreCommand;
use super::client::Client;
use super::find::{self, store_url};
use super::output::{Format, human_bytes, table, text};
use crate::exit::Failure;
use serde_json::{Value, json};
use std::ops::ControlFlow;

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    command: &StoreCommand,
) -> Result<(), Failure> {
    match command {
        StoreCommand::List { archived } => list(client, format, *archived).await,
        StoreCommand::Show { store } => show(client, format, store).await,
        StoreCommand::Create { name, description } => {
            let body = json!({"name": name, "description": description});
            let store = client.post("/v1/memory_stores", &body).await?;
            format.show(&store, || format!("{}  {}", text(&store, "id"), text(&store, "name")))
        }
    }
}

async fn list(client: &mut Client, format: Format, archived: bool) -> Result<(), Failure> {
    let mut stores = Vec::new();
    let archived = if archived { "true" } else { "false" };
    find::each(client, "/v1/memory_stores", &[("include_archived", archived)], |store| {
        stores.push(store.clone());
        Ok(ControlFlow::Continue(()))
    })
    .await?;
    let row = |store: &Value| {
        let state = if store["archived_at"].is_null() { "live" } else { "archived" };
        ["id", "created_at"]
            .map(|name| text(store, name).to_owned())
            .into_iter()
            .chain([state.to_owned(), text(store, "name").to_owned()])
            .collect()
    };
    let rows: Vec<Vec<String>> = stores.iter().map(row).collect();
    format.show(&json!({"data": stores}), || match rows.is_empty() {
        true => String::new(),
        false => table(&["ID", "CREATED", "STATE", "NAME"], &rows),
    })
}

async fn show(client: &mut Client, format: Format, named: &str) -> Result<(), Failure> {
    let url = store_url(&find::store(client, named).await?);
    let mut store = client.get(&url).await?;
    let stats = client.get(&format!("{url}/stats")).await?;
    let number = |name: &str| stats[name].as_u64().unwrap_or(0);
    let mut lines: Vec<(String, String)> =
        ["id", "name", "description", "created_at", "updated_at"]
            .map(|name| (name.to_owned(), text(&store, name).to_owned()))
            .into();
    if let Some(at) = store["archived_at"].as_str() {
        lines.push(("archived_at".into(), at.to_owned()));
    }
    for (key, value) in store["metadata"].as_object().into_iter().flatten() {
        lines.push((format!("metadata.{key}"), value.as_str().unwrap_or("").to_owned()));
    }
    lines.push(("memories".into(), number("memories").to_string()));
    lines.push(("content".into(), human_bytes(number("content_bytes"))));
    lines.push(("versions".into(), number("versions").to_string()));
    lines.push(("changes".into(), number("last_seq").to_string()));
    store["stats"] = stats;
    format.show(&store, || {
        lines.iter().map(|(name, value)| format!("{name:<12}  {value}\n")).collect()
    })
}
