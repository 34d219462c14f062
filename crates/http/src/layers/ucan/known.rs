//! Keys of issuers as they were found, for a while. What was not found is not kept: whoever publishes
//! their keys a moment later is known a moment later.

use super::KeySource;
use loci_ucan::{Did, Key};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// How long keys count as they were found; somebody who takes a key out of use waits this long.
const AGE_MAX: Duration = Duration::from_secs(600);
/// DIDs whose keys are kept.
const KEPT_MAX: usize = 10_000;
/// Lookups at once; others wait.
const LOOKUPS_MAX: usize = 16;
/// For one lookup, waiting included.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) struct KnownKeys {
    source: Arc<dyn KeySource>,
    kept: Mutex<HashMap<Did, (Instant, Vec<Key>)>>,
    lookups: Arc<Semaphore>,
}

impl KnownKeys {
    pub(super) fn new(source: Arc<dyn KeySource>) -> Self {
        Self { source, kept: Mutex::default(), lookups: Arc::new(Semaphore::new(LOOKUPS_MAX)) }
    }

    /// The keys of a DID; none if they cannot be had.
    pub(super) async fn find(&self, did: &Did) -> Vec<Key> {
        let kept = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.get(did).filter(|(found_at, _)| found_at.elapsed() < AGE_MAX).cloned()
        };
        if let Some((_, keys)) = kept {
            return keys;
        }
        match tokio::time::timeout(PATIENCE, self.look_up(did)).await {
            Ok(Ok(keys)) if !keys.is_empty() => {
                self.keep(did, &keys);
                keys
            }
            Ok(Ok(_)) => Vec::new(),
            Ok(Err(why)) => {
                tracing::info!(method = did.method(), why, "the keys of a DID were not found");
                Vec::new()
            }
            Err(_elapsed) => {
                let why = "it took too long";
                tracing::info!(method = did.method(), why, "the keys of a DID were not found");
                Vec::new()
            }
        }
    }

    async fn look_up(&self, did: &Did) -> Result<Vec<Key>, &'static str> {
        let permit = Arc::clone(&self.lookups).acquire_owned().await;
        let permit = permit.map_err(|_| "the server is stopping")?;
        let (source, did) = (Arc::clone(&self.source), did.clone());
        let work = tokio::task::spawn_blocking(move || {
            // Held until the thread is free again, even when nobody waits any more.
            let _permit = permit;
            source.keys(&did)
        });
        work.await.unwrap_or(Err("the lookup failed"))
    }

    fn keep(&self, did: &Did, keys: &[Key]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.retain(|_, (found_at, _)| found_at.elapsed() < AGE_MAX);
        }
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(did.clone(), (Instant::now(), keys.to_vec()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Counting {
        asked: AtomicUsize,
        fails_first: bool,
    }

    impl KeySource for Counting {
        fn keys(&self, did: &Did) -> Result<Vec<Key>, &'static str> {
            let before = self.asked.fetch_add(1, Ordering::SeqCst);
            if self.fails_first && before == 0 {
                return Err("not now");
            }
            Ok(vec![Key::from_bytes(&[did.as_str().len().try_into().unwrap(); 32]).unwrap()])
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_found_is_kept_for_a_while_and_what_was_not_is_not() {
        let source = Arc::new(Counting { asked: AtomicUsize::new(0), fails_first: true });
        let known = KnownKeys::new(Arc::clone(&source) as Arc<dyn KeySource>);
        let did = Did::parse("did:ixo:ixo1abc").unwrap();
        assert!(known.find(&did).await.is_empty());
        for _ in 0..3 {
            assert_eq!(known.find(&did).await.len(), 1);
        }
        assert_eq!(source.asked.load(Ordering::SeqCst), 2);
        tokio::time::advance(AGE_MAX).await;
        assert_eq!(known.find(&did).await.len(), 1);
        assert_eq!(source.asked.load(Ordering::SeqCst), 3);
    }
}
