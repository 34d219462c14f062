//! One search, from the pass to the answer. Both legs run at the same time; what they agree on is
//! compared exactly, read once more under the same pass ([`super::show`]), and only then shown. All
//! of that computes, so it waits for its turn and runs on a thread that may be blocked.

use super::reach::Reached;
use super::show::Shown;
use super::stage::{Place, Stage};
use super::{SearchAnswer, SearchRequest};
use crate::compute::{blocking, may_block};
use crate::{Context, Engine, Error, Result};
use loci_model::policy::SearchPass;
use loci_model::{Invalid, MemoryId, StoreId, Timestamp, limit};
use loci_search::Mode;
use loci_search::embed::Purpose;
use loci_search::rank::{
    Candidate, LexicalLeg, Part, Question, Ranking, lexical_leg, named_authors, rank, text_to_embed,
};
use loci_search::text::TextQuery;
use loci_search::vector::{self, QueryVector};
use loci_storage::StorageError;
use loci_storage::request::{forget_page, note_damaged};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Candidates that are compared exactly, beyond the results wanted.
const EXACT: usize = 22;
/// Candidates kept beyond the results wanted, in case some are gone when they are read.
const SPARE: usize = 50;
/// Candidates looked through for a phrase.
const PHRASE_CANDIDATES: usize = 2000;

/// The query as one model embeds it.
struct Embedded {
    exact: Vec<f32>,
    quantised: QueryVector,
}

/// The query as all models that are needed embed it.
struct Vectors {
    by_model: HashMap<String, Embedded>,
    /// How far the least of them can be trusted with its language.
    trust: f32,
    /// Whether meaning was asked for and every model that is needed answered.
    is_whole: bool,
}

/// What both legs found.
pub(crate) struct Found {
    pub(crate) ranking: Ranking,
    pub(crate) prepared: Arc<Prepared>,
    /// Whether it was looked for by meaning, too.
    pub(crate) is_by_meaning: bool,
}

/// What a search looks for, made ready.
pub(crate) struct Prepared {
    pub(crate) request: SearchRequest,
    pub(crate) query: TextQuery,
    authors: Vec<String>,
    /// Whether results must hold the query's phrases.
    pub(crate) is_strict: bool,
}

/// What a search came to.
struct Ranked {
    shown: Shown,
    is_by_meaning: bool,
    is_complete: bool,
    unready: usize,
    /// How far the vectors of each store reach that it was compared by.
    through: Vec<(StoreId, u64)>,
}

impl SearchRequest {
    /// Whether anything is to be compared by meaning: memories with the query, or with each other.
    pub(crate) fn needs_vectors(&self) -> bool {
        self.wanted.mode != Mode::Lexical || self.wanted.diversity > 0.0
    }

    fn validate(&self) -> Result<()> {
        self.wanted.validate()?;
        if self.wanted.text.trim().is_empty() {
            return Err(Invalid::new("query", "must not be empty").into());
        }
        if self.snippet_chars > limit::SNIPPET_CHARS_MAX {
            let why = format!("takes up to {}", limit::SNIPPET_CHARS_MAX);
            return Err(Invalid::new("snippet_chars", why).into());
        }
        if self.wait.is_some_and(|wait| wait.at_most.as_secs() > limit::SEARCH_WAIT_SECS_MAX) {
            let why = format!("takes up to {}", limit::SEARCH_WAIT_SECS_MAX);
            return Err(Invalid::new("wait_seconds", why).into());
        }
        Ok(())
    }
}

impl Engine {
    /// Whether there is anybody to compare meanings with.
    pub fn compares_meaning(&self) -> bool {
        self.search.embedder().is_some()
    }

