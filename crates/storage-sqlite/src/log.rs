//! A store's history, out and in. What comes in is taken as it was, ids, numbers and times included,
//! but only in order and only from where the store stands; everything else is refused whole.

use crate::apply::Core;
use crate::commit::{Place, erase_at, require_free, unlist};
use crate::fault::{Fault, Result, not_found};
use crate::history::{self, Entry, NewVersion};
use crate::row::{self, MemoryRow, actor, coded, count, int, opt_id_bytes, time};
use crate::rows::{BareMemory, chain, insert_content, insert_piece, strip_memory, update_memory};
use crate::stores::{self, StoreRow};
use crate::texts::PAGE_BYTES_MAX;
use crate::{read, redact, versions};
use loci_model::decide::NextContent;
use loci_model::policy::AdminPass;
use loci_model::{
    Actor, At, Audience, ChangeOp, Invalid, Memory, MemoryId, Operation, PrincipalId, StoreId,
    Timestamp, Version, VersionId, View,
};
use loci_storage::StorageError;
use loci_storage::log::{KnownMemory, LogEntry, check_next};
use loci_storage::tail::{Chain, Head};
use rusqlite::{Connection, OptionalExtension, params};

pub(crate) fn export(
    conn: &Connection,
    pass: &AdminPass,
    store: StoreId,
    after: u64,
    limit: usize,
) -> Result<Vec<LogEntry>> {
    let row = stores::load(conn, store)?
        .filter(|row| !row.is_removed && row.store.workspace == pass.workspace())
        .ok_or_else(|| not_found("memory store"))?;
    let mut statement = conn.prepare_cached(include_str!("../queries/change/log.sql"))?;
    let mut rows = statement.query(params![row.store_pk, int(after), int(limit as u64)])?;
    let mut entries = Vec::new();
    let mut bytes = 0;
    while bytes < PAGE_BYTES_MAX as u64
        && let Some(row) = rows.next()?
    {
        let known = row::version(row, store)?;
        bytes += known.version.size_bytes.unwrap_or(0);
        entries.push(match coded(row, 28)? {
            ChangeOp::Redacted => LogEntry::Redaction {
                seq: count(row, 27)?,
                memory: known.version.memory,
                version: known.version.id,
                actor: actor(row, 29)?,
                at: time(row, 31)?,
                reason: row.get(32)?,
            },
            ChangeOp::Created | ChangeOp::Modified | ChangeOp::Deleted => {
                let partition = row::opt_id(row, 25)?;
                let owner = PrincipalId::from_bytes(row.get(24)?);
                let bare = Box::new(known.version.clone());
                match versions::in_view(conn, known, View::Full).map_err(StorageError::from) {
                    Ok(version) => {
                        LogEntry::Version { version: Box::new(version), partition, owner }
                    }
                    Err(StorageError::Corrupt(_)) => {
                        LogEntry::Damaged { version: bare, partition, owner }
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        });
    }
    Ok(entries)
}

impl Core {
    pub(crate) fn import_entry(&mut self, store: &mut StoreRow, entry: &LogEntry) -> Result<bool> {
        let seq = entry.seq();
        if seq == 0 || seq > store.seq + 1 {
            return Err(invalid("is not the next entry of the store's history"));
        }
        if seq <= store.seq {
            return if holds(&self.conn, store, entry)? {
                Ok(false)
            } else {
                Err(StorageError::Taken("feed number").into())
            };
        }
        let memory = entry.memory();
        let state = memory_state(&self.conn, store.store_pk, memory)?;
        check_next(entry, store.store.id, state.as_ref().map(|(_, known)| known))?;
        require_later(store, entry.at())?;
        match entry {
            LogEntry::Version { version, partition, owner } => {
                let memory_pk = state.map(|(memory_pk, _)| memory_pk);
                self.import_version(store, memory_pk, version, *partition, *owner)?
            }
            LogEntry::Damaged { .. } => return Err(invalid("is damaged")),
            LogEntry::Redaction { version, actor, at, reason, .. } => {
                let known = versions::load(&self.conn, store.store_pk, store.store.id, *version)?
                    .filter(|known| known.version.memory == memory)
                    .ok_or_else(|| invalid("redacts what is unknown"))?;
                self.import_redaction(store, &known, *actor, *at, reason)?;
            }
        }
        Ok(true)
    }

    fn import_redaction(
        &mut self,
        store: &mut StoreRow,
        known: &row::VersionRow,
        actor: Actor,
        at: Timestamp,
        reason: &str,
    ) -> Result<()> {
        let live =
            read::named(&self.conn, store.store_pk, store.store.id, &At::Id(known.version.memory))?;
        if live.is_some_and(|row| row.head_pk == known.version_pk) {
            return Err(invalid("redacts the head of a live memory"));
        }
        if known.version.redaction.is_none() {
            redact::empty(&self.conn, known.version_pk, actor, at)?;
            redact::refresh_visibility(&self.conn, known.memory_pk)?;
        }
        let entry =
            Entry { op: ChangeOp::Redacted, version_pk: known.version_pk, actor, at, reason };
        history::append_change(&self.conn, store, &entry)
    }

    fn import_version(
        &mut self,
        store: &mut StoreRow,
        known_pk: Option<i64>,
        version: &Version,
        partition: Option<PrincipalId>,
        owner: PrincipalId,
    ) -> Result<()> {
        refuse_known(&self.conn, version.id)?;
        let version_pk = self.next_version_pk();
        let memory_pk = match known_pk {
            Some(memory_pk) => memory_pk,
            None => {
                let memory_pk = self.next_memory_pk();
                self.conn
                    .prepare_cached(include_str!("../queries/memory/insert_bare.sql"))?
                    .execute(params![
                        memory_pk,
                        store.store_pk,
                        version.memory.to_bytes(),
                        opt_id_bytes(partition),
                        owner.to_bytes(),
                        version_pk,
                        version.created_at.as_micros(),
                    ])?;
                memory_pk
            }
        };
        let at = At::Id(version.memory);
        let before = read::named(&self.conn, store.store_pk, store.store.id, &at)?;
        let is_sealed = version.content.as_ref().is_some_and(|c| c.is_sealed());
        let new = NewVersion {
            version_pk,
            id: version.id,
            memory_pk,
            revision: version.revision,
            operation: version.operation,
            path: version.path.as_ref().map(|path| path.as_str()),
            attributes: version.attributes.as_ref(),
            content: version.digest.zip(version.size_bytes),
            is_sealed,
            actor: version.actor,
            at: version.created_at,
            cause: &version.cause,
            redaction: version.redaction,
        };
        history::append(&self.conn, store, &new)?;
        let chain = self.import_content(version_pk, version, before.as_ref())?;
        if let Some(before) = &before {
            unlist(store, &before.memory);
        }
        self.import_head(store, memory_pk, version_pk, version, before, &chain)
    }

    /// Writes the content of an imported version, as far as the one before it does not have it.
    fn import_content(
        &self,
        version_pk: i64,
        version: &Version,
        before: Option<&MemoryRow>,
    ) -> Result<Chain> {
        let Some(content) = &version.content else { return Ok(Chain::default()) };
        let Some(before) = before else {
            insert_content(&self.conn, version_pk, content)?;
            return Ok(Chain::default());
        };
        let chain = chain(&self.conn, before)?;
        let next = NextContent::Whole(content.clone());
        let written = Head::of(&before.memory, &chain).write(next, None);
        insert_piece(&self.conn, before.head_pk, version_pk, &written.piece)?;
        Ok(written.chain)
    }

    /// Brings the memory's row to an imported version: live with everything, or bare.
    fn import_head(
        &mut self,
        store: &mut StoreRow,
        memory_pk: i64,
        version_pk: i64,
        version: &Version,
        before: Option<MemoryRow>,
        chain: &Chain,
    ) -> Result<()> {
        let Some(memory) = live_memory(&self.conn, store, version, before)? else {
            let is_removed = version.operation == Operation::Deleted;
            let due = is_removed.then(|| erase_at(store, version.created_at));
            let bare = BareMemory {
                head_pk: version_pk,
                revision: version.revision,
                updated_at: version.created_at,
                erase_at: due.flatten(),
            };
            strip_memory(&self.conn, memory_pk, &bare)?;
            return redact::refresh_visibility(&self.conn, memory_pk);
        };
        let place = Place {
            partition: memory.partition,
            path: &memory.path,
            itself: Some(memory_pk),
            audience: Audience::Host,
            vacancy: None,
        };
        // Nothing has expired at the moment of its own writing.
        require_free(&self.conn, store, &place, Timestamp::from_micros(i64::MIN))?;
        update_memory(&self.conn, store, memory_pk, version_pk, &memory, chain)?;
        store.memory_count += 1;
        store.content_bytes += memory.size_bytes;
        Ok(())
    }
}

/// The memory as an imported version leaves it; `None` when it is not live then.
fn live_memory(
    conn: &Connection,
    store: &StoreRow,
    version: &Version,
    before: Option<MemoryRow>,
) -> Result<Option<Memory>> {
    let (Some(path), Some(attributes), Some(digest), Some(size_bytes)) =
        (&version.path, &version.attributes, version.digest, version.size_bytes)
    else {
        return Ok(None);
    };
    let (partition, owner) = match before {
        Some(before) => (before.memory.partition, before.memory.owner),
        None => conn
            .prepare_cached(include_str!("../queries/memory/owner.sql"))?
            .query_row(params![store.store_pk, version.memory.to_bytes()], |row| {
                Ok((row::opt_id(row, 0)?, PrincipalId::from_bytes(row.get(1)?)))
            })?,
    };
    Ok(Some(Memory {
        id: version.memory,
        store: store.store.id,
        partition,
        owner,
        path: path.clone(),
        attributes: attributes.clone(),
        head: version.id,
        revision: version.revision,
        content: None,
        digest,
        size_bytes,
        is_sealed: version.content.as_ref().is_some_and(|c| c.is_sealed()),
        created_at: version.created_at,
        updated_at: version.created_at,
    }))
}

fn refuse_known(conn: &Connection, version: VersionId) -> Result<()> {
    let is_known = conn
        .prepare_cached(include_str!("../queries/version/exists.sql"))?
        .exists([version.to_bytes()])?;
    if is_known { Err(StorageError::Taken("memory version").into()) } else { Ok(()) }
}

/// A memory's key, and what a next version must fit onto.
fn memory_state(
    conn: &Connection,
    store_pk: i64,
    memory: MemoryId,
) -> Result<Option<(i64, KnownMemory)>> {
    let found = conn.prepare_cached(include_str!("../queries/memory/state.sql"))?.query_row(
        params![store_pk, memory.to_bytes()],
        |row| {
            let known = KnownMemory {
                revision: count(row, 1)?,
                operation: coded(row, 2)?,
                partition: row::opt_id(row, 3)?,
                owner: PrincipalId::from_bytes(row.get(4)?),
            };
            Ok((row.get(0)?, known))
        },
    );
    Ok(found.optional()?)
}

/// Whether the history has this entry already. A version that was redacted here since it was
/// exported is the same version.
fn holds(conn: &Connection, store: &StoreRow, entry: &LogEntry) -> Result<bool> {
    let known = conn.prepare_cached(include_str!("../queries/change/entry.sql"))?.query_row(
        params![store.store_pk, int(entry.seq())],
        |row| {
            let version = VersionId::from_bytes(row.get(1)?);
            Ok((coded(row, 0)?, version, time(row, 2)?))
        },
    )?;
    Ok(known
        == match entry {
            LogEntry::Version { version, .. } | LogEntry::Damaged { version, .. } => {
                (version.operation.into(), version.id, version.created_at)
            }
            LogEntry::Redaction { version, at, .. } => (ChangeOp::Redacted, *version, *at),
        })
}

fn require_later(store: &StoreRow, at: Timestamp) -> Result<()> {
    if history::next_at(store, at) == at {
        Ok(())
    } else {
        Err(invalid("is not later than the entry before it"))
    }
}

fn invalid(why: &str) -> Fault {
    Invalid::new("entry", why).into()
}
