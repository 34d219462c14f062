//! A database of its own for one test, on a shared server, dropped with the value.
//!
//! Made from `template0`, which nobody can be connected to, or from a template the caller
//! prepared; dropped by force, because a test's pool may still hold connections.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tokio::runtime;
use tokio::time::timeout;
use tokio_postgres::{Config, NoTls};

/// Longest wait for one statement about a database; copying a large template takes a while.
const PATIENCE: Duration = Duration::from_secs(60);
/// PostgreSQL cuts longer names without saying so.
const NAME_MAX: usize = 63;

/// A fresh database.
#[derive(Debug)]
pub struct Database {
    server: Address,
    name: String,
}

impl Database {
    /// A new database on the server at this superuser's address, a copy of `template` if given.
    pub async fn fresh(url: &str, template: Option<&str>) -> Result<Self> {
        let server = Address::of(url)?;
        let mut suffix = [0; 8];
        getrandom::fill(&mut suffix).expect("the kernel gives random numbers");
        let name = format!("loci_{}", hex::encode(suffix));
        let template = quoted(template.unwrap_or("template0"))?;
        let statement = format!("create database {} template {template}", quoted(&name)?);
        execute(url, &statement).await?;
        Ok(Self { server, name })
    }

    /// The same for a caller that is not asynchronous.
    pub fn fresh_blocking(url: &str, template: Option<&str>) -> Result<Self> {
        wait_for(Self::fresh(url, template))
    }

    /// Its address, as the superuser.
    pub fn url(&self) -> String {
        self.server.with(&self.name)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of this database for another role.
    pub fn url_as(&self, role: &str, password: &str) -> String {
        let Address { host, .. } = &self.server;
        format!("postgres://{role}:{password}@{host}/{}", self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let url = self.server.with("postgres");
        let Ok(name) = quoted(&self.name) else {
            return;
        };
        let statement = format!("drop database if exists {name} with (force)");
        // If it fails the server is gone, and the database with it.
        let _ = wait_for(execute(&url, &statement));
    }
}

/// An address taken apart at the database's name.
#[derive(Debug)]
struct Address {
    credentials: String,
    host: String,
}

impl Address {
    fn of(url: &str) -> Result<Self> {
        let rest = url.strip_prefix("postgres://").context("the address is not postgres://…")?;
        let (credentials, rest) = rest.split_once('@').context("the address names no role")?;
        let host = rest.split('/').next().unwrap_or_default();
        ensure!(!host.is_empty(), "the address names no host");
        Ok(Self { credentials: credentials.to_owned(), host: host.to_owned() })
    }

    fn with(&self, database: &str) -> String {
        format!("postgres://{}@{}/{database}", self.credentials, self.host)
    }
}

async fn execute(url: &str, statement: &str) -> Result<()> {
    let config: Config = url.parse().context("not an address of PostgreSQL")?;
    let work = async {
        let (client, connection) = config.connect(NoTls).await.context("cannot connect")?;
        let speaking = tokio::spawn(connection);
        client.batch_execute(statement).await.with_context(|| format!("`{statement}` failed"))?;
        drop(client);
        speaking.await.context("the connection's task ended badly")??;
        Ok(())
    };
    match timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => bail!("`{statement}` takes longer than {PATIENCE:?}"),
    }
}

/// Blocks until the work is done. One runtime cannot be waited for from inside another, so the work
/// gets a thread of its own.
fn wait_for<T: Send>(work: impl Future<Output = Result<T>> + Send) -> Result<T> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    // The runtime moves along, because it may not be dropped inside another either.
    let done = thread::scope(|scope| scope.spawn(move || runtime.block_on(work)).join());
    done.unwrap_or_else(|_| bail!("the work panicked"))
}

fn quoted(name: &str) -> Result<String> {
    ensure!(!name.is_empty() && name.len() <= NAME_MAX, "not a database name: {name:?}");
    Ok(format!("\"{}\"", name.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_their_role_and_host() {
        let address = Address::of("postgres://loci:secret@127.0.0.1:12345/postgres").unwrap();
        assert_eq!(address.with("x"), "postgres://loci:secret@127.0.0.1:12345/x");
        assert!(Address::of("http://loci@x/y").is_err());
        assert!(Address::of("postgres://127.0.0.1/y").is_err());
    }

    #[test]
    fn names_are_quoted_and_bounded() {
        assert_eq!(quoted("a\"b").unwrap(), "\"a\"\"b\"");
        assert!(quoted("").is_err());
        assert!(quoted(&"x".repeat(NAME_MAX + 1)).is_err());
    }
}
