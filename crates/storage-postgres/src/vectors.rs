//! Vectors: rows that follow the feed. A version has vectors only while it has its text; both go in
//! the same transaction.
//!
//! Who puts vectors does not take the store, because its writers should not wait for that. It holds
//! the versions instead: who redacts one at the same moment waits, and then deletes what was put; or
//! goes first, and then there is nothing to put vectors to. It also holds the generation and the
//! store against being deleted.

use crate::client::{Tx, uuid};
use crate::fault::{Fault, Result, corrupt, not_found};
use crate::passages;
use crate::row::{count, digest, get, id, int, string, text, time};
use crate::texts::{changed_heads, searched};
use loci_model::policy::SearchPass;
use loci_model::{Content, Digest, StoreId, Timestamp, VersionId, WorkspaceId};
use loci_storage::column::visibility_max;
use loci_storage::{
    EmbedPage, Embeddable, Generation, GenerationId, Receipt, SAME_AS_REVISIONS_MAX, StorageError,
    VectorBatch, VectorLag, VectorSource, check_generation,
};
use std::collections::{BTreeMap, HashMap};
use tokio_postgres::Row;
use uuid::Uuid;

fn read(row: &Row) -> Result<Generation> {
    let unsigned = |column| {
        u32::try_from(get::<i32>(row, column)?).map_err(|_| corrupt("a number below zero"))
    };
    Ok(Generation {
        id: GenerationId(unsigned(0)?),
        model: string(row, 1)?,
        dims: unsigned(2)?,
        created_at: time(row, 3)?,
    })
}

/// The number of a generation as a column has it; one beyond all columns is one that is not there.
pub(crate) fn key(id: GenerationId) -> i32 {
    i32::try_from(id.0).unwrap_or(-1)
}

pub(crate) async fn generations(tx: &Tx) -> Result<Vec<Generation>> {
    let found = tx.query(include_str!("../queries/generation/list.sql"), &[]).await?;
    found.iter().map(read).collect()
}

pub(crate) async fn generation(tx: &Tx, id: GenerationId) -> Result<Option<Generation>> {
    let sql = include_str!("../queries/generation/by_id.sql");
    let found = tx.query_opt(sql, &[&key(id)]).await?;
    found.as_ref().map(read).transpose()
}

pub(crate) async fn open_generation(
    tx: &Tx,
    model: &str,
    dims: u32,
    is_fresh: bool,
    created_at: Timestamp,
) -> Result<Receipt> {
    check_generation(model, dims)?;
    // Servers that start together open one generation between them.
    tx.query_one(include_str!("../queries/generation/lock_last.sql"), &[]).await?;
    let newest = tx.query_opt(include_str!("../queries/generation/newest.sql"), &[]).await?;
    let newest = newest.as_ref().map(read).transpose()?;
    let is_same = |known: &Generation| known.model == model && known.dims == dims;
    if let Some(known) = newest.filter(|known| !is_fresh && is_same(known)) {
        return Ok(Receipt::Generation(known));
    }
    let next = tx.query_one(include_str!("../queries/generation/next.sql"), &[]).await?;
    let number: i32 = get(&next, 0)?;
    let too_many = |_| Fault::Refused(StorageError::TooMany("generations"));
    let id = GenerationId(u32::try_from(number).map_err(too_many)?);
    tx.execute(
        include_str!("../queries/generation/insert.sql"),
        &[&number, &text(model), &dims.cast_signed(), &created_at.as_micros()],
    )
    .await?;
    let sql = include_str!("../queries/generation/open_passages.sql");
    tx.execute(sql, &[&number, &dims.cast_signed()]).await?;
    let model = model.to_owned();
    Ok(Receipt::Generation(Generation { id, model, dims, created_at }))
}

pub(crate) async fn drop_generation(tx: &Tx, id: GenerationId, limit: usize) -> Result<Receipt> {
    let id = key(id);
    // Waits for those who put vectors of it, so that none come after the last was deleted.
    tx.query_opt(include_str!("../queries/generation/lock.sql"), &[&id]).await?;
    let sql = include_str!("../queries/vector/delete_some.sql");
    let is_left: bool = get(&tx.query_one(sql, &[&id, &int(limit as u64)]).await?, 0)?;
    if !is_left {
        tx.execute(include_str!("../queries/generation/delete.sql"), &[&id]).await?;
    }
    Ok(Receipt::Purged { is_done: !is_left })
}

/// Drops the vectors of versions, of all generations.
pub(crate) async fn delete(tx: &Tx, store: StoreId, seqs: &[i64]) -> Result<()> {
    let sql = include_str!("../queries/vector/delete.sql");
    tx.execute(sql, &[&uuid(store.to_bytes()), &seqs]).await?;
    Ok(())
}

