//! `loci console`: prints a link that signs a browser in, once and within ten minutes.
//!
//! The word in it stands behind a `#`, which browsers keep to themselves: it is in no log.

use super::client::Client;
use super::output::{Format, text};
use super::reach::Origin;
use crate::exit::Failure;
use serde_json::json;

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    origin: &Origin,
) -> Result<(), Failure> {
    let mut made = client.post_once("/console/links", &json!({})).await?;
    let console = match origin {
        // As it is reached from here, which its server may not know.
        Origin::Server { authority, base } => Some(format!("http://{authority}{base}/console/")),
        Origin::Place { .. } => made["url"].as_str().map(str::to_owned),
    };
    let Some(console) = console else {
        return Err(Failure::failed("no server runs here; start one with loci serve"));
    };
    let link = format!("{console}#once={}", text(&made, "once"));
    made["link"] = json!(link);
    format.show(&made, || format!("{link}\n"))
}
