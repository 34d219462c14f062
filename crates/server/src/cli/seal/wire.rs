//! Sealed bytes on their way: written to a path, fetched from a memory.

use super::super::client::Client;
use super::super::find::{encode, store_url};
use crate::exit::Failure;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use loci_model::{MemoryPath, limit};
use serde_json::{Value, json};

/// Writes sealed bytes, if what is there has the digest or none is given.
pub(crate) async fn write(
    client: &mut Client,
    store: &str,
    path: &MemoryPath,
    sealed: &[u8],
    if_digest: Option<&str>,
) -> Result<Value, Failure> {
    let mut body = json!({"path": path.as_str(), "sealed_base64": BASE64.encode(sealed)});
    if let Some(digest) = if_digest {
        body["precondition"] = json!({"type": "content_sha256", "content_sha256": digest});
    }
    Ok(client.post(&format!("{}/sealed", store_url(store)), &body).await?)
}

/// The sealed bytes of one version.
pub(crate) async fn fetch(
    client: &mut Client,
    store: &str,
    memory: &str,
    version: &str,
) -> Result<Bytes, Failure> {
    let (memory, version) = (encode(memory), encode(version));
    let url = format!("{}/memories/{memory}/sealed?version={version}", store_url(store));
    let body = client.download(&url).await?;
    let read = Limited::new(body, limit::CONTENT_BYTES_MAX).collect().await;
    let collected =
        read.map_err(|error| Failure::failed(format!("the connection was lost: {error}")))?;
    Ok(collected.to_bytes())
}
