//! Which memories of a large store are worth ranking, decided where they lie: those that hold the most
//! of the query's words, those whose passages are most similar to it, and those that lie beside the
//! best of both, because short memories are read together with their neighbours. Everything is bounded;
//! access is decided inside every statement.

use crate::client::{Tx, uuid};
use crate::fault::{Result, not_found};
use crate::passages::{mark, written};
use crate::row::{self, LIVE_MEMORY_COLUMNS, count, get, int};
use crate::vectors::key;
use loci_model::policy::SearchPass;
use loci_model::{Content, Memory, StoreId};
use loci_storage::column::visibility_max;
use loci_storage::{GenerationId, Lookup, Shortlist, Sought};
use std::collections::{HashMap, HashSet};
use tokio_postgres::Row;
use uuid::Uuid;

/// Memories that hold a word are counted up to this many; beyond, it is common.
const COUNTED_MAX: i64 = 5000;
/// Memories taken for their words, and for the phrases of a query that is nothing else.
const BY_WORD_MAX: i64 = 800;
const BY_PHRASE_MAX: i64 = 2000;
/// Common words that are looked for in pairs.
const COMMON_MAX: usize = 4;
/// Memories taken for their similarity, and for their dissimilarity: how far similarities reach
/// down says what they are worth.
const NEAREST_MAX: i64 = 300;
const FARTHEST_MAX: i64 = 5;
/// Up to this many memories a store is compared whole, which is exact.
const SMALL_STORE_MAX: u64 = 10_000;
/// The best that are read with their neighbours, the size of a directory that is taken whole, what
/// is taken on each side in a larger one, and how much there is of it together.
const ACCOMPANIED_MAX: usize = 300;
const DIRECTORIES_MAX: usize = 100;
const DIRECTORY_MAX: i64 = 200;
const BESIDE: i64 = 4;
const MATES_MAX: usize = 1500;
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
    let Some(total) = size(tx, pass, store, lookup.generation).await? else { return Ok(None) };
    let search = Search {
        tx,
        store: uuid(store.to_bytes()),
        mark: mark(store),
        shown_to: visibility_max(pass.audience()),
        now: pass.now().as_micros(),
        total,
    };
    let holding = search.holding(&lookup.words).await?;
    let by_word = search.by_word(lookup, &holding).await?;
    let (nearest, farthest) = match &lookup.vector {
        Some(vector) => search.by_vector(lookup.generation, vector).await?,
        None => Default::default(),
    };
    let mut chosen = Chosen::default();
    // In turns, so that both legs have their best among those that are read with their neighbours.
    let longer = by_word.len().max(nearest.len());
    for place in 0..longer {
        chosen.extend([&by_word, &nearest].into_iter().filter_map(|some| some.get(place)));
    }
    let accompanied = chosen.ids.len().min(ACCOMPANIED_MAX);
    let mates = search.mates(&chosen.ids[..accompanied]).await?;
    chosen.extend(&farthest);
    chosen.extend(&mates);
    let memories = search.texts(store, &chosen.ids).await?;
    Ok(Some(Shortlist { memories, total, holding }))
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

/// A search of one store.
struct Search<'t> {
    tx: &'t Tx,
    store: Uuid,
    mark: String,
    shown_to: i16,
    now: i64,
    total: u64,
}

