//! Where time and randomness enter. Built once by the binary; tests build their own, and with the
//! same clock and the same dice everything above the disk repeats itself exactly.

use loci_model::id::uuid_v7_bits;
use loci_model::time::Clock;
use loci_model::{
    GrantId, KeyId, MemoryId, PrincipalId, RequestId, SessionId, StoreId, Timestamp, VersionId,
    WorkspaceId,
};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Fills a buffer with random bytes.
pub type Dice = dyn Fn(&mut [u8]) + Send + Sync;

/// Time and randomness.
#[derive(Clone)]
pub struct Seams {
    clock: Arc<dyn Clock>,
    dice: Arc<Dice>,
}

/// The machine's clock.
struct WallClock;

impl Clock for WallClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> Timestamp {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since_1970.as_micros()).unwrap_or(i64::MAX))
    }
}

impl Seams {
    /// The machine's clock and the kernel's randomness.
    pub fn real() -> Self {
        let dice = |buffer: &mut [u8]| {
            getrandom::fill(buffer).expect("the kernel's random source does not fail once seeded");
        };
        Self { clock: Arc::new(WallClock), dice: Arc::new(dice) }
    }

    /// A clock and dice of the caller's choice.
    pub fn new(clock: Arc<dyn Clock>, dice: Arc<Dice>) -> Self {
        Self { clock, dice }
    }

    /// The present.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
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
