//! How much the random, crash and load tests do in each tier: the one table of all amounts.
//!
//! `cargo xtask check` and `test` print the table of their tier before they start, and a test of `xtask` compares
//! the table with the sources: every amount is used somewhere. A variable of the environment
//! overrides one amount: `LOCI_` and its name in capitals, such as `LOCI_CHAOS_SEEDS=200`.

use crate::tier::Tier;
use std::fmt::Write as _;

/// One amount.
pub struct Amount {
    /// How tests ask for it.
    pub name: &'static str,
    /// In `check` and `test`.
    pub test: u64,
    /// In `test --deep`.
    pub deep: u64,
    /// What is counted.
    pub what: &'static str,
}

const fn of(name: &'static str, test: u64, deep: u64, what: &'static str) -> Amount {
    Amount { name, test, deep, what }
}

/// Every amount.
pub const AMOUNTS: &[Amount] = &[
    of("any_text_cases", 500, 2_000, "random texts given to the extractor"),
    of("append_lines", 1_600, 16_000, "lines that two mounts and the API append in one run"),
    of("append_runs", 2, 20, "runs of appending, with nothing killed"),
    of("chaos_millis", 2_000, 2_000, "milliseconds of load in one run of the cluster chaos test"),
    of(
        "chaos_seeds",
        4,
        20,
        "runs of the cluster chaos test: servers and PostgreSQL killed under load",
    ),
    of("coherence_rounds", 20, 60, "writes of one mount watched from another"),
    of("compaction_episodes", 120, 120, "memories compacted by a command that is killed"),
    of("compaction_kills", 6, 12, "kill -9 of a running `loci compact`"),
    of("conflict_turns", 20, 60, "races of two mounts for one file"),
    of(
        "cost_memories",
        100_000,
        100_000,
        "memories in the store of the test of what a write costs",
    ),
    of("crash_rounds", 12, 48, "kill -9 of a server under eight writers"),
    of("crowd_millis", 4_000, 10_000, "milliseconds of two mounts and the API on the same files"),
    of("erase_rounds", 25, 50, "erasures beside the making of vectors"),
    of("fsx_operations", 15_000, 100_000, "random file operations compared with a plain directory"),
    of("giving_races", 60, 120, "grants given in the moment in which the right to give ends"),
    of("heavy_secs", 3, 20, "seconds of heavy searches beside a health probe"),
    of("hidden_worlds", 120, 620, "random worlds searched with and without what is hidden"),
    of("idle_connections", 300, 10_000, "connections that fall silent after one request"),
    of("interleavings", 500, 2_000, "random turns of two mounts on four files"),
    of("isolation_cases", 20, 60, "random visits of the QiForge door by strangers"),
    of("kilroy_cases", 200, 200, "random bodies for the Kilroy door"),
    of("lag_writes", 150, 500, "writes of the test of the time until a memory is found by meaning"),
    of("mount_kills", 4, 12, "kill -9 of a mount under a writer"),
    of("move_memories", 5_000, 100_000, "memories that `loci move` takes to PostgreSQL in time"),
    of(
        "other_memories",
        10_000,
        100_000,
        "memories of other principals around the test of starving",
    ),
    of("outage_millis", 1_500, 3_000, "milliseconds of one outage of PostgreSQL"),
    of("plan_memories", 20_000, 20_000, "memories in the store whose plans are looked at"),
    of(
        "postgres_histories",
        8,
        20,
        "random histories on PostgreSQL, compared with the in-memory engine",
    ),
    of("postgres_races", 4, 12, "random races of callers on two servers"),
    of("postgres_rival_rounds", 5, 10, "rounds of updates with one precondition on two servers"),
    of("postgres_rivals", 200, 200, "updates with one precondition on two servers"),
    of("power_losses", 6, 200, "power losses around an erasure that is cut off and repeated"),
    of("property_cases", 256, 1_024, "cases of each property test that names no amount of its own"),
    of("purge_rounds", 10, 30, "purges of a store against writers of its vectors"),
    of("race_rivals", 1_000, 1_000, "updates with one precondition on one server"),
    of("restart_memories", 5_000, 20_000, "memories of the test of a restart"),
    of("retry_rounds", 5, 15, "requests cut off and retried on another server, for each client"),
    of("revocations", 60, 120, "grants revoked under requests that use them"),
    of("revocations_far", 40, 80, "grants revoked at one server under requests to another"),
    of("salvage_rounds", 12, 200, "randomly damaged data directories that are salvaged"),
    of("search_kill_memories", 600, 600, "memories of the kills of a server that makes vectors"),
    of("search_kills", 6, 20, "kill -9 of a server that makes vectors"),
    of("search_writes", 125, 250, "writes of each of eight clients that search for each at once"),
    of(
        "sqlite_histories",
        64,
        256,
        "random histories on SQLite, compared with the in-memory engine",
    ),
    of("sqlite_races", 10, 40, "random races of callers on SQLite"),
    of("swarm_secs", 4, 8, "seconds of MCP processes killed at random"),
    of("sync_kills", 6, 18, "kill -9 of a running `loci sync`"),
    of("takeover_rounds", 4, 20, "kill -9 of a server beside MCP processes that write"),
    of("token_mutations", 2_000, 2_000, "mutated tokens given to the UCAN verifier"),
    of("transfer_kills", 3, 12, "kill -9 of a running `loci move`"),
    of("transfer_memories", 400, 400, "memories of each of six writers in the source of a move"),
    of("visits", 200, 600, "random visits of the QiForge door of a server"),
    of(
        "visits_on_postgres",
        120,
        240,
        "random visits of the QiForge door of a server on PostgreSQL",
    ),
];

/// The amount of this run.
///
/// # Panics
///
/// If the table has no such amount.
pub fn amount(name: &str) -> u64 {
    amount_in(name, Tier::current())
}

/// The amount of a run of this tier.
///
/// # Panics
///
/// If the table has no such amount.
pub fn amount_in(name: &str, tier: Tier) -> u64 {
    let amount = AMOUNTS.iter().find(|amount| amount.name == name);
    value(amount.unwrap_or_else(|| panic!("{name} is not in the table of amounts")), tier)
}

/// The amount of this run, as a number of things.
///
/// # Panics
///
/// If the table has no such amount.
pub fn count(name: &str) -> usize {
    usize::try_from(amount(name)).expect("amounts fit")
}

/// The table as text, with the amounts of this tier.
pub fn table(tier: Tier) -> String {
    let mut text = String::new();
    for amount in AMOUNTS {
        let value = value(amount, tier);
        writeln!(text, "{value:>8}  {:<22}  {}", amount.name, amount.what)
            .expect("writing to a string cannot fail");
    }
    text
}

fn value(amount: &Amount, tier: Tier) -> u64 {
    let variable = format!("LOCI_{}", amount.name.to_uppercase());
    let named = std::env::var(variable).ok().and_then(|text| text.parse().ok());
    named.unwrap_or(if tier == Tier::Deep { amount.deep } else { amount.test })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_the_deep_tier_does_no_less() {
        for pair in AMOUNTS.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} is out of order", pair[1].name);
        }
        for amount in AMOUNTS {
            assert!(amount.deep >= amount.test && amount.test > 0, "{}", amount.name);
        }
    }

    #[test]
    fn the_tier_decides_the_amount() {
        let seeds = &AMOUNTS.iter().find(|amount| amount.name == "chaos_seeds").unwrap();
        assert_eq!((value(seeds, Tier::Test), value(seeds, Tier::Deep)), (4, 20));
    }
}
