//! The data as a whole: integrity check and backup, for administrators.

use super::Native;
use crate::error::{Failure, Result};
use crate::extract::{Authed, NoBody, Params};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::IntoResponse;
use bytes::Bytes;
use futures_util::stream::try_unfold;
use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use loci_engine::{Context, CopyHold, Engine};
use loci_model::event::LogEnd;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::sync::OwnedSemaphorePermit;
use utoipa::ToSchema;

/// How much of a backup is read at a time.
const BACKUP_CHUNK_BYTES: usize = 64 * 1024;
/// Each takes as much disk as the data, until it is sent.
pub(crate) const BACKUPS_AT_ONCE_MAX: usize = 2;

/// What an integrity check looked at and found.
#[derive(Serialize, ToSchema)]
pub(crate) struct CheckView {
    /// Always `check`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Whether everything fits.
    ok: bool,
    /// Stores looked at.
    stores: u64,
    /// Live memories looked at.
    memories: u64,
    /// Versions looked at.
    versions: u64,
    /// Feed entries looked at.
    changes: u64,
    /// Versions with vectors looked at.
    vectors: u64,
    /// What models found in memories, looked at.
    readings: u64,
    /// Where the audit log ends, as `SEQ:HASH`: the number and the hash of its last event. Kept
    /// elsewhere and given as `audit_end` later, it shows whether the log up to there was changed.
    audit_end: String,
    /// What does not fit; no content, no paths.
    problems: Vec<String>,
}

/// What an integrity check compares with.
#[derive(Deserialize)]
pub(crate) struct CheckParams {
    audit_end: Option<String>,
}

/// Looks at everything and reports what does not fit.
#[utoipa::path(post, path = "/v1/check", tag = "administration", operation_id = "check",
    params(("audit_end" = Option<String>, Query, description = "An earlier `audit_end` that was kept \
        elsewhere: a problem is reported if the audit log does not go on from there.")),
    responses((status = 200, body = CheckView)))]
pub(crate) async fn check(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Params(params): Params<CheckParams>,
    _: NoBody,
) -> Result<Json<CheckView>> {
    let kept = params.audit_end.as_deref().map(LogEnd::from_str).transpose()?;
    let mut report = native.engine.check(&context).await?;
    if let Some(kept) = kept
        && !native.engine.holds_audit_end(&context, kept).await?
    {
        let problem = format!("the audit log has no event {} as it was kept elsewhere", kept.seq);
        report.problems.push(problem);
    }
    let workspace = context.caller.workspace;
    let end = report.audit_ends.iter().find(|(of, _)| *of == workspace);
    Ok(Json(CheckView {
        kind: "check",
        ok: report.problems.is_empty(),
        stores: report.stores,
        memories: report.memories,
        versions: report.versions,
        changes: report.changes,
        vectors: report.vectors,
        readings: report.readings,
        audit_end: end.map_or_else(LogEnd::default, |(_, end)| *end).to_string(),
        problems: report.problems,
    }))
}

/// A consistent copy of the data, as an SQLite file, while writes go on.
#[utoipa::path(get, path = "/v1/backup", tag = "administration", operation_id = "backup",
    responses((status = 200, content_type = "application/vnd.sqlite3", body = [u8])))]
pub(crate) async fn backup(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
) -> Result<impl IntoResponse> {
    let Ok(turn) = Arc::clone(&native.backups).try_acquire_owned() else {
        let message = "other backups are being made or sent; come back later";
        return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, message).retry_after(5));
    };
    let dir = native.scratch_dir.join(format!("loci-backup-{}", context.request));
    // In a task of its own: a client that leaves must not leave the copy behind.
    let made = tokio::spawn(make_copy(native.engine.clone(), context, dir));
    let (file, hold) = made.await.map_err(|error| Failure::internal(error.to_string()))??;
    let length = file.metadata().await.map_err(|error| broken(&error))?.len();
    let headers = [
        (CONTENT_TYPE, "application/vnd.sqlite3".to_owned()),
        (CONTENT_LENGTH, length.to_string()),
        (CONTENT_DISPOSITION, "attachment; filename=\"loci.sqlite\"".to_owned()),
    ];
    let sending = Sending { file, _hold: hold, _turn: turn };
    Ok((headers, Body::from_stream(try_unfold(sending, Sending::next))))
}

/// Makes the copy in a directory only we can enter, opens it and takes its name away at once: it is
/// gone when the last reader closes it, even if the process is killed.
async fn make_copy(engine: Engine, context: Context, dir: PathBuf) -> Result<(File, CopyHold)> {
    std::fs::DirBuilder::new().mode(0o700).create(&dir).map_err(|error| broken(&error))?;
    let file = dir.join("loci.sqlite");
    let opened = copy_into(&engine, &context, &file).await;
    let removed = remove(&dir);
    let opened = opened?;
    removed.map_err(|error| broken(&error))?;
    Ok(opened)
}

/// Takes the name away for good: a power loss must not bring a copy back that may hold what was erased
/// since.
fn remove(dir: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(dir)?;
    match dir.parent() {
        Some(parent) => std::fs::File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

async fn copy_into(engine: &Engine, context: &Context, file: &Path) -> Result<(File, CopyHold)> {
    let hold = engine.backup(context, file).await?;
    Ok((File::open(file).await.map_err(|error| broken(&error))?, hold))
}

fn broken(error: &io::Error) -> Failure {
    Failure::internal(format!("backup: {error}"))
}

/// A copy that is being sent. The file goes first when it is dropped, then what waits for that.
struct Sending {
    file: File,
    _hold: CopyHold,
    _turn: OwnedSemaphorePermit,
}

impl Sending {
    async fn next(mut self) -> io::Result<Option<(Bytes, Self)>> {
        let mut chunk = Vec::with_capacity(BACKUP_CHUNK_BYTES);
        let read = self.file.read_buf(&mut chunk).await?;
        Ok((read > 0).then(|| (Bytes::from(chunk), self)))
    }
}
