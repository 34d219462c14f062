//! The acting agent's notes, for reading: one by name, listed, searched, and pulled as a sequence of
//! changes.
//!
//! Notes are read as a model reads them: what hosts keep to themselves is not there. Tombstones are
//! this door's own bookkeeping, so those are read as a host would, whatever the key; nothing else
//! that is read that way is ever shown.

use super::answer::{AnswerBody, EntryBody, LineBody};
use super::moment;
use super::name::{Key, Namespace, Place};
use super::note::{self, Note, Source};
use loci_engine::search::{Hit, Reach, SearchRequest, Wanted};
use loci_engine::{Context, Engine, Error, Purpose};
use loci_model::query::{
    Direction, Filter, ListCursor, ListItem, ListOrder, ListQuery, VersionQuery,
};
use loci_model::{
    At, Audience, Memory, MemoryId, MemoryPath, Operation, PathPrefix, StoreId, Timestamp, View,
};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Lines on one page of a pull.
const PULL_LINES_MAX: usize = 500;
/// Memories read at once with their content.
const FULL_ROWS: usize = 100;
/// Memories read at once without.
const BASIC_ROWS: usize = 1000;
/// Keys that other doors deleted, of one pull: more than a store holds.
const GONE_MAX: usize = 20_000;
/// Of so many it is asked singly whether they are there again.
const FETCHED_SINGLY: usize = 20;
/// Bytes of content after which an answer ends early.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Notes of a long listing that are fetched one by one rather than by reading all again.
const FETCHED_SHARE: usize = 8;

/// An agent and its notes.
pub(super) struct Shelf<'e> {
    pub(super) engine: &'e Engine,
    /// Reads what is meant for models.
    reader: Context,
    /// Reads tombstones too, and writes.
    pub(super) keeper: Context,
    /// What the agent is called.
    pub(super) agent: String,
}

/// Which notes a listing shows.
#[derive(Debug, Default)]
pub(super) struct Wish {
    /// In these namespaces, or in all.
    pub(super) namespaces: Vec<Namespace>,
    /// Whose keys begin like this.
    pub(super) prefix: String,
    /// But not from these sources.
    pub(super) excluded: Vec<String>,
    pub(super) limit: usize,
}

impl<'e> Shelf<'e> {
    /// The notes of the agent that a context acts as.
    pub(super) async fn of(engine: &'e Engine, context: Context) -> Result<Self, Error> {
        let agent = engine.named(&context, &context.caller.principal.to_string()).await?;
        let agent = agent.ok_or(Error::NotFound("principal"))?.name;
        // A request may take several commits, and each of them can be repeated as it is.
        let mut keeper = Context { idempotency: None, ..context };
        keeper.caller.audience = Audience::Host;
        let mut reader = keeper.clone();
        reader.caller.audience = Audience::Model;
        Ok(Self { engine, reader, keeper, agent })
    }

    /// The store; none while nothing was written.
    pub(super) async fn store(&self, purpose: Purpose) -> Result<Option<StoreId>, Error> {
        self.engine.callers_store(&self.keeper, purpose).await
    }

    pub(super) async fn get(&self, namespace: &Namespace, key: &Key) -> Result<AnswerBody, Error> {
        let Some(store) = self.store(Purpose::Read).await? else {
            return Ok(AnswerBody::Entry { entry: None });
        };
        let path = namespace.path(key);
        let found = self.memory(&self.reader, store, path, View::Full).await?;
        Ok(AnswerBody::Entry { entry: found.as_ref().and_then(|memory| self.entry(memory)) })
    }