    /// Finds memories.
    pub async fn search(&self, context: &Context, request: &SearchRequest) -> Result<SearchAnswer> {
        request.validate()?;
        if request.wanted.mode == Mode::Semantic && self.search.embedder().is_none() {
            let why = "semantic needs an embedder, and this server runs without one";
            return Err(Invalid::new("mode", why).into());
        }
        let mut answer = match request.as_of {
            Some(at) => self.search_past(context, request, at).await?,
            None => self.search_present(context, request).await?,
        };
        // What was taken back while it ran is not shown: a search may wait for half a minute.
        forget_page();
        let reached = self.reach(context, &request.reach).await?;
        answer.hits.retain(|hit| reached.pass.stores().contains(&hit.memory.store));
        answer.damaged.retain(|(store, _)| reached.pass.stores().contains(store));
        answer.damaged.iter().for_each(|(store, memory)| note_damaged(*store, *memory));
        answer.left_out += self.ration(context, &reached.pass, &mut answer.hits);
        let found: Vec<_> =
            answer.hits.iter().map(|hit| (hit.memory.store, hit.memory.id)).collect();
        self.recalls.note(&found, context.caller.actor, self.seams.now());
        Ok(answer)
    }

    async fn search_present(
        &self,
        context: &Context,
        request: &SearchRequest,
    ) -> Result<SearchAnswer> {
        let mut reached = self.reach(context, &request.reach).await?;
        let mut left_out = reached.left_out;
        if !request.reach.is_named() {
            let (pass, more) = reached.pass.with_guarded(limit::GUARDED_STORES_MAX);
            (reached.pass, left_out) = (pass, left_out + more);
        }
        match self.guard(context, &reached.pass, &request.wanted.text).await {
            // Anybody can share with anybody; that must not keep them from what is their own.
            Err(Error::TooMany { .. }) if !request.reach.is_named() => {
                let (pass, more) = reached.pass.with_guarded(0);
                (reached.pass, left_out) = (pass, left_out + more);
            }
            guarded => guarded?,
        }
        let ends = match request.wait {
            Some(wait) if request.wanted.mode != Mode::Lexical => {
                self.wait_for_vectors(&reached.pass, wait).await?
            }
            _ => self.storage.feed_ends(&reached.pass).await?,
        };
        let stage = self.stage(&reached.pass, &ends, request).await?;
        let (engine, pass, asked) = (self.clone(), reached.pass.clone(), request.clone());
        let ranked = self.compute(async move { engine.ranked(&pass, stage, &asked).await }).await?;
        self.search.indexes.shrink();
        let Ranked { shown, is_by_meaning, is_complete, unready, through } = ranked;
        let mut indexed_through = through;
        indexed_through.retain(|(store, _)| is_told(*store, request, &reached, &shown));
        let Shown { hits, contents_left_out, damaged, .. } = shown;
        Ok(SearchAnswer {
            hits,
            contents_left_out,
            indexed_through,
            is_complete,
            unready,
            is_by_meaning,
            left_out,
            damaged,
        })
    }

    /// Finds what a stage holds and reads the best of it. The stage ends here: to drop what was made
    /// for one search takes a while, too.
    async fn ranked(
        &self,
        pass: &SearchPass,
        stage: Stage,
        request: &SearchRequest,
    ) -> Result<Ranked> {
        let stage = Arc::new(stage);
        let mut found = self.find(pass, &stage, request, true).await?;
        let is_strict = found.prepared.is_strict;
        let mut is_by_meaning = found.is_by_meaning;
        let mut shown = self.show(pass, &stage, found).await?;
        if shown.hits.is_empty() && is_strict {
            // Nobody has the phrase; then its words are better than nothing.
            found = self.find(pass, &stage, request, false).await?;
            is_by_meaning = found.is_by_meaning;
            let damaged = std::mem::take(&mut shown.damaged);
            shown = self.show(pass, &stage, found).await?;
            shown.damaged.extend(damaged);
        }
        shown.damaged.sort_unstable();
        shown.damaged.dedup();
        let chosen = stage.places.iter();
        let chosen = chosen.filter_map(|place| Some((place.store, place.chosen?.through)));
        Ok(Ranked {
            through: chosen.collect(),
            is_complete: stage.is_complete,
            unready: stage.unready(),
            is_by_meaning,
            shown,
        })
    }

