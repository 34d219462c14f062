//! A look at a database without changing anything in it, for whoever wants to know what would be
//! worked on: an operator's report, or a command that must not begin where nothing is yet.

use crate::address::Address;
use crate::migrate;
use crate::open::{Lone, OPENING_MAX, OpenError, PostgresOptions};
use crate::tls;
use tokio::time::timeout;

/// What a look at a database found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The server's version, as it says it.
    pub server: String,
    /// The format of what is in the database; none if nothing of ours is there yet.
    pub format: Option<u32>,
    /// Whether it takes no writes: a replica, or told so.
    pub is_read_only: bool,
    /// Whether pages carry checksums, so that damage is noticed where it happens.
    pub has_checksums: bool,
    /// Whether the server writes to its disk before it says that it has.
    pub is_durable: bool,
    /// Whether we connect as a superuser, who may do more than is needed.
    pub is_superuser: bool,
    /// The version of pgvector, where the extension exists in this database.
    pub vector: Option<String>,
    /// How much room the database takes.
    pub bytes: u64,
}

/// Looks. Refuses what [`crate::PostgresStorage::open`] refuses before it changes anything.
pub async fn inspect(options: &PostgresOptions) -> Result<Inspection, OpenError> {
    let address = Address::parse(&options.url, options.patience)?;
    let connector = tls::connector(&address.trust)?;
    let lone = Lone::connect(&address, &connector).await?;
    let looked = timeout(OPENING_MAX, look(&lone)).await;
    lone.end().await;
    looked.unwrap_or_else(|_| Err(OpenError::Unreachable("no answer in time".into())))
}

async fn look(lone: &Lone) -> Result<Inspection, OpenError> {
    let format = migrate::format(&lone.client).await?;
    let row = lone.client.query_one(include_str!("../queries/migration/inspect.sql"), &[]).await?;
    Ok(Inspection {
        server: row.try_get(0)?,
        format: (format > 0).then_some(format),
        is_read_only: row.try_get(1)?,
        has_checksums: row.try_get(2)?,
        is_durable: row.try_get(3)?,
        is_superuser: row.try_get::<_, Option<bool>>(4)?.unwrap_or(false),
        vector: row.try_get(5)?,
        bytes: u64::try_from(row.try_get::<_, i64>(6)?).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_test_postgres::{Build, Database};

    #[tokio::test]
    async fn a_look_changes_nothing() {
        let database = Database::fresh(&Build::Floor.url().unwrap(), None).await.unwrap();
        let options = PostgresOptions::new(database.url());
        let before = inspect(&options).await.unwrap();
        assert_eq!(before.format, None);
        assert_eq!(inspect(&options).await.unwrap().format, None);
        assert!(before.server.starts_with("15.") && before.is_superuser && !before.is_read_only);
        assert!(before.bytes > 0 && before.vector.is_none());
        crate::open::open(&options).await.unwrap();
        let after = inspect(&options).await.unwrap();
        assert_eq!(after.format, Some(migrate::FORMAT));
    }
}