    /// The memory at a path, if there is one for this context.
    pub(super) async fn memory(
        &self,
        context: &Context,
        store: StoreId,
        path: MemoryPath,
        view: View,
    ) -> Result<Option<Memory>, Error> {
        match self.engine.get(context, store, &At::Path(None, path), view).await {
            Ok(memory) => Ok(Some(memory)),
            Err(Error::NotFound("memory")) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn entry(&self, memory: &Memory) -> Option<EntryBody> {
        Note::of(memory).map(|note| EntryBody::new(&self.agent, note))
    }

    /// Notes by when clients say they were written, newest first. That is in nobody's index, so all
    /// are looked at, and only those that are shown are read with their content.
    pub(super) async fn list(&self, wish: &Wish) -> Result<AnswerBody, Error> {
        let mut entries = Vec::new();
        let Some(store) = self.store(Purpose::Read).await? else {
            return Ok(AnswerBody::Entries { entries });
        };
        let mut found = Vec::new();
        for directory in directories(&wish.namespaces) {
            let mut rows = Rows::below(directory, View::Basic);
            while let Some(page) = rows.next(self, &self.reader, store, BASIC_ROWS).await? {
                found.extend(page.iter().filter(|memory| wish.is_for(memory)).map(|memory| {
                    (Reverse(note::updated_at(memory)), Reverse(memory.updated_at), memory.id)
                }));
            }
        }
        let all = found.len();
        found.sort_unstable();
        found.truncate(wish.limit);
        let mut contents = match found.len() * FETCHED_SHARE > all {
            true => self.with_contents(store, wish).await?,
            false => HashMap::new(),
        };
        let mut bytes = 0;
        for (_, _, id) in found {
            let memory = match contents.remove(&id) {
                Some(memory) => memory,
                None => match self.engine.get_listed(&self.reader, store, id).await? {
                    Some(memory) => memory,
                    // It was forgotten in the meantime, or is damaged.
                    None => continue,
                },
            };
            bytes += usize::try_from(memory.size_bytes).unwrap_or(usize::MAX);
            if bytes > ANSWER_BYTES_MAX && !entries.is_empty() {
                break;
            }
            entries.extend(self.entry(&memory));
        }
        Ok(AnswerBody::Entries { entries })
    }

    /// What a listing may show, with its content, as far as that fits into an answer.
    async fn with_contents(
        &self,
        store: StoreId,
        wish: &Wish,
    ) -> Result<HashMap<MemoryId, Memory>, Error> {
        let (mut contents, mut bytes) = (HashMap::new(), 0);
        for directory in directories(&wish.namespaces) {
            let mut rows = Rows::below(directory, View::Full);
            while let Some(page) = rows.next(self, &self.reader, store, FULL_ROWS).await? {
                for memory in page.into_iter().filter(|memory| wish.is_for(memory)) {
                    bytes += usize::try_from(memory.size_bytes).unwrap_or(usize::MAX);
                    contents.insert(memory.id, memory);
                }
                if bytes > ANSWER_BYTES_MAX {
                    return Ok(contents);
                }
            }
        }
        Ok(contents)
    }

    pub(super) async fn search(
        &self,
        text: &str,
        namespaces: &[Namespace],
        limit: usize,
    ) -> Result<AnswerBody, Error> {
        let Some(store) = self.store(Purpose::Search).await? else {
            return Ok(AnswerBody::Entries { entries: Vec::new() });
        };
        let mut wanted = Wanted::new(text, limit);
        wanted.filter.prefixes = namespaces.iter().map(Namespace::directory).collect();
        let request = SearchRequest {
            reach: Reach::Store(store),
            wanted,
            view: View::Full,
            explain: true,
            content_bytes_max: ANSWER_BYTES_MAX,
            snippet_chars: 0,
            as_of: None,
            wait: None,
        };
        let found = self.engine.search(&self.reader, &request).await?;
        // Notes are no conversation: what lies beside a match is no match.
        let hits = found.hits.iter().filter(|hit| is_meant(hit));
        let entries = hits.filter_map(|hit| self.entry(&hit.memory)).collect();
        Ok(AnswerBody::Entries { entries })
    }

    /// The changes of a namespace behind a cursor, oldest first.
    ///
    /// A note has one stamp, which every change moves behind all others of the store; stamps grow in
    /// the order in which changes become visible. So whatever is not on a page, and not on an
    /// earlier one, has a later stamp than the page's last, and nothing is ever skipped.
    pub(super) async fn pull(
        &self,
        namespace: &Namespace,
        since: Option<&str>,
    ) -> Result<AnswerBody, Error> {
        let store = self.store(Purpose::Read).await?;
        let after = match since.and_then(moment::cursor) {
            Some(moment) if self.is_past(store, moment).await? => Some(moment),
            _ => None,
        };
        let mut cursor = after.and(since).map(str::to_owned);
        let (mut found, mut more) = (Vec::new(), false);
        if let Some(store) = store {
            let deleted = self.newest_deletion(store, after).await?;
            let mut rows = Rows::below(namespace.directory(), View::Full).after(after);
            let mut bytes = 0;
            while let Some(page) = rows.next(self, &self.keeper, store, FULL_ROWS).await? {
                for memory in &page {
                    bytes += usize::try_from(memory.size_bytes).unwrap_or(usize::MAX);
                    found.push((memory.updated_at, self.line(memory)));
                }
                if found.len() >= PULL_LINES_MAX || bytes > ANSWER_BYTES_MAX {
                    more = rows.has_more();
                    break;
                }
            }
            // Only up to a stamp that was there before the notes were read: everything up to it is
            // on this page, and a note that came after it must not be behind the cursor.
            let last = found.last().map(|(moment, _)| *moment);
            let end = if more { last } else { last.max(deleted) };
            let gone = self.gone(store, namespace, after).await?.into_iter();
            let gone = gone.filter(|(moment, _)| end.is_some_and(|end| *moment <= end));
            found.extend(gone.map(|(moment, line)| (moment, Some(line))));
            found.sort_by_key(|(moment, _)| *moment);
            more |= found.len() > PULL_LINES_MAX;
            found.truncate(PULL_LINES_MAX);
        }
        cursor = found.last().map(|(moment, _)| moment.to_string()).or(cursor);
        let lines = found.into_iter().filter_map(|(_, line)| line).collect();
        Ok(AnswerBody::Lines { lines, cursor, more })
    }

    /// The stamp of what was deleted last behind a cursor, by whichever door.
    async fn newest_deletion(
        &self,
        store: StoreId,
        after: Option<Timestamp>,
    ) -> Result<Option<Timestamp>, Error> {
        let newest = self.engine.versions(&self.keeper, store, &self.deletions(after, 1)).await?;
        Ok(newest.items.first().map(|version| version.created_at))
    }

    /// Asks for deletions, newest first, for as long as tombstones are kept.
    fn deletions(&self, after: Option<Timestamp>, limit: usize) -> VersionQuery {
        let oldest = self.engine.seams().now().plus_secs(-note::TOMBSTONE_SECS);
        VersionQuery {
            memory: None,
            operation: Some(Operation::Deleted),
            actor: None,
            since: Some(after.map_or(oldest, |after| after.max(oldest))),
            until: None,
            view: View::Basic,
            before_seq: None,
            limit,
        }
    }

    /// What other doors deleted behind a cursor, with their stamps. They leave no tombstone, but the
    /// history knows, for as long as tombstones are kept.
    async fn gone(
        &self,
        store: StoreId,
        namespace: &Namespace,
        after: Option<Timestamp>,
    ) -> Result<Vec<(Timestamp, LineBody)>, Error> {
        let mut query = self.deletions(after, BASIC_ROWS);
        let mut last: HashMap<Key, (Timestamp, LineBody)> = HashMap::new();
        loop {
            let page = self.engine.versions(&self.keeper, store, &query).await?;
            for version in &page.items {
                let Some((place, at)) = note::deleted(version) else { continue };
                let is_behind = after.is_none_or(|after| version.created_at > after);
                if place.namespace != *namespace || !is_behind {
                    continue;
                }
                // Newest first: of several removals of one key the last one counts.
                let line = LineBody::delete(&self.agent, &place, &at);
                last.entry(place.key).or_insert((version.created_at, line));
            }
            query.before_seq = page.next;
            if query.before_seq.is_none() || last.len() >= GONE_MAX {
                break;
            }
        }
        // What is there again, or was forgotten properly, is told by itself.
        if last.len() > FETCHED_SINGLY {
            let mut rows = Rows::below(namespace.directory(), View::Basic);
            while let Some(page) = rows.next(self, &self.keeper, store, BASIC_ROWS).await? {
                for place in page.iter().filter_map(Place::of) {
                    last.remove(&place.key);
                }
            }
        } else {
            for key in last.keys().cloned().collect::<Vec<Key>>() {
                let held = self.held(store, namespace, &key).await?;
                if held.note.is_some() || held.tombstone.is_some() {
                    last.remove(&key);
                }
            }
        }
        Ok(last.into_values().collect())
    }

    /// Whether a moment is not later than the server's clock, or than its stamps, which may be ahead
    /// of a clock that was set back.
    async fn is_past(&self, store: Option<StoreId>, moment: Timestamp) -> Result<bool, Error> {
        if moment <= self.engine.seams().now() {
            return Ok(true);
        }
        let Some(store) = store else { return Ok(false) };
        let mut newest = Rows::below(PathPrefix::root(), View::Basic);
        newest.query.direction = Direction::Descending;
        let newest = newest.next(self, &self.keeper, store, 1).await?.unwrap_or_default();
        let newest = newest.first().map(|memory| memory.updated_at);
        let newest = newest.max(self.newest_deletion(store, None).await?);
        Ok(newest.is_some_and(|newest| moment <= newest))
    }

    fn line(&self, memory: &Memory) -> Option<LineBody> {
        let place = Place::of(memory)?;
        match place.is_tombstone {
            true => Some(LineBody::delete(&self.agent, &place, &note::updated_at(memory))),
            false => Note::of(memory).map(|note| LineBody::put(&self.agent, note)),
        }
    }
}

/// Whether a result holds a word of the query itself, or is compared by meaning.
fn is_meant(hit: &Hit) -> bool {
    hit.explanation.as_ref().is_none_or(|why| !why.words.is_empty() || why.semantic.is_some())
}

impl Wish {
    fn is_for(&self, memory: &Memory) -> bool {
        let is_excluded = |source: &String| source == Source::of(memory).as_str();
        note::is_shown(memory)
            && Place::of(memory).is_some_and(|place| {
                !place.is_tombstone && place.key.as_str().starts_with(&self.prefix)
            })
            && !self.excluded.iter().any(is_excluded)
    }
}

/// Where notes of these namespaces are; no namespace is all of them.
fn directories(namespaces: &[Namespace]) -> Vec<PathPrefix> {
    match namespaces {
        [] => vec![PathPrefix::root()],
        some => some.iter().map(Namespace::directory).collect(),
    }
}

/// A walk over the memories below a directory, oldest change first.
pub(super) struct Rows {
    query: ListQuery,
    is_done: bool,
}

impl Rows {
    pub(super) fn below(prefix: PathPrefix, view: View) -> Self {
        let query = ListQuery {
            prefix,
            order: ListOrder::Updated,
            direction: Direction::Ascending,
            ..ListQuery::everything(view, 0)
        };
        Self { query, is_done: false }
    }

    /// Only what changed after a moment.
    fn after(mut self, moment: Option<Timestamp>) -> Self {
        // No id is larger: everything of that very moment was shown.
        let last = MemoryId::from_u128(u128::MAX);
        self.query.after = moment.map(|moment| ListCursor::Time(moment, last));
        self
    }

    /// Only what is of this kind.
    pub(super) fn of_kind(mut self, kind: &str) -> Self {
        self.query.filter = Filter { kind: Some(kind.to_owned()), ..Filter::default() };
        self
    }

    pub(super) fn has_more(&self) -> bool {
        !self.is_done
    }

    pub(super) async fn next(
        &mut self,
        shelf: &Shelf<'_>,
        context: &Context,
        store: StoreId,
        limit: usize,
    ) -> Result<Option<Vec<Memory>>, Error> {
        if self.is_done {
            return Ok(None);
        }
        self.query.limit = limit;
        let page = shelf.engine.list(context, store, &self.query).await?;
        self.is_done = page.next.is_none();
        self.query.after = page.next;
        let memories = page.items.into_iter().filter_map(|item| match item {
            ListItem::Memory(memory) => Some(*memory),
            ListItem::Directory(_) => None,
        });
        Ok(Some(memories.collect()))
    }
}