    /// Runs both legs and ranks what they find; to be computed.
    pub(crate) async fn find(
        &self,
        pass: &SearchPass,
        stage: &Arc<Stage>,
        request: &SearchRequest,
        may_be_strict: bool,
    ) -> Result<Found> {
        let query = TextQuery::parse(&request.wanted.text);
        let authors = named_authors(&stage.indexes(), &request.wanted.text);
        let is_strict = may_be_strict && query.is_quoted();
        let prepared = Arc::new(Prepared { request: request.clone(), query, authors, is_strict });
        let lexical = {
            let (stage, prepared) = (Arc::clone(stage), Arc::clone(&prepared));
            blocking(move || match prepared.request.wanted.mode {
                Mode::Semantic => LexicalLeg::nothing(stage.places.len()),
                Mode::Hybrid | Mode::Lexical => lexical_leg(&stage.indexes(), &prepared.query),
            })
        };
        let embedding = self.embed_query(stage, &prepared, pass.now());
        let (lexical, vectors) = tokio::try_join!(lexical, embedding)?;
        debug_assert!(may_block(), "ranking computes");
        let question = Question {
            wanted: &prepared.request.wanted,
            query: &prepared.query,
            is_strict: prepared.is_strict,
            authors: &prepared.authors,
            trust: vectors.trust,
            now: pass.now(),
            depth: prepared.depth(),
        };
        let mut ranking = rank(&parts(stage, &vectors), &lexical, &question);
        let exact = request.wanted.limit + EXACT;
        self.compare_exactly(pass, stage, &vectors, &mut ranking, exact).await?;
        let wanted = &prepared.request.wanted;
        ranking.spread(&parts(stage, &vectors), wanted.diversity, wanted.limit);
        let is_by_meaning = vectors.is_whole;
        Ok(Found { ranking, prepared, is_by_meaning })
    }

    /// Embeds the query by each model that something is to be compared by. In a hybrid search a
    /// model that cannot answer is left out, and words alone decide.
    async fn embed_query(
        &self,
        stage: &Stage,
        prepared: &Prepared,
        now: Timestamp,
    ) -> Result<Vectors> {
        let mut vectors = Vectors { by_model: HashMap::new(), trust: 1.0, is_whole: false };
        if prepared.request.wanted.mode == Mode::Lexical {
            return Ok(vectors);
        }
        vectors.is_whole = self.search.embedder().is_some();
        let text: Arc<str> = text_to_embed(&prepared.authors, &prepared.request.wanted.text).into();
        let is_compared = |place: &&Place| place.chosen.is_some() && !place.index().is_empty();
        let models: BTreeSet<&str> =
            stage.places.iter().filter(is_compared).map(|place| place.model.as_str()).collect();
        // Each once, however many stores it has: one that fails would fail for all of them.
        for model in models {
            let Some(embedder) = self.search.embedder_of(model) else { continue };
            // Known already, unless names were left out of it.
            let is_whole = prepared.authors.is_empty();
            let known = stage.embedded.get(model).filter(|_| is_whole).cloned();
            let exact = match known {
                Some(known) => Some(known),
                None => self.embed_by(model, &text, prepared.request.wanted.mode, now).await?,
            };
            let Some(exact) = exact else {
                vectors.is_whole = false;
                continue;
            };
            let quantised = QueryVector::new(&exact);
            vectors.by_model.insert(model.to_owned(), Embedded { exact, quantised });
            vectors.trust = vectors.trust.min(embedder.trust(&text));
        }
        Ok(vectors)
    }

    /// Embeds the text of a query before it is known which authors it names, once for each model.
    pub(crate) async fn embed_early(
        &self,
        model: &str,
        request: &SearchRequest,
        now: Timestamp,
        embedded: &mut HashMap<String, Vec<f32>>,
    ) -> Result<Option<Vec<f32>>> {
        let mode = request.wanted.mode;
        if mode != Mode::Lexical && !embedded.contains_key(model) {
            let text: Arc<str> = request.wanted.text.as_str().into();
            let found = self.embed_by(model, &text, mode, now).await?;
            embedded.extend(found.map(|vector| (model.to_owned(), vector)));
        }
        Ok(embedded.get(model).cloned())
    }

