//! Which memories of a large store are worth ranking, decided where they lie: those that hold the most
//! of the query's words, those whose passages are most similar to it, and those that lie beside the
//! best of both, because short memories are read together with their neighbours. Everything is bounded;
//! access is decided inside every statement.
//!
//! What is fetched is what takes the time, here and where it is ranked, so lists are short, and there are
//! two questions: which, and what is in them.

use crate::client::{Tx, uuid};
use crate::fault::{Result, not_found};
use crate::passages::{mark, written};
use crate::pieces;
use crate::row::{self, LIVE_MEMORY_COLUMNS, count, get, int, text};
use crate::vectors::key;
use loci_model::policy::SearchPass;
use loci_model::{Content, Memory, StoreId, Timestamp};
use loci_storage::column::visibility_max;
use loci_storage::{GenerationId, Lookup, LookupFilter, Shortlist, Sought};
use std::collections::{HashMap, HashSet};
use tokio_postgres::Row;
use uuid::Uuid;

/// Memories that hold a word are counted up to this many; beyond, it is common.
const COUNTED_MAX: i64 = 5000;
/// Of what holds common words together, or a phrase, so many are looked at.
const LOOKED_AT_MAX: i64 = 20_000;
/// Memories taken for their words, and as many for their similarity: so many, and more for each result
/// that is wanted.
const TAKEN: usize = 40;
const TAKEN_EACH: usize = 4;
const TAKEN_MAX: usize = 500;
/// Memories taken for the phrases of a query that is nothing else.
const BY_PHRASE_MAX: usize = 1000;
/// Common words that are looked for in pairs.
const COMMON_MAX: usize = 4;
/// Memories taken for their dissimilarity: how far similarities reach down says what they are worth.
const FARTHEST: i64 = 2;
/// The best that are read with their neighbours, and how many of those on each side.
const ACCOMPANIED: usize = 20;
const ACCOMPANIED_EACH: usize = 2;
const BESIDE: i64 = 2;
/// Bytes of content in a shortlist.
const BYTES_MAX: i64 = 32 * 1024 * 1024;

/// How many memories a store has, if it can be searched here.
pub(crate) async fn size(
    tx: &Tx,
    pass: &SearchPass,
    store: StoreId,
    generation: GenerationId,
) -> Result<Option<u64>> {
    if !pass.stores().contains(&store) {
        return Err(not_found("memory store"));
    }
    let sql = include_str!("../queries/shortlist/size.sql");
    let shown_to = visibility_max(pass.audience());
    let row = tx.query_opt(sql, &[&uuid(store.to_bytes()), &shown_to, &key(generation)]).await?;
    let row = row.ok_or_else(|| not_found("memory store"))?;
    let total = count(&row, 0)?.saturating_sub(count(&row, 1)?);
    let has_passages: bool = get(&row, 2)?;
    Ok(has_passages.then_some(total))
}

pub(crate) async fn make(
    tx: &Tx,
    pass: &SearchPass,
    store: StoreId,
    lookup: &Lookup,
) -> Result<Option<Shortlist>> {
    lookup.check()?;
    let search = Search {
        tx,
        store: uuid(store.to_bytes()),
        mark: mark(store),
        shown_to: visibility_max(pass.audience()),
        now: pass.now().as_micros(),
        memories: int(lookup.memories),
        taken: (TAKEN + TAKEN_EACH * lookup.wanted).min(TAKEN_MAX),
        filter: Filter::new(&lookup.filter),
    };
    // All on their way at once.
    let (size, (holding, by_word), (nearest, farthest), passed_over) = tokio::try_join!(
        size(tx, pass, store, lookup.generation),
        search.by_word(lookup),
        search.by_vector(lookup),
        search.whatever_the_filter(lookup),
    )?;
    if size.is_none() {
        return Ok(None);
    }
    let mut chosen = Chosen::default();
    // In turns, so that both legs have their best among those that are read with their neighbours.
    let longer = by_word.len().max(nearest.len());
    for place in 0..longer {
        chosen.extend([&by_word, &nearest].into_iter().filter_map(|some| some.get(place)));
    }
    let accompanied = ACCOMPANIED + ACCOMPANIED_EACH * lookup.wanted;
    chosen.extend(&passed_over);
    let accompanied = match passed_over.is_empty() {
        true => accompanied.min(chosen.ids.len()),
        false => chosen.ids.len(),
    };
    chosen.extend(&farthest);
    let generation = lookup.vector.is_some().then(|| key(lookup.generation));
    let (memories, vectors) = search.texts(store, &chosen.ids, accompanied, generation).await?;
    Ok(Some(Shortlist { memories, vectors, holding }))
}

/// Memories in the order in which they were chosen, each once.
#[derive(Default)]
struct Chosen {
    ids: Vec<Uuid>,
    seen: HashSet<Uuid>,
}

impl Chosen {
    fn extend<'a>(&mut self, more: impl IntoIterator<Item = &'a Uuid>) {
        for id in more {
            if self.seen.insert(*id) {
                self.ids.push(*id);
            }
        }
    }
}

