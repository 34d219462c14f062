//! The ceiling for writes on PostgreSQL: pgbench inserts one row of the same size in each transaction,
//! prepared, with an index on a random id and nothing else around it.

use super::observed;
use super::works::CONTENT_BYTES;
use crate::samples::{Rate, Samples};
use anyhow::{Context, ensure};
use loci_test_postgres::{Database, Postgres};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const TABLE: &str = "create table note (id uuid primary key, content bytea not null)";
/// It counts whole seconds, and on a busy machine its first one may pass before anything is done.
const SECONDS_MIN: u64 = 2;
/// Threads of pgbench: one for each core of the machine that the ratios are told for.
const JOBS: usize = 2;

/// A database with one table, and the script that fills it.
pub(crate) struct Pgbench {
    program: PathBuf,
    script: PathBuf,
    directory: PathBuf,
    database: Database,
}

impl Pgbench {
    pub(crate) fn new(postgres: &Postgres, directory: &Path) -> anyhow::Result<Self> {
        let database = Database::fresh_blocking(&postgres.url(), None)?;
        observed::execute(&database.url(), TABLE)?;
        let script = directory.join("insert.sql");
        let text = format!(
            "insert into note values (gen_random_uuid(), decode(repeat('6c', {CONTENT_BYTES}), 'hex'));\n"
        );
        std::fs::write(&script, text)?;
        let program = postgres.bin().join("pgbench");
        Ok(Self { program, script, directory: directory.to_owned(), database })
    }

    /// Inserts a second.
    pub(crate) fn run(&self, clients: usize, seconds: f64) -> anyhow::Result<Rate> {
        let log = tempfile::tempdir_in(&self.directory)?;
        let whole_seconds = (seconds.ceil() as u64).max(SECONDS_MIN);
        let mut command = Command::new(&self.program);
        command.args(["--no-vacuum", "--protocol=prepared", "--log"]);
        command.arg(format!("--client={clients}")).arg(format!("--jobs={}", JOBS.min(clients)));
        command.arg(format!("--time={whole_seconds}"));
        command.arg("--log-prefix").arg(log.path().join("each"));
        command.arg("--file").arg(&self.script).arg(self.database.url());
        let ran = command.stdin(Stdio::null()).output().context("pgbench does not start")?;
        let said = String::from_utf8_lossy(&ran.stdout);
        ensure!(ran.status.success(), "pgbench: {}", String::from_utf8_lossy(&ran.stderr));
        let mut samples = each(log.path())?;
        samples.took(Duration::from_secs(whole_seconds));
        Ok(Rate { per_second: per_second(&said)?, ..samples.rate()? })
    }
}

/// Transactions a second, connecting left out.
fn per_second(said: &str) -> anyhow::Result<f64> {
    let line = said.lines().find_map(|line| line.strip_prefix("tps = "));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.context("pgbench tells no rate")?.parse()?)
}

/// How long each took: the third column of the log, in microseconds.
fn each(directory: &Path) -> anyhow::Result<Samples> {
    let mut samples = Samples::default();
    for file in std::fs::read_dir(directory)? {
        for line in std::fs::read_to_string(file?.path())?.lines() {
            let micros = line.split(' ').nth(2).context("a line of pgbench without a time")?;
            samples.push(Duration::from_micros(micros.parse()?));
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_found() {
        let said = "number of transactions actually processed: 12\n\
            initial connection time = 3.1 ms\ntps = 4321.5 (without initial connection time)\n";
        assert_eq!(per_second(said).unwrap(), 4321.5);
        assert!(per_second("").is_err());
    }
}
