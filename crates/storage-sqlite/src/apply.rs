//! What the writer works on: the one write connection and what it remembers between mutations, and
//! the table of which function applies which mutation.
//!
//! A mutation either checks everything before its first write or runs inside a savepoint, so that a
//! refusal never leaves half of it behind.

use crate::ends::Moves;
use crate::fault::{Fault, Result, not_found};
use crate::stores::{self, StoreRow};
use crate::{events, idempotency, keys, members, readings, sessions, vectors};
use loci_model::{Grant, StoreId};
use loci_storage::ground::told;
use loci_storage::{Applied, Idempotency, Mutation, Receipt};
use rusqlite::Connection;
use std::collections::HashMap;

/// Stores whose rows are kept at hand between groups.
const STORES_KEPT_MAX: usize = 1024;

/// The write side of one database.
pub(crate) struct Core {
    pub(crate) conn: Connection,
    /// Rows of stores, possibly with counters that are newer than the database's.
    stores: HashMap<StoreId, StoreRow>,
    /// How far the open transaction has moved feeds and marks.
    pub(crate) moves: Moves,
    /// The grants that went with the mutation at hand.
    pub(crate) taken: Vec<Grant>,
    last_memory_pk: i64,
    last_version_pk: i64,
}

impl Core {
    pub(crate) fn new(conn: Connection) -> rusqlite::Result<Self> {
        let last = |sql| conn.query_row(sql, [], |row| row.get(0));
        let last_memory_pk = last(include_str!("../queries/memory/last_key.sql"))?;
        let last_version_pk = last(include_str!("../queries/version/last_key.sql"))?;
        let (stores, moves, taken) = (HashMap::new(), Moves::default(), Vec::new());
        Ok(Self { conn, stores, moves, taken, last_memory_pk, last_version_pk })
    }

    /// Applies one mutation inside the open transaction.
    pub(crate) fn apply(
        &mut self,
        mutation: &Mutation,
        idempotency: Option<&Idempotency>,
    ) -> Result<Applied> {
        if let Some(key) = idempotency
            && let Some(receipt) = idempotency::recall(&self.conn, key)?
        {
            return Ok(Applied { receipt, is_replay: true });
        }
        let receipt = if may_fail_half_way(mutation) {
            self.in_savepoint(|core| core.dispatch(mutation))?
        } else {
            self.dispatch(mutation)?
        };
        if let Some(key) = idempotency {
            idempotency::remember(&self.conn, key, &receipt)?;
        }
        Ok(Applied { receipt, is_replay: false })
    }

    fn dispatch(&mut self, mutation: &Mutation) -> Result<Receipt> {
        match mutation {
            Mutation::CreateWorkspace(id, at) => keys::create_workspace(&self.conn, *id, *at),
            Mutation::CreatePrincipal(principal) => keys::create_principal(&self.conn, principal),
            Mutation::Recast(pass, id, kind, is_admin) => {
                keys::recast(&self.conn, pass, *id, *kind, *is_admin)
            }
            Mutation::SwitchMemory(pass, id, memory) => {
                keys::switch_memory(&self.conn, pass, *id, *memory)
            }
            Mutation::AddMember(pass, new) => members::add(&self.conn, pass, *new),
            Mutation::RemoveMember { pass, group, member } => {
                self.remove_member(pass, *group, *member)
            }
            Mutation::CreateKey(key) => keys::create(&self.conn, key),
            Mutation::RevokeKey(pass, id) => keys::revoke(&self.conn, pass, *id),
            Mutation::CreateStore(store) => {
                Ok(Receipt::Store(stores::get_or_create(&self.conn, store)?))
            }
            Mutation::DescribeStore(pass, patch) => self.describe_store(pass, patch),
            Mutation::SetPolicy(pass, patch) => self.set_policy(pass, *patch),
            Mutation::ArchiveStore(pass) => self.archive_store(pass),
            Mutation::RemoveStore(pass) => self.remove_store(pass),
            Mutation::PurgeStore { pass, limit } => self.purge_store(pass, *limit),
            Mutation::Commit(pass, batch) => self.commit(pass, batch),
            Mutation::Expire { pass, memory, version } => self.expire(pass, *memory, *version),
            Mutation::Redact(pass, version) => self.redact(pass, *version),
            Mutation::Erase { pass, memory, version } => self.erase(pass, *memory, *version),
            Mutation::Share(pass, grant) => self.share(pass, grant),
            Mutation::Revoke(pass, id) => self.revoke(pass, *id),
            Mutation::CreateSession(session) => sessions::create(&self.conn, session),
            Mutation::ChangeSession { workspace, session, change, now } => {
                sessions::change(&self.conn, *workspace, *session, change, *now)
            }
            Mutation::RemoveSession(workspace, id) => sessions::remove(&self.conn, *workspace, *id),
            Mutation::Import(pass, items) => self.import(pass, items),
            Mutation::OpenGeneration { model, dims, is_fresh, now } => {
                vectors::open_generation(&self.conn, model, *dims, *is_fresh, *now)
            }
            Mutation::PutVectors(batch) => self.put_vectors(batch),
            Mutation::DropGeneration { generation, limit } => {
                vectors::drop_generation(&self.conn, *generation, *limit)
            }
            Mutation::PutReadings(batch) => self.put_readings(batch),
            Mutation::ForgetReadings { pass, reader, limit } => {
                readings::forget(&self.conn, pass, reader, *limit)
            }
            Mutation::ForgetKeys { before } => idempotency::forget(&self.conn, *before),
            Mutation::Record(happening) => {
                Ok(Receipt::Recorded(events::record(&self.conn, happening)?))
            }
            Mutation::Audited(mutation, happening) => {
                self.taken.clear();
                let receipt = self.dispatch(mutation)?;
                events::record(&self.conn, happening)?;
                for other in told(happening, &std::mem::take(&mut self.taken)) {
                    events::record(&self.conn, &other)?;
                }
                Ok(receipt)
            }
        }
    }

