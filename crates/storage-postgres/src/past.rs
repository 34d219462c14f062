//! A store's texts as they stood at a moment of the past: of each memory the newest version that
//! was written by then, if it was not a removal and still has its content.
//!
//! These are shown as they are, so content is checked against its digest here; what does not match
//! is left out, and named by the check.

use crate::client::{Tx, uuid};
use crate::fault::{Result, not_found};
use crate::pieces;
use crate::read::{keep_to_indexes, require_store};
use crate::row::{self, KNOWN_VERSION_COLUMNS, count, get as column, int, opt_count, time};
use crate::texts::Cut;
use crate::versions;
use loci_model::policy::ReadPass;
use loci_model::{Content, Timestamp, View};
use loci_storage::column::visibility_max;
use loci_storage::{AsOf, TextPage};

/// Behind the columns of a version: the last piece of its content, and whether that was left out for its size.
const CONTENT_COLUMN: usize = KNOWN_VERSION_COLUMNS;
const BEYOND_COLUMN: usize = KNOWN_VERSION_COLUMNS + 2;

/// A page goes on after the memory that the version with the number `after` belongs to; memories
/// come in the order of their ids.
pub(crate) async fn page(
    tx: &Tx,
    pass: &ReadPass,
    at: AsOf,
    after: u64,
    limit: usize,
) -> Result<TextPage> {
    let Some((seq, moment)) = moment(tx, pass, at).await? else {
        return Ok(TextPage::default());
    };
    keep_to_indexes(tx).await;
    let mut cut = Cut::new(after, limit);
    loop {
        let wanted = cut.rows_wanted();
        let rows = tx
            .query(
                include_str!("../queries/text/past.sql"),
                &[
                    &uuid(pass.store().to_bytes()),
                    &int(cut.place),
                    &int(seq),
                    &visibility_max(pass.audience()),
                    &wanted,
                    &cut.bytes_left(),
                ],
            )
            .await?;
        let mut has_more = int(rows.len() as u64) == wanted;
        let contents = pieces::of_rows(tx, &rows, pass.store(), CONTENT_COLUMN).await?;
        for (row, bytes) in rows.iter().zip(contents) {
            let known = row::version(row, pass.store())?;
            let place = known.version.seq;
            let stood = known.as_memory().filter(|memory| {
                let end = memory.attributes.expires_at;
                end.is_none_or(|end| end > moment)
            });
            let Some(mut memory) = stood else {
                cut.place = place;
                continue;
            };
            if cut.is_full() {
                return Ok(cut.with_next());
            }
            if column(row, BEYOND_COLUMN)? {
                has_more = true;
                break;
            }
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).map(Content::Text);
            memory.content = text.filter(|content| content.digest() == memory.digest);
            cut.add(place, memory);
        }
        if !has_more {
            return Ok(cut.last_page());
        }
    }
}

/// The last feed number of a moment, and its time; none before the first entry.
async fn moment(tx: &Tx, pass: &ReadPass, at: AsOf) -> Result<Option<(u64, Timestamp)>> {
    let store = pass.store();
    match at {
        AsOf::Time(until) => {
            let next = versions::first_after(tx, store, until).await?;
            Ok((next > 1).then(|| (next - 1, until)))
        }
        AsOf::Seq(seq) => {
            let sql = include_str!("../queries/change/at.sql");
            let found = tx.query_opt(sql, &[&uuid(store.to_bytes()), &int(seq)]).await?;
            let row = found.ok_or_else(|| not_found("memory store"))?;
            match opt_count(&row, 0)? {
                None => Ok(None),
                Some(_) => Ok(Some((count(&row, 0)?, time(&row, 1)?))),
            }
        }
        AsOf::Version(id) => match versions::get(tx, pass, id, View::Basic).await? {
            Some(version) => Ok(Some((version.seq, version.created_at))),
            None => {
                require_store(tx, store).await?;
                Err(not_found("memory version"))
            }
        },
    }
}
