//! What storage calls of one request know of each other.
//!
//! How long they have waited: who sent the request is promised an answer in time, so an engine that
//! can fall silent takes what earlier calls waited for off the patience of later ones. Only what is
//! beyond the usual counts, so that a request that asks often but is answered quickly keeps all of
//! it.
//!
//! And which page of access ([`crate::known`]) was the open one: a request is decided on what is so
//! at one moment after it came, so a call need not ask again for what an earlier one was told.
//!
//! And which memories its answer leaves out because their contents are damaged, so that every door
//! can say so ([`damaged`]).

use loci_model::{MemoryId, StoreId, WorkspaceId};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a call may take without being counted.
const USUAL: Duration = Duration::from_millis(50);
/// A request older than this is a long one by its nature; then each call has its own patience.
const SHORT_MAX: Duration = Duration::from_secs(3);
/// What is left to a call in any case.
const LEFT_MIN: Duration = Duration::from_millis(100);

/// How long a page that was seen stays seen: requests that follow something go on for long.
const SEEN_MAX: Duration = Duration::from_millis(500);

/// Damaged memories that are remembered for one request; more say nothing new.
pub const DAMAGED_MAX: usize = 1000;

struct Request {
    began: Instant,
    waited: Cell<Duration>,
    page: Cell<Option<Seen>>,
    /// Shared with the parts of the request that run elsewhere.
    damaged: Arc<Mutex<BTreeSet<(StoreId, MemoryId)>>>,
}

#[derive(Clone, Copy)]
struct Seen {
    workspace: WorkspaceId,
    page: u64,
    at: Instant,
}

tokio::task_local! {
    static REQUEST: Request;
}

/// Runs one request: what its storage calls wait for is added up.
pub async fn as_one_request<T>(request: impl Future<Output = T>) -> T {
    let began = Instant::now();
    let known = Request {
        began,
        waited: Cell::new(Duration::ZERO),
        page: Cell::new(None),
        damaged: Arc::default(),
    };
    REQUEST.scope(known, request).await
}

/// Runs a part of the request around this call as that request, wherever it is run: what it waits
/// for counts from what the request has waited for so far.
pub fn continued<T>(part: impl Future<Output = T>) -> impl Future<Output = T> {
    let known = REQUEST.try_with(|request| Request {
        began: request.began,
        waited: request.waited.clone(),
        page: request.page.clone(),
        damaged: Arc::clone(&request.damaged),
    });
    async move {
        match known {
            Ok(known) => REQUEST.scope(known, part).await,
            Err(_) => part.await,
        }
    }
}

/// What is left of a patience to the next call of the request around it, if there is one.
pub fn left_of(patience: Duration) -> Duration {
    let left = REQUEST.try_with(|request| {
        let is_short = request.began.elapsed() < SHORT_MAX;
        let spent = if is_short { request.waited.get() } else { Duration::ZERO };
        patience.saturating_sub(spent).max(LEFT_MIN)
    });
    left.unwrap_or(patience)
}

/// Adds what one call took.
pub fn took(time: Duration) {
    // Nobody counts what belongs to no request.
    let _ = REQUEST.try_with(|request| {
        request.waited.set(request.waited.get() + time.saturating_sub(USUAL));
    });
}

/// Remembers, for the rest of the request, that this page was the open one a moment ago.
pub fn see_page(workspace: WorkspaceId, page: u64) {
    let seen = Seen { workspace, page, at: Instant::now() };
    let _ = REQUEST.try_with(|request| request.page.set(Some(seen)));
}

/// Forgets it: the request itself may have turned the page.
pub fn forget_page() {
    let _ = REQUEST.try_with(|request| request.page.set(None));
}

/// The page that an earlier call of this request was told.
pub fn seen_page(workspace: WorkspaceId) -> Option<u64> {
    let seen = REQUEST.try_with(|request| request.page.get()).ok().flatten()?;
    (seen.workspace == workspace && seen.at.elapsed() < SEEN_MAX).then_some(seen.page)
}

/// Remembers, for the rest of the request, that its answer leaves out a memory whose content is
/// damaged. Only what the caller may see is noted, because the answer names it.
pub fn note_damaged(store: StoreId, memory: MemoryId) {
    let _ = REQUEST.try_with(|request| {
        let mut damaged = request.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        if damaged.len() < DAMAGED_MAX {
            damaged.insert((store, memory));
        }
    });
}

/// The damaged memories that the answer to this request leaves out, at most [`DAMAGED_MAX`].
pub fn damaged() -> Vec<(StoreId, MemoryId)> {
    let noted = REQUEST.try_with(|request| {
        let damaged = request.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        damaged.iter().copied().collect()
    });
    noted.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_millis(1500);

    #[tokio::test]
    async fn what_a_request_waited_for_is_taken_off_its_patience() {
        assert_eq!(left_of(PATIENCE), PATIENCE, "no request, no limit");
        as_one_request(async {
            for _ in 0..100 {
                took(USUAL);
            }
            assert_eq!(left_of(PATIENCE), PATIENCE, "quick answers do not count");
            took(Duration::from_millis(1050));
            assert_eq!(left_of(PATIENCE), Duration::from_millis(500));
            took(Duration::from_secs(9));
            assert_eq!(left_of(PATIENCE), LEFT_MIN);
        })
        .await;
        as_one_request(async { assert_eq!(left_of(PATIENCE), PATIENCE) }).await;
    }

    #[tokio::test]
    async fn a_part_that_runs_elsewhere_is_a_part_of_its_request() {
        let one = WorkspaceId::from_bytes([1; 16]);
        as_one_request(async {
            see_page(one, 7);
            took(Duration::from_millis(1050));
            let part = tokio::spawn(continued(async move { (left_of(PATIENCE), seen_page(one)) }));
            assert_eq!(part.await.unwrap(), (Duration::from_millis(500), Some(7)));
        })
        .await;
        let part = tokio::spawn(continued(async { left_of(PATIENCE) }));
        assert_eq!(part.await.unwrap(), PATIENCE);
    }

    #[tokio::test]
    async fn a_page_is_seen_by_its_own_request_until_that_writes() {
        let [one, other] = [1, 2].map(|byte| WorkspaceId::from_bytes([byte; 16]));
        see_page(one, 7);
        assert_eq!(seen_page(one), None, "no request, nothing to remember it by");
        as_one_request(async {
            see_page(one, 7);
            assert_eq!((seen_page(one), seen_page(other)), (Some(7), None));
            forget_page();
            assert_eq!(seen_page(one), None);
            see_page(one, 8);
        })
        .await;
        as_one_request(async { assert_eq!(seen_page(one), None) }).await;
    }

    #[tokio::test]
    async fn what_is_damaged_is_noted_once_for_the_request_and_its_parts() {
        let (store, memory) = (StoreId::from_u128(1), MemoryId::from_u128(2));
        note_damaged(store, memory);
        assert_eq!(damaged(), [], "no request, nothing to remember it by");
        as_one_request(async {
            let part = continued(async move { note_damaged(store, memory) });
            tokio::spawn(part).await.unwrap();
            note_damaged(store, memory);
            assert_eq!(damaged(), [(store, memory)]);
            for other in 0..2 * DAMAGED_MAX as u128 {
                note_damaged(store, MemoryId::from_u128(other));
            }
            assert_eq!(damaged().len(), DAMAGED_MAX);
        })
        .await;
        as_one_request(async { assert_eq!(damaged(), []) }).await;
    }
}
