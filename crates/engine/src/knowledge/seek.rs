//! Answers a question from what is known and from the memories themselves. Who may know what is
//! decided first; the graphs hold nothing else.

use super::learned::Learned;
use super::{Known, Limits, Seek, Strategy};
use crate::derived::{End, Held};
use crate::search::{Hit, Mode, Recency, SearchAnswer, SearchRequest, Span, Wanted};
use crate::{Context, Engine, Error, Result, damage};
use loci_knowledge::graph::{Comparison, Dates, Filter, Operator, Ranked, Seeking};
use loci_model::policy::SearchPass;
use loci_model::{Invalid, Memory, MemoryId, StoreId, Timestamp, View, limit};
use loci_storage::request::{forget_page, note_damaged};
use loci_storage::{FeedEnd, ReadingEnd};
use std::collections::HashMap;
use std::sync::Arc;

/// Memories whose facts count as fitting the question.
const SOURCES: usize = 30;
/// Memories looked at when dates decide which are shown.
const SOURCES_DATED: usize = limit::SEARCH_RESULTS_MAX;
/// How far back "recently" goes.
const RECENT_SECS: i64 = 90 * 86_400;
const RECENCY_WEIGHT: f32 = 0.5;
const RECENCY_HALF_LIFE_SECS: f32 = 14.0 * 86_400.0;
const DIVERSITY: f32 = 0.6;
/// Memories whose contents are read at once.
const FILLED_AT_ONCE: usize = 8;
/// What fits half as well as the best is not precise.
const PRECISE_SHARE: f32 = 0.5;

impl Seek {
    fn validate(&self) -> Result<()> {
        if self.text.trim().is_empty() {
            return Err(Invalid::new("query", "must not be empty").into());
        }
        if self.text.chars().count() > limit::QUERY_CHARS_MAX {
            let why = format!("takes up to {} characters", limit::QUERY_CHARS_MAX);
            return Err(Invalid::new("query", why).into());
        }
        let Limits { facts, entities, episodes, communities } = self.limits;
        if [facts, entities, episodes, communities].into_iter().any(|one| one > limit::KNOWN_MAX) {
            let why = format!("takes up to {} of each", limit::KNOWN_MAX);
            return Err(Invalid::new("limits", why).into());
        }
        if self.strategy == Strategy::Contextual && self.center.is_none() {
            let why = "the contextual strategy needs the entity it is around";
            return Err(Invalid::new("center", why).into());
        }
        Ok(())
    }

    /// What the strategy leaves of the limits.
    fn limits(&self) -> Limits {
        let none = Limits { facts: 0, entities: 0, episodes: 0, communities: 0 };
        match self.strategy {
            Strategy::FactsOnly => Limits { facts: self.limits.facts, ..none },
            Strategy::EntitiesOnly => Limits { entities: self.limits.entities, ..none },
            Strategy::TopicsOnly => Limits { communities: self.limits.communities, ..none },
            _ => self.limits,
        }
    }

    /// The filter as the strategy completes it: what is asked for as recent is new, and not over.
    fn filter(&self, now: Timestamp) -> Filter {
        let mut filter = self.filter.clone();
        if self.strategy == Strategy::RecentMemory {
            if filter.created_at.is_empty() {
                let since = Some(now.plus_secs(-RECENT_SECS));
                filter.created_at = one_date(Operator::AtOrAfter, since);
            }
            if filter.invalid_at.is_empty() {
                filter.invalid_at = one_date(Operator::IsNull, None);
            }
        }
        filter
    }
}

impl Engine {
    /// Answers a question.
    pub async fn seek(&self, context: &Context, seek: &Seek) -> Result<Known> {
        seek.validate()?;
        let filter = seek.filter(self.seams.now());
        let (answer, graphs) =
            tokio::join!(self.episodes(context, seek, &filter), self.graphs(context, seek));
        let (answer, graphs) = (answer?, graphs?);
        let mut known = self.answer(seek, &filter, &answer, graphs).await?;
        known.episodes = answer.hits.into_iter().filter(|hit| is_dated(hit, &filter)).collect();
        if seek.strategy == Strategy::Precise {
            let best = known.episodes.first().map_or(0.0, |hit| hit.score);
            known.episodes.retain(|hit| hit.score >= best * PRECISE_SHARE);
        }
        known.episodes.truncate(seek.limits().episodes);
        // What was taken back while it ran is not shown.
        forget_page();
        let reached = self.reach(context, &seek.reach).await?;
        let may = |store: &StoreId| reached.pass.stores().contains(store);
        known.facts.retain(|(store, _)| may(store));
        known.entities.retain(|(store, _)| may(store));
        known.communities.retain(|(store, _)| may(store));
        let episodes = std::mem::take(&mut known.episodes);
        (known.episodes, known.contents_left_out) = self.filled(reached.pass, episodes).await?;
        Ok(known)
    }

