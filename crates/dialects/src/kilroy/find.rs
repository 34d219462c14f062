//! The blocks that read: all records that fit, oldest first, or those with some words, best first.
//! Both answer with everything they found or say that it is too much; a part that looks like the
//! whole would be worse than none.

use super::call::Call;
use super::error::{Outcome, Stop, says};
use super::record::Record;
use super::render::Payload;
use super::targs::Targs;
use super::template::Template;
use super::word::Query;
use crate::size;
use loci_engine::Purpose;
use loci_engine::search::{Mode, Reach, SearchFilter, SearchRequest, Wanted};
use loci_model::query::{Direction, Filter, ListItem, ListOrder, ListQuery};
use loci_model::{Memory, MemoryId, StoreId, View, limit};
use std::collections::HashSet;
use std::sync::Arc;

/// Records of one answer.
const RECORDS_MAX: usize = 10_000;
/// Bytes of what an answer tells. It is told twice, so the answer has about as much again.
const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Records of the first page; how many the next ones have follows from how large these are.
const PAGE: usize = 16;
const PAGE_MAX: usize = 500;
/// Bytes of content that a page should have.
const PAGE_BYTES: usize = 2 * 1024 * 1024;

/// `memory_read`
pub(super) async fn read(call: &Call, targs: &Targs) -> Outcome<Payload> {
    let id = targs.memory_id()?;
    let filter = Filter {
        kind: targs.kind()?,
        scope: targs.scope()?,
        source: targs.source()?,
        ..Filter::default()
    };
    let mut told = Told::new(targs)?;
    let place = id.place(call.context.caller.principal)?;
    if let Some(store) = call.engine.store_at(&call.context, &place, Purpose::Read).await? {
        told = read_all(call, store, filter, told).await?;
    }
    Ok(told.end())
}

async fn read_all(call: &Call, store: StoreId, filter: Filter, mut told: Told) -> Outcome<Told> {
    let mut pages = Pages::new(filter);
    while let Some(memories) = pages.next(call, store).await? {
        let telling = call.engine.computed(size::of_all(&memories), move || {
            memories.iter().try_for_each(|memory| told.tell(memory))?;
            Ok::<_, Stop>(told)
        });
        told = telling.await??;
    }
    Ok(told)
}

/// The records of a store, oldest first.
struct Pages {
    query: ListQuery,
    is_over: bool,
}

impl Pages {
    fn new(filter: Filter) -> Self {
        let query = ListQuery {
            order: ListOrder::Created,
            direction: Direction::Ascending,
            filter,
            ..ListQuery::everything(View::Full, PAGE)
        };
        Self { query, is_over: false }
    }

    async fn next(&mut self, call: &Call, store: StoreId) -> Outcome<Option<Vec<Memory>>> {
        if self.is_over {
            return Ok(None);
        }
        let page = call.engine.list(&call.context, store, &self.query).await?;
        let memory = |item| match item {
            ListItem::Memory(memory) => Some(*memory),
            ListItem::Directory(_) => None,
        };
        let memories: Vec<Memory> = page.items.into_iter().filter_map(memory).collect();
        let bytes: u64 = memories.iter().map(|memory| memory.size_bytes).sum();
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
        self.query.limit = (PAGE_BYTES / bytes * memories.len()).clamp(PAGE, PAGE_MAX);
        self.is_over = page.next.is_none();
        self.query.after = page.next;
        Ok(Some(memories))
    }
}

/// `memory_search`
pub(super) async fn search(call: &Call, targs: &Targs) -> Outcome<Payload> {
    let id = targs.memory_id()?;
    let filter = SearchFilter {
        kinds: targs.kind()?.into_iter().collect(),
        scope: targs.scope()?,
        tags: targs.tags()?,
        ..SearchFilter::default()
    };
    let told = Told::new(targs)?;
    let Some(query) = call.message.text().and_then(Query::parse) else { return Ok(told.end()) };
    let place = id.place(call.context.caller.principal)?;
    let store = call.engine.store_at(&call.context, &place, Purpose::Search).await?;
    let Some(store) = store else { return Ok(told.end()) };
    let everything = Filter {
        kind: targs.kind()?,
        scope: filter.scope.clone(),
        tags: filter.tags.clone(),
        ..Filter::default()
    };
    let query = Arc::new(query);
    if query.is_common() {
        let told = look_through(call, store, everything, query, HashSet::new(), told).await?;
        return Ok(told.end());
    }
    let request = SearchRequest {
        reach: Reach::Store(store),
        wanted: Wanted {
            mode: Mode::Lexical,
            filter,
            ..Wanted::new(query.for_engine(), limit::SEARCH_RESULTS_MAX)
        },
        view: View::Full,
        explain: false,
        content_bytes_max: TEXT_BYTES_MAX,
        snippet_chars: 0,
        as_of: None,
        wait: None,
    };
    let answer = call.engine.search(&call.context, &request).await?;
    if answer.contents_left_out > 0 {
        return too_large();
    }
    let memories: Vec<Memory> = answer.hits.into_iter().map(|hit| hit.memory).collect();
    // The engine gives no more of them, and there may be more.
    let is_cut = memories.len() >= limit::SEARCH_RESULTS_MAX;
    let known = memories.iter().map(|memory| memory.id).collect();
    let (bytes, wanted, mut telling) = (size::of_all(&memories), Arc::clone(&query), told);
    let telling = call.engine.computed(bytes, move || {
        // The engine also knows records by their tags and by other forms of a word.
        let is_meant = |memory: &&Memory| {
            let text = memory.content.as_ref().and_then(|content| content.text());
            text.is_some_and(|text| wanted.is_in(text))
        };
        memories.iter().filter(is_meant).try_for_each(|memory| telling.tell(memory))?;
        Ok::<_, Stop>(telling)
    });
    let mut told = telling.await??;
    if is_cut {
        told = look_through(call, store, everything, query, known, told).await?;
    }
    Ok(told.end())
}

