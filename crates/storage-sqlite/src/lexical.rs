//! The word index. It holds every live text memory exactly once, written in the same transaction as
//! the memory, so what was acknowledged is found.
//!
//! The index keeps no text: to take a memory out it must be given exactly the words that were put
//! in, which is why deleting starts from the stored content. Searches name their stores inside the
//! match, so other stores' memories are neither ranked nor counted.

use crate::fault::Result;
use crate::read::{raw_content, store_key};
use crate::row::{int, visibility_max};
use crate::stores::{StoreRow, store_word};
use loci_model::policy::SearchPass;
use loci_model::{MemoryId, limit};
use rusqlite::{Connection, params};

/// What the index knows about a memory.
pub(crate) struct Words<'a> {
    pub(crate) memory_pk: i64,
    pub(crate) path: &'a str,
    pub(crate) tags: &'a [String],
    pub(crate) text: &'a str,
}

pub(crate) fn insert(conn: &Connection, store: &StoreRow, words: &Words<'_>) -> Result<()> {
    let sql = include_str!("../queries/words/insert.sql");
    execute(conn, sql, store, words)
}

pub(crate) fn delete(conn: &Connection, store: &StoreRow, words: &Words<'_>) -> Result<()> {
    let sql = include_str!("../queries/words/delete.sql");
    execute(conn, sql, store, words)
}

fn execute(conn: &Connection, sql: &str, store: &StoreRow, words: &Words<'_>) -> Result<()> {
    conn.prepare_cached(sql)?.execute(params![
        words.memory_pk,
        store.word(),
        words.path,
        words.tags.join(" "),
        words.text,
    ])?;
    Ok(())
}

/// The text under which a head is in the index; `None` when it is not. Damaged content is taken as
/// it is, so that it can still be removed.
pub(crate) fn indexed_text(
    conn: &Connection,
    head_pk: i64,
    is_sealed: bool,
) -> Result<Option<String>> {
    if is_sealed {
        return Ok(None);
    }
    let bytes = raw_content(conn, head_pk)?.unwrap_or_default();
    Ok(Some(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(damaged) => String::from_utf8_lossy(damaged.as_bytes()).into_owned(),
    }))
}

pub(crate) fn find(
    conn: &Connection,
    pass: &SearchPass,
    words: &[String],
    limit: usize,
) -> Result<Vec<MemoryId>> {
    let mut stores = Vec::new();
    for store in pass.stores() {
        stores.extend(store_key(conn, *store)?.map(store_word));
    }
    let words: Vec<String> = words
        .iter()
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .take(limit::QUERY_WORDS_MAX)
        .map(|word| quoted(word))
        .collect();
    if stores.is_empty() || words.is_empty() {
        return Ok(Vec::new());
    }
    let query = format!(
        "store : ({}) AND {{path tags content}} : ({})",
        stores.join(" OR "),
        words.join(" OR ")
    );
    let mut statement = conn.prepare_cached(include_str!("../queries/words/find.sql"))?;
    let found = statement.query_map(
        params![query, visibility_max(pass.audience()), pass.now().as_micros(), int(limit as u64),],
        |row| row.get(0).map(MemoryId::from_bytes),
    )?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// A word as a string of the index's query language, whatever characters it has.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\"\"").replace('\0', " "))
}