    /// Results with their contents, as long as there is room for them; and how many came without.
    /// Whatever may not be had any more is left out.
    async fn filled(&self, pass: SearchPass, hits: Vec<Hit>) -> Result<(Vec<Hit>, usize)> {
        if hits.is_empty() {
            return Ok((hits, 0));
        }
        let engine = self.clone();
        self.compute(async move {
            let mut filled: Vec<Hit> = Vec::with_capacity(hits.len());
            let (mut bytes, mut left_out) = (0, 0);
            let mut hits = hits.into_iter().peekable();
            while hits.peek().is_some() {
                let is_full = bytes < limit::SEARCH_CONTENT_BYTES;
                let view = if is_full { View::Full } else { View::Basic };
                let some: Vec<Hit> = hits.by_ref().take(FILLED_AT_ONCE).collect();
                let ids: Vec<_> =
                    some.iter().map(|hit| (hit.memory.store, hit.memory.id)).collect();
                let found = damage::found(engine.storage.as_ref(), &pass, &ids, view).await?;
                found.damaged.iter().for_each(|(store, id)| note_damaged(*store, *id));
                let mut found: HashMap<MemoryId, Memory> =
                    found.memories.into_iter().map(|memory| (memory.id, memory)).collect();
                for hit in some {
                    let Some(memory) = found.remove(&hit.memory.id) else { continue };
                    match is_full {
                        true => bytes += usize::try_from(memory.size_bytes).unwrap_or(usize::MAX),
                        false => left_out += 1,
                    }
                    filled.push(Hit { memory, ..hit });
                }
            }
            Ok((filled, left_out))
        })
        .await
    }

    /// The memories that fit, more of them than are shown: facts are ranked by them, too.
    async fn episodes(
        &self,
        context: &Context,
        seek: &Seek,
        filter: &Filter,
    ) -> Result<SearchAnswer> {
        let is_dated = !(filter.created_at.is_empty() && filter.valid_at.is_empty());
        let limit = if is_dated { SOURCES_DATED } else { SOURCES.max(seek.limits().episodes) };
        let mut wanted = Wanted::new(seek.text.clone(), limit);
        wanted.filter.kinds = seek.kinds.clone();
        wanted.filter.created = span(&filter.created_at);
        match seek.strategy {
            Strategy::Diverse => wanted.diversity = DIVERSITY,
            Strategy::RecentMemory => {
                wanted.signals.recency = Some(Recency {
                    weight: RECENCY_WEIGHT,
                    half_life_secs: RECENCY_HALF_LIFE_SECS,
                });
            }
            _ => {}
        }
        let request = SearchRequest {
            reach: seek.reach.clone(),
            wanted,
            // Few of them are shown: those are read once more, with content.
            view: View::Basic,
            explain: false,
            content_bytes_max: 0,
            snippet_chars: 0,
            as_of: None,
            wait: None,
        };
        self.search(context, &request).await
    }

    /// What is known of each store that may be read; of those that may only be searched, nothing.
    async fn graphs(
        &self,
        context: &Context,
        seek: &Seek,
    ) -> Result<Vec<(StoreId, Held<Learned>)>> {
        let reached = self.reach(context, &seek.reach).await?;
        let (pass, _) = reached.pass.with_guarded(0);
        self.graphs_of(&pass).await
    }

    /// The graphs of the stores of a pass, up to the ends of their feeds.
    pub(super) async fn graphs_of(
        &self,
        pass: &SearchPass,
    ) -> Result<Vec<(StoreId, Held<Learned>)>> {
        let ends = self.ends(pass).await?;
        self.graphs_at(pass, &ends).await
    }

    /// Where the feeds and the readings of the stores of a pass end, in one order.
    pub(super) async fn ends(&self, pass: &SearchPass) -> Result<Vec<End>> {
        let (feeds, read) =
            tokio::try_join!(self.storage.feed_ends(pass), self.storage.reading_ends(pass))?;
        let read: HashMap<StoreId, ReadingEnd> =
            read.into_iter().map(|end| (end.store, end)).collect();
        let end = |feed: FeedEnd| End { read: read.get(&feed.store).copied(), feed };
        let mut ends: Vec<End> = feeds.into_iter().map(end).collect();
        ends.sort_unstable_by_key(|end| end.feed.store);
        Ok(ends)
    }

