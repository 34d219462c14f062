//! The tier of a test run. The deep tier does more of everything and holds times to their budgets.

use std::time::Duration;

/// The variable that names the tier of a run.
pub const TIER_VARIABLE: &str = "LOCI_TEST_TIER";

/// How long a test waits for an event where times do not count.
const LIVENESS: Duration = Duration::from_secs(60);

/// How thorough a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The inner loop: unit and contract tests.
    Check,
    /// Everything a submission needs.
    Test,
    /// The full amounts and the timing budgets, on a machine that does nothing else.
    Deep,
}

impl Tier {
    /// The tier of this process; without a name it is [`Tier::Test`].
    pub fn current() -> Self {
        match std::env::var(TIER_VARIABLE).as_deref() {
            Ok("deep") => Self::Deep,
            Ok("check") => Self::Check,
            _ => Self::Test,
        }
    }

    /// The name of the tier, as the variable spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Test => "test",
            Self::Deep => "deep",
        }
    }
}

/// Whether times count: in the deep tier only.
pub fn timing_budgets() -> bool {
    Tier::current() == Tier::Deep
}

/// The time that an event may take: the budget where times count, otherwise a bound that only a
/// hanging test exceeds.
pub fn budget(limit: Duration) -> Duration {
    if timing_budgets() { limit } else { limit.max(LIVENESS) }
}
