//! Vectors follow the feed: for whatever was written, they are made in the background and written
//! together with the mark up to which they reach, so that work that is cut off is taken up where it
//! was and nothing is made twice. Nobody's write waits for it.

use crate::{Context, Engine, Error, Result};
use loci_model::VersionId;
use loci_model::policy::System;
use loci_search::embed::{EmbedError, Embedder, Purpose, passages};
use loci_search::index::terms_of;
use loci_search::text::author::header;
use loci_search::vector;
use loci_storage::{
    Embeddable, Generation, Mutation, Receipt, VectorBatch, VectorLag, VectorSource,
};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Stores looked at in one round.
const STORES_A_ROUND: usize = 64;
/// Feed entries of one store looked at in one round: small, so that a store that is far behind does
/// not keep the others waiting.
const CHANGES_A_ROUND: usize = 64;
/// Passages embedded together.
const PASSAGES_AT_ONCE: usize = 16;
/// A text that every embedder takes.
const HARMLESS: &str = "hello";
/// A first line of at most this many characters is a title.
const TITLE_CHARS_MAX: usize = 120;
/// Rows of an old generation deleted in one go.
const DROP_STEP: usize = 1000;
/// How long to wait when nobody says that something was written.
const PAUSE: Duration = Duration::from_secs(1);
/// So many writes, and so many a second, are faster than vectors are made. Writers are then left
/// alone for so many times as long as embedding took, but not longer than this.
const OUTPACED_LEAST: u64 = 50;
const OUTPACED_RATE: f64 = 500.0;
const PAUSES: u32 = 15;
const PAUSE_AMONG_MAX: Duration = Duration::from_secs(5);
/// How often it is looked whether they still write.
const PAUSE_STEP: Duration = Duration::from_millis(100);
/// How long the vectors of a store are one server's to make: should it end, they wait that long.
/// Much longer than one round takes.
const LEASE_SECS: u32 = 15;
/// How long to leave an embedder alone that fails.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(5);

/// What versions are found by: their vectors, and their words.
type Vectors = Vec<(VersionId, VectorSource)>;
type Words = Vec<(VersionId, Vec<String>)>;

/// Where vectors stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingStatus {
    /// The model that makes vectors; `None` when search is by word only.
    pub model: Option<String>,
    /// Numbers in a vector.
    pub dims: u32,
    /// The generation that is being made or kept up.
    pub generation: u32,
    /// Stores that are behind their feed.
    pub stores_behind: u64,
    /// Feed entries not looked at yet.
    pub changes_behind: u64,
    /// All generations there are, with their models.
    pub generations: Vec<(u32, String)>,
    /// Indexes in memory.
    pub indexes: u64,
    /// About how many bytes they take.
    pub index_bytes: u64,
}

impl Engine {
    /// Whether the newest vectors are those of another model than this engine's.
    pub async fn would_replace_vectors(&self) -> Result<bool> {
        let Some(embedder) = self.search.embedder() else { return Ok(false) };
        let generations = self.storage.generations().await?;
        Ok(generations.last().is_some_and(|newest| newest.model != embedder.model()))
    }

