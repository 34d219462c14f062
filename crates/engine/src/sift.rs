//! Listings by what storage does not order or keep apart, and listings of the past.
//!
//! A listing that is sifted reads on until its page is full or enough was looked at, so a page may be
//! short and still have a next one. A listing of the past is made from the history as a whole and
//! remembered for a while, because people turn its pages; what is remembered holds no contents, and
//! counts only while the feed stands still, so that nothing redacted is shown from it. Listings of the past
//! take turns with searches of the past, and no more is held for them than for such a search.

use crate::compute::may_block;
use crate::search::{too_much_past, weight};
use crate::{Context, Engine, Error, Result, damage};
use loci_model::policy::ReadPass;
use loci_model::query::{Direction, ListCursor, ListItem, ListOrder, ListQuery, VersionQuery};
use loci_model::{
    At, Audience, Content, Invalid, Memory, MemoryId, Page, StoreId, Timestamp, View, limit,
};
use loci_storage::AsOf;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Listings of one page, at most.
const STEPS_MAX: usize = 50;
/// Texts of the past read at once.
const PAST_PAGE: usize = 1000;
/// Memories of a past that can be listed.
const PAST_MAX: usize = 200_000;
/// Pasts remembered.
const PASTS_MAX: usize = 4;

/// What entries must be beside what a listing asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sieve {
    /// Changed not before.
    pub updated_after: Option<Timestamp>,
    /// Changed not after.
    pub updated_before: Option<Timestamp>,
    /// Only what is pinned.
    pub pinned: bool,
    /// Ends before.
    pub expires_before: Option<Timestamp>,
    /// No memory at all: only the directories that a listing folds them into.
    pub directories: bool,
}

impl Sieve {
    fn lets(&self, memory: &Memory) -> bool {
        let attributes = &memory.attributes;
        self.updated_after.is_none_or(|after| memory.updated_at >= after)
            && self.updated_before.is_none_or(|before| memory.updated_at <= before)
            && (!self.pinned || attributes.pinned)
            && self
                .expires_before
                .is_none_or(|before| attributes.expires_at.is_some_and(|end| end < before))
    }

    /// Whether nothing after a memory can pass, in this order.
    fn is_past(&self, query: &ListQuery, memory: &Memory) -> bool {
        if query.order != ListOrder::Updated {
            return false;
        }
        match query.direction {
            Direction::Ascending => {
                self.updated_before.is_some_and(|before| memory.updated_at > before)
            }
            Direction::Descending => {
                self.updated_after.is_some_and(|after| memory.updated_at < after)
            }
        }
    }
}

/// A page whose lines are replaced by what they are with contents, one by one, until there is enough
/// of it; lines for which nothing comes are left out.
struct Filling<'p> {
    order: ListOrder,
    lines: VecDeque<ListItem>,
    page: &'p mut Page<ListItem, ListCursor>,
    bytes: u64,
}

impl<'p> Filling<'p> {
    fn new(order: ListOrder, page: &'p mut Page<ListItem, ListCursor>) -> Self {
        let lines = std::mem::take(&mut page.items).into();
        Self { order, lines, page, bytes: 0 }
    }

    /// The next memory to be read; directories stay as they are.
    fn next(&mut self) -> Option<Box<Memory>> {
        if self.bytes > limit::ENTRIES_PAGE_BYTES as u64 && !self.lines.is_empty() {
            self.page.next = self.page.items.last().map(|last| last.cursor(self.order));
            return None;
        }
        loop {
            match self.lines.pop_front()? {
                ListItem::Memory(line) => return Some(line),
                directory @ ListItem::Directory(_) => self.page.items.push(directory),
            }
        }
    }

    fn push(&mut self, memory: Option<Memory>) {
        if let Some(memory) = memory {
            self.bytes += memory.size_bytes;
            self.page.items.push(ListItem::Memory(Box::new(memory)));
        }
    }
}

