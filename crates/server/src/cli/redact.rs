//! `loci redact`: one version's content is destroyed in every file before the command returns.

use super::args::RedactArgs;
use super::client::Client;
use super::find::{self, encode, store_url};
use super::output::{Format, text};
use crate::exit::Failure;
use serde_json::json;

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &RedactArgs,
) -> Result<(), Failure> {
    let store = find::store(client, &args.store).await?;
    let url = format!("{}/memory_versions/{}/redact", store_url(&store), encode(&args.version));
    let version = client.post(&url, &json!({})).await?;
    format.show(&version, || {
        format!("{}  redacted {}", text(&version, "id"), text(&version, "redacted_at"))
    })
}
