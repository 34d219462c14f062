//! Bringing everything over. Each write is one page, durable before the next is sent; while one is
//! written, the next is read.

use super::side::{ROWS_PAGE, Side};
use super::walk::Pages;
use super::{Course, Result, readings};
use loci_model::{Content, Store, VersionId, WorkspaceId, limit};
use loci_search::index::terms_of;
use loci_storage::log::{ImportItem, LogEntry};
use loci_storage::{FeedEnd, GenerationId, Mutation, VectorBatch, VectorSource};

/// Bytes of vectors in one write.
const VECTOR_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Versions whose words are in one write.
const WORDS_AT_ONCE: usize = 64;

/// The number of a generation on both sides.
#[derive(Debug, Clone, Copy)]
struct Pair {
    from: GenerationId,
    to: GenerationId,
}

pub(super) async fn everything(from: &Side, to: &Side, course: &Course<'_>) -> Result<()> {
    let workspaces = from.workspaces().await?;
    let there = to.workspaces().await?;
    for (workspace, at) in &workspaces {
        if !there.contains(&(*workspace, *at)) {
            to.write(Mutation::CreateWorkspace(*workspace, *at)).await?;
        }
    }
    let generations = generations(from, to).await?;
    for (workspace, _) in &workspaces {
        let principals = from.principals(*workspace).await?;
        import(to, *workspace, principals.into_iter().map(ImportItem::Principal)).await?;
        let mut memberships = from.membership_pages(*workspace);
        while let Some(page) = memberships.next_page().await? {
            import(to, *workspace, page.into_iter().map(ImportItem::Membership)).await?;
        }
        let mut sessions = from.session_pages(*workspace);
        while let Some(page) = sessions.next_page().await? {
            let items = page.into_iter().map(|one| ImportItem::Session(Box::new(one)));
            import(to, *workspace, items).await?;
        }
        let mut stores = from.stores(*workspace);
        while let Some(store) = stores.next().await? {
            copy_store(from, to, &store, &generations, course).await?;
        }
    }
    for (workspace, _) in &workspaces {
        let keys = from.keys(*workspace).await?;
        let items = keys.into_iter().map(|key| ImportItem::Key(Box::new(key)));
        import(to, *workspace, items).await?;
        let mut events = from.event_pages(*workspace);
        while let Some(page) = events.next_page().await? {
            let items = page.into_iter().map(|one| ImportItem::Event(Box::new(one)));
            import(to, *workspace, items).await?;
        }
        let mut requests = from.request_pages(*workspace);
        while let Some(page) = requests.next_page().await? {
            let items = page.into_iter().map(|one| ImportItem::Remembered(Box::new(one)));
            import(to, *workspace, items).await?;
        }
    }
    Ok(())
}

async fn import(
    to: &Side,
    workspace: WorkspaceId,
    items: impl Iterator<Item = ImportItem>,
) -> Result<()> {
    let items: Vec<ImportItem> = items.collect();
    for page in items.chunks(ROWS_PAGE) {
        to.import(workspace, page.to_vec()).await?;
    }
    Ok(())
}

/// Opens the generations that are not there yet. Those that are were opened by an earlier run, in
/// the same order.
async fn generations(from: &Side, to: &Side) -> Result<Vec<Pair>> {
    let there = to.generations().await?.len();
    let known = from.generations().await?;
    for generation in known.iter().skip(there) {
        let open = Mutation::OpenGeneration {
            model: generation.model.clone(),
            dims: generation.dims,
            is_fresh: true,
            now: generation.created_at,
        };
        to.write(open).await?;
    }
    let opened = to.generations().await?;
    let pairs = known.iter().zip(&opened).map(|(from, to)| Pair { from: from.id, to: to.id });
    Ok(pairs.collect())
}

async fn copy_store(
    from: &Side,
    to: &Side,
    store: &Store,
    generations: &[Pair],
    course: &Course<'_>,
) -> Result<()> {
    let grants = from.grants(store).await?;
    let items = [ImportItem::Store(Box::new(store.clone()))].into_iter();
    import(to, store.workspace, items.chain(grants.into_iter().map(ImportItem::Grant))).await?;
    let (known, there) = (from.end(store).await?, to.end(store).await?);
    let copying = Copying { from, to, store, generations, known, there };
    let mut after = copying.start();
    course.advance(after);
    let mut page = from.log(store, after).await?;
    while let Some(last) = page.last() {
        let through = last.seq();
        // The next page is read while this one is written.
        let (next, written) = tokio::join!(from.log(store, through), copying.take(page));
        written?;
        page = next?;
        course.advance(through - after);
        after = through;
    }
    readings::copy(from, to, store).await
}