/// A store as it was, without contents.
struct Past {
    store: StoreId,
    at: Timestamp,
    is_model: bool,
    /// The end of the feed when it was made.
    through: u64,
    memories: Arc<Vec<Memory>>,
    /// About how many bytes it takes.
    bytes: usize,
}

/// The pasts that were looked at last.
#[derive(Default)]
pub(crate) struct Pasts(Mutex<Vec<Past>>);

impl Engine {
    /// A page of a listing, of the memories that a sieve lets through.
    pub async fn list_sifted(
        &self,
        context: &Context,
        store: StoreId,
        query: &ListQuery,
        sieve: &Sieve,
    ) -> Result<Page<ListItem, ListCursor>> {
        if *sieve == Sieve::default() {
            return self.list_bounded(context, store, query).await;
        }
        let mut step =
            ListQuery { view: View::Basic, limit: limit::ENTRIES_PAGE_MAX, ..query.clone() };
        let mut whole = Page { items: Vec::new(), next: None };
        'reading: for _ in 0..STEPS_MAX {
            let page = self.list(context, store, &step).await?;
            for item in page.items {
                if let ListItem::Memory(memory) = &item
                    && sieve.is_past(query, memory)
                {
                    whole.next = None;
                    break 'reading;
                }
                let passes = match &item {
                    ListItem::Memory(memory) => !sieve.directories && sieve.lets(memory),
                    ListItem::Directory(_) => true,
                };
                if !passes {
                    continue;
                }
                if whole.items.len() == query.limit {
                    whole.next = whole.items.last().map(|last: &ListItem| last.cursor(query.order));
                    break 'reading;
                }
                whole.items.push(item);
            }
            whole.next.clone_from(&page.next);
            match page.next {
                Some(next) => step.after = Some(next),
                None => break,
            }
        }
        if query.view == View::Full {
            self.fill_page(context, store, query.order, &mut whole).await?;
        }
        Ok(whole)
    }

    /// Brings the contents of a page, ending it early where they are large.
    async fn fill_page(
        &self,
        context: &Context,
        store: StoreId,
        order: ListOrder,
        page: &mut Page<ListItem, ListCursor>,
    ) -> Result<()> {
        let mut filling = Filling::new(order, page);
        while let Some(line) = filling.next() {
            let read = match self.get(context, store, &At::Id(line.id), View::Full).await {
                // Gone since; its line stays as it was.
                Err(Error::NotFound("memory")) => Ok(Some((*line).clone())),
                read => read.map(Some),
            };
            filling.push(damage::unless_damaged(&line, read)?);
        }
        Ok(())
    }

    /// A page of a store as it was at a moment: texts only, under the rules of today.
    pub async fn list_past(
        &self,
        context: &Context,
        store: StoreId,
        at: Timestamp,
        query: &ListQuery,
        sieve: &Sieve,
    ) -> Result<Page<ListItem, ListCursor>> {
        let pass = self.read_pass(context, store).await?;
        let turn = self.past_turn().await?;
        let (engine, query, sieve) = (self.clone(), query.clone(), sieve.clone());
        self.compute(async move {
            let past = engine.past(&pass, at).await?;
            let mut page = page_of(&past, &query, &sieve)?;
            if query.view == View::Full {
                engine.fill_past(&pass, query.order, &mut page).await?;
            }
            drop((past, turn));
            Ok(page)
        })
        .await
    }

    /// One memory as it was at a moment.
    pub async fn get_past(
        &self,
        context: &Context,
        store: StoreId,
        memory: MemoryId,
        at: Timestamp,
        view: View,
    ) -> Result<Memory> {
        let pass = self.read_pass(context, store).await?;
        let mut found = match self.past_of_living(&pass, memory, at).await? {
            Some(found) => found,
            None => {
                let turn = self.past_turn().await?;
                let (engine, pass) = (self.clone(), pass.clone());
                let walked = self.compute(async move {
                    let walked = engine.past_by_walking(&pass, memory, at).await;
                    drop(turn);
                    walked
                });
                walked.await?.ok_or(Error::NotFound("memory"))?
            }
        };
        found.content = match view {
            View::Full => self.content_of(&pass, &found).await?,
            View::Basic => None,
        };
        Ok(found)
    }

    /// A memory as it was at a moment, from its own versions. None also where they do not say it: of a
    /// memory that is gone since, and to a model, to whom some of them are hidden.
    async fn past_of_living(
        &self,
        pass: &ReadPass,
        memory: MemoryId,
        at: Timestamp,
    ) -> Result<Option<Memory>> {
        if pass.audience() == Audience::Model {
            return Ok(None);
        }
        let Some(now) = self.storage.get(pass, &At::Id(memory), View::Basic).await? else {
            return Ok(None);
        };
        let query = VersionQuery {
            memory: Some(memory),
            operation: None,
            actor: None,
            since: None,
            until: Some(at),
            view: View::Full,
            before_seq: None,
            limit: 1,
        };
        let newest = self.storage.versions(pass, &query).await?.items.pop();
        let Some(newest) = newest else { return Err(Error::NotFound("memory")) };
        let (Some(path), Some(attributes), Some(digest), Some(size_bytes)) =
            (newest.path, newest.attributes, newest.digest, newest.size_bytes)
        else {
            return Err(Error::NotFound("memory"));
        };
        let is_sealed = newest.content.as_ref().is_some_and(Content::is_sealed);
        if is_sealed || attributes.expires_at.is_some_and(|end| end <= at) {
            return Err(Error::NotFound("memory"));
        }
        Ok(Some(Memory {
            path,
            attributes,
            head: newest.id,
            revision: newest.revision,
            digest,
            size_bytes,
            is_sealed,
            updated_at: newest.created_at,
            ..now
        }))
    }

    /// The same from the history of the store, of which no more is held than is read at once.
    async fn past_by_walking(
        &self,
        pass: &ReadPass,
        memory: MemoryId,
        at: Timestamp,
    ) -> Result<Option<Memory>> {
        let mut after = 0;
        loop {
            let page = self.storage.texts_at(pass, AsOf::Time(at), after, PAST_PAGE).await?;
            if let Some(found) = page.memories.into_iter().find(|found| found.id == memory) {
                return Ok(Some(Memory { content: None, ..found }));
            }
            match page.next {
                Some(next) => after = next,
                None => return Ok(None),
            }
        }
    }

    async fn content_of(&self, pass: &ReadPass, memory: &Memory) -> Result<Option<Content>> {
        let version = damage::version(self.storage.as_ref(), pass, memory.head, View::Full).await?;
        Ok(version.and_then(|version| version.content))
    }

    async fn fill_past(
        &self,
        pass: &ReadPass,
        order: ListOrder,
        page: &mut Page<ListItem, ListCursor>,
    ) -> Result<()> {
        let mut filling = Filling::new(order, page);
        while let Some(line) = filling.next() {
            let content = self.content_of(pass, &line).await;
            let read = content.map(|content| Some(Memory { content, ..(*line).clone() }));
            filling.push(damage::unless_damaged(&line, read)?);
        }
        Ok(())
    }

    /// A store as it was, from the history or from what was made of it just before; to be computed, by
    /// whoever has the turn.
    async fn past(&self, pass: &ReadPass, at: Timestamp) -> Result<Arc<Vec<Memory>>> {
        let (store, is_model) = (pass.store(), pass.audience() == Audience::Model);
        let through = self.storage.stats(pass).await?.last_seq;
        let is_it = |past: &Past| {
            (past.store, past.at, past.is_model, past.through) == (store, at, is_model, through)
        };
        if let Some(known) = self.pasts.lock().iter().find(|past| is_it(past)) {
            return Ok(Arc::clone(&known.memories));
        }
        self.pasts.lock().retain(|past| past.store != store || past.through == through);
        let bytes_max = self.search.past_bytes_max;
        let (mut memories, mut after, mut bytes) = (Vec::new(), 0, 0);
        loop {
            let page = self.storage.texts_at(pass, AsOf::Time(at), after, PAST_PAGE).await?;
            for memory in page.memories {
                let memory = Memory { content: None, ..memory };
                bytes += weight(&memory);
                memories.push(memory);
            }
            if memories.len() > PAST_MAX {
                let why = format!("had more than {PAST_MAX} memories then, too many to list");
                return Err(Invalid::new("as_of", why).into());
            }
            let left = bytes_max.checked_sub(bytes).ok_or_else(too_much_past)?;
            self.pasts.cut_to(left, PASTS_MAX - 1);
            match page.next {
                Some(next) => after = next,
                None => break,
            }
        }
        let memories = Arc::new(memories);
        let made = Arc::clone(&memories);
        self.pasts.lock().push(Past { store, at, is_model, through, memories, bytes });
        Ok(made)
    }
}

