//! Taking content away: redaction of one version, erasure of a memory. Here the rows go; that their
//! bytes are gone from every file is the writer's business, which answers only after that.

use crate::apply::Core;
use crate::commit::Stamp;
use crate::fault::{Result, corrupt, not_found};
use crate::history::{self, Entry};
use crate::read;
use crate::readings;
use crate::stores::StoreRow;
use crate::vectors;
use crate::versions::{self, memory_key};
use loci_model::policy::ManagePass;
use loci_model::{Actor, At, Cause, ChangeOp, MemoryId, Timestamp, VersionId};
use loci_storage::column::actor_code;
use loci_storage::{Receipt, StorageError, reason};
use rusqlite::{Connection, params};

impl Core {
    pub(crate) fn redact(&mut self, pass: &ManagePass, id: VersionId) -> Result<Receipt> {
        self.with_store(pass.store(), |core, store| {
            let (store_pk, store_id) = (store.store_pk, pass.store());
            let load = |conn: &Connection| {
                versions::load(conn, store_pk, store_id, id)?
                    .ok_or_else(|| not_found("memory version"))
            };
            let found = load(&core.conn)?;
            let at = At::Id(found.version.memory);
            let live = read::named(&core.conn, store_pk, store_id, &at)?;
            if live.is_some_and(|row| row.head_pk == found.version_pk) {
                return Err(StorageError::IsHead.into());
            }
            if found.version.redaction.is_some() {
                return Ok(Receipt::Redacted(Box::new(found.version)));
            }
            let scrub = Scrub { actor: pass.actor(), now: pass.now(), reason: reason::REDACTED };
            scrub.version(&core.conn, store, found.version_pk)?;
            refresh_visibility(&core.conn, found.memory_pk)?;
            Ok(Receipt::Redacted(Box::new(load(&core.conn)?.version)))
        })
    }

    pub(crate) fn erase(
        &mut self,
        pass: &ManagePass,
        memory: MemoryId,
        version: VersionId,
    ) -> Result<Receipt> {
        self.with_store(pass.store(), |core, store| {
            let (store_pk, id) = (store.store_pk, pass.store());
            let (memory_pk, _) =
                memory_key(&core.conn, store_pk, memory)?.ok_or_else(|| not_found("memory"))?;
            if let Some(row) = read::named(&core.conn, store_pk, id, &At::Id(memory))? {
                let cause = Cause::new(None, reason::ERASED);
                let stamp = Stamp {
                    version,
                    actor: pass.actor(),
                    at: history::next_at(store, pass.now()),
                    cause: &cause,
                };
                core.remove(store, &row, &stamp)?;
            }
            let scrub = Scrub { actor: pass.actor(), now: pass.now(), reason: reason::ERASED };
            let doomed = unredacted(&core.conn, memory_pk)?;
            // All at once, or each would hand its bytes on to the next that goes.
            core.conn
                .prepare_cached(include_str!("../queries/payload/delete_of_memory.sql"))?
                .execute([memory_pk])?;
            for version_pk in &doomed {
                scrub.version(&core.conn, store, *version_pk)?;
            }
            core.conn
                .prepare_cached(include_str!("../queries/memory/forget_erasure.sql"))?
                .execute([memory_pk])?;
            refresh_visibility(&core.conn, memory_pk)?;
            Ok(Receipt::Erased { memory, versions: doomed.len() as u64 })
        })
    }
}

/// Who scrubs, when and why.
struct Scrub<'a> {
    actor: Actor,
    now: Timestamp,
    reason: &'a str,
}

impl Scrub<'_> {
    /// Takes everything from a version but the fact that it was, and tells the feed.
    fn version(&self, conn: &Connection, store: &mut StoreRow, version_pk: i64) -> Result<()> {
        let at = history::next_at(store, self.now);
        empty(conn, version_pk, self.actor, at)?;
        let entry = Entry {
            op: ChangeOp::Redacted,
            version_pk,
            actor: self.actor,
            at,
            reason: self.reason,
        };
        history::append_change(conn, store, &entry)
    }
}

/// Takes everything from a version but the fact that it was.
pub(crate) fn empty(conn: &Connection, version_pk: i64, by: Actor, at: Timestamp) -> Result<()> {
    let (kind, id) = actor_code(by);
    conn.prepare_cached(include_str!("../queries/version/redact.sql"))?.execute(params![
        version_pk,
        at.as_micros(),
        kind,
        id
    ])?;
    hand_on(conn, version_pk)?;
    conn.prepare_cached(include_str!("../queries/payload/delete.sql"))?.execute([version_pk])?;
    vectors::delete(conn, version_pk)?;
    readings::delete(conn, version_pk)
}

/// Gives what a version is kept as to the versions that go on from it, so that they can do without.
fn hand_on(conn: &Connection, version_pk: i64) -> Result<()> {
    let going_on = {
        let sql = include_str!("../queries/payload/going_on.sql");
        let mut statement = conn.prepare_cached(sql)?;
        let found = statement.query_map([version_pk], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
        })?;
        found.collect::<rusqlite::Result<Vec<_>>>()?
    };
    if going_on.is_empty() {
        return Ok(());
    }
    let (bytes, base) = read::piece(conn, version_pk)?
        .ok_or_else(|| corrupt("a version goes on from one without content"))?;
    let mut update = conn.prepare_cached(include_str!("../queries/payload/update.sql"))?;
    for (later_pk, tail) in going_on {
        update.execute(params![later_pk, [bytes.as_slice(), &tail].concat(), base])?;
    }
    Ok(())
}

/// Who may see the history of a removed memory is what its newest unredacted version says; when
/// none is left there is nothing to hide.
pub(crate) fn refresh_visibility(conn: &Connection, memory_pk: i64) -> Result<()> {
    conn.prepare_cached(include_str!("../queries/memory/refresh_visibility.sql"))?
        .execute([memory_pk])?;
    Ok(())
}

fn unredacted(conn: &Connection, memory_pk: i64) -> Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/version/unredacted.sql"))?;
    let found = statement.query_map([memory_pk], |row| row.get(0))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
