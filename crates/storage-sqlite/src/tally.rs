//! Counting a store's memories: of each path what changed last, by kind. One pass over the store's
//! rows in the order of their paths.

use crate::fault::Result;
use crate::read::require_store;
use crate::row::count;
use loci_model::Timestamp;
use loci_model::policy::ReadPass;
use loci_model::query::Tally;
use loci_storage::column::visibility_max;
use rusqlite::{Connection, params};

pub(crate) fn tally(conn: &Connection, pass: &ReadPass, besides: Option<&str>) -> Result<Tally> {
    let store = require_store(conn, pass.store())?;
    let mut counting = conn.prepare_cached(include_str!("../queries/memory/tally.sql"))?;
    let visible = visibility_max(pass.audience());
    let mut rows = counting.query(params![store, visible, pass.now().as_micros(), besides])?;
    let mut tally = Tally::default();
    while let Some(row) = rows.next()? {
        let changed_at = Timestamp::from_micros(row.get(2)?);
        tally.updated_at = tally.updated_at.max(Some(changed_at));
        tally.kinds.insert(row.get(0)?, count(row, 1)?);
    }
    Ok(tally)
}
