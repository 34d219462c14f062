//! `loci session`: stores attached for a model, and the note that tells it about them.

use super::args::SessionCommand;
use super::client::Client;
use super::find::{self, encode};
use super::output::{Format, table, text};
use crate::exit::Failure;
use serde_json::{Value, json};

/// What a session made by hand says about its agent and environment, which it must name.
const AGENT: &str = "loci-cli";
const ENVIRONMENT: &str = "local";

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    command: &SessionCommand,
) -> Result<(), Failure> {
    match command {
        SessionCommand::Create { stores, title } => {
            create(client, format, stores, title.as_deref()).await
        }
        SessionCommand::Note { id } => {
            let note = client.get(&format!("/v1/sessions/{}/note", encode(id))).await?;
            format.show(&note, || text(&note, "text").to_owned())
        }
    }
}

async fn create(
    client: &mut Client,
    format: Format,
    stores: &[String],
    title: Option<&str>,
) -> Result<(), Failure> {
    let mut resources = Vec::with_capacity(stores.len());
    for given in stores {
        let (named, access) = split_access(given);
        let id = find::store(client, named).await?;
        resources.push(json!({"type": "memory_store", "memory_store_id": id, "access": access}));
    }
    let mut body = json!({
        "agent": AGENT,
        "environment_id": ENVIRONMENT,
        "resources": resources,
    });
    if let Some(title) = title {
        body["title"] = json!(title);
    }
    let session = client.post("/v1/sessions", &body).await?;
    let row = |resource: &Value| {
        ["memory_store_id", "access", "mount_path"]
            .map(|name| text(resource, name).to_owned())
            .into()
    };
    let rows: Vec<_> = session["resources"].as_array().into_iter().flatten().map(row).collect();
    format.show(&session, || {
        let id = text(&session, "id");
        match rows.is_empty() {
            true => id.to_owned(),
            false => format!("{id}\n{}", table(&["STORE", "ACCESS", "DIRECTORY"], &rows)),
        }
    })
}

/// Takes the access off a store's name. A name may hold a colon itself; only these endings count.
fn split_access(given: &str) -> (&str, &'static str) {
    match given.rsplit_once(':') {
        Some((store, "ro")) => (store, "read_only"),
        Some((store, "rw")) => (store, "read_write"),
        _ => (given, "read_write"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_is_what_follows_the_last_colon() {
        assert_eq!(split_access("notes"), ("notes", "read_write"));
        assert_eq!(split_access("notes:ro"), ("notes", "read_only"));
        assert_eq!(split_access("a:b:rw"), ("a:b", "read_write"));
        assert_eq!(split_access("a:b"), ("a:b", "read_write"));
    }
}