    /// Runs `work` so that a refusal undoes all of it. After a failure of SQLite the caller rolls the
    /// whole transaction back; SQLite may have done so by itself, and then the savepoint is gone and
    /// only the failure is worth telling.
    fn in_savepoint<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        // Counters of earlier jobs must be under the savepoint, not lost with the rows below.
        self.write_counters()?;
        self.run("savepoint job")?;
        match work(self) {
            Err(Fault::Sql(error)) => Err(Fault::Sql(error)),
            Err(Fault::Refused(refusal)) => {
                self.run("rollback to job")?;
                self.forget_stores();
                self.run("release job")?;
                Err(Fault::Refused(refusal))
            }
            Ok(value) => {
                self.run("release job")?;
                Ok(value)
            }
        }
    }

    /// Runs a statement that gives nothing back.
    pub(crate) fn run(&self, sql: &str) -> Result<()> {
        self.conn.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    /// Works on a store that is not removed.
    pub(crate) fn with_store<T>(
        &mut self,
        id: StoreId,
        work: impl FnOnce(&mut Self, &mut StoreRow) -> Result<T>,
    ) -> Result<T> {
        let known = match self.stores.remove(&id) {
            Some(row) => Some(row),
            None => stores::load(&self.conn, id)?,
        };
        let mut row =
            known.filter(|row| !row.is_removed).ok_or_else(|| not_found("memory store"))?;
        let result = work(self, &mut row);
        self.stores.insert(id, row);
        result
    }

    /// Writes what the kept rows know better than the database; before every commit.
    pub(crate) fn write_counters(&mut self) -> Result<()> {
        for row in self.stores.values_mut() {
            if row.is_dirty {
                self.moves.seqs.insert(row.store.id, row.seq);
            }
            stores::write_counters(&self.conn, row)?;
        }
        if self.stores.len() > STORES_KEPT_MAX {
            self.stores.clear();
        }
        Ok(())
    }

    /// Drops the kept rows; after every rollback.
    pub(crate) fn forget_stores(&mut self) {
        self.stores.clear();
    }

    /// Drops the kept row of one store that is gone.
    pub(crate) fn forget_store(&mut self, id: StoreId) {
        self.stores.remove(&id);
    }

    /// Keys are given out here and not by SQLite, so that a memory and its first version can name
    /// each other in one write each. A key that a rollback wasted stays unused.
    pub(crate) fn next_memory_pk(&mut self) -> i64 {
        self.last_memory_pk += 1;
        self.last_memory_pk
    }

    pub(crate) fn next_version_pk(&mut self) -> i64 {
        self.last_version_pk += 1;
        self.last_version_pk
    }
}

/// Whether a refusal can come after the mutation's first write.
fn may_fail_half_way(mutation: &Mutation) -> bool {
    match mutation {
        Mutation::Commit(_, batch) => batch.edits.len() > 1,
        Mutation::Import(..) => true,
        Mutation::Audited(mutation, happening) => {
            may_fail_half_way(mutation) || happening.validate().is_err()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    fn full() -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None)
    }

    /// SQLite rolls back by itself when the disk is full or memory is short.
    #[test]
    fn a_failure_is_told_as_it_is_when_sqlite_has_rolled_back() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(
            "create table memory (memory integer primary key);
             create table version (version integer primary key);",
        )
        .unwrap();
        let mut core = Core::new(conn).unwrap();
        core.run("begin immediate").unwrap();
        let failed = core.in_savepoint(|core| {
            core.run("rollback")?;
            Err::<(), _>(Fault::Sql(full()))
        });
        let Err(Fault::Sql(error)) = failed else { panic!("{failed:?}") };
        assert!(crate::fault::is_full(&error), "{error}");
        assert!(core.conn.is_autocommit());
    }
}
