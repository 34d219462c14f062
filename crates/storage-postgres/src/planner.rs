//! Keeping plans in step with tables that begin small.
//!
//! A statement is planned once for each connection, and what is best for a handful of rows, reading
//! all of them, is worst for many. PostgreSQL plans anew when it has looked at a table again, which it
//! does by itself now and then, but a store can grow by thousands of memories until then. So it is
//! asked to look after the first few writes, and a few times more.

use crate::client::{Clients, Tenant};
use crate::fault::Result;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// After how many writes of this server it is asked.
const LOOKS: [u64; 4] = [50, 1_000, 20_000, 400_000];
/// How long looking may take.
const LOOK_MAX: Duration = Duration::from_secs(60);

/// Counts what a server writes.
#[derive(Default)]
pub(crate) struct Planner(AtomicU64);

impl Planner {
    /// Takes note of so many writes at once; now and then, has PostgreSQL look at its tables.
    pub(crate) fn note(&self, clients: &Clients, writes: u64) {
        let before = self.0.fetch_add(writes, Ordering::Relaxed);
        if is_due(before, before + writes) {
            let clients = clients.clone();
            tokio::spawn(async move {
                // Without it plans are worse for a while, and right all the same.
                if let Err(fault) = look(&clients).await {
                    tracing::debug!(?fault, "the planner could not look at the tables");
                }
            });
        }
    }
}

fn is_due(before: u64, after: u64) -> bool {
    LOOKS.iter().any(|look| before < *look && *look <= after)
}

async fn look(clients: &Clients) -> Result<()> {
    let tx = clients.write(Tenant::Nobody, LOOK_MAX).await?;
    tx.execute(include_str!("../queries/migration/look_again.sql"), &[]).await?;
    tx.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_due_once_however_many_writes_come_at_once() {
        assert!(is_due(49, 50) && is_due(0, 4_000) && is_due(16_000, 20_000));
        assert!(!is_due(50, 51) && !is_due(4_000, 8_000) && !is_due(20_000, 20_000));
    }
}