/// One store on its way.
struct Copying<'a> {
    from: &'a Side,
    to: &'a Side,
    store: &'a Store,
    generations: &'a [Pair],
    /// How far the source is.
    known: FeedEnd,
    /// How far the destination was when we began.
    there: FeedEnd,
}

impl Copying<'_> {
    /// Where to go on. A destination has its vectors up to its own marks only, and whatever the
    /// source has beyond its marks may be missing.
    fn start(&self) -> u64 {
        let marks = self.generations.iter().map(|pair| mark(&self.there, pair.to));
        marks.chain([self.there.seq]).min().unwrap_or(0)
    }

    /// Writes one page of the history, then its vectors.
    async fn take(&self, page: Vec<LogEntry>) -> Result<()> {
        let through = page.last().map_or(0, LogEntry::seq);
        let versions: Vec<VersionId> = page.iter().filter_map(text_version).collect();
        let words: Words = page.iter().filter_map(words_of).collect();
        let new = page.into_iter().filter(|entry| entry.seq() > self.there.seq);
        let items = new.map(|entry| ImportItem::Entry(self.store.id, entry)).collect();
        self.to.import(self.store.workspace, items).await?;
        for pair in self.generations {
            for some in versions.chunks(limit::VECTOR_BATCH_MAX) {
                let found = self.from.vectors(self.store, pair.from, some).await?;
                let found = some.iter().zip(found);
                let made = found.filter_map(|(version, bytes)| {
                    bytes.map(|bytes| (*version, VectorSource::Made(bytes)))
                });
                self.put_vectors(*pair, made.collect()).await?;
            }
            // With the mark or before it, never after: what it covers is found by word.
            for some in words.chunks(WORDS_AT_ONCE) {
                self.write_vectors(*pair, 0, (Vec::new(), some.to_vec())).await?;
            }
            let through = through.min(mark(&self.known, pair.from));
            if through > mark(&self.there, pair.to) {
                self.write_vectors(*pair, through, Default::default()).await?;
            }
        }
        Ok(())
    }

    /// Writes vectors, in batches that are not too large.
    async fn put_vectors(&self, pair: Pair, vectors: Vec<(VersionId, VectorSource)>) -> Result<()> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for (version, source) in vectors {
            if let VectorSource::Made(made) = &source {
                bytes += made.len();
            }
            batch.push((version, source));
            if bytes >= VECTOR_BYTES_MAX {
                self.write_vectors(pair, 0, (std::mem::take(&mut batch), Vec::new())).await?;
                bytes = 0;
            }
        }
        if batch.is_empty() {
            return Ok(());
        }
        self.write_vectors(pair, 0, (batch, Vec::new())).await
    }

    async fn write_vectors(
        &self,
        pair: Pair,
        through: u64,
        (vectors, words): (Vec<(VersionId, VectorSource)>, Words),
    ) -> Result<()> {
        let Store { workspace, id: store, .. } = *self.store;
        let batch = VectorBatch { workspace, generation: pair.to, store, through, vectors, words };
        self.to.write(Mutation::PutVectors(batch)).await?;
        Ok(())
    }
}

/// Up to which number a generation's vectors reach.
fn mark(end: &FeedEnd, generation: GenerationId) -> u64 {
    let mut marks = end.vectors.iter();
    marks.find(|(id, _)| *id == generation).map_or(0, |(_, through)| *through)
}

/// The version of an entry, if it may have vectors.
pub(super) fn text_version(entry: &LogEntry) -> Option<VersionId> {
    let LogEntry::Version { version, .. } = entry else { return None };
    let is_text = version.content.as_ref().is_some_and(|content| !Content::is_sealed(content));
    is_text.then_some(version.id)
}

/// Words of versions.
type Words = Vec<(VersionId, Vec<String>)>;

/// The words that the version of an entry is found by, if it has a text.
fn words_of(entry: &LogEntry) -> Option<(VersionId, Vec<String>)> {
    let LogEntry::Version { version, .. } = entry else { return None };
    let text = version.content.as_ref().and_then(Content::text)?;
    let (path, attributes) = (version.path.as_ref()?, version.attributes.as_ref()?);
    Some((version.id, terms_of(text, path.as_str(), &attributes.names())))
}
