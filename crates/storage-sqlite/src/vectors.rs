//! Vectors: rows that follow the feed, written by the one writer like everything else, so that a
//! version that was scrubbed a moment ago gets none and a crash leaves no mark ahead of its rows.
//! A version has vectors only while it has its text; both go in the same transaction.

use crate::apply::Core;
use crate::fault::{Fault, Result};
use crate::row::{count, int, time};
use crate::stores::StoreRow;
use crate::texts::{self, PAGE_BYTES_MAX, each_changed};
use loci_model::policy::SearchPass;
use loci_model::{Content, Digest, StoreId, Timestamp, VersionId, WorkspaceId};
use loci_storage::column::visibility_max;
use loci_storage::{
    EmbedPage, Embeddable, Generation, GenerationId, Receipt, SAME_AS_REVISIONS_MAX, StorageError,
    VectorBatch, VectorLag, VectorSource, check_generation,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Where the rows of a generation begin; the schema says why.
const KEYS_PER_GENERATION: i64 = 1 << 40;

fn key(generation: GenerationId, version_pk: i64) -> i64 {
    i64::from(generation.0) * KEYS_PER_GENERATION + version_pk
}

fn read(row: &Row<'_>) -> rusqlite::Result<Generation> {
    Ok(Generation {
        id: GenerationId(row.get(0)?),
        model: row.get(1)?,
        dims: row.get(2)?,
        created_at: time(row, 3)?,
    })
}

pub(crate) fn generations(conn: &Connection) -> Result<Vec<Generation>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/generation/list.sql"))?;
    let found = statement.query_map([], read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn generation(conn: &Connection, id: GenerationId) -> Result<Option<Generation>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/generation/by_id.sql"))?;
    Ok(statement.query_row([id.0], read).optional()?)
}

pub(crate) fn open_generation(
    conn: &Connection,
    model: &str,
    dims: u32,
    is_fresh: bool,
    created_at: Timestamp,
) -> Result<Receipt> {
    check_generation(model, dims)?;
    let newest = conn
        .prepare_cached(include_str!("../queries/generation/newest.sql"))?
        .query_row([], read)
        .optional()?;
    let is_same = |known: &Generation| known.model == model && known.dims == dims;
    if let Some(known) = newest.filter(|known| !is_fresh && is_same(known)) {
        return Ok(Receipt::Generation(known));
    }
    conn.prepare_cached(include_str!("../queries/generation/insert.sql"))?.execute(params![
        model,
        dims,
        created_at.as_micros()
    ])?;
    let id = u32::try_from(conn.last_insert_rowid())
        .map_err(|_| Fault::Refused(StorageError::TooMany("generations")))?;
    let model = model.to_owned();
    Ok(Receipt::Generation(Generation { id: GenerationId(id), model, dims, created_at }))
}

pub(crate) fn drop_generation(
    conn: &Connection,
    id: GenerationId,
    limit: usize,
) -> Result<Receipt> {
    conn.prepare_cached(include_str!("../queries/vector/delete_some.sql"))?
        .execute(params![id.0, int(limit as u64)])?;
    let is_left: bool = conn
        .prepare_cached(include_str!("../queries/vector/any.sql"))?
        .query_row([id.0], |row| row.get(0))?;
    if !is_left {
        for sql in [
            include_str!("../queries/vector/delete_marks.sql"),
            include_str!("../queries/generation/delete.sql"),
        ] {
            conn.prepare_cached(sql)?.execute([id.0])?;
        }
    }
    Ok(Receipt::Purged { is_done: !is_left })
}

/// Drops the vectors of a version, of all generations.
pub(crate) fn delete(conn: &Connection, version_pk: i64) -> Result<()> {
    conn.prepare_cached(include_str!("../queries/vector/delete.sql"))?.execute([version_pk])?;
    Ok(())
}

impl Core {
    pub(crate) fn put_vectors(&mut self, batch: &VectorBatch) -> Result<Receipt> {
        let Some(generation) = generation(&self.conn, batch.generation)? else {
            return Ok(Receipt::VectorsPut(0));
        };
        batch.check(generation.dims)?;
        match self.with_store(batch.store, |core, store| core.put_vectors_of(store, batch)) {
            // Only the store itself can be missing: all else is passed over.
            Err(Fault::Refused(StorageError::NotFound(_))) => Ok(Receipt::VectorsPut(0)),
            put => put.map(Receipt::VectorsPut),
        }
    }

    fn put_vectors_of(&mut self, store: &StoreRow, batch: &VectorBatch) -> Result<u64> {
        if store.store.workspace != batch.workspace {
            return Ok(0);
        }
        let mut written = 0;
        let mut is_whole = true;
        for (id, source) in &batch.vectors {
            let Some((version_pk, digest)) = text_version(&self.conn, store, *id)? else {
                continue;
            };
            let to = key(batch.generation, version_pk);
            let has_some = match source {
                VectorSource::Made(bytes) => put(&self.conn, to, bytes)?,
                VectorSource::SameAs(other) => match text_version(&self.conn, store, *other)? {
                    Some((other_pk, same)) if same == digest => {
                        copy(&self.conn, key(batch.generation, other_pk), to)?
                    }
                    _ => false,
                },
            };
            written += u64::from(has_some);
            is_whole &= has_some;
        }
        let through = batch.through.min(store.seq);
        if is_whole && through > 0 {
            self.conn
                .prepare_cached(include_str!("../queries/vector/mark.sql"))?
                .execute(params![store.store_pk, batch.generation.0, int(through)])?;
            self.moves.marks.push((batch.store, batch.generation, through));
        }
        Ok(written)
    }
}

fn put(conn: &Connection, key: i64, bytes: &[u8]) -> Result<bool> {
    conn.prepare_cached(include_str!("../queries/vector/put.sql"))?.execute(params![key, bytes])?;
    Ok(true)
}

/// Tells whether there was something to copy.
fn copy(conn: &Connection, from: i64, to: i64) -> Result<bool> {
    let mut statement = conn.prepare_cached(include_str!("../queries/vector/copy.sql"))?;
    Ok(statement.execute([from, to])? > 0)
}

/// The key and digest of a version of the store that still has its text.
fn text_version(
    conn: &Connection,
    store: &StoreRow,
    id: VersionId,
) -> Result<Option<(i64, Digest)>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/vector/text_version.sql"))?;
    let found = statement.query_row(params![id.to_bytes(), store.store_pk], |row| {
        Ok((row.get(0)?, Digest::from_bytes(row.get(1)?)))
    });
    Ok(found.optional()?)
}

