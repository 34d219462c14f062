//! How long one request has waited for its storage. A request asks storage several times, and who
//! sent it is promised an answer in time; an engine that can fall silent takes what earlier calls
//! waited for off the patience of later ones.
//!
//! Only what is beyond the usual counts, so that a request that asks often but is answered quickly
//! keeps all of it.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// What a call may take without being counted.
const USUAL: Duration = Duration::from_millis(50);
/// A request older than this is a long one by its nature; then each call has its own patience.
const SHORT_MAX: Duration = Duration::from_secs(3);
/// What is left to a call in any case.
const LEFT_MIN: Duration = Duration::from_millis(100);

struct Waited {
    began: Instant,
    so_far: Cell<Duration>,
}

tokio::task_local! {
    static WAITED: Waited;
}

/// Runs one request: what its storage calls wait for is added up.
pub async fn as_one_request<T>(request: impl Future<Output = T>) -> T {
    let waited = Waited { began: Instant::now(), so_far: Cell::new(Duration::ZERO) };
    WAITED.scope(waited, request).await
}

/// What is left of a patience to the next call of the request around it, if there is one.
pub fn left_of(patience: Duration) -> Duration {
    let left = WAITED.try_with(|waited| {
        let is_short = waited.began.elapsed() < SHORT_MAX;
        let spent = if is_short { waited.so_far.get() } else { Duration::ZERO };
        patience.saturating_sub(spent).max(LEFT_MIN)
    });
    left.unwrap_or(patience)
}

/// Adds what one call took.
pub fn took(time: Duration) {
    // Nobody counts what belongs to no request.
    let _ = WAITED.try_with(|waited| {
        waited.so_far.set(waited.so_far.get() + time.saturating_sub(USUAL));
    });
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
}