    /// The graphs of stores, up to these ends, which are in order.
    pub(super) async fn graphs_at(
        &self,
        pass: &SearchPass,
        ends: &[End],
    ) -> Result<Vec<(StoreId, Held<Learned>)>> {
        let kept = &self.search.graphs;
        kept.bring_up_all(&self.storage, pass, ends).await?;
        // In one order, or two who hold some while they wait for others could wait for each other.
        let mut graphs = Vec::with_capacity(ends.len());
        for end in ends {
            match kept.current(&self.storage, pass, end).await {
                Ok(held) => graphs.push((end.feed.store, held)),
                // The store was removed a moment ago.
                Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        kept.shrink();
        Ok(graphs)
    }

    async fn answer(
        &self,
        seek: &Seek,
        filter: &Filter,
        answer: &SearchAnswer,
        graphs: Vec<(StoreId, Held<Learned>)>,
    ) -> Result<Known> {
        let limits = seek.limits();
        if graphs.iter().all(|(_, held)| held.it.graph.is_empty()) {
            return Ok(Known::default());
        }
        let now = self.seams.now();
        let embedder = self.search.embedder().cloned();
        let vector = match &embedder {
            Some(embedder) => {
                let text: Arc<str> = seek.text.as_str().into();
                self.embed_by(embedder.model(), &text, Mode::Hybrid, now).await?
            }
            None => None,
        };
        let best = answer.hits.iter().map(|hit| hit.score).fold(f32::MIN_POSITIVE, f32::max);
        let sources =
            answer.hits.iter().map(|hit| (hit.memory.id, (hit.score / best).max(0.0))).collect();
        let (search, seek, filter) = (Arc::clone(&self.search), seek.clone(), filter.clone());
        self.compute(async move {
            let meaning = embedder.as_deref().zip(vector.as_deref());
            let mut scores = search.senses.scores(&seek.text, meaning);
            scores.sources = sources;
            let seeking = Seeking {
                text: &seek.text,
                scores: &scores,
                filter: &filter,
                center: seek.center,
                recency: if seek.strategy == Strategy::RecentMemory {
                    RECENCY_WEIGHT
                } else {
                    0.05
                },
                diversity: if seek.strategy == Strategy::Diverse { DIVERSITY } else { 0.0 },
                now,
                limits: (limits.facts, limits.entities, limits.communities),
            };
            let rank =
                |(store, held): &(StoreId, Held<Learned>)| (*store, held.it.graph.seek(&seeking));
            Ok(merge(graphs.iter().map(rank).collect(), limits, seek.strategy))
        })
        .await
    }
}

/// One comparison alone.
pub(super) fn one_date(operator: Operator, date: Option<Timestamp>) -> Dates {
    Dates(vec![vec![Comparison { operator, date }]])
}

/// The best of all stores.
fn merge(ranked: Vec<(StoreId, Ranked)>, limits: Limits, strategy: Strategy) -> Known {
    fn best<T>(mut all: Vec<(f32, StoreId, T)>, limit: usize, share: f32) -> Vec<(StoreId, T)> {
        all.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        let least = all.first().map_or(0.0, |(best, ..)| best * share);
        let fits = all.into_iter().take_while(|(score, ..)| *score >= least);
        fits.take(limit).map(|(_, store, one)| (store, one)).collect()
    }
    let (mut facts, mut entities, mut communities) = (Vec::new(), Vec::new(), Vec::new());
    for (store, found) in ranked {
        facts.extend(found.facts.into_iter().map(|(score, one)| (score, store, one)));
        entities.extend(found.entities.into_iter().map(|(score, one)| (score, store, one)));
        communities.extend(found.communities.into_iter().map(|(score, one)| (score, store, one)));
    }
    let share = if strategy == Strategy::Precise { PRECISE_SHARE } else { f32::NEG_INFINITY };
    Known {
        facts: best(facts, limits.facts, share),
        entities: best(entities, limits.entities, share),
        episodes: Vec::new(),
        contents_left_out: 0,
        communities: best(communities, limits.communities, share),
    }
}

/// Whether the dates of a memory are wanted. It is true from when it was written, and never over.
fn is_dated(hit: &Hit, filter: &Filter) -> bool {
    let created = Some(hit.memory.created_at);
    filter.created_at.hold(created)
        && filter.valid_at.hold(created)
        && filter.invalid_at.hold(None)
        && filter.expired_at.hold(None)
}

/// The widest span that all groups of one comparison leave; the rest is checked afterwards.
fn span(dates: &Dates) -> Span {
    let mut span = Span::default();
    for group in &dates.0 {
        let [Comparison { operator, date: Some(date) }] = group.as_slice() else { continue };
        match operator {
            Operator::After | Operator::AtOrAfter => {
                span.since = Some(span.since.map_or(*date, |known| known.max(*date)));
            }
            Operator::Before | Operator::AtOrBefore => {
                span.until = Some(span.until.map_or(*date, |known| known.min(*date)));
            }
            Operator::Equals => (span.since, span.until) = (Some(*date), Some(*date)),
            Operator::Differs | Operator::IsNull | Operator::IsNotNull => {}
        }
    }
    span
}
