//! Where time and randomness enter. Built once by the binary; tests build their own, and with the
//! same clock and the same dice everything above the disk repeats itself exactly.

use crate::onward::Onward;
use loci_model::id::uuid_v7_bits;
use loci_model::time::Clock;
use loci_model::{
    GrantId, KeyId, MemoryId, PrincipalId, RequestId, SessionId, StoreId, Timestamp, VersionId,
    WorkspaceId,
};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Fills a buffer with random bytes.
pub type Dice = dyn Fn(&mut [u8]) + Send + Sync;

/// Time and randomness.
#[derive(Clone)]
pub struct Seams {
    clock: Arc<dyn Clock>,
    onward: Arc<Onward>,
    dice: Arc<Dice>,
}

/// Random bytes of an id. Ids are not secrets, so their randomness is fetched ahead; a secret asks
/// for more and gets bytes that were never anywhere else.
const ID_BYTES: usize = 16;
const POOL_BYTES: usize = 4096;

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; POOL_BYTES], used: POOL_BYTES }) };
}

/// Random bytes fetched ahead: one call to the kernel instead of hundreds.
struct Pool {
    bytes: [u8; POOL_BYTES],
    used: usize,
}

impl Pool {
    fn fill(&mut self, buffer: &mut [u8]) {
        if self.used + buffer.len() > POOL_BYTES {
            from_kernel(&mut self.bytes);
            self.used = 0;
        }
        buffer.copy_from_slice(&self.bytes[self.used..self.used + buffer.len()]);
        self.used += buffer.len();
    }
}

fn from_kernel(buffer: &mut [u8]) {
    getrandom::fill(buffer).expect("the kernel's random source does not fail once seeded");
}

/// The machine's clock, and since when it runs.
struct WallClock(Instant);

impl Clock for WallClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> Timestamp {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since_1970.as_micros()).unwrap_or(i64::MAX))
    }

    fn ran(&self) -> Duration {
        self.0.elapsed()
    }
}

impl Seams {
    /// The machine's clock and the kernel's randomness.
    pub fn real() -> Self {
        let dice = |buffer: &mut [u8]| match buffer.len() {
            0..=ID_BYTES => POOL.with_borrow_mut(|pool| pool.fill(buffer)),
            _ => from_kernel(buffer),
        };
        Self::new(Arc::new(WallClock(Instant::now())), Arc::new(dice))
    }

    /// A clock and dice of the caller's choice.
    pub fn new(clock: Arc<dyn Clock>, dice: Arc<Dice>) -> Self {
        Self { clock, onward: Arc::default(), dice }
    }

    /// The present. It never goes back, whatever the clock is set to.
    pub fn now(&self) -> Timestamp {
        self.onward.at(self.clock.now(), || self.clock.ran())
    }

    /// What the clock shows, which may be behind the present.
    pub(crate) fn shown(&self) -> Timestamp {
        self.clock.now()
    }

    /// From now on it is this moment, or later.
    pub(crate) fn go_on_from(&self, moment: Timestamp) {
        self.onward.go_on_from(moment);
    }

    /// Random bytes.
    pub fn fill(&self, buffer: &mut [u8]) {
        (self.dice)(buffer);
    }

    fn bits(&self, now: Timestamp) -> u128 {
        let mut random = [0u8; 16];
        self.fill(&mut random);
        uuid_v7_bits(now.as_millis(), u128::from_be_bytes(random))
    }
}

macro_rules! fresh_ids {
    ($($name:ident: $id:ident),+ $(,)?) => {
        impl Seams {
            $(
                #[doc = concat!("A new ", stringify!($id), ".")]
                pub fn $name(&self, now: Timestamp) -> $id {
                    $id::from_u128(self.bits(now))
                }
            )+
        }
    };
}

fresh_ids! {
    workspace_id: WorkspaceId,
    principal_id: PrincipalId,
    store_id: StoreId,
    memory_id: MemoryId,
    version_id: VersionId,
    grant_id: GrantId,
    session_id: SessionId,
    key_id: KeyId,
    request_id: RequestId,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_do_not_repeat_when_the_pool_is_refilled() {
        let seams = Seams::real();
        let now = Timestamp::from_micros(0);
        let count = 3 * POOL_BYTES / ID_BYTES;
        let ids: HashSet<_> = (0..count).map(|_| seams.memory_id(now)).collect();
        assert_eq!(ids.len(), count);
    }
}
