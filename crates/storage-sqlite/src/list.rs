//! Listings of memories. Each page is a walk along one index from where the last page ended; a
//! folded directory is shown once and then jumped over, however much lies in it.

use crate::fault::Result;
use crate::read::{EARLIEST, LATEST, in_view, require_store};
use crate::row::{self, MemoryRow, opt_id_bytes};
use loci_model::policy::ReadPass;
use loci_model::query::{Direction, Filter, ListCursor, ListItem, ListOrder, ListQuery};
use loci_model::{Audience, Invalid, Page, PathPrefix, StoreId, Timestamp};
use loci_storage::column::visibility_max;
use rusqlite::types::Value;
use rusqlite::{Connection, params};

/// What every walk of one listing has in common.
struct Walk<'a> {
    conn: &'a Connection,
    store_pk: i64,
    store: StoreId,
    audience: Audience,
    now: Timestamp,
    filter: &'a Filter,
}

/// Where a walk begins and ends: paths from `low` up to but not including `high`, and only behind
/// the last memory shown.
struct Span {
    low: String,
    high: String,
    /// What the order goes by (a path or a time), and the id, of the last memory shown.
    after: (Value, [u8; 16]),
}

/// What to do after a row.
enum Step {
    On,
    Stop,
}

pub(crate) fn page(
    conn: &Connection,
    pass: &ReadPass,
    query: &ListQuery,
) -> Result<Page<ListItem, ListCursor>> {
    let walk = Walk {
        conn,
        store_pk: require_store(conn, pass.store())?,
        store: pass.store(),
        audience: pass.audience(),
        now: pass.now(),
        filter: &query.filter,
    };
    let items = match query.order {
        ListOrder::Path => by_path(&walk, query)?,
        ListOrder::Created | ListOrder::Updated => by_time(&walk, query)?,
    };
    Ok(Page::cut(items, query.limit, |item| item.cursor(query.order)))
}

/// The oldest memory that matches and is seen.
pub(crate) fn first(
    conn: &Connection,
    store_pk: i64,
    store: StoreId,
    filter: &Filter,
    audience: Audience,
    now: Timestamp,
) -> Result<Option<MemoryRow>> {
    let walk = Walk { conn, store_pk, store, audience, now, filter };
    let span = Span::times(&PathPrefix::root(), Direction::Ascending);
    let mut found = None;
    let sql = include_str!("../queries/memory/list_created_ascending.sql");
    walk.each(sql, &span, |row| {
        found = Some(row);
        Ok(Step::Stop)
    })?;
    Ok(found)
}

impl Span {
    /// All paths below a prefix, in path order.
    fn paths(prefix: &PathPrefix) -> Self {
        let (low, high) = prefix.range();
        Self { low, high, after: (Value::Null, [0; 16]) }
    }

    /// All paths below a prefix, in an order by time.
    fn times(prefix: &PathPrefix, direction: Direction) -> Self {
        let (at, id) = match direction {
            Direction::Ascending => (EARLIEST, [0; 16]),
            Direction::Descending => (LATEST, [0xff; 16]),
        };
        Self { after: (Value::Integer(at.as_micros()), id), ..Self::paths(prefix) }
    }

    /// Leaves out everything up to and including a directory.
    fn skip_directory(&mut self, directory: &str, direction: Direction) {
        match direction {
            // '0' is the character after '/', so this is the first text behind the directory.
            Direction::Ascending => self.raise(format!("{}0", directory.trim_end_matches('/'))),
            Direction::Descending => self.lower(directory.to_owned()),
        }
        self.after = (Value::Null, [0; 16]);
    }

    /// Leaves out everything up to and including a memory.
    fn skip_memory(&mut self, path: &str, id: [u8; 16], direction: Direction) {
        match direction {
            Direction::Ascending => self.raise(path.to_owned()),
            // Paths have no control characters: this is right behind the path itself.
            Direction::Descending => self.lower(format!("{path}\u{1}")),
        }
        self.after = (Value::Text(path.to_owned()), id);
    }

