//! Writing the rows of memories and payloads; used by edits and by import alike.

use crate::fault::Result;
use crate::repeats;
use crate::row::{MemoryRow, int, micros, opt_id_bytes};
use crate::stores::StoreRow;
use loci_model::{Content, Memory, Timestamp};
use loci_storage::column::{Code, tags_json};
use loci_storage::tail::{Chain, Piece, is_sharable};
use rusqlite::{Connection, Row, params};

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
    chain: &Chain,
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
        chain.depth,
        chain.hash,
    ])?;
    Ok(())
}

/// How the content of a memory's head is kept.
pub(crate) fn chain(conn: &Connection, row: &MemoryRow) -> Result<Chain> {
    if !is_sharable(&row.memory) {
        return Ok(Chain::default());
    }
    let mut statement = conn.prepare_cached(include_str!("../queries/memory/chain.sql"))?;
    let read = |row: &Row<'_>| Ok(Chain { depth: row.get(0)?, hash: row.get(1)? });
    Ok(statement.query_row([row.memory_pk], read)?)
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

/// Writes the whole content of a version.
pub(crate) fn insert_content(conn: &Connection, version_pk: i64, content: &Content) -> Result<()> {
    insert_payload(conn, version_pk, content.bytes(), None)
}

/// Writes the content of a version that follows another one. What is copied is short, or sealed and
/// so never shared; then it is whole.
pub(crate) fn insert_piece(
    conn: &Connection,
    before_pk: i64,
    version_pk: i64,
    piece: &Piece,
) -> Result<()> {
    match piece {
        Piece::Whole(content) => insert_content(conn, version_pk, content),
        Piece::Tail(bytes) => insert_payload(conn, version_pk, bytes, Some(before_pk)),
        Piece::Copy => {
            conn.prepare_cached(include_str!("../queries/payload/copy.sql"))?
                .execute([before_pk, version_pk])?;
            Ok(())
        }
    }
}

fn insert_payload(
    conn: &Connection,
    version_pk: i64,
    bytes: &[u8],
    base_pk: Option<i64>,
) -> Result<()> {
    conn.prepare_cached(include_str!("../queries/payload/insert.sql"))?
        .execute(params![version_pk, bytes, base_pk])?;
    Ok(())
}