    /// Follows the feeds of all stores until the task is dropped. Vectors of another model are
    /// replaced.
    pub async fn follow(&self) {
        if self.search.embedder().is_none() {
            return;
        }
        loop {
            match self.follow_once().await {
                Ok(true) => {}
                Ok(false) => {
                    let _ = tokio::time::timeout(PAUSE, self.search.written.notified()).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "vectors could not be made; it is tried again");
                    // Whatever is written meanwhile: who fails is not asked more often for it.
                    tokio::time::sleep(PAUSE_AFTER_FAILURE).await;
                }
            }
        }
    }

    /// Lets writers alone for a while, or until they are slower.
    async fn let_write(&self, pause: Duration) {
        let end = Instant::now() + pause;
        while Instant::now() < end {
            let writes = self.search.writes();
            tokio::time::sleep(PAUSE_STEP).await;
            if self.search.writes() - writes < OUTPACED_LEAST {
                break;
            }
        }
    }

    /// Makes vectors for some of what was written; tells whether there was something to do.
    pub async fn follow_once(&self) -> Result<bool> {
        let Some(embedder) = self.search.embedder().cloned() else { return Ok(false) };
        let generation = self.generation(embedder.as_ref(), false).await?;
        let lags = self.storage.vector_lags(generation.id, STORES_A_ROUND).await?;
        if lags.is_empty() {
            return self.drop_old(&generation).await;
        }
        let mut has_worked = false;
        for lag in lags {
            // One server makes the vectors of a store; the others would only make them again.
            let work = format!("vectors {} {}", generation.id.0, lag.store);
            if self.storage.lease(&work, LEASE_SECS).await? {
                match self.follow_store(&embedder, &generation, lag).await {
                    // Removed a moment ago; the others go on.
                    Err(Error::NotFound(_)) => {}
                    followed => {
                        followed?;
                        has_worked = true;
                    }
                }
            }
        }
        Ok(has_worked)
    }

    /// The generation of an embedder.
    async fn generation(&self, embedder: &dyn Embedder, is_fresh: bool) -> Result<Generation> {
        let generations = self.storage.generations().await?;
        if let Some(newest) = generations.last()
            && !is_fresh
            && newest.model == embedder.model()
        {
            return Ok(newest.clone());
        }
        let dims = u32::try_from(embedder.dims())
            .map_err(|_| Error::Internal("a vector of too many numbers".into()))?;
        let model = embedder.model().to_owned();
        let now = self.seams.now();
        let opened = Mutation::OpenGeneration { model, dims, is_fresh, now };
        let receipt = self.write_unasked(opened).await?;
        self.search.look(self.storage.as_ref()).await?;
        crate::access::expect_receipt!(receipt, Receipt::Generation(generation) => generation)
    }

    async fn follow_store(
        &self,
        embedder: &Arc<dyn Embedder>,
        generation: &Generation,
        lag: VectorLag,
    ) -> Result<()> {
        let system = System::because("vectors follow the feed");
        let pass = system.search(lag.workspace, vec![lag.store], self.seams.now());
        let page = self
            .storage
            .embeddable(&pass, lag.store, generation.id, lag.through, CHANGES_A_ROUND)
            .await?;
        if page.through <= lag.through {
            // The store was removed a moment ago.
            return Ok(());
        }
        let (known, new): (Vec<_>, Vec<_>) =
            page.texts.into_iter().partition(|text| text.same_as.is_some());
        let same = |text: &Embeddable| {
            text.same_as.map(|other| (text.version, VectorSource::SameAs(other)))
        };
        let mut vectors: Vec<_> = known.iter().filter_map(same).collect();
        let mut words = words_of(known).await?;
        let mut rest = new.as_slice();
        loop {
            let (some, later) = rest.split_at(rest.len().min(PASSAGES_AT_ONCE));
            let (writes, began) = (self.search.writes(), Instant::now());
            if !some.is_empty() {
                vectors.extend(embed(embedder, some.to_vec()).await?);
                words.extend(words_of(some.to_vec()).await?);
                self.search.is_well(embedder.model());
            }
            let pause = pause_among(self.search.writes() - writes, began.elapsed());
            let through = if later.is_empty() { page.through } else { lag.through };
            let made = (std::mem::take(&mut vectors), std::mem::take(&mut words));
            self.put_vectors(generation, lag, through, made).await?;
            self.let_write(pause).await;
            if later.is_empty() {
                return Ok(());
            }
            rest = later;
        }
    }

    async fn put_vectors(
        &self,
        generation: &Generation,
        VectorLag { workspace, store, .. }: VectorLag,
        through: u64,
        (vectors, words): (Vectors, Words),
    ) -> Result<()> {
        let generation = generation.id;
        let batch = VectorBatch { workspace, generation, store, through, vectors, words };
        self.write_unasked(Mutation::PutVectors(batch)).await?;
        self.search.embedded.send_modify(|times| *times += 1);
        Ok(())
    }

    /// Once the newest generation has caught up, older ones are of no use.
    async fn drop_old(&self, newest: &Generation) -> Result<bool> {
        let generations = self.storage.generations().await?;
        let Some(old) = generations.iter().find(|generation| generation.id < newest.id) else {
            return Ok(false);
        };
        let dropped = Mutation::DropGeneration { generation: old.id, limit: DROP_STEP };
        self.write_unasked(dropped).await?;
        self.search.look(self.storage.as_ref()).await?;
        Ok(true)
    }

    /// Begins to make all vectors anew. Searches use the old ones until the new have caught up.
    pub async fn reembed(&self, context: &Context) -> Result<()> {
        self.admin_pass(context)?;
        let embedder = self.search.embedder().cloned().ok_or(Error::Unavailable(
            "this server runs without an embedder; there is nothing to embed with",
        ))?;
        self.generation(embedder.as_ref(), true).await?;
        self.search.written.notify_one();
        Ok(())
    }

    /// Where vectors stand.
    pub async fn embedding_status(&self, context: &Context) -> Result<EmbeddingStatus> {
        let pass = self.admin_pass(context)?;
        let generations = self.storage.generations().await?;
        let (indexes, index_bytes) = self.search.indexes.size();
        let mut status = EmbeddingStatus {
            model: None,
            dims: 0,
            generation: 0,
            stores_behind: 0,
            changes_behind: 0,
            generations: generations.iter().map(|one| (one.id.0, one.model.clone())).collect(),
            indexes: indexes as u64,
            index_bytes: index_bytes as u64,
        };
        let Some(embedder) = self.search.embedder() else { return Ok(status) };
        status.model = Some(embedder.model().to_owned());
        status.dims = embedder.dims() as u32;
        match generations.last().filter(|newest| newest.model == embedder.model()) {
            Some(generation) => {
                let lags = self.storage.vector_lags(generation.id, usize::MAX).await?;
                status.generation = generation.id.0;
                status.stores_behind = lags.len() as u64;
                status.changes_behind = lags.iter().map(|lag| lag.end - lag.through).sum();
            }
            // Not begun yet: everything is behind.
            None => {
                let facts = self.storage.all_facts(&context.caller).await?;
                let stores = facts.iter().map(|facts| facts.store.id).collect();
                let system = System::because("an administrator asks how far vectors are");
                let ends = self
                    .storage
                    .feed_ends(&system.search(pass.workspace(), stores, pass.now()))
                    .await?;
                status.stores_behind = ends.iter().filter(|end| end.seq > 0).count() as u64;
                status.changes_behind = ends.iter().map(|end| end.seq).sum();
            }
        }
        Ok(status)
    }
}

