//! The two builds of PostgreSQL the tests know, and where the environment says they are.
//!
//! A missing variable is an error that says what to run, never a skipped test.

use std::path::PathBuf;

use anyhow::{Context, Result};

/// One build of PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// The oldest supported release, without pgvector.
    Floor,
    /// The newest release, with pgvector.
    Current,
}

impl Build {
    /// The variable with the address of the shared server, as its superuser.
    pub const fn url_variable(self) -> &'static str {
        match self {
            Self::Floor => "LOCI_TEST_POSTGRES",
            Self::Current => "LOCI_TEST_PGVECTOR",
        }
    }

    /// The variable with the folder of `initdb`, `postgres`, `psql` and `pgbench`.
    pub const fn bin_variable(self) -> &'static str {
        match self {
            Self::Floor => "LOCI_TEST_POSTGRES_BIN",
            Self::Current => "LOCI_TEST_PGVECTOR_BIN",
        }
    }

    /// The shared server of this run.
    pub fn url(self) -> Result<String> {
        let name = self.url_variable();
        std::env::var(name).with_context(|| missing(name))
    }

    /// The programs of this build.
    pub fn bin(self) -> Result<PathBuf> {
        let name = self.bin_variable();
        std::env::var_os(name).map(PathBuf::from).with_context(|| missing(name))
    }
}

fn missing(name: &str) -> String {
    format!(
        "{name} is not set; run the tests with `cargo xtask test`, or one command with \
         `cargo xtask postgres -- cargo test --package …`"
    )
}
