//! Short reads in company. When every turn is taken, reads of a tenant wait for the next one together
//! and share its transaction: opening and ending one costs as much as a short read itself, and more
//! transactions at a time than the database can work on only get in each other's way.
//!
//! A read joins a transaction before that is opened, never after, so it sees whatever was answered
//! before it came.

use crate::client::{Clients, Open, Tenant};
use crate::fault::{Fault, Result};
use loci_storage::StorageError;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, oneshot};

/// Reads that share a transaction at most: behind more of them the last one waits too long.
const SHARED_BY_MAX: usize = 16;

type Answer = oneshot::Sender<std::result::Result<Arc<Open>, StorageError>>;

pub(crate) struct Company {
    turns: Arc<Semaphore>,
    waiting: Mutex<HashMap<Tenant, Vec<Answer>>>,
}

impl Company {
    /// For a pool of so many connections: half of them, the others are for those who write and for
    /// long reads.
    pub(crate) fn of(connections: usize) -> Self {
        let turns = Arc::new(Semaphore::new((connections / 2).max(1)));
        Self { turns, waiting: Mutex::default() }
    }

    /// A transaction that is opened now or later, perhaps with others in it.
    pub(crate) async fn join(
        self: &Arc<Self>,
        clients: &Clients,
        tenant: Tenant,
    ) -> Result<Arc<Open>> {
        if let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() {
            return Ok(Open::shared(clients.connect().await?, tenant, turn));
        }
        let (answer, answered) = oneshot::channel();
        let is_first = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let line = waiting.entry(tenant).or_default();
            line.push(answer);
            line.len() == 1
        };
        if is_first {
            // A task of its own: the others still wait when the first one has gone away.
            tokio::spawn(Arc::clone(self).serve(clients.clone(), tenant));
        }
        let gone = |_| Fault::Unreachable("nobody opened a transaction".into());
        answered.await.map_err(gone)?.map_err(Fault::Refused)
    }

    /// Gives turns to those of a tenant who wait until nobody does.
    async fn serve(self: Arc<Self>, clients: Clients, tenant: Tenant) {
        loop {
            // The turns are never closed.
            let Ok(turn) = Arc::clone(&self.turns).acquire_owned().await else { return };
            let opened = clients.connect().await;
            let (line, is_last) = self.take(tenant);
            match opened {
                Ok(client) => {
                    let open = Open::shared(client, tenant, turn);
                    for answer in line {
                        // Who went away does not need it.
                        let _ = answer.send(Ok(Arc::clone(&open)));
                    }
                }
                Err(fault) => {
                    let error = fault.for_all();
                    for answer in line {
                        let _ = answer.send(Err(error()));
                    }
                }
            }
            if is_last {
                return;
            }
        }
    }

    /// Those who go now, and whether nobody is left behind.
    fn take(&self, tenant: Tenant) -> (Vec<Answer>, bool) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut line) = waiting.remove(&tenant) else { return (Vec::new(), true) };
        let rest = line.split_off(line.len().min(SHARED_BY_MAX));
        let is_last = rest.is_empty();
        if !is_last {
            waiting.insert(tenant, rest);
        }
        (line, is_last)
    }
}
