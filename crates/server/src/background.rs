//! Work that nobody asks for: expired memories, due erasures, interrupted removals, old idempotency
//! keys, stores that hold more than they should. Runs beside the server and stops with it; a sweep that is cut off is taken up by the next.

use loci_engine::Engine;
use std::time::Duration;
use tokio::sync::watch;

const PAUSE: Duration = Duration::from_secs(10);
/// Between two looks at stores that grow, so that a burst of writes is compacted once.
const GROWTH_PAUSE: Duration = Duration::from_secs(1);

/// Sweeps until told to stop.
pub(crate) async fn sweep(engine: Engine, mut stop: watch::Receiver<bool>) {
    loop {
        let pause = match engine.sweep().await {
            Ok(report) if report.is_full() => Duration::ZERO,
            Ok(_) => PAUSE,
            Err(error) => {
                tracing::warn!(%error, "sweeping failed; it is tried again");
                PAUSE
            }
        };
        let is_over = tokio::select! {
            () = tokio::time::sleep(pause) => false,
            // The sender is gone only when the process ends.
            _ = stop.wait_for(|is_stopping| *is_stopping) => true,
        };
        if is_over {
            // Without it, the others wait until the lease is over.
            let _ = engine.stop_sweeping().await;
            return;
        }
    }
}

/// Compacts stores that hold more than they should, until told to stop. It looks when something was
/// written here, and now and then because of what was written elsewhere.
pub(crate) async fn compact(engine: Engine, mut stop: watch::Receiver<bool>) {
    loop {
        if let Err(error) = engine.compact_crowded().await {
            tracing::warn!(%error, "compaction failed; it is tried again");
        }
        let is_over = tokio::select! {
            () = grown(&engine) => false,
            () = tokio::time::sleep(PAUSE) => false,
            _ = stop.wait_for(|is_stopping| *is_stopping) => true,
        };
        if is_over {
            return;
        }
    }
}

async fn grown(engine: &Engine) {
    engine.grown().await;
    tokio::time::sleep(GROWTH_PAUSE).await;
}