    /// Embeds a query by one model; nothing when it cannot answer and words can.
    pub(crate) async fn embed_by(
        &self,
        model: &str,
        text: &Arc<str>,
        mode: Mode,
        now: Timestamp,
    ) -> Result<Option<Vec<f32>>> {
        let Some(embedder) = self.search.embedder_of(model) else { return Ok(None) };
        // Who asks for meaning alone has nothing else, and waits.
        if mode == Mode::Hybrid && self.search.is_resting(model, now) {
            return Ok(None);
        }
        if let Some(known) = self.search.asked.get(model, text) {
            return Ok(Some(known));
        }
        let (embedder, asked) = (Arc::clone(embedder), Arc::clone(text));
        let embedding =
            tokio::task::spawn_blocking(move || embedder.embed(&[&asked], Purpose::Query));
        match embedding.await.map_err(lost)? {
            Ok(mut found) => {
                self.search.is_well(model);
                let vector = found.pop();
                if let Some(vector) = &vector {
                    self.search.asked.put(model, text, vector);
                }
                Ok(vector)
            }
            Err(error) => {
                tracing::warn!(%error, "a query could not be embedded");
                self.search.rest(model, now);
                left_out(mode)?;
                Ok(None)
            }
        }
    }

    /// Compares the best candidates with the vectors as they were made.
    async fn compare_exactly(
        &self,
        pass: &SearchPass,
        stage: &Stage,
        vectors: &Vectors,
        ranking: &mut Ranking,
        count: usize,
    ) -> Result<()> {
        let mut by_place: HashMap<usize, Vec<&Candidate>> = HashMap::new();
        for candidate in ranking.candidates.iter().take(count) {
            if candidate.why.semantic.is_some() {
                by_place.entry(candidate.part).or_default().push(candidate);
            }
        }
        let mut exact: HashMap<(usize, MemoryId), f32> = HashMap::new();
        for (part, candidates) in by_place {
            let place = &stage.places[part];
            let (Some(chosen), Some(query)) = (place.chosen, vectors.by_model.get(&place.model))
            else {
                continue;
            };
            let heads: Vec<_> = candidates.iter().map(|candidate| candidate.head).collect();
            let rows = self.storage.vectors(pass, place.store, chosen.generation, &heads).await;
            let rows = match rows {
                Ok(rows) => rows,
                // The store was removed a moment ago; showing will pass it over.
                Err(StorageError::NotFound(_)) => continue,
                Err(error) => return Err(error.into()),
            };
            for (candidate, row) in candidates.into_iter().zip(rows) {
                let passages = row.and_then(|row| vector::decode(&row, chosen.dims as usize));
                let similar = |passage: &Vec<f32>| vector::dot(passage, &query.exact);
                let best = passages.iter().flatten().map(similar).max_by(f32::total_cmp);
                if let Some(best) = best {
                    exact.insert((part, candidate.memory), best);
                }
            }
        }
        ranking.rescore(count, |candidate| exact.get(&(candidate.part, candidate.memory)).copied());
        Ok(())
    }
}

impl Prepared {
    fn depth(&self) -> usize {
        let limit = self.request.wanted.limit;
        let spare = if self.is_strict { PHRASE_CANDIDATES } else { SPARE };
        limit + spare
    }
}

fn parts<'a>(stage: &'a Stage, vectors: &'a Vectors) -> Vec<Part<'a>> {
    let part = |place: &'a Place| {
        let query = vectors.by_model.get(&place.model).filter(|_| place.chosen.is_some());
        (place.index(), query.map(|query| &query.quantised))
    };
    stage.places.iter().map(part).collect()
}

/// A model cannot answer: words alone decide, unless only meaning was asked for.
fn left_out(mode: Mode) -> Result<()> {
    match mode {
        Mode::Semantic => {
            Err(Error::Unavailable("the embedder does not answer; try again, or search by word"))
        }
        Mode::Hybrid | Mode::Lexical => Ok(()),
    }
}

/// Whether the caller is told how far the vectors of a store reach: of the store that was named, or
/// of those that were found in.
fn is_told(store: StoreId, request: &SearchRequest, reached: &Reached, shown: &Shown) -> bool {
    let is_named = request.reach.is_named();
    reached.followable.contains(&store)
        && (is_named || shown.hits.iter().any(|hit| hit.memory.store == store))
}

#[expect(clippy::needless_pass_by_value, reason = "map_err gives it away")]
fn lost(error: tokio::task::JoinError) -> Error {
    Error::Internal(format!("a search was lost: {error}"))
}