impl Search<'_> {
    /// In how many memories each word is.
    async fn holding(&self, words: &[Sought]) -> Result<HashMap<String, u64>> {
        if words.is_empty() {
            return Ok(HashMap::new());
        }
        let queries: Vec<String> = words.iter().map(|word| self.query(word)).collect();
        let sql = include_str!("../queries/word/count.sql");
        let rows = self
            .tx
            .query(sql, &[&self.store, &queries, &self.shown_to, &self.now, &COUNTED_MAX])
            .await?;
        let mut holding = HashMap::with_capacity(words.len());
        for row in &rows {
            // Places count from one.
            let place = usize::try_from(get::<i64>(row, 0)? - 1).unwrap_or(usize::MAX);
            if let Some(word) = words.get(place) {
                holding.insert(word.key.clone(), count(row, 1)?);
            }
        }
        Ok(holding)
    }

    /// Memories that hold the most of the words. A word counts for as much as it is rare. One that
    /// is common picks out nothing by itself; two of them together do.
    async fn by_word(&self, lookup: &Lookup, holding: &HashMap<String, u64>) -> Result<Vec<Uuid>> {
        let (mut rare, mut common) = (Vec::new(), Vec::new());
        for word in &lookup.words {
            let held = holding.get(&word.key).copied().unwrap_or(0);
            let one = (self.query(word), weight(self.total, held));
            match held {
                0 => {}
                held if int(held) < COUNTED_MAX => rare.push(one),
                _ => common.push(one),
            }
        }
        common.truncate(COMMON_MAX);
        let mut asked = rare;
        for (at, (first, first_weight)) in common.iter().enumerate() {
            for (second, second_weight) in &common[at + 1..] {
                asked.push((format!("{first} & {second}"), first_weight + second_weight));
            }
        }
        if asked.is_empty() {
            asked = common;
        }
        let mut found = self.most_holding(&asked, BY_WORD_MAX).await?;
        if !lookup.phrases.is_empty() {
            let term = |term: &String| quoted(&self.mark, term, false);
            let all: Vec<String> = lookup.phrases.iter().flatten().map(term).collect();
            let phrases = self.most_holding(&[(all.join(" & "), 1.0)], BY_PHRASE_MAX).await?;
            found.splice(0..0, phrases);
        }
        Ok(found)
    }

    async fn most_holding(&self, asked: &[(String, f32)], at_most: i64) -> Result<Vec<Uuid>> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let queries: Vec<&str> = asked.iter().map(|(query, _)| query.as_str()).collect();
        let weights: Vec<f32> = asked.iter().map(|(_, weight)| *weight).collect();
        let sql = include_str!("../queries/word/most.sql");
        let rows = self
            .tx
            .query(
                sql,
                &[
                    &self.store,
                    &queries,
                    &weights,
                    &self.shown_to,
                    &self.now,
                    &COUNTED_MAX,
                    &at_most,
                ],
            )
            .await?;
        rows.iter().map(|row| get(row, 0)).collect()
    }

    /// The most similar memories and the least similar: those are nearest to the opposite.
    async fn by_vector(
        &self,
        generation: GenerationId,
        vector: &[f32],
    ) -> Result<(Vec<Uuid>, Vec<Uuid>)> {
        let is_direction = vector.iter().all(|number| number.is_finite());
        if !is_direction || vector.iter().all(|number| *number == 0.0) {
            return Ok(Default::default());
        }
        let opposite: Vec<f32> = vector.iter().map(|number| -number).collect();
        let nearest = self.nearest(generation, vector, NEAREST_MAX).await?;
        let farthest = self.nearest(generation, &opposite, FARTHEST_MAX).await?;
        Ok((nearest, farthest))
    }

    async fn nearest(&self, of: GenerationId, vector: &[f32], at_most: i64) -> Result<Vec<Uuid>> {
        let is_small = self.total <= SMALL_STORE_MAX;
        let (generation, vector) = (key(of), written(vector));
        let sql = include_str!("../queries/passage/nearest.sql");
        let rows = self
            .tx
            .query(
                sql,
                &[
                    &generation,
                    &self.store,
                    &vector,
                    &self.shown_to,
                    &self.now,
                    &at_most,
                    &is_small,
                ],
            )
            .await?;
        rows.iter().map(|row| get(row, 0)).collect()
    }

    /// What lies beside some memories: their directories where those are small, else what comes
    /// before and after them.
    async fn mates(&self, of: &[Uuid]) -> Result<Vec<Uuid>> {
        let sql = include_str!("../queries/shortlist/paths.sql");
        let rows = self.tx.query(sql, &[&self.store, &of]).await?;
        let mut directories: Vec<(String, Uuid)> = Vec::new();
        let mut places: HashMap<(String, Uuid), Vec<String>> = HashMap::new();
        for row in &rows {
            let (path, partition): (String, Uuid) = (get(row, 1)?, get(row, 2)?);
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
            let directory = (parent, partition);
            if !places.contains_key(&directory) {
                if directories.len() == DIRECTORIES_MAX {
                    continue;
                }
                directories.push(directory.clone());
            }
            places.entry(directory).or_default().push(path);
        }
        if directories.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.in_directories(&directories).await?;
        let (mut mates, mut beside) = (Vec::new(), Vec::new());
        for (directory, found) in directories.into_iter().zip(found) {
            let is_small = int(found.len() as u64) <= DIRECTORY_MAX;
            if is_small && mates.len() + found.len() <= MATES_MAX {
                mates.extend(found);
            } else {
                let paths = places.remove(&directory).unwrap_or_default();
                beside.extend(paths.into_iter().map(|path| (path, directory.1)));
            }
        }
        mates.extend(self.beside(&beside).await?);
        mates.truncate(MATES_MAX);
        Ok(mates)
    }

    /// What is in each of some directories, up to one more than is taken whole.
    async fn in_directories(&self, directories: &[(String, Uuid)]) -> Result<Vec<Vec<Uuid>>> {
        let paths: Vec<&str> = directories.iter().map(|(path, _)| path.as_str()).collect();
        let partitions: Vec<Uuid> = directories.iter().map(|(_, partition)| *partition).collect();
        let sql = include_str!("../queries/shortlist/mates.sql");
        let at_most = DIRECTORY_MAX + 1;
        let rows = self
            .tx
            .query(sql, &[&self.store, &paths, &partitions, &self.shown_to, &self.now, &at_most])
            .await?;
        let mut found = vec![Vec::new(); directories.len()];
        for row in &rows {
            let place = usize::try_from(get::<i64>(row, 0)? - 1).unwrap_or(usize::MAX);
            if let Some(found) = found.get_mut(place) {
                found.push(get(row, 1)?);
            }
        }
        Ok(found)
    }

    async fn beside(&self, of: &[(String, Uuid)]) -> Result<Vec<Uuid>> {
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let paths: Vec<&str> = of.iter().map(|(path, _)| path.as_str()).collect();
        let partitions: Vec<Uuid> = of.iter().map(|(_, partition)| *partition).collect();
        let sql = include_str!("../queries/shortlist/beside.sql");
        let rows = self
            .tx
            .query(sql, &[&self.store, &paths, &partitions, &self.shown_to, &self.now, &BESIDE])
            .await?;
        rows.iter().map(|row| get(row, 0)).collect()
    }

    /// The memories themselves, with their content, as long as there is room.
    async fn texts(&self, store: StoreId, ids: &[Uuid]) -> Result<Vec<Memory>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = include_str!("../queries/shortlist/texts.sql");
        let rows =
            self.tx.query(sql, &[&self.store, &ids, &self.shown_to, &self.now, &BYTES_MAX]).await?;
        let read = |row: &Row| {
            let mut found = row::memory(row, store)?.memory;
            let bytes: &[u8] = get(row, LIVE_MEMORY_COLUMNS)?;
            // What cannot be read as text is left out, as it is where texts are read in pages.
            let text = std::str::from_utf8(bytes).ok();
            found.content = text.map(|text| Content::Text(text.to_owned()));
            Ok(found)
        };
        let found = rows.iter().map(read).collect::<Result<Vec<Memory>>>()?;
        Ok(found.into_iter().filter(|memory| memory.content.is_some()).collect())
    }

    /// A word in the language of the index of words.
    fn query(&self, word: &Sought) -> String {
        let beginning = word.beginning.iter().map(|text| quoted(&self.mark, text, true));
        let terms = word.terms.iter().map(|term| quoted(&self.mark, term, false));
        let any: Vec<String> = beginning.chain(terms).collect();
        format!("( {} )", any.join(" | "))
    }
}

/// How much a word that so many hold counts for.
fn weight(total: u64, holding: u64) -> f32 {
    let (total, holding) = (total.max(holding) as f64, holding as f64);
    (1.0 + (total - holding + 0.5) / (holding + 0.5)).ln() as f32
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
    fn nothing_in_a_word_has_a_meaning() {
        assert_eq!(quoted("ab", r"it's \ & | !", false), r"'abit''s \\ & | !'");
        assert_eq!(quoted("ab", "x\0y", true), "'abxy':*");
    }

    #[test]
    fn a_rare_word_counts_for_more() {
        assert!(weight(1000, 1) > weight(1000, 10));
        assert!(weight(1000, 1000) > 0.0 && weight(0, 5) > 0.0);
    }
}