/// A filter as statements take it: see `is_wanted`.
struct Filter {
    texts: Option<Vec<Option<String>>>,
    kinds: Vec<String>,
    parts: Vec<String>,
    times: Vec<Option<i64>>,
}

impl Filter {
    fn new(filter: &LookupFilter) -> Self {
        let column =
            |value: &Option<String>| value.as_deref().map(|value| text(value).into_owned());
        let mut prefixes = filter.prefixes.iter().map(|prefix| Some(prefix.as_str().to_owned()));
        let first = prefixes.next().flatten();
        let mut texts = vec![first, column(&filter.source), column(&filter.scope)];
        texts.extend(prefixes);
        // Attributes are JSON, and metadata is JSON in a text of it.
        let json = |value: &str| serde_json::Value::from(value).to_string();
        let inside = |name: &String| {
            let twice = json(&json(name));
            twice[1..twice.len() - 1].to_owned()
        };
        let tags = filter.tags.iter().map(|tag| json(tag));
        let parts = tags.chain(filter.metadata.iter().map(inside));
        let micros = |time: Option<Timestamp>| time.map(Timestamp::as_micros);
        let ((created, until), (updated, and_until)) = (filter.created, filter.updated);
        Self {
            texts: (!filter.is_empty()).then_some(texts),
            kinds: filter.kinds.iter().map(|kind| text(kind).into_owned()).collect(),
            parts: parts.map(|part: String| pattern(&text(&part))).collect(),
            times: [created, until, updated, and_until].map(micros).to_vec(),
        }
    }
}

/// What is like every text with this in it.
fn pattern(part: &str) -> String {
    let plain = part.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{plain}%")
}

/// A search of one store.
struct Search<'t> {
    tx: &'t Tx,
    store: Uuid,
    mark: String,
    shown_to: i16,
    now: i64,
    memories: i64,
    /// How many memories are taken for their words, and for their similarity.
    taken: usize,
    filter: Filter,
}