/// How long to let writers alone after so much was written while some texts were embedded. Who
/// writes much faster than vectors are made is not slowed down by them: they come later anyway.
fn pause_among(writes: u64, took: Duration) -> Duration {
    let are_outpaced =
        writes >= OUTPACED_LEAST && writes as f64 >= OUTPACED_RATE * took.as_secs_f64();
    if are_outpaced { (took * PAUSES).min(PAUSE_AMONG_MAX) } else { Duration::ZERO }
}

/// The words that texts are found by, told apart on a thread that may be blocked.
async fn words_of(texts: Vec<Embeddable>) -> Result<Words> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let reading = tokio::task::spawn_blocking(move || {
        let words = |one: &Embeddable| terms_of(&one.text, one.path.as_str(), &one.names);
        texts.iter().map(|one| (one.version, words(one))).collect()
    });
    reading.await.map_err(|error| Error::Internal(error.to_string()))
}

/// Embeds texts on a thread that may be blocked.
async fn embed(embedder: &Arc<dyn Embedder>, texts: Vec<Embeddable>) -> Result<Vectors> {
    let embedder = Arc::clone(embedder);
    let embedding = tokio::task::spawn_blocking(move || {
        let cut: Vec<Vec<Cow<'_, str>>> =
            texts.iter().map(|text| cut(embedder.as_ref(), &text.text)).collect();
        let flat: Vec<&str> = cut.iter().flatten().map(AsRef::as_ref).collect();
        let mut made = Vec::with_capacity(flat.len());
        for some in flat.chunks(PASSAGES_AT_ONCE) {
            made.extend(embed_some(embedder.as_ref(), some)?);
        }
        let mut made = made.into_iter();
        let mut vectors = Vec::with_capacity(texts.len());
        for (text, passages) in texts.iter().zip(&cut) {
            let own: Vec<Vec<f32>> = made.by_ref().take(passages.len()).flatten().collect();
            // A blank text has no meaning to be found by, nor has one that nobody embeds.
            if !own.is_empty() {
                vectors.push((text.version, VectorSource::Made(vector::encode(&own))));
            }
        }
        Ok(vectors)
    });
    let made = embedding.await.map_err(|error| Error::Internal(error.to_string()))?;
    made.map_err(|error: EmbedError| {
        tracing::warn!(%error, "embedding failed");
        Error::Unavailable("the embedder does not answer")
    })
}