    fn raise(&mut self, low: String) {
        if low > self.low {
            self.low = low;
        }
    }

    fn lower(&mut self, high: String) {
        if high < self.high {
            self.high = high;
        }
    }
}

impl Walk<'_> {
    /// Gives `visit` each matching memory of a span in order, until it stops.
    fn each(
        &self,
        sql: &str,
        span: &Span,
        mut visit: impl FnMut(MemoryRow) -> Result<Step>,
    ) -> Result<()> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params![
            self.store_pk,
            span.low,
            span.high,
            span.after.0,
            span.after.1,
            visibility_max(self.audience),
            self.now.as_micros(),
            self.filter.kind,
            self.filter.source,
            self.filter.scope,
            self.filter.partition.map(opt_id_bytes),
        ])?;
        while let Some(row) = rows.next()? {
            let found = row::memory(row, self.store)?;
            if self.filter.matches(&found.memory)
                && let Step::Stop = visit(found)?
            {
                break;
            }
        }
        Ok(())
    }
}

fn by_path(walk: &Walk<'_>, query: &ListQuery) -> Result<Vec<ListItem>> {
    let sql = match query.direction {
        Direction::Ascending => include_str!("../queries/memory/list_path_ascending.sql"),
        Direction::Descending => include_str!("../queries/memory/list_path_descending.sql"),
    };
    let mut span = Span::paths(&query.prefix);
    match &query.after {
        None => {}
        Some(ListCursor::Memory(path, id)) => {
            span.skip_memory(path.as_str(), id.to_bytes(), query.direction);
        }
        Some(ListCursor::Directory(prefix)) => {
            span.skip_directory(prefix.as_str(), query.direction);
        }
        Some(ListCursor::Time(..)) => return Err(other_order().into()),
    }
    let mut items = Vec::new();
    loop {
        let mut folded = None;
        walk.each(sql, &span, |row| {
            let path = row.memory.path.as_str();
            let directory = query.fold_depth.and_then(|depth| query.prefix.fold(path, depth));
            if let Some(directory) = directory {
                folded = Some(directory.to_owned());
                return Ok(Step::Stop);
            }
            let memory = in_view(walk.conn, row, query.view)?;
            items.push(ListItem::Memory(Box::new(memory)));
            Ok(step(items.len(), query.limit))
        })?;
        let Some(directory) = folded else { break };
        span.skip_directory(&directory, query.direction);
        items.push(ListItem::Directory(directory));
        if let Step::Stop = step(items.len(), query.limit) {
            break;
        }
    }
    Ok(items)
}

fn by_time(walk: &Walk<'_>, query: &ListQuery) -> Result<Vec<ListItem>> {
    let sql = match (query.order, query.direction) {
        (ListOrder::Updated, Direction::Ascending) => {
            include_str!("../queries/memory/list_updated_ascending.sql")
        }
        (ListOrder::Updated, Direction::Descending) => {
            include_str!("../queries/memory/list_updated_descending.sql")
        }
        (_, Direction::Ascending) => include_str!("../queries/memory/list_created_ascending.sql"),
        (_, Direction::Descending) => {
            include_str!("../queries/memory/list_created_descending.sql")
        }
    };
    let mut span = Span::times(&query.prefix, query.direction);
    match &query.after {
        None => {}
        Some(ListCursor::Time(at, id)) => {
            span.after = (Value::Integer(at.as_micros()), id.to_bytes());
        }
        Some(ListCursor::Memory(..) | ListCursor::Directory(_)) => {
            return Err(other_order().into());
        }
    }
    let mut items = Vec::new();
    walk.each(sql, &span, |row| {
        let memory = in_view(walk.conn, row, query.view)?;
        items.push(ListItem::Memory(Box::new(memory)));
        Ok(step(items.len(), query.limit))
    })?;
    Ok(items)
}

/// One more than the page is read, to know whether there is a next one.
fn step(have: usize, limit: usize) -> Step {
    if have > limit { Step::Stop } else { Step::On }
}

fn other_order() -> Invalid {
    Invalid::new("page", "belongs to a listing in another order")
}