impl Search<'_> {
    /// In how many memories each word is, and the memories that hold the most of them. A word that is
    /// common picks out nothing by itself as long as there are others; two of them together do.
    async fn by_word(&self, lookup: &Lookup) -> Result<(HashMap<String, u64>, Vec<Uuid>)> {
        let queries = self.queries(lookup);
        let (counts, mut found) =
            self.look_up(&queries, COUNTED_MAX, false, self.taken, &self.filter).await?;
        let words = lookup.words.iter().map(|word| word.key.clone());
        let holding: HashMap<String, u64> = words.zip(counts.iter().copied()).collect();
        let is_common = |(_, held): &(String, u64)| int(*held) >= COUNTED_MAX;
        let common = queries.into_iter().zip(counts).filter(is_common).map(|(query, _)| query);
        let common: Vec<String> = common.take(COMMON_MAX).collect();
        if !common.is_empty() && found.len() < self.taken {
            let asked = self.together(common);
            let more = self.taken - found.len();
            found.extend(self.look_up(&asked, LOOKED_AT_MAX, true, more, &self.filter).await?.1);
        }
        if !lookup.phrases.is_empty() {
            let term = |term: &String| quoted(&self.mark, term, false);
            let all: Vec<String> = lookup.phrases.iter().flatten().map(term).collect();
            let asked = [all.join(" & ")];
            let most = BY_PHRASE_MAX;
            let phrases = self.look_up(&asked, LOOKED_AT_MAX, true, most, &self.filter).await?.1;
            found.splice(0..0, phrases);
        }
        Ok((holding, found))
    }

    /// What holds the most of the words, where a filter passes some of it over: those whom it lets
    /// through may lie beside it, and have its words from there.
    async fn whatever_the_filter(&self, lookup: &Lookup) -> Result<Vec<Uuid>> {
        if self.filter.texts.is_none() {
            return Ok(Vec::new());
        }
        let (queries, none) = (self.queries(lookup), Filter::new(&LookupFilter::default()));
        Ok(self.look_up(&queries, COUNTED_MAX, false, self.taken, &none).await?.1)
    }

    fn queries(&self, lookup: &Lookup) -> Vec<String> {
        lookup.words.iter().map(|word| self.query(word)).collect()
    }

    /// Common words in pairs. Where a filter picks out, or there is only one, they are asked alone.
    fn together(&self, common: Vec<String>) -> Vec<String> {
        if common.len() == 1 || self.filter.texts.is_some() {
            return common;
        }
        let mut pairs = Vec::new();
        for (at, first) in common.iter().enumerate() {
            pairs.extend(common[at + 1..].iter().map(|second| format!("{first} & {second}")));
        }
        pairs
    }

    /// How many hold what each query asks for, and who holds the most.
    async fn look_up(
        &self,
        queries: &[String],
        counted_max: i64,
        takes_common: bool,
        at_most: usize,
        filter: &Filter,
    ) -> Result<(Vec<u64>, Vec<Uuid>)> {
        let mut counts = vec![0; queries.len()];
        let mut found = Vec::new();
        if queries.is_empty() {
            return Ok((counts, found));
        }
        let rows = self
            .tx
            .query(
                include_str!("../queries/word/look_up.sql"),
                &[
                    &self.store,
                    &queries,
                    &self.memories,
                    &self.shown_to,
                    &self.now,
                    &counted_max,
                    &takes_common,
                    &int(at_most as u64),
                    &filter.texts,
                    &filter.kinds,
                    &filter.parts,
                    &filter.times,
                ],
            )
            .await?;
        for row in &rows {
            let Some(place) = get::<Option<i64>>(row, 0)? else {
                found.push(get(row, 2)?);
                continue;
            };
            // Places count from one.
            let place = usize::try_from(place - 1).unwrap_or(usize::MAX);
            if let Some(held) = counts.get_mut(place) {
                *held = count(row, 1)?;
            }
        }
        Ok((counts, found))
    }

    /// The most similar memories and the least similar.
    async fn by_vector(&self, lookup: &Lookup) -> Result<(Vec<Uuid>, Vec<Uuid>)> {
        let vector = lookup.vector.as_deref().unwrap_or_default();
        let is_direction = vector.iter().all(|number| number.is_finite());
        if !is_direction || vector.iter().all(|number| *number == 0.0) {
            return Ok(Default::default());
        }
        let opposite: Vec<f32> = vector.iter().map(|number| -number).collect();
        let filter = &self.filter;
        let rows = self
            .tx
            .query(
                include_str!("../queries/passage/nearest.sql"),
                &[
                    &key(lookup.generation),
                    &self.store,
                    &written(vector),
                    &written(&opposite),
                    &self.shown_to,
                    &self.now,
                    &int(self.taken as u64),
                    &FARTHEST,
                    &self.memories,
                    &int(lookup.compared_max),
                    &filter.texts,
                    &filter.kinds,
                    &filter.parts,
                    &filter.times,
                ],
            )
            .await?;
        let (mut nearest, mut farthest) = (Vec::new(), Vec::new());
        for row in &rows {
            let is_far: bool = get(row, 1)?;
            if is_far { &mut farthest } else { &mut nearest }.push(get(row, 0)?);
        }
        Ok((nearest, farthest))
    }

    /// The memories themselves, with their content and vectors, as long as there is room; the first
    /// so many with what lies beside them.
    async fn texts(
        &self,
        store: StoreId,
        ids: &[Uuid],
        accompanied: usize,
        generation: Option<i32>,
    ) -> Result<(Vec<Memory>, Vec<Option<Vec<u8>>>)> {
        if ids.is_empty() {
            return Ok(Default::default());
        }
        let rows = self
            .tx
            .query(
                include_str!("../queries/shortlist/texts.sql"),
                &[
                    &self.store,
                    &ids,
                    &self.shown_to,
                    &self.now,
                    &BYTES_MAX,
                    &int(accompanied as u64),
                    &BESIDE,
                    &generation,
                ],
            )
            .await?;
        let (mut memories, mut vectors) = (Vec::new(), Vec::new());
        let contents = pieces::of_rows(self.tx, &rows, store, LIVE_MEMORY_COLUMNS).await?;
        for (row, bytes) in rows.iter().zip(contents) {
            // What cannot be read as text is left out, as it is where texts are read in pages.
            if let Some(memory) = with_text(row, store, bytes)? {
                memories.push(memory);
                vectors.push(get(row, LIVE_MEMORY_COLUMNS + 2)?);
            }
        }
        Ok((memories, vectors))
    }

    /// A word in the language of the index of words.
    fn query(&self, word: &Sought) -> String {
        let beginning = word.beginning.iter().map(|text| quoted(&self.mark, text, true));
        let terms = word.terms.iter().map(|term| quoted(&self.mark, term, false));
        let any: Vec<String> = beginning.chain(terms).collect();
        format!("( {} )", any.join(" | "))
    }
}

fn with_text(row: &Row, store: StoreId, bytes: Option<Vec<u8>>) -> Result<Option<Memory>> {
    let mut found = row::memory(row, store)?.memory;
    let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else { return Ok(None) };
    found.content = Some(Content::Text(text));
    Ok(Some(found))
}

/// A term in quotes, in which nothing has a meaning.
fn quoted(mark: &str, term: &str, is_beginning: bool) -> String {
    let term: String = term.chars().filter(|char| *char != '\0').collect();
    let escaped = term.replace('\\', "\\\\").replace('\'', "''");
    let star = if is_beginning { ":*" } else { "" };
    format!("'{mark}{escaped}'{star}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_part_has_a_meaning() {
        assert_eq!(pattern(r"5%_\"), r"%5\%\_\\%");
        let metadata = vec!["a_b".to_owned()];
        let filter = Filter::new(&LookupFilter { metadata, ..LookupFilter::default() });
        assert_eq!(filter.parts, [r#"%\\"a\_b\\"%"#]);
    }

    #[test]
    fn nothing_in_a_word_has_a_meaning() {
        assert_eq!(quoted("ab", r"it's \ & | !", false), r"'abit''s \\ & | !'");
        assert_eq!(quoted("ab", "x\0y", true), "'abxy':*");
    }
}