/// What a listing shows of a past. Only what is on the page is copied.
fn page_of(
    past: &[Memory],
    query: &ListQuery,
    sieve: &Sieve,
) -> Result<Page<ListItem, ListCursor>> {
    debug_assert!(may_block(), "putting so many in order computes");
    let prefix = query.prefix.as_str();
    let wanted = past.iter().filter(|memory| {
        let is_below = prefix == "/" || memory.path.as_str().starts_with(prefix);
        is_below && query.filter.matches(memory) && sieve.lets(memory)
    });
    let mut sorted: Vec<&Memory> = wanted.collect();
    match query.order {
        ListOrder::Path => sorted.sort_by(|a, b| (&a.path, a.id).cmp(&(&b.path, b.id))),
        ListOrder::Created => sorted.sort_by_key(|memory| (memory.created_at, memory.id)),
        ListOrder::Updated => sorted.sort_by_key(|memory| (memory.updated_at, memory.id)),
    }
    if query.direction == Direction::Descending {
        sorted.reverse();
    }
    let mut page = Page { items: Vec::new(), next: None };
    let (mut begins, mut last_directory) = (query.after.is_none(), None);
    for memory in sorted {
        let folded = query
            .fold_depth
            .and_then(|depth| query.prefix.fold(memory.path.as_str(), depth).map(str::to_owned));
        if (folded.is_none() && sieve.directories) || (folded.is_some() && folded == last_directory)
        {
            continue;
        }
        last_directory.clone_from(&folded);
        if !begins {
            begins = query.after.as_ref().is_some_and(|after| match &folded {
                None => is_at(memory, query.order, after),
                Some(directory) => {
                    ListItem::Directory(directory.clone()).cursor(query.order) == *after
                }
            });
            continue;
        }
        if page.items.len() == query.limit {
            page.next = page.items.last().map(|last: &ListItem| last.cursor(query.order));
            break;
        }
        page.items.push(match folded {
            None => ListItem::Memory(Box::new(memory.clone())),
            Some(directory) => ListItem::Directory(directory),
        });
    }
    match begins {
        true => Ok(page),
        false => Err(Invalid::new("page", "is not one that was given out for this").into()),
    }
}

/// Whether a page that ended with a memory goes on from here.
fn is_at(memory: &Memory, order: ListOrder, after: &ListCursor) -> bool {
    match (after, order) {
        (ListCursor::Memory(path, id), ListOrder::Path) => (path, *id) == (&memory.path, memory.id),
        (ListCursor::Time(at, id), ListOrder::Created) => {
            (*at, *id) == (memory.created_at, memory.id)
        }
        (ListCursor::Time(at, id), ListOrder::Updated) => {
            (*at, *id) == (memory.updated_at, memory.id)
        }
        _ => false,
    }
}

impl Pasts {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Past>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what was looked at longest ago, until the rest is no more than this.
    fn cut_to(&self, bytes_max: usize, count_max: usize) {
        let mut pasts = self.lock();
        let bytes = |pasts: &[Past]| pasts.iter().map(|past| past.bytes).sum::<usize>();
        while pasts.len() > count_max || bytes(&pasts) > bytes_max {
            pasts.remove(0);
        }
    }
}
