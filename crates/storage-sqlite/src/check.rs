//! Looks at everything and reports what does not fit: SQLite's own structure, heads and revisions,
//! digests, shared content, the feed, the counters, the paths, the vectors, the index of repeats and
//! the audit log. Problems name ids, never paths or content.

use crate::fault::{Fault, Result};
use crate::open::open_reader;
use crate::read::snapshot;
use crate::row::{count, time};
use loci_model::{Digest, Event, MemoryId, StoreId, VersionId, WorkspaceId};
use loci_storage::tail::{Comparison, Found};
use loci_storage::{CheckReport, fits};
use rusqlite::{Connection, Row};
use std::collections::HashMap;
use std::path::Path;

const CACHE_KIB: u32 = 8 * 1024;
/// Beyond this many, more problems say nothing new.
const PROBLEMS_MAX: usize = 200;

pub(crate) fn run(database: &Path) -> loci_storage::Result<CheckReport> {
    let mut report = CheckReport::default();
    let conn = open_reader(database, CACHE_KIB).map_err(Fault::Sql)?;
    let looked = snapshot(&conn, |conn| look(conn, &mut report));
    if let Err(fault) = looked {
        let error = loci_storage::StorageError::from(fault);
        match error {
            loci_storage::StorageError::Corrupt(what) => {
                report.problems.push(format!("cannot be read: {what}"));
            }
            other => return Err(other),
        }
    }
    report.problems.truncate(PROBLEMS_MAX);
    Ok(report)
}

fn look(conn: &Connection, report: &mut CheckReport) -> Result<()> {
    structure(conn, report)?;
    report.memories = total(conn, include_str!("../queries/check/count_memories.sql"))?;
    report.versions = total(conn, include_str!("../queries/check/count_versions.sql"))?;
    report.vectors = total(conn, include_str!("../queries/check/count_vectors.sql"))?;
    report.readings = total(conn, include_str!("../queries/check/count_readings.sql"))?;
    for (what, sql) in MEMORY_RULES {
        each(conn, sql, |row| {
            let memory = MemoryId::from_bytes(row.get(0)?);
            report.problems.push(format!("{memory}: {what}"));
            Ok(())
        })?;
    }
    for (what, sql) in VERSION_RULES {
        each(conn, sql, |row| {
            let version = VersionId::from_bytes(row.get(0)?);
            report.problems.push(format!("{version}: {what}"));
            Ok(())
        })?;
    }
    digests(conn, report)?;
    vectors(conn, report)?;
    stores(conn, report)?;
    events(conn, report)
}

/// Each statement finds memories that break the rule beside it.
const MEMORY_RULES: [(&str, &str); 5] = [
    ("its head is not its newest version", include_str!("../queries/check/wrong_head.sql")),
    ("its revisions have gaps", include_str!("../queries/check/revision_gap.sql")),
    ("it lies below another live memory", include_str!("../queries/check/nested_path.sql")),
    (
        "it is not among the repeats as its store wants it",
        include_str!("../queries/check/wrong_repeat.sql"),
    ),
    (
        "its row does not tell how its content is kept",
        include_str!("../queries/check/wrong_chain.sql"),
    ),
];

/// Each statement finds versions that break the rule beside it.
const VERSION_RULES: [(&str, &str); 5] = [
    (
        "it has a digest without content or content without a digest",
        include_str!("../queries/check/payload_mismatch.sql"),
    ),
    (
        "what its content goes on from is missing or not of its memory",
        include_str!("../queries/check/wrong_base.sql"),
    ),
    ("the feed does not have it at its number", include_str!("../queries/check/not_in_feed.sql")),
    ("it has vectors though it has no text", include_str!("../queries/check/vector_misplaced.sql")),
    ("it was read though it has no text", include_str!("../queries/check/reading_misplaced.sql")),
];

/// SQLite's own check.
fn structure(conn: &Connection, report: &mut CheckReport) -> Result<()> {
    each(conn, "pragma integrity_check(50)", |row| {
        let line: String = row.get(0)?;
        if line != "ok" {
            report.problems.push(line);
        }
        Ok(())
    })
}

