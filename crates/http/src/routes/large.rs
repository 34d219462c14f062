//! Answers that may be large: they are put together and written down on a thread that may be blocked,
//! a few at a time, so that they never hold up the threads that answer requests. Small ones are
//! written on the spot, which is quicker.

use super::Native;
use crate::error::{Failure, Result};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use loci_model::Memory;
use serde::Serialize;
use std::sync::Arc;

/// Answers that are written at the same time.
pub(crate) const WRITTEN_AT_ONCE_MAX: usize = 2;
/// Up to about so many bytes are written on the spot.
const INLINE_BYTES_MAX: usize = 32 * 1024;

/// The answer that `make` makes, which is about so large.
pub(crate) async fn answer<T: Serialize>(
    native: &Native,
    bytes: usize,
    make: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<Response> {
    if bytes <= INLINE_BYTES_MAX {
        return write(make);
    }
    let turn = Arc::clone(&native.writing).acquire_owned().await;
    let writing = tokio::task::spawn_blocking(move || {
        let written = write(make);
        drop(turn);
        written
    });
    writing.await.map_err(|error| Failure::internal(error.to_string()))?
}

/// About how large a memory is in an answer.
pub(crate) fn weight(memory: &Memory) -> usize {
    const EACH: usize = 1024;
    let metadata = memory.attributes.metadata.as_ref().map_or(0, String::len);
    EACH + metadata + memory.content.as_ref().map_or(0, |content| content.bytes().len())
}

fn write<T: Serialize>(make: impl FnOnce() -> Result<T>) -> Result<Response> {
    let body = serde_json::to_vec(&make()?);
    let body = body.map_err(|error| Failure::internal(error.to_string()))?;
    Ok(([(CONTENT_TYPE, "application/json")], Body::from(body)).into_response())
}
