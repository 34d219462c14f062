//! Lists of stores. Whose reader is asked about reads candidates with what policy needs to know, and
//! the pass says which of them it shows; whoever sees all takes them as they come. Either way a page is
//! read as far as it goes and no further.

use crate::client::{Tx, uuid};
use crate::facts;
use crate::fault::Result;
use crate::read::{EARLIEST, LATEST};
use crate::row::{NO_ID, int};
use crate::stores::{self, start_of};
use loci_model::policy::BrowsePass;
use loci_model::query::{Direction, StoreQuery};
use loci_model::{Page, PrincipalId, Store, StoreId, Timestamp};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

/// Candidates that are read at a time at least: those that are not shown are few.
const CANDIDATES_MIN: usize = 64;

type Place = (Timestamp, [u8; 16]);

pub(crate) async fn list(
    tx: &Tx,
    pass: &BrowsePass,
    query: &StoreQuery,
) -> Result<Page<Store, (Timestamp, StoreId)>> {
    let (since, until) = (query.since.unwrap_or(EARLIEST), query.until.unwrap_or(LATEST));
    let bound = match query.direction {
        Direction::Ascending => (since, [0; 16]),
        Direction::Descending => (until, [0xff; 16]),
    };
    let after = query.after.map(|(at, id)| (at, id.to_bytes()));
    let listing = Listing {
        tx,
        pass,
        query,
        since,
        until,
        only: pass.only().map(|only| only.iter().map(|id| uuid(id.to_bytes())).collect()),
    };
    let start = start_of(query.direction, bound, after);
    // One more than is shown, to know whether there are more.
    let wanted = query.limit.saturating_add(1);
    let stores = match pass.reader() {
        None => listing.all(start, wanted).await?,
        Some(reader) => listing.shown_to(reader, start, wanted).await?,
    };
    Ok(Page::cut(stores, query.limit, |store| (store.created_at, store.id)))
}

struct Listing<'a> {
    tx: &'a Tx,
    pass: &'a BrowsePass,
    query: &'a StoreQuery,
    since: Timestamp,
    until: Timestamp,
    only: Option<Vec<Uuid>>,
}

impl Listing<'_> {
    async fn all(&self, start: Place, limit: usize) -> Result<Vec<Store>> {
        let sql = match self.query.direction {
            Direction::Ascending => include_str!("../queries/store/list_ascending.sql"),
            Direction::Descending => include_str!("../queries/store/list_descending.sql"),
        };
        let rows = self.ask(sql, start, &[&int(limit as u64)]).await?;
        rows.iter().map(|row| stores::read(row).map(|row| row.store)).collect()
    }

    async fn shown_to(
        &self,
        reader: PrincipalId,
        mut start: Place,
        wanted: usize,
    ) -> Result<Vec<Store>> {
        let sql = match self.query.direction {
            Direction::Ascending => include_str!("../queries/store/reachable_ascending.sql"),
            Direction::Descending => include_str!("../queries/store/reachable_descending.sql"),
        };
        let candidates = wanted.max(CANDIDATES_MIN);
        let mut shown = Vec::new();
        while shown.len() < wanted {
            let params: [&(dyn ToSql + Sync); 3] =
                [&uuid(reader.to_bytes()), &NO_ID, &int(candidates as u64)];
            let known = facts::read(&self.ask(sql, start, &params).await?)?;
            let Some(last) = known.last() else { break };
            start = (last.store.created_at, last.store.id.to_bytes());
            let is_last = known.len() < candidates;
            let more = known.into_iter().filter(|facts| self.pass.shows(facts));
            shown.extend(more.map(|facts| facts.store));
            if is_last {
                break;
            }
        }
        shown.truncate(wanted);
        Ok(shown)
    }

    /// Puts a question about stores behind a place, with what it asks beside that.
    async fn ask(
        &self,
        sql: &str,
        (at, id): Place,
        more: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<tokio_postgres::Row>> {
        let workspace = uuid(self.pass.workspace().to_bytes());
        let (at, id) = (at.as_micros(), uuid(id));
        let (since, until) = (self.since.as_micros(), self.until.as_micros());
        let mut params: Vec<&(dyn ToSql + Sync)> =
            vec![&workspace, &at, &id, &since, &until, &self.query.include_archived, &self.only];
        params.extend(more);
        self.tx.query(sql, &params).await
    }
}
