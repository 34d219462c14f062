//! Appending to history: the only place where feed numbers and times are given. Every version comes
//! with exactly one entry of the feed; both are written together with the store's counters.

use crate::fault::Result;
use crate::row::{int, micros};
use crate::stores::StoreRow;
use loci_model::version::Redaction;
use loci_model::{
    Actor, Attributes, Cause, ChangeOp, Digest, Operation, Timestamp, VersionId, Visibility,
};
use loci_storage::column::{Code, actor_code, attributes_json, pack_ids};
use rusqlite::{Connection, params};

/// A version to be written.
pub(crate) struct NewVersion<'a> {
    pub(crate) version_pk: i64,
    pub(crate) id: VersionId,
    pub(crate) memory_pk: i64,
    pub(crate) revision: u64,
    pub(crate) operation: Operation,
    pub(crate) path: Option<&'a str>,
    pub(crate) attributes: Option<&'a Attributes>,
    /// Digest and size, when it has content.
    pub(crate) content: Option<(Digest, u64)>,
    pub(crate) is_sealed: bool,
    pub(crate) actor: Actor,
    pub(crate) at: Timestamp,
    pub(crate) cause: &'a Cause,
    pub(crate) redaction: Option<Redaction>,
}

/// The time of the store's next feed entry.
pub(crate) fn next_at(store: &StoreRow, now: Timestamp) -> Timestamp {
    Timestamp::after(store.last_at, now)
}

/// Writes a version and its feed entry.
pub(crate) fn append(
    conn: &Connection,
    store: &mut StoreRow,
    version: &NewVersion<'_>,
) -> Result<()> {
    let (actor_kind, actor_id) = actor_code(version.actor);
    let redacted_by = version.redaction.map(|redaction| actor_code(redaction.by));
    let derived_from = &version.cause.derived_from;
    let derived_from =
        (!derived_from.is_empty()).then(|| pack_ids(derived_from.iter().map(|id| id.to_bytes())));
    let visibility =
        version.attributes.map_or(Visibility::Context, |attributes| attributes.visibility);
    conn.prepare_cached(include_str!("../queries/version/insert.sql"))?.execute(params![
        version.version_pk,
        version.id.to_bytes(),
        version.memory_pk,
        int(version.revision),
        int(store.seq + 1),
        version.operation.code(),
        version.path,
        version.attributes.and_then(attributes_json),
        visibility.code(),
        version.content.as_ref().map(|(digest, _)| digest.as_bytes()),
        version.content.map(|(_, bytes)| int(bytes)),
        version.is_sealed,
        actor_kind,
        actor_id,
        version.at.as_micros(),
        version.cause.request,
        version.cause.reason,
        derived_from,
        micros(version.redaction.map(|redaction| redaction.at)),
        redacted_by.map(|(kind, _)| kind),
        redacted_by.and_then(|(_, id)| id),
    ])?;
    store.version_count += 1;
    let entry = Entry {
        op: version.operation.into(),
        version_pk: version.version_pk,
        actor: version.actor,
        at: version.at,
        reason: &version.cause.reason,
    };
    append_change(conn, store, &entry)
}

/// An entry of the feed.
pub(crate) struct Entry<'a> {
    pub(crate) op: ChangeOp,
    pub(crate) version_pk: i64,
    pub(crate) actor: Actor,
    pub(crate) at: Timestamp,
    pub(crate) reason: &'a str,
}

/// Writes the next entry of the feed.
pub(crate) fn append_change(
    conn: &Connection,
    store: &mut StoreRow,
    entry: &Entry<'_>,
) -> Result<()> {
    let (actor_kind, actor_id) = actor_code(entry.actor);
    store.seq += 1;
    store.last_at = Some(entry.at);
    store.is_dirty = true;
    conn.prepare_cached(include_str!("../queries/change/insert.sql"))?.execute(params![
        store.store_pk,
        int(store.seq),
        entry.op.code(),
        entry.version_pk,
        actor_kind,
        actor_id,
        entry.at.as_micros(),
        entry.reason,
    ])?;
    Ok(())
}