/// Embeds passages. One that the embedder will never take is left out, so that it does not keep
/// all that come after it waiting; but only if the embedder takes something at all, or a wrong key
/// would cost every memory its vectors.
fn embed_some(
    embedder: &dyn Embedder,
    passages: &[&str],
) -> std::result::Result<Vec<Option<Vec<f32>>>, EmbedError> {
    let is_final = |error: &EmbedError| !matches!(error, EmbedError::Unavailable(_));
    match embedder.embed(passages, Purpose::Passage) {
        Ok(made) => return Ok(made.into_iter().map(Some).collect()),
        Err(error) if is_final(&error) => {
            embedder.embed(&[HARMLESS], Purpose::Passage).map_err(|_| error)?;
        }
        Err(error) => return Err(error),
    }
    let one = |passage: &&str| match embedder.embed(&[passage], Purpose::Passage) {
        Ok(made) => Ok(made.into_iter().next()),
        Err(error) if is_final(&error) => {
            tracing::warn!(%error, "a passage is left without a vector");
            Ok(None)
        }
        Err(error) => Err(error),
    };
    passages.iter().map(one).collect()
}

/// The passages of a text, without the label that names its author: the label is in the words
/// already, and in a vector it would drown what was said. What a long text is called stands in front
/// of each of its passages.
fn cut<'t>(embedder: &dyn Embedder, text: &'t str) -> Vec<Cow<'t, str>> {
    let body = header(text).map_or(text, |header| &text[header.body_start..]);
    let body = if body.trim().is_empty() { text } else { body };
    let title = body.lines().next().filter(|line| line.chars().count() <= TITLE_CHARS_MAX);
    let ranges = passages(body, &|part| embedder.tokens(part));
    let passage = |(nth, range): (usize, Range<usize>)| match title {
        Some(title) if nth > 0 => Cow::Owned(format!("{title}\n{}", &body[range])),
        _ => Cow::Borrowed(&body[range]),
    };
    ranges.into_iter().enumerate().map(passage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_writes_faster_than_vectors_are_made_is_left_alone() {
        let took = Duration::from_millis(300);
        // At fifty a second, vectors have to be there within a second.
        assert_eq!(pause_among(15, took), Duration::ZERO);
        assert_eq!(pause_among(149, took), Duration::ZERO);
        assert_eq!(pause_among(150, took), took * PAUSES);
        assert_eq!(
            pause_among(40, Duration::from_millis(1)),
            Duration::ZERO,
            "a moment says little"
        );
        assert_eq!(pause_among(30_000, Duration::from_secs(60)), PAUSE_AMONG_MAX);
    }
}