/// Finds in the texts themselves what the engine does not tell: words that are in almost all of them,
/// and what comes after the best, which are `known` already.
async fn look_through(
    call: &Call,
    store: StoreId,
    filter: Filter,
    query: Arc<Query>,
    known: HashSet<MemoryId>,
    mut told: Told,
) -> Outcome<Told> {
    let known = Arc::new(known);
    let mut found: Vec<(usize, Memory)> = Vec::new();
    let (mut seen, mut bytes) = (0, 0);
    let mut pages = Pages::new(filter);
    while let Some(memories) = pages.next(call, store).await? {
        seen += memories.len();
        if seen > RECORDS_MAX {
            return says(format!(
                "these words are too common to look for in more than {RECORDS_MAX} records; add another word, or narrow it by kind or scope"
            ));
        }
        let (query, known) = (Arc::clone(&query), Arc::clone(&known));
        let counting = call.engine.computed(size::of_all(&memories), move || {
            let new = memories.into_iter().filter(|memory| !known.contains(&memory.id));
            let counted = new.map(|memory| {
                let text = memory.content.as_ref().and_then(|content| content.text());
                (text.map_or(0, |text| query.count_in(text)), memory)
            });
            counted.filter(|(count, _)| *count > 0).collect::<Vec<_>>()
        });
        let counted = counting.await?;
        bytes += counted.iter().map(|(_, memory)| memory.size_bytes).sum::<u64>();
        found.extend(counted);
        if bytes > TEXT_BYTES_MAX as u64 {
            return too_large();
        }
    }
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let memories: Vec<Memory> = found.into_iter().map(|(_, memory)| memory).collect();
    let telling = call.engine.computed(size::of_all(&memories), move || {
        memories.iter().try_for_each(|memory| told.tell(memory))?;
        Ok::<_, Stop>(told)
    });
    telling.await?
}

fn too_large<T>() -> Outcome<T> {
    says(format!(
        "the records that fit have more than {TEXT_BYTES_MAX} bytes, which is too much for one answer; narrow it by kind or scope"
    ))
}

/// An answer that grows record by record.
struct Told {
    template: Option<Template>,
    text: String,
    count: usize,
}

impl Told {
    fn new(targs: &Targs) -> Outcome<Self> {
        let template = targs.text("output_template")?.map(Template::parse);
        Ok(Self { template, text: String::new(), count: 0 })
    }

    fn tell(&mut self, memory: &Memory) -> Outcome<()> {
        let Some(record) = Record::of(memory) else { return Ok(()) };
        self.count += 1;
        if self.count > RECORDS_MAX {
            return says(format!(
                "more than {RECORDS_MAX} records fit, which is too much for one answer; narrow it by kind, scope or source"
            ));
        }
        let fits = match &self.template {
            Some(template) => template.render(&record, &mut self.text, TEXT_BYTES_MAX),
            None => {
                self.text.push(if self.count == 1 { '[' } else { ',' });
                let json = serde_json::to_string(&record).expect("strings and numbers become JSON");
                self.text.push_str(&json);
                self.text.len() <= TEXT_BYTES_MAX
            }
        };
        if fits { Ok(()) } else { too_large() }
    }

    fn end(mut self) -> Payload {
        if self.template.is_some() {
            return Payload::plain(self.text);
        }
        if self.count == 0 {
            self.text.push('[');
        }
        self.text.push(']');
        Payload::ready_json(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::{
        Attributes, Content, MemoryId, MemoryPath, PrincipalId, Timestamp, VersionId,
    };

    fn memory(bytes: usize) -> Memory {
        let content = Content::Text("x".repeat(bytes));
        Memory {
            id: MemoryId::from_u128(1),
            store: StoreId::from_u128(1),
            partition: None,
            owner: PrincipalId::from_u128(1),
            path: MemoryPath::parse("/a").unwrap(),
            attributes: Attributes::default(),
            head: VersionId::from_u128(1),
            revision: 1,
            digest: content.digest(),
            content: Some(content),
            size_bytes: bytes as u64,
            is_sealed: false,
            created_at: Timestamp::from_micros(0),
            updated_at: Timestamp::from_micros(0),
        }
    }

    /// How many such memories are told before it is too much.
    fn fit(bytes: usize) -> usize {
        let mut told = Told { template: None, text: String::new(), count: 0 };
        let memory = memory(bytes);
        for count in 0.. {
            match told.tell(&memory) {
                Ok(()) => {}
                Err(Stop::Says(words)) if words.contains("narrow") => return count,
                Err(other) => panic!("{other:?}"),
            }
        }
        unreachable!("everything has an end")
    }

    #[test]
    fn an_answer_has_an_end() {
        assert_eq!(fit(1), RECORDS_MAX);
        assert_eq!(fit(1_000_000), TEXT_BYTES_MAX / 1_000_000);
    }
}
