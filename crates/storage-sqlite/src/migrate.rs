//! The schema and its numbered steps. Each step runs in one transaction together with the number it
//! leads to, so a directory is always at exactly one format.

use crate::open::OpenError;
use crate::wal::Wal;
use rusqlite::Connection;

/// `Loci` in ASCII: marks the file as ours.
pub(crate) const APPLICATION_ID: u32 = 0x4c6f_6369;

/// Step `n` leads from format `n` to `n + 1`.
const STEPS: [&str; 9] = [
    include_str!("../migrations/0001_init.sql"),
    include_str!("../migrations/0002_vectors.sql"),
    include_str!("../migrations/0003_sharing.sql"),
    include_str!("../migrations/0004_tails.sql"),
    include_str!("../migrations/0005_compaction.sql"),
    include_str!("../migrations/0006_readings.sql"),
    include_str!("../migrations/0007_caps.sql"),
    include_str!("../migrations/0008_audit_ends.sql"),
    include_str!("../migrations/0009_caps.sql"),
];

/// The format this version writes.
pub(crate) const FORMAT: u32 = STEPS.len() as u32;

/// Refuses what the header of a database says, if it is not ours or too new.
pub(crate) fn refuse_format(application_id: u32, format: u32) -> Result<(), OpenError> {
    match (application_id, format) {
        // Nothing yet: a new file, or one whose first transaction is still in the log.
        (0, 0) => Ok(()),
        (APPLICATION_ID, found) if found > FORMAT => {
            Err(OpenError::NewerFormat { found, known: FORMAT })
        }
        (APPLICATION_ID, _) => Ok(()),
        _ => Err(OpenError::NotLoci),
    }
}

/// The same through a connection, which sees the log too; it only reads.
pub(crate) fn refuse_unknown(conn: &Connection) -> Result<(), OpenError> {
    let application_id = number(conn, "application_id")?;
    let format = number(conn, "user_version")?;
    refuse_format(application_id, format)?;
    let tables: i64 = conn.query_row("select count(*) from sqlite_schema", [], |row| row.get(0))?;
    if application_id == 0 && tables > 0 {
        return Err(OpenError::NotLoci);
    }
    Ok(())
}

/// Brings the schema up to date.
pub(crate) fn run(conn: &Connection) -> Result<(), OpenError> {
    let format = number(conn, "user_version")?;
    for (step, to) in STEPS.iter().zip(1..) {
        if to <= format {
            continue;
        }
        let marks =
            format!("pragma application_id = {APPLICATION_ID}; pragma user_version = {to};");
        conn.execute_batch(&format!("begin immediate;\n{step}\n{marks}\ncommit;"))?;
    }
    if format < FORMAT {
        // So that the next look at the header sees the new number without the log.
        conn.query_row(Wal::EMPTY, [], |_| Ok(()))?;
    }
    Ok(())
}

fn number(conn: &Connection, pragma: &str) -> rusqlite::Result<u32> {
    // Both are signed in SQLite; a negative one is a number this crate never wrote.
    conn.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0))
        .map(|value| u32::try_from(value).unwrap_or(u32::MAX))
}