/// Where the vectors of a version are taken from.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    Made(&'a [u8]),
    /// The version of this number, as it was before the batch.
    Row(i64),
}

/// A version that has its text.
pub(crate) struct TextVersion {
    pub(crate) memory: Uuid,
    pub(crate) seq: i64,
    pub(crate) path: String,
    digest: Digest,
    has_vectors: bool,
}

pub(crate) async fn put(tx: &Tx, batch: &VectorBatch) -> Result<Receipt> {
    let (store, id) = (uuid(batch.store.to_bytes()), key(batch.generation));
    let sql = include_str!("../queries/generation/hold.sql");
    let Some(row) = tx.query_opt(sql, &[&id]).await? else {
        return Ok(Receipt::VectorsPut(0));
    };
    let dims = read(&row)?.dims;
    let has_passages: bool = get(&row, 4)?;
    batch.check(dims)?;
    let sql = include_str!("../queries/store/hold.sql");
    let Some(row) = tx.query_opt(sql, &[&store]).await? else {
        return Ok(Receipt::VectorsPut(0));
    };
    let through = batch.through.min(count(&row, 0)?);
    let known = text_versions(tx, batch).await?;
    let plan = Plan::of(batch, &known);
    plan.write(tx, batch).await?;
    passages::put_words(tx, batch, &known).await?;
    if has_passages {
        passages::put(tx, batch, dims as usize, &known, &plan.origins).await?;
    }
    if plan.is_whole && through > 0 {
        let sql = include_str!("../queries/word/forget_removed.sql");
        tx.execute(sql, &[&id, &store, &int(through)]).await?;
        tx.execute(
            include_str!("../queries/vector/mark.sql"),
            &[&store, &id, &uuid(batch.workspace.to_bytes()), &int(through)],
        )
        .await?;
    }
    Ok(Receipt::VectorsPut(plan.written))
}

/// The versions a batch speaks of that still have their text; they keep it until the end of the
/// transaction.
async fn text_versions(tx: &Tx, batch: &VectorBatch) -> Result<HashMap<VersionId, TextVersion>> {
    let mut ids: Vec<Uuid> = batch.words.iter().map(|(id, _)| uuid(id.to_bytes())).collect();
    for (id, source) in &batch.vectors {
        ids.push(uuid(id.to_bytes()));
        if let VectorSource::SameAs(other) = source {
            ids.push(uuid(other.to_bytes()));
        }
    }
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = include_str!("../queries/vector/text_versions.sql");
    let store = uuid(batch.store.to_bytes());
    let rows = tx.query(sql, &[&store, &key(batch.generation), &ids]).await?;
    let read = |row: &Row| {
        let version = TextVersion {
            memory: get(row, 4)?,
            seq: get(row, 1)?,
            path: get::<Option<String>>(row, 5)?.unwrap_or_default(),
            digest: digest(row, 2)?,
            has_vectors: get(row, 3)?,
        };
        Ok((VersionId::from_bytes(id(row, 0)?), version))
    };
    rows.iter().map(read).collect()
}

/// What a batch comes to.
struct Plan<'a> {
    /// By the number of the version that gets them.
    origins: BTreeMap<i64, Origin<'a>>,
    written: u64,
    /// Whether every version that has its text got vectors.
    is_whole: bool,
}

impl<'a> Plan<'a> {
    /// Goes through a batch in order: a later entry may build on an earlier one.
    fn of(batch: &'a VectorBatch, known: &HashMap<VersionId, TextVersion>) -> Self {
        let mut plan = Self { origins: BTreeMap::new(), written: 0, is_whole: true };
        for (id, source) in &batch.vectors {
            let Some(version) = known.get(id) else { continue };
            let origin = match source {
                VectorSource::Made(bytes) => Some(Origin::Made(bytes)),
                VectorSource::SameAs(other) => known
                    .get(other)
                    .filter(|other| other.digest == version.digest)
                    .and_then(|other| plan.origin_of(other)),
            };
            plan.written += u64::from(origin.is_some());
            plan.is_whole &= origin.is_some();
            if let Some(origin) = origin {
                plan.origins.insert(version.seq, origin);
            }
        }
        plan
    }

