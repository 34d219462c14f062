//! Leases: which server does a piece of work that one is enough for. A lease lasts until its time is
//! over by the clock of the database, the only one that all servers share, so one that is gone
//! without a word is followed by another soon.

use crate::client::Tx;
use crate::fault::Result;
use std::time::Duration;
use uuid::Uuid;

/// Takes a lease that is free, or is over, or prolongs one's own; tells whether it is one's own now.
pub(crate) async fn acquire(tx: &Tx, name: &str, holder: Uuid, ttl: Duration) -> Result<bool> {
    let millis = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
    let sql = include_str!("../queries/lease/acquire.sql");
    Ok(tx.execute(sql, &[&name, &holder, &millis]).await? > 0)
}
