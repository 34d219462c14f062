//! Writing the rows of memories and payloads; used by edits and by import alike.

use crate::fault::Result;
use crate::repeats;
use crate::row::{int, micros, opt_id_bytes};
use crate::stores::StoreRow;
use loci_model::{Content, Memory, Timestamp};
use loci_storage::column::{Code, tags_json};
use rusqlite::{Connection, params};

/// Writes the row of a new live memory.
pub(crate) fn insert_memory(
    conn: &Connection,
    store: &StoreRow,
    memory_pk: i64,
    head_pk: i64,
    memory: &Memory,
) -> Result<()> {
    let attributes = &memory.attributes;
    conn.prepare_cached(include_str!("../queries/memory/insert.sql"))?.execute(params![
        memory_pk,
        store.store_pk,
        memory.id.to_bytes(),
        opt_id_bytes(memory.partition),
        memory.owner.to_bytes(),
        memory.path.as_str(),
        attributes.kind,
        tags_json(&attributes.tags),
        attributes.importance,
        attributes.pinned,
        attributes.visibility.code(),
        micros(attributes.expires_at),
        attributes.source,
        attributes.scope,
        attributes.summary,
        attributes.media_type,
        attributes.metadata,
        head_pk,
        int(memory.revision),
        memory.digest.as_bytes(),
        int(memory.size_bytes),
        memory.is_sealed,
        memory.created_at.as_micros(),
        memory.updated_at.as_micros(),
        repeats::indexed(store, memory),
    ])?;
    Ok(())
}

/// Brings the row of a memory to its new head.
pub(crate) fn update_memory(
    conn: &Connection,
    store: &StoreRow,
    memory_pk: i64,
    head_pk: i64,
    memory: &Memory,
) -> Result<()> {
    let attributes = &memory.attributes;
    conn.prepare_cached(include_str!("../queries/memory/update.sql"))?.execute(params![
        memory_pk,
        memory.path.as_str(),
        attributes.kind,
        tags_json(&attributes.tags),
        attributes.importance,
        attributes.pinned,
        attributes.visibility.code(),
        micros(attributes.expires_at),
        attributes.source,
        attributes.scope,
        attributes.summary,
        attributes.media_type,
        attributes.metadata,
        head_pk,
        int(memory.revision),
        memory.digest.as_bytes(),
        int(memory.size_bytes),
        memory.is_sealed,
        memory.updated_at.as_micros(),
        repeats::indexed(store, memory),
    ])?;
    Ok(())
}

/// What is left of a memory that is not live.
pub(crate) struct BareMemory {
    pub(crate) head_pk: i64,
    pub(crate) revision: u64,
    pub(crate) updated_at: Timestamp,
    pub(crate) erase_at: Option<Timestamp>,
}

/// Takes everything from a memory's row that it has only while it is live. Who may see its history
/// stays.
pub(crate) fn strip_memory(conn: &Connection, memory_pk: i64, bare: &BareMemory) -> Result<()> {
    conn.prepare_cached(include_str!("../queries/memory/strip.sql"))?.execute(params![
        memory_pk,
        bare.head_pk,
        int(bare.revision),
        bare.updated_at.as_micros(),
        micros(bare.erase_at),
    ])?;
    Ok(())
}

/// Writes the content of a version.
pub(crate) fn insert_content(conn: &Connection, version_pk: i64, content: &Content) -> Result<()> {
    conn.prepare_cached(include_str!("../queries/payload/insert.sql"))?
        .execute(params![version_pk, content.bytes()])?;
    Ok(())
}

/// Gives a version the content of an earlier one. A copy, so that redacting either leaves the other.
pub(crate) fn copy_content(conn: &Connection, from_pk: i64, to_pk: i64) -> Result<()> {
    conn.prepare_cached(include_str!("../queries/payload/copy.sql"))?.execute([from_pk, to_pk])?;
    Ok(())
}
