//! Black-box tests: every promise of the README, tried on the real binary.
//!
//! One test program with one module per promise. Each test starts its own server on its own data
//! directory, so they run side by side and in any order.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends here, with a backtrace")]

mod audited;
mod authz;
mod bad_input;
mod cli;
mod cluster_chaos;
mod cluster_load;
mod cluster_read;
mod cluster_retry;
mod compaction;
mod crash;
mod damage;
mod disk_full;
mod doors;
mod extract;
mod extraction;
mod failing_disk;
mod guessing;
mod harness;
mod heavy;
mod history;
mod idle;
mod ingest_pdf;
mod keys;
mod kilroy;
mod mcp;
mod mcp_install;
mod mcp_stdio;
mod mcp_swarm;
mod mobius;
mod mount;
mod mount_suites;
mod naughty;
mod postgres_doors;
mod postgres_faults;
mod postgres_faults_siege;
mod postgres_replica;
mod postgres_start;
mod power_loss;
mod qiforge;
mod qiforge_kept;
mod qiforge_mcp;
mod race;
mod redact;
mod salvage;
mod sealed;
mod sealed_cli;
mod search;
mod search_access;
mod search_cli;
mod search_erase;
mod search_eval;
mod search_faults;
mod search_input;
mod search_lag;
mod search_models;
mod search_offline;
mod search_only;
mod search_repeats;
mod search_restart;
mod sharing;
mod sharing_chats;
mod sharing_tokens;
mod shutdown;
mod slow;
mod starving;
mod sync;
mod takeover;
mod transfer;
mod transfer_large;
mod upgrade;
