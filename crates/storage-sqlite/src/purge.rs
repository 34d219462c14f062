//! Deleting a removed store for good, a bounded number of memories at a time, so that other writes
//! get their turn in between.

use crate::apply::Core;
use crate::fault::Result;
use crate::row::int;
use crate::stores;
use loci_model::policy::ManagePass;
use loci_storage::Receipt;
use rusqlite::params;

impl Core {
    pub(crate) fn purge_store(&mut self, pass: &ManagePass, limit: usize) -> Result<Receipt> {
        let store = stores::load_removed(&self.conn, pass.workspace(), pass.store())?;
        let doomed = {
            let sql = include_str!("../queries/memory/of_store.sql");
            let mut statement = self.conn.prepare_cached(sql)?;
            // One more than may go, to know whether anything is left.
            let asked = int(limit as u64).saturating_add(1);
            let found = statement.query_map(params![store.store_pk, asked], |row| row.get(0))?;
            found.collect::<rusqlite::Result<Vec<i64>>>()?
        };
        for memory_pk in doomed.iter().take(limit) {
            self.purge_memory(*memory_pk)?;
        }
        let is_done = doomed.len() <= limit;
        if is_done {
            for sql in [
                include_str!("../queries/change/delete_of_store.sql"),
                include_str!("../queries/grant/delete_of_store.sql"),
                include_str!("../queries/vector/delete_marks_of_store.sql"),
                include_str!("../queries/reading/delete_marks_of_store.sql"),
                include_str!("../queries/reading/delete_end_of_store.sql"),
                include_str!("../queries/store/delete.sql"),
            ] {
                self.conn.prepare_cached(sql)?.execute([store.store_pk])?;
            }
            self.forget_store(pass.store());
        }
        Ok(Receipt::Purged { is_done })
    }

    fn purge_memory(&self, memory_pk: i64) -> Result<()> {
        for sql in [
            include_str!("../queries/vector/delete_of_memory.sql"),
            include_str!("../queries/reading/delete_of_memory.sql"),
            include_str!("../queries/payload/delete_of_memory.sql"),
            include_str!("../queries/version/delete_of_memory.sql"),
            include_str!("../queries/memory/delete.sql"),
        ] {
            self.conn.prepare_cached(sql)?.execute([memory_pk])?;
        }
        Ok(())
    }
}
