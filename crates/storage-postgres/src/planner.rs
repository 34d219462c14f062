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
    /// Takes note of a write; now and then, has PostgreSQL look at its tables.
    pub(crate) fn note(&self, clients: &Clients) {
        let written = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        if LOOKS.contains(&written) {
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

async fn look(clients: &Clients) -> Result<()> {
    let tx = clients.write(Tenant::Nobody, LOOK_MAX).await?;
    tx.execute(include_str!("../queries/migration/look_again.sql"), &[]).await?;
    tx.commit().await
}