    fn origin_of(&self, version: &TextVersion) -> Option<Origin<'a>> {
        let planned = self.origins.get(&version.seq).copied();
        planned.or_else(|| version.has_vectors.then_some(Origin::Row(version.seq)))
    }

    /// Copies first: what they copy is what was there before the batch.
    async fn write(&self, tx: &Tx, batch: &VectorBatch) -> Result<()> {
        let (store, id) = (uuid(batch.store.to_bytes()), key(batch.generation));
        let (mut from, mut to): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
        let (mut seqs, mut made): (Vec<i64>, Vec<&[u8]>) = (Vec::new(), Vec::new());
        for (seq, origin) in &self.origins {
            match origin {
                Origin::Row(source) => {
                    from.push(*source);
                    to.push(*seq);
                }
                Origin::Made(bytes) => {
                    seqs.push(*seq);
                    made.push(bytes);
                }
            }
        }
        if !to.is_empty() {
            let sql = include_str!("../queries/vector/copy.sql");
            tx.execute(sql, &[&store, &id, &from, &to]).await?;
        }
        if !seqs.is_empty() {
            let workspace = uuid(batch.workspace.to_bytes());
            let sql = include_str!("../queries/vector/put.sql");
            tx.execute(sql, &[&store, &id, &workspace, &seqs, &made]).await?;
        }
        Ok(())
    }
}

pub(crate) async fn shown(
    tx: &Tx,
    pass: &SearchPass,
    store: StoreId,
    generation: GenerationId,
    versions: &[VersionId],
) -> Result<Vec<Option<Vec<u8>>>> {
    let ids: Vec<Uuid> = versions.iter().map(|id| uuid(id.to_bytes())).collect();
    let store_id = uuid(store.to_bytes());
    let (shown_to, now) = (visibility_max(pass.audience()), pass.now().as_micros());
    let generation = key(generation);
    let sql = include_str!("../queries/vector/shown.sql");
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
        [&store_id, &ids, &generation, &shown_to, &now];
    let ((), rows) = tokio::try_join!(searched(tx, pass, store), tx.query(sql, &params))?;
    let mut vectors = vec![None; versions.len()];
    for row in &rows {
        // Places count from one.
        let place = usize::try_from(get::<i64>(row, 0)? - 1).map_err(|_| corrupt("no place"))?;
        let vector = vectors.get_mut(place).ok_or_else(|| not_found("memory version"))?;
        *vector = Some(get(row, 1)?);
    }
    Ok(vectors)
}

pub(crate) async fn lags(
    tx: &Tx,
    generation: GenerationId,
    limit: usize,
) -> Result<Vec<VectorLag>> {
    let sql = include_str!("../queries/vector/lags.sql");
    let found = tx.query(sql, &[&key(generation), &int(limit as u64)]).await?;
    let read = |row: &Row| {
        Ok(VectorLag {
            workspace: WorkspaceId::from_bytes(id(row, 0)?),
            store: StoreId::from_bytes(id(row, 1)?),
            through: count(row, 2)?,
            end: count(row, 3)?,
        })
    };
    found.iter().map(read).collect()
}

pub(crate) async fn embeddable(
    tx: &Tx,
    pass: &SearchPass,
    store: StoreId,
    generation: GenerationId,
    after: u64,
    limit: usize,
) -> Result<EmbedPage> {
    let (through, heads) = changed_heads(tx, pass, store, after, limit).await?;
    let heads: Vec<_> = heads.into_iter().filter_map(|(_, head)| head).collect();
    if heads.is_empty() {
        return Ok(EmbedPage { through, texts: Vec::new() });
    }
    let memories: Vec<Uuid> = heads.iter().map(|row| uuid(row.memory.id.to_bytes())).collect();
    let seqs: Vec<i64> = heads.iter().map(|row| int(row.head)).collect();
    let revisions: Vec<i64> = heads.iter().map(|row| int(row.memory.revision)).collect();
    let oldest: Vec<i64> =
        revisions.iter().map(|revision| revision - int(SAME_AS_REVISIONS_MAX)).collect();
    let digests: Vec<&[u8]> =
        heads.iter().map(|row| row.memory.digest.as_bytes().as_slice()).collect();
    let rows = tx
        .query(
            include_str!("../queries/vector/needed.sql"),
            &[
                &uuid(store.to_bytes()),
                &key(generation),
                &memories,
                &seqs,
                &revisions,
                &digests,
                &oldest,
            ],
        )
        .await?;
    let mut needed: HashMap<i64, Option<VersionId>> = HashMap::with_capacity(rows.len());
    for row in &rows {
        let same_as: Option<Uuid> = get(row, 1)?;
        let same_as = same_as.map(|id| VersionId::from_bytes(id.into_bytes()));
        needed.insert(get(row, 0)?, same_as);
    }
    let texts = (1i64..).zip(heads).filter_map(|(place, row)| {
        let same_as = needed.remove(&place)?;
        let memory = row.memory;
        match memory.content {
            Some(Content::Text(text)) => {
                let (path, names) = (memory.path, memory.attributes.names());
                Some(Embeddable { version: memory.head, text, path, names, same_as })
            }
            Some(Content::Sealed(_)) | None => None,
        }
    });
    Ok(EmbedPage { through, texts: texts.collect() })
}
