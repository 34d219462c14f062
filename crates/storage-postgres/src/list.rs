//! Listings of memories. Each page is a walk along one index from where the last page ended, in
//! batches: the first is the size of the page, and mostly there is no second. A folded directory is
//! shown once and then jumped over, however much lies in it.

use crate::client::{Tx, uuid};
use crate::fault::{Result, corrupt};
use crate::pieces;
use crate::read::{EARLIEST, LATEST, keep_to_indexes, require_store};
use crate::row::{self, MemoryRow, checked, count, int, key_of, text};
use loci_model::policy::ReadPass;
use loci_model::query::{Direction, Filter, ListCursor, ListItem, ListOrder, ListQuery};
use loci_model::{Audience, Invalid, Page, PathPrefix, StoreId, Timestamp, View};
use loci_storage::column::visibility_max;
use std::collections::HashMap;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

/// Rows asked for at once.
const BATCH_MIN: usize = 16;
const BATCH_MAX: usize = 512;

/// What every batch of one listing has in common.
struct Walk<'a> {
    tx: &'a Tx,
    store: StoreId,
    audience: Audience,
    now: Timestamp,
    filter: &'a Filter,
}

/// Where a walk begins and ends: paths from `low` up to but not including `high`, and only behind
/// the last memory seen.
struct Span {
    low: String,
    high: String,
    after: After,
}

/// What the order goes by, and the id, of the last memory seen.
enum After {
    Path(Option<String>, Uuid),
    Time(i64, Uuid),
}

/// What a walk found: lines of the listing, and the number of the head of each memory among them.
#[derive(Default)]
struct Lines {
    items: Vec<ListItem>,
    heads: Vec<i64>,
}

pub(crate) async fn page(
    tx: &Tx,
    pass: &ReadPass,
    query: &ListQuery,
) -> Result<Page<ListItem, ListCursor>> {
    let walk = Walk {
        tx,
        store: pass.store(),
        audience: pass.audience(),
        now: pass.now(),
        filter: &query.filter,
    };
    let span = walk.start(query).await?;
    keep_to_indexes(tx).await;
    let lines = walk.lines(query, span).await?;
    if lines.items.is_empty() {
        require_store(tx, pass.store()).await?;
    }
    let mut page = Page::cut(lines.items, query.limit, |item| item.cursor(query.order));
    if query.view == View::Full {
        fill(tx, pass.store(), &mut page.items, &lines.heads).await?;
    }
    Ok(page)
}

/// The oldest memory that matches and is seen.
pub(crate) async fn first(
    tx: &Tx,
    store: StoreId,
    filter: &Filter,
    audience: Audience,
    now: Timestamp,
) -> Result<Option<MemoryRow>> {
    let walk = Walk { tx, store, audience, now, filter };
    keep_to_indexes(tx).await;
    let mut span = Span::times(&PathPrefix::root(), Direction::Ascending);
    let sql = statement(ListOrder::Created, Direction::Ascending);
    // Only tags are looked at here: without them, the first row is it.
    let mut size = if filter.tags.is_empty() { 1 } else { BATCH_MIN };
    loop {
        let rows = walk.batch(sql, &span, size).await?;
        let has_more = rows.len() == size;
        for row in rows {
            if filter.matches(&row.memory) {
                return Ok(Some(row));
            }
            span.after = After::Time(row.memory.created_at.as_micros(), id_of(&row));
        }
        if !has_more {
            return Ok(None);
        }
        size = next_size(size, 0);
    }
}

impl Span {
    /// All paths below a prefix, in path order.
    fn paths(prefix: &PathPrefix) -> Self {
        let (low, high) = prefix.range();
        Self { low, high, after: After::Path(None, Uuid::nil()) }
    }

