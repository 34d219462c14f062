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

/// Carries a part of a request to its end on a task of its own: a connection that closes meanwhile does
/// not cut it off.
pub(crate) async fn finished<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    tokio::spawn(continued(work)).await.map_err(lost)?
}

/// What goes through no more bytes than about these is done on the spot, which is quicker.
const INLINE_BYTES_MAX: usize = 32 * 1024;

impl Engine {
    /// Goes through about so many bytes, for a door: where they are many, on a thread that may be blocked,
    /// when it is its turn. Not for what is running on such a thread already.
    pub async fn computed<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        match bytes <= INLINE_BYTES_MAX {
            true => Ok(work()),
            false => self.compute(async move { Ok(work()) }).await,
        }
    }

    /// The same for an answer of about so many bytes that is written down: it takes turns with other
    /// answers only, because it is done soon and what computes for long is not.
    pub async fn written<T: Send + 'static>(
        &self,
        bytes: usize,
        write: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        if bytes <= INLINE_BYTES_MAX {
            return Ok(write());
        }
        let turn = Arc::clone(&self.search.writing).acquire_owned().await;
        blocking(move || {
            let written = write();
            drop(turn);
            written
        })
        .await
    }

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
