//! Export and import as JSON lines, streamed both ways: neither side ever holds the whole.

use super::Native;
use crate::error::{Failure, Result};
use crate::extract::Authed;
use crate::layers::body::skip_rest;
use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::IntoResponse;
use bytes::Bytes;
use futures_util::stream::try_unfold;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt;
use loci_engine::dump::Import;
use loci_engine::{Context, Engine};
use serde::Serialize;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use utoipa::ToSchema;

/// Lines that wait for a slow reader; then the export waits.
const EXPORT_LINES_WAITING: usize = 64;
/// Bytes of one imported line: a content of the largest size, escaped, with its attributes.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Lines imported at a time.
const BATCH_LINES_MAX: usize = 500;
/// Bytes imported at a time.
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What an import added.
#[derive(Serialize, ToSchema)]
pub(crate) struct Imported {
    /// Always `import`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Things that were not there before.
    items: u64,
}

/// Everything as JSON lines: principals, stores, grants and whole histories, no keys.
#[utoipa::path(get, path = "/v1/export", tag = "administration", operation_id = "export",
    responses((status = 200, content_type = "application/x-ndjson", body = String)))]
pub(crate) async fn export(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
) -> Result<impl IntoResponse> {
    let (send, mut lines) = mpsc::channel(EXPORT_LINES_WAITING);
    let engine = native.engine.clone();
    // Lines are as long as contents: writing them down is no work for the threads that answer.
    let handle = Handle::current();
    let work = tokio::task::spawn_blocking(move || {
        handle.block_on(async move { engine.export(&context, send).await })
    });
    // A refusal comes before the first line and can still be told as one.
    let first = match lines.recv().await {
        Some(line) => Some(line),
        None => {
            work_result(work).await?;
            return Ok(([(CONTENT_TYPE, "application/x-ndjson")], Body::empty()));
        }
    };
    let rest = Rest { first, lines, work };
    let body = Body::from_stream(try_unfold(rest, Rest::next));
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], body))
}

async fn work_result(work: JoinHandle<loci_engine::Result<()>>) -> Result<()> {
    let ended = work.await.map_err(|error| Failure::internal(error.to_string()))?;
    Ok(ended?)
}

/// The lines of an export that are still to come.
struct Rest {
    first: Option<String>,
    lines: mpsc::Receiver<String>,
    work: JoinHandle<loci_engine::Result<()>>,
}

impl Rest {
    /// The next line. A failure breaks the answer off, so that half an export is never taken for a
    /// whole one.
    async fn next(mut self) -> io::Result<Option<(Bytes, Self)>> {
        let line = match self.first.take() {
            Some(line) => Some(line),
            None => self.lines.recv().await,
        };
        if let Some(line) = line {
            return Ok(Some((Bytes::from(line), self)));
        }
        match self.work.await {
            Ok(Ok(())) => Ok(None),
            Ok(Err(error)) => {
                tracing::error!(%error, "an export broke off");
                Err(io::Error::other("export broke off"))
            }
            Err(_) => Err(io::Error::other("export broke off")),
        }
    }
}

/// Takes in JSON lines of an export. What is there already, equal, is passed over; so an import that
/// broke off can be sent again.
#[utoipa::path(post, path = "/v1/import", tag = "administration", operation_id = "import",
    request_body(content_type = "application/x-ndjson", content = String),
    responses((status = 200, body = Imported)))]
pub(crate) async fn import(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    request: Request,
) -> Result<Json<Imported>> {
    let mut body = request.into_body();
    let imported = read_all(&native, &context, &mut body).await;
    if imported.is_err() {
        skip_rest(&mut body).await;
    }
    Ok(Json(Imported { kind: "import", items: imported? }))
}

async fn read_all(native: &Native, context: &Context, body: &mut Body) -> Result<u64> {
    let mut importing = Importing {
        // Asks whether the caller may, before reading what they send.
        import: native.engine.import(context)?,
        engine: &native.engine,
        context,
        line: Vec::new(),
        batch: Vec::new(),
        batch_bytes: 0,
        lines: 0,
        items: 0,
    };
    while let Some(piece) = next_piece(body, native.body_idle_timeout).await? {
        importing.take(&piece).await?;
    }
    importing.end_line().await?;
    importing.flush().await?;
    Ok(importing.items)
}

async fn next_piece(body: &mut Body, idle: Duration) -> Result<Option<Bytes>> {
    loop {
        let slow = |_| Failure::timeout("the request body came too slowly").closing();
        let frame = timeout(idle, body.frame()).await.map_err(slow)?;
        let Some(frame) = frame else { return Ok(None) };
        let broken = |_| Failure::invalid("the request body is broken off").closing();
        if let Ok(piece) = frame.map_err(broken)?.into_data() {
            return Ok(Some(piece));
        }
    }
}

/// An import under way: cuts pieces into lines and lines into batches.
struct Importing<'a> {
    engine: &'a Engine,
    context: &'a Context,
    import: Import,
    /// The line that is not complete yet.
    line: Vec<u8>,
    batch: Vec<String>,
    batch_bytes: usize,
    lines: u64,
    items: u64,
}

impl Importing<'_> {
    async fn take(&mut self, piece: &[u8]) -> Result<()> {
        let mut parts = piece.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            if self.line.len() + part.len() > LINE_BYTES_MAX {
                let number = self.lines + 1;
                return Err(Failure::invalid(format!(
                    "line {number} is longer than {LINE_BYTES_MAX} bytes"
                ))
                .closing());
            }
            self.line.extend_from_slice(part);
            if parts.peek().is_some() {
                self.end_line().await?;
            }
        }
        Ok(())
    }

    async fn end_line(&mut self) -> Result<()> {
        self.lines += 1;
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let number = self.lines;
        let text = String::from_utf8(line)
            .map_err(|_| Failure::invalid(format!("line {number} is not UTF-8")).closing())?;
        if self.batch.len() >= BATCH_LINES_MAX || self.batch_bytes + text.len() > BATCH_BYTES_MAX {
            self.flush().await?;
        }
        self.batch_bytes += text.len();
        self.batch.push(text);
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.batch_bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        let added = self.engine.import_more(self.context, &mut self.import, batch).await;
        self.items += added.map_err(|error| Failure::from(error).closing())?;
        Ok(())
    }
}