/// Every content against its digest and size.
fn digests(conn: &Connection, report: &mut CheckReport) -> Result<()> {
    let mut contents = Comparison::default();
    each(conn, include_str!("../queries/check/contents.sql"), |row| {
        let is_sound = contents.is_sound(Found {
            key: row.get::<_, i64>(5)?,
            base: row.get(6)?,
            is_base: row.get(7)?,
            bytes: row.get_ref(4)?.as_bytes().map_err(rusqlite::Error::from)?,
            digest: Digest::from_bytes(row.get(1)?),
            size_bytes: count(row, 2)?,
            is_sealed: row.get(3)?,
        });
        if !is_sound {
            let version = VersionId::from_bytes(row.get(0)?);
            report.problems.push(format!("{version}: its content does not match its digest"));
        }
        Ok(())
    })
}

/// The size of every version's vectors, and how far they and readings are said to reach.
fn vectors(conn: &Connection, report: &mut CheckReport) -> Result<()> {
    each(conn, include_str!("../queries/check/vector_unfit.sql"), |row| {
        let bytes = usize::try_from(count(row, 1)?).unwrap_or(usize::MAX);
        if !fits(bytes, row.get(2)?) {
            let version = VersionId::from_bytes(row.get(0)?);
            report.problems.push(format!("{version}: its vectors do not fit their generation"));
        }
        Ok(())
    })?;
    each(conn, include_str!("../queries/check/mark_unfit.sql"), |row| {
        let store = StoreId::from_bytes(row.get(0)?);
        report.problems.push(format!("{store}: its vectors are said to reach where they cannot"));
        Ok(())
    })?;
    each(conn, include_str!("../queries/check/reading_mark_unfit.sql"), |row| {
        let store = StoreId::from_bytes(row.get(0)?);
        report.problems.push(format!("{store}: it is said to be read further than it goes"));
        Ok(())
    })
}

/// The feed and the counters of each store.
fn stores(conn: &Connection, report: &mut CheckReport) -> Result<()> {
    let mut found = Vec::new();
    each(conn, include_str!("../queries/check/stores.sql"), |row| {
        found.push((
            row.get::<_, i64>(0)?,
            StoreId::from_bytes(row.get(1)?),
            count(row, 2)?,
            row.get::<_, bool>(3)?,
        ));
        Ok(())
    })?;
    report.stores = found.len() as u64;
    for (store_pk, store, seq, has_right_counters) in found {
        let mut note = |what: String| report.problems.push(format!("{store}: {what}"));
        if !has_right_counters {
            note("its counters do not match its memories and versions".into());
        }
        let mut last = (0, None);
        let mut statement = conn.prepare_cached(include_str!("../queries/check/feed.sql"))?;
        let mut rows = statement.query([store_pk])?;
        while let Some(row) = rows.next()? {
            let (number, at) = (count(row, 0)?, time(row, 1)?);
            if number != last.0 + 1 {
                note(format!("the feed goes from {} to {number}", last.0));
            }
            if last.1.is_some_and(|before| at <= before) {
                note(format!("entry {number} is not later than the one before"));
            }
            last = (number, Some(at));
            report.changes += 1;
        }
        if last.0 != seq {
            let ends = last.0;
            report.problems.push(format!("{store}: the feed ends at {ends}, expected {seq}"));
        }
    }
    Ok(())
}

/// The audit log of each workspace: every hash over the one before it, and the last one where it is
/// written down that it ends.
fn events(conn: &Connection, report: &mut CheckReport) -> Result<()> {
    let mut last: Option<Event> = None;
    let mut ends = HashMap::new();
    each(conn, include_str!("../queries/check/events.sql"), |row| {
        let event = crate::events::read(row)?;
        let before = last.take().filter(|before| before.workspace == event.workspace);
        if !event.follows(before.as_ref().map(Event::end).unwrap_or_default()) {
            let (seq, workspace) = (event.seq, event.workspace);
            let what = format!("{workspace}: event {seq} does not follow the one before");
            report.problems.push(what);
        }
        ends.insert(event.workspace, event.end());
        last = Some(event);
        Ok(())
    })?;
    each(conn, include_str!("../queries/check/event_ends.sql"), |row| {
        let workspace = WorkspaceId::from_bytes(row.get(0)?);
        let is_written = row.get::<_, Option<i64>>(1)?.is_some();
        let written = is_written.then(|| crate::events::read_end(row, 1)).transpose()?;
        report.audit_log(workspace, ends.remove(&workspace).unwrap_or_default(), written);
        Ok(())
    })
}

fn total(conn: &Connection, sql: &str) -> Result<u64> {
    Ok(conn.query_row(sql, [], |row| count(row, 0))?)
}

fn each(conn: &Connection, sql: &str, mut visit: impl FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
    let mut statement = conn.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        visit(row)?;
    }
    Ok(())
}
