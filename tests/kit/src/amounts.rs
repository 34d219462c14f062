//! How much the random, crash and load tests do in each tier: the one table of all amounts.
//!
//! `cargo xtask test` prints the table of its tier before it starts, and a test of `xtask` compares
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
    of("conflict_turns", 20, 60, "races of two mounts for one file"),
    of("crash_rounds", 12, 48, "kill -9 of a server under eight writers"),
    of("fsx_operations", 15_000, 100_000, "random file operations compared with a plain directory"),
    of("heavy_secs", 3, 20, "seconds of heavy searches beside a health probe"),
    of("hidden_worlds", 120, 620, "random worlds searched with and without what is hidden"),
    of("idle_connections", 300, 10_000, "connections that fall silent after one request"),
    of("interleavings", 500, 2_000, "random turns of two mounts on four files"),
    of("isolation_cases", 20, 60, "random visits of the QiForge door by strangers"),
    of("kilroy_cases", 200, 200, "random bodies for the Kilroy door"),
    of("lag_writes", 150, 500, "writes of the test of the time until a memory is found by meaning"),
    of(
        "other_memories",
        10_000,
        100_000,
        "memories of other principals around the test of starving",
    ),
    of("outage_millis", 1_500, 3_000, "milliseconds of one outage of PostgreSQL"),
    of(
        "postgres_histories",
        8,
        20,
        "random histories on PostgreSQL, compared with the in-memory engine",
    ),
    of("postgres_races", 4, 12, "random races of callers on two servers"),
    of("power_losses", 6, 200, "power losses around an erasure that is cut off and repeated"),
    of("purge_rounds", 10, 30, "purges of a store against writers of its vectors"),
    of("restart_memories", 5_000, 20_000, "memories of the test of a restart"),
    of("retry_rounds", 5, 15, "requests cut off and retried on another server, for each client"),
    of("search_kills", 6, 20, "kill -9 of a server that makes vectors"),
    of(
        "sqlite_histories",
        64,
        256,
        "random histories on SQLite, compared with the in-memory engine",
    ),
    of("sqlite_races", 10, 40, "random races of callers on SQLite"),
    of("swarm_secs", 4, 8, "seconds of MCP processes killed at random"),
    of("token_mutations", 2_000, 2_000, "mutated tokens given to the UCAN verifier"),
    of("transfer_kills", 3, 12, "kill -9 of a running `loci move`"),
];

/// The amount of this run.
///
/// # Panics
///
/// If the table has no such amount.
pub fn amount(name: &str) -> u64 {
    let amount = AMOUNTS.iter().find(|amount| amount.name == name);
    value(
        amount.unwrap_or_else(|| panic!("{name} is not in the table of amounts")),
        Tier::current(),
    )
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
        writeln!(text, "{value:>8}  {:<20}  {}", amount.name, amount.what)
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
