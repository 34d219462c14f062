//! Work that computes for long, on threads that may be blocked and only so much of it at a time, so
//! that it never holds up the threads that answer requests. Whatever reads many contents or walks
//! many texts runs here, storage calls included: an engine inside this process reads on the thread
//! that asks.

use crate::derived::lost;
use crate::{Engine, Result};
use loci_storage::request::continued;
use std::cell::Cell;
use std::future::Future;
use std::sync::Arc;
use tokio::runtime::Handle;

thread_local! {
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread may be blocked. What takes long checks it in debug builds, so that every test
/// that gets there proves that it does not run on a thread that answers requests.
pub(crate) fn may_block() -> bool {
    MAY_BLOCK.get()
}

/// Runs something on a thread that may be blocked.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let working = tokio::task::spawn_blocking(move || {
        MAY_BLOCK.set(true);
        work()
    });
    working.await.map_err(lost)
}

impl Engine {
    /// Runs a part of a request on a thread that may be blocked, when it is its turn. It keeps its
    /// turn to its end, even if whoever asked goes away: what is abandoned still computes.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let turn = Arc::clone(&self.search.computing).acquire_owned().await;
        let (work, handle) = (continued(work), Handle::current());
        blocking(move || {
            let done = handle.block_on(work);
            drop(turn);
            done
        })
        .await?
    }
}