    /// All paths below a prefix, in an order by time.
    fn times(prefix: &PathPrefix, direction: Direction) -> Self {
        let (at, id) = match direction {
            Direction::Ascending => (EARLIEST, Uuid::nil()),
            Direction::Descending => (LATEST, Uuid::max()),
        };
        Self { after: After::Time(at.as_micros(), id), ..Self::paths(prefix) }
    }

    /// Leaves out everything up to and including a directory.
    fn skip_directory(&mut self, directory: &str, direction: Direction) {
        match direction {
            // '0' is the character after '/', so this is the first text behind the directory.
            Direction::Ascending => self.raise(format!("{}0", directory.trim_end_matches('/'))),
            Direction::Descending => self.lower(directory.to_owned()),
        }
        self.after = After::Path(None, Uuid::nil());
    }

    /// Leaves out everything up to and including a memory, in path order.
    fn skip_memory(&mut self, path: &str, id: Uuid, direction: Direction) {
        match direction {
            Direction::Ascending => self.raise(path.to_owned()),
            // Paths have no control characters: this is right behind the path itself.
            Direction::Descending => self.lower(format!("{path}\u{1}")),
        }
        self.after = After::Path(Some(path.to_owned()), id);
    }

    /// Leaves out everything up to and including a row of a batch.
    fn skip_row(&mut self, row: &MemoryRow, query: &ListQuery) {
        let memory = &row.memory;
        match query.order {
            ListOrder::Path => self.skip_memory(memory.path.as_str(), id_of(row), query.direction),
            ListOrder::Created => {
                self.after = After::Time(memory.created_at.as_micros(), id_of(row));
            }
            ListOrder::Updated => {
                self.after = After::Time(memory.updated_at.as_micros(), id_of(row));
            }
        }
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
    /// Where the page begins.
    async fn start(&self, query: &ListQuery) -> Result<Span> {
        let direction = query.direction;
        let mut span = match query.order {
            ListOrder::Path => Span::paths(&query.prefix),
            ListOrder::Created | ListOrder::Updated => Span::times(&query.prefix, direction),
        };
        match (query.order, &query.after) {
            (_, None) => {}
            (ListOrder::Path, Some(ListCursor::Memory(path, id))) => {
                span.skip_memory(path.as_str(), uuid(id.to_bytes()), direction);
            }
            (ListOrder::Path, Some(ListCursor::Directory(prefix))) => {
                span.skip_directory(prefix.as_str(), direction);
            }
            (ListOrder::Created | ListOrder::Updated, Some(ListCursor::Time(at, id))) => {
                span.after = After::Time(at.as_micros(), uuid(id.to_bytes()));
            }
            (_, Some(_)) => {
                require_store(self.tx, self.store).await?;
                let why = "belongs to a listing in another order";
                return Err(Invalid::new("page", why).into());
            }
        }
        Ok(span)
    }

    /// The lines of a page and one more, to know whether there is a next one.
    async fn lines(&self, query: &ListQuery, mut span: Span) -> Result<Lines> {
        let sql = statement(query.order, query.direction);
        let depth = query.fold_depth.filter(|_| query.order == ListOrder::Path);
        let mut lines = Lines::default();
        let mut size = query.limit.saturating_add(1).min(BATCH_MAX);
        loop {
            let rows = self.batch(sql, &span, size).await?;
            let has_more = rows.len() == size;
            // The directory that the walk is in, and how many rows of the batch lie there unseen.
            let mut folded: Option<String> = None;
            let mut swallowed = 0;
            if let Some(last) = rows.last() {
                span.skip_row(last, query);
            }
            for row in rows {
                let path = row.memory.path.as_str();
                if folded.as_ref().is_some_and(|directory| path.starts_with(directory)) {
                    swallowed += 1;
                    continue;
                }
                folded = None;
                swallowed = 0;
                if !self.filter.matches(&row.memory) {
                    continue;
                }
                match depth.and_then(|depth| query.prefix.fold(path, depth)) {
                    Some(directory) => {
                        folded = Some(directory.to_owned());
                        lines.items.push(ListItem::Directory(directory.to_owned()));
                    }
                    None => {
                        lines.heads.push(int(row.head));
                        lines.items.push(ListItem::Memory(Box::new(row.memory)));
                    }
                }
                if lines.items.len() > query.limit {
                    return Ok(lines);
                }
            }
            if !has_more {
                return Ok(lines);
            }
            if let Some(directory) = folded {
                span.skip_directory(&directory, query.direction);
            }
            size = next_size(size, swallowed);
        }
    }

    /// The next rows of a span that match in everything but their tags.
    async fn batch(&self, sql: &str, span: &Span, size: usize) -> Result<Vec<MemoryRow>> {
        let filter = self.filter;
        let (after, id): (&(dyn ToSql + Sync), &Uuid) = match &span.after {
            After::Path(path, id) => (path, id),
            After::Time(at, id) => (at, id),
        };
        let rows = self
            .tx
            .query(
                sql,
                &[
                    &uuid(self.store.to_bytes()),
                    &span.low,
                    &span.high,
                    after,
                    id,
                    &visibility_max(self.audience),
                    &self.now.as_micros(),
                    &filter.kind.as_deref().map(text),
                    &filter.source.as_deref().map(text),
                    &filter.scope.as_deref().map(text),
                    &filter.partition.map(key_of),
                    &int(size as u64),
                ],
            )
            .await?;
        rows.iter().map(|row| row::memory(row, self.store)).collect()
    }
}

/// More at once the longer a walk is, but less where most of a batch was jumped over.
fn next_size(size: usize, swallowed: usize) -> usize {
    let next = if swallowed > size / 2 { size / 2 } else { size.saturating_mul(2) };
    next.clamp(BATCH_MIN, BATCH_MAX)
}

fn id_of(row: &MemoryRow) -> Uuid {
    uuid(row.memory.id.to_bytes())
}

/// Gives the memories of a page their contents, each checked against its digest.
async fn fill(tx: &Tx, store: StoreId, items: &mut [ListItem], heads: &[i64]) -> Result<()> {
    let shown = items.iter_mut().filter_map(|item| match item {
        ListItem::Memory(memory) => Some(memory),
        ListItem::Directory(_) => None,
    });
    let shown: Vec<_> = shown.zip(heads).collect();
    if shown.is_empty() {
        return Ok(());
    }
    let wanted: Vec<i64> = shown.iter().map(|(_, head)| **head).collect();
    let sql = include_str!("../queries/payload/of_store.sql");
    let rows = tx.query(sql, &[&uuid(store.to_bytes()), &wanted]).await?;
    let mut contents = HashMap::with_capacity(rows.len());
    for (row, bytes) in rows.iter().zip(pieces::of_rows(tx, &rows, store, 1).await?) {
        contents.insert(int(count(row, 0)?), bytes);
    }
    for (memory, head) in shown {
        let bytes = contents.remove(head).ok_or_else(|| corrupt("a memory without content"))?;
        memory.content = Some(checked(bytes, memory.digest, memory.is_sealed)?);
    }
    Ok(())
}

fn statement(order: ListOrder, direction: Direction) -> &'static str {
    use Direction::{Ascending, Descending};
    match (order, direction) {
        (ListOrder::Path, Ascending) => {
            include_str!("../queries/memory/list_path_ascending.sql")
        }
        (ListOrder::Path, Descending) => {
            include_str!("../queries/memory/list_path_descending.sql")
        }
        (ListOrder::Created, Ascending) => {
            include_str!("../queries/memory/list_created_ascending.sql")
        }
        (ListOrder::Created, Descending) => {
            include_str!("../queries/memory/list_created_descending.sql")
        }
        (ListOrder::Updated, Ascending) => {
            include_str!("../queries/memory/list_updated_ascending.sql")
        }
        (ListOrder::Updated, Descending) => {
            include_str!("../queries/memory/list_updated_descending.sql")
        }
    }
}