pub(crate) fn shown(
    conn: &Connection,
    pass: &SearchPass,
    store: StoreId,
    generation: GenerationId,
    versions: &[VersionId],
) -> Result<Vec<Option<Vec<u8>>>> {
    let store_pk = texts::searched(conn, pass, store)?;
    let (shown_to, now) = (visibility_max(pass.audience()), pass.now().as_micros());
    let mut statement = conn.prepare_cached(include_str!("../queries/vector/shown.sql"))?;
    let mut vectors = Vec::with_capacity(versions.len());
    for version in versions {
        let bounds = params![generation.0, version.to_bytes(), store_pk, shown_to, now];
        vectors.push(statement.query_row(bounds, |row| row.get(0)).optional()?);
    }
    Ok(vectors)
}

pub(crate) fn lags(conn: &Connection, id: GenerationId, limit: usize) -> Result<Vec<VectorLag>> {
    if generation(conn, id)?.is_none() {
        return Ok(Vec::new());
    }
    let mut statement = conn.prepare_cached(include_str!("../queries/vector/lags.sql"))?;
    let found = statement.query_map(params![id.0, int(limit as u64)], |row| {
        Ok(VectorLag {
            workspace: WorkspaceId::from_bytes(row.get(0)?),
            store: StoreId::from_bytes(row.get(1)?),
            through: count(row, 2)?,
            end: count(row, 3)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn embeddable(
    conn: &Connection,
    pass: &SearchPass,
    store: StoreId,
    generation: GenerationId,
    after: u64,
    limit: usize,
) -> Result<EmbedPage> {
    let store_pk = texts::searched(conn, pass, store)?;
    let mut needed = Vec::new();
    let mut bytes = 0;
    let through = each_changed(conn, store_pk, after, limit, |memory_pk, _| {
        let Some(row) = texts::current(conn, pass, store, memory_pk)? else { return Ok(true) };
        let has_vectors = conn
            .prepare_cached(include_str!("../queries/vector/exists.sql"))?
            .exists([key(generation, row.head_pk)])?;
        let memory = row.memory;
        if !has_vectors && let Some(Content::Text(text)) = memory.content {
            bytes += text.len();
            let (revision, digest) = (memory.revision, memory.digest);
            let same_as = same_as(conn, generation, memory_pk, revision, digest)?;
            let (path, names) = (memory.path, memory.attributes.names());
            needed.push(Embeddable { version: memory.head, text, path, names, same_as });
        }
        Ok(bytes < PAGE_BYTES_MAX)
    })?;
    Ok(EmbedPage { through, texts: needed })
}

/// The newest of the versions shortly before this one that has the same content and its vectors.
fn same_as(
    conn: &Connection,
    generation: GenerationId,
    memory_pk: i64,
    revision: u64,
    digest: Digest,
) -> Result<Option<VersionId>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/vector/same.sql"))?;
    let found = statement.query_row(
        params![
            memory_pk,
            int(revision),
            int(SAME_AS_REVISIONS_MAX),
            digest.as_bytes(),
            generation.0
        ],
        |row| row.get(0).map(VersionId::from_bytes),
    );
    Ok(found.optional()?)
}
