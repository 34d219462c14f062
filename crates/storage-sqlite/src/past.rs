//! A store's texts as they stood at a moment of the past: of each memory the newest version that
//! was written by then, if it was not a removal and still has its content.
//!
//! These are shown as they are, so content is checked against its digest here; what does not match
//! is left out, and named by the check.

use crate::fault::{Result, not_found};
use crate::read::{self, require_store, stats};
use crate::row::{int, time};
use crate::texts::Cut;
use crate::versions::{self, KNOWN_VERSION_COLUMNS};
use loci_model::policy::ReadPass;
use loci_model::{Content, Timestamp, View};
use loci_storage::column::visibility_max;
use loci_storage::{AsOf, TextPage};
use rusqlite::{Connection, params};

pub(crate) fn page(
    conn: &Connection,
    pass: &ReadPass,
    at: AsOf,
    after: u64,
    limit: usize,
) -> Result<TextPage> {
    let store_pk = require_store(conn, pass.store())?;
    let Some((seq, moment)) = moment(conn, pass, store_pk, at)? else {
        return Ok(TextPage::default());
    };
    let mut statement = conn.prepare_cached(include_str!("../queries/text/past.sql"))?;
    let shown_to = visibility_max(pass.audience());
    let mut rows = statement.query(params![store_pk, int(after), int(seq), shown_to])?;
    let mut cut = Cut::new(limit);
    while let Some(row) = rows.next()? {
        let Some(mut memory) = versions::as_memory(row, pass.store())? else { continue };
        if memory.attributes.expires_at.is_some_and(|end| end <= moment) {
            continue;
        }
        if cut.is_full() {
            return Ok(cut.with_next());
        }
        let last = row.get(KNOWN_VERSION_COLUMNS)?;
        let bytes = read::whole(conn, row.get(0)?, last, row.get(KNOWN_VERSION_COLUMNS + 1)?)?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).map(Content::Text);
        memory.content = text.filter(|content| content.digest() == memory.digest);
        cut.add(row.get(1)?, memory);
    }
    Ok(cut.last_page())
}

/// The last feed number of a moment, and its time; none before the first entry.
fn moment(
    conn: &Connection,
    pass: &ReadPass,
    store_pk: i64,
    at: AsOf,
) -> Result<Option<(u64, Timestamp)>> {
    match at {
        AsOf::Time(until) => {
            let next = versions::first_after(conn, pass.store(), store_pk, until)?;
            Ok((next > 1).then(|| (next - 1, until)))
        }
        AsOf::Seq(seq) => {
            let seq = seq.min(stats(conn, pass.store())?.last_seq);
            if seq == 0 {
                return Ok(None);
            }
            let at = conn
                .prepare_cached(include_str!("../queries/change/at.sql"))?
                .query_row(params![store_pk, int(seq)], |row| time(row, 0))?;
            Ok(Some((seq, at)))
        }
        AsOf::Version(id) => {
            let version = versions::get(conn, pass, id, View::Basic)?
                .ok_or_else(|| not_found("memory version"))?;
            Ok(Some((version.seq, version.created_at)))
        }
    }
}
