//! How often a key may ask: a token bucket for each, holding one second's worth.
//!
//! Keyed by the hash of the secret, after the key proved valid, so that strangers cannot fill the
//! table. The table is bounded all the same; a bucket that is full again is the same as none.

use crate::error::Failure;
use http::StatusCode;
use std::collections::HashMap;
use std::sync::Mutex;
use tokio::time::Instant;

const SHARDS: usize = 16;
const SHARD_BUCKETS_MAX: usize = 1024;

type SecretHash = [u8; 32];

/// The limit and all buckets.
pub(super) struct RateLimit {
    per_second: f64,
    shards: [Mutex<HashMap<SecretHash, Bucket>>; SHARDS],
}

#[derive(Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl RateLimit {
    pub(super) fn new(per_second: u32) -> Self {
        Self { per_second: f64::from(per_second.max(1)), shards: Default::default() }
    }

    /// How many a key has each second.
    pub(super) fn per_second(&self) -> u32 {
        self.per_second as u32
    }

    /// Takes one token, or says when there will be one.
    pub(super) fn take(&self, key: &SecretHash, now: Instant) -> Result<(), Failure> {
        let shard = &self.shards[usize::from(key[0]) % SHARDS];
        let mut buckets = shard.lock().unwrap_or_else(|poison| poison.into_inner());
        if buckets.len() >= SHARD_BUCKETS_MAX && !buckets.contains_key(key) {
            self.make_room(&mut buckets, now);
        }
        let full = Bucket { tokens: self.per_second, at: now };
        let bucket = buckets.entry(*key).or_insert(full);
        bucket.tokens = self.tokens_at(bucket, now);
        bucket.at = now;
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return Ok(());
        }
        let failure =
            Failure::new(StatusCode::TOO_MANY_REQUESTS, "this key asks too often; slow down");
        // The bucket refills within a second at the latest, whatever the rate.
        Err(failure.retry_after(1))
    }

    fn tokens_at(&self, bucket: &Bucket, now: Instant) -> f64 {
        let refilled = now.duration_since(bucket.at).as_secs_f64() * self.per_second;
        (bucket.tokens + refilled).min(self.per_second)
    }

    fn make_room(&self, buckets: &mut HashMap<SecretHash, Bucket>, now: Instant) {
        buckets.retain(|_, bucket| self.tokens_at(bucket, now) < self.per_second);
        if buckets.len() >= SHARD_BUCKETS_MAX
            && let Some(some) = buckets.keys().next().copied()
        {
            buckets.remove(&some);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_seconds_worth_at_once_then_at_the_rate() {
        let limit = RateLimit::new(10);
        let start = Instant::now();
        for _ in 0..10 {
            assert!(limit.take(&[1; 32], start).is_ok());
        }
        assert!(limit.take(&[1; 32], start).is_err());
        assert!(limit.take(&[2; 32], start).is_ok(), "keys do not share");
        let later = start + Duration::from_millis(110);
        assert!(limit.take(&[1; 32], later).is_ok());
        assert!(limit.take(&[1; 32], later).is_err());
    }

    #[test]
    fn the_table_stays_bounded() {
        let limit = RateLimit::new(1);
        let now = Instant::now();
        for number in 0..3 * SHARD_BUCKETS_MAX {
            let mut key = [0; 32];
            key[8..16].copy_from_slice(&number.to_be_bytes());
            let _ = limit.take(&key, now);
        }
        assert!(limit.shards[0].lock().unwrap().len() <= SHARD_BUCKETS_MAX);
    }
}
