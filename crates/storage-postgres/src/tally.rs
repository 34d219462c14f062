//! Counting a store's memories: of each path what changed last, by kind. One pass over the store's
//! rows in the order of their paths.

use crate::client::{Tx, uuid};
use crate::fault::Result;
use crate::read::require_store;
use crate::row::{count, get as column};
use loci_model::Timestamp;
use loci_model::policy::ReadPass;
use loci_model::query::Tally;
use loci_storage::column::visibility_max;

pub(crate) async fn tally(tx: &Tx, pass: &ReadPass, besides: Option<&str>) -> Result<Tally> {
    require_store(tx, pass.store()).await?;
    let sql = include_str!("../queries/memory/tally.sql");
    let store = uuid(pass.store().to_bytes());
    let (visible, now) = (visibility_max(pass.audience()), pass.now().as_micros());
    let mut tally = Tally::default();
    for row in tx.query(sql, &[&store, &visible, &now, &besides]).await? {
        let changed_at = Timestamp::from_micros(column(&row, 2)?);
        tally.updated_at = tally.updated_at.max(Some(changed_at));
        tally.kinds.insert(column(&row, 0)?, count(&row, 1)?);
    }
    Ok(tally)
}
