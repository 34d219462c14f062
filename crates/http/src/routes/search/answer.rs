//! What a search found, as it goes over the wire. Nothing is computed here: what the engine left
//! out is left out.

use crate::error::{Failure, Result};
use crate::wire::time;
use loci_engine::search::{Explanation, Hit, SearchAnswer};
use loci_model::{Content, Memory, MemoryId, StoreId};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A memory and what is known about it.
#[derive(Serialize, ToSchema)]
#[schema(as = FoundMemory)]
pub(crate) struct MemoryView {
    /// Always `memory`.
    #[serde(rename = "type")]
    object: &'static str,
    /// Survives renames.
    id: String,
    /// Its store.
    memory_store_id: String,
    /// Its newest version, or the one it had then.
    memory_version_id: String,
    /// Where it is.
    path: String,
    /// Null unless the view is full, and null behind about a megabyte of contents.
    content: Option<String>,
    /// Bytes of the content.
    content_size_bytes: u64,
    /// Of the exact bytes, 64 lower-case hex digits.
    content_sha256: String,
    /// When it was created.
    #[schema(format = DateTime)]
    created_at: String,
    /// When it last changed.
    #[schema(format = DateTime)]
    updated_at: String,
    /// The number of that version.
    revision: u64,
    /// A slug such as `fact`.
    kind: Option<String>,
    /// Tags.
    tags: Vec<String>,
    /// 0 to 100.
    importance: Option<u8>,
    /// Exempt from compaction.
    pinned: bool,
    /// Where the writer says it came from.
    source: Option<String>,
    /// A free grouping label.
    scope: Option<String>,
    /// A JSON object.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Box<RawValue>>,
    /// When it stops existing.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
}

impl MemoryView {
    pub(crate) fn of(memory: Memory) -> Result<Self> {
        let attributes = memory.attributes;
        let metadata = attributes.metadata.map(RawValue::from_string).transpose();
        Ok(Self {
            object: "memory",
            id: memory.id.to_string(),
            memory_store_id: memory.store.to_string(),
            memory_version_id: memory.head.to_string(),
            path: memory.path.to_string(),
            content: match memory.content {
                Some(Content::Text(text)) => Some(text),
                Some(Content::Sealed(_)) | None => None,
            },
            content_size_bytes: memory.size_bytes,
            content_sha256: memory.digest.to_string(),
            created_at: memory.created_at.to_string(),
            updated_at: memory.updated_at.to_string(),
            revision: memory.revision,
            kind: attributes.kind,
            tags: attributes.tags,
            importance: attributes.importance,
            pinned: attributes.pinned,
            source: attributes.source,
            scope: attributes.scope,
            metadata: metadata.map_err(|_| Failure::internal("stored metadata is not JSON"))?,
            expires_at: time(attributes.expires_at),
        })
    }
}

/// One result: a memory, and where and why the query is in it.
#[derive(Serialize, ToSchema)]
#[schema(as = SearchHit)]
pub(crate) struct HitView {
    #[serde(flatten)]
    memory: MemoryView,
    /// Comparable within one answer only.
    score: f32,
    /// The part of the text that has most of the query.
    snippet: String,
    /// Where in the snippet the query's words are: pairs of characters, the first that belongs to
    /// it and the first that does not.
    highlights: Vec<[usize; 2]>,
    /// Why it is where it is, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<ExplanationView>,
}

impl HitView {
    fn of(hit: Hit) -> Result<Self> {
        let highlights = hit.snippet.highlights.into_iter();
        Ok(Self {
            memory: MemoryView::of(hit.memory)?,
            score: hit.score,
            snippet: hit.snippet.text,
            highlights: highlights.map(|span| [span.start, span.end]).collect(),
            explanation: hit.explanation.map(ExplanationView::from),
        })
    }
}

/// Why a result stands where it stands.
#[derive(Serialize, ToSchema)]
#[schema(as = SearchExplanation)]
pub(crate) struct ExplanationView {
    /// The score of its words (BM25), neighbours included; 0 when no word matched.
    lexical: f32,
    /// The same between 0 and 1 among everything searched.
    lexical_normalised: f32,
    /// The similarity in meaning, −1 to 1; `null` when there is no vector to compare.
    semantic: Option<f32>,
    /// The same between 0 and 1 among everything searched, neighbours included.
    semantic_normalised: f32,
    /// The share of words in the mean.
    lexical_weight: f32,
    /// Both put together.
    fused: f32,
    /// What the author named in the query multiplied it by.
    author_boost: f32,
    /// What the rest of its directory added.
    directory_prior: f32,
    /// What recency added.
    recency: f32,
    /// What importance added.
    importance: f32,
    /// What being pinned added.
    pinned: f32,
    /// Which words of the query it holds itself, as indexed.
    words: Vec<String>,
}

impl From<Explanation> for ExplanationView {
    fn from(why: Explanation) -> Self {
        Self {
            lexical: why.lexical,
            lexical_normalised: why.lexical_normalised,
            semantic: why.semantic,
            semantic_normalised: why.semantic_normalised,
            lexical_weight: why.lexical_weight,
            fused: why.fused,
            author_boost: why.author_boost,
            directory_prior: why.directory_prior,
            recency: why.recency,
            importance: why.importance,
            pinned: why.pinned,
            words: why.words,
        }
    }
}

/// What was found in one store.
#[derive(Serialize, ToSchema)]
#[schema(as = StoreSearchAnswer)]
pub(crate) struct StoreAnswer {
    /// Best first.
    data: Vec<HitView>,
    /// Up to which feed number vectors reach; `null` for those who may not follow the feed.
    indexed_through: Option<u64>,
    /// Whether every memory searched has its vectors; says nothing when the mode is lexical.
    is_complete: bool,
    /// Results that came without their content, because there was about a megabyte of it already.
    contents_left_out: usize,
    /// Memories that fit and are left out, because their contents are damaged.
    damaged: Vec<String>,
}

/// What was found in several stores.
#[derive(Serialize, ToSchema)]
#[schema(as = SearchAnswer)]
pub(crate) struct Answer {
    /// Best first.
    data: Vec<HitView>,
    /// Up to which feed number vectors reach, for those of the stores with results whose feed the
    /// caller may follow.
    indexed_through: BTreeMap<String, u64>,
    /// Whether every memory searched has its vectors; says nothing when the mode is lexical.
    is_complete: bool,
    /// Results that came without their content, because there was about a megabyte of it already.
    contents_left_out: usize,
    /// Stores that were left out, because the caller may only search them and did so too often.
    stores_left_out: usize,
    /// Memories that fit and are left out, because their contents are damaged.
    damaged: Vec<String>,
}

impl StoreAnswer {
    pub(super) fn of(answer: SearchAnswer) -> Result<Self> {
        Ok(Self {
            indexed_through: answer.indexed_through.first().map(|(_, seq)| *seq),
            is_complete: answer.is_complete,
            contents_left_out: answer.contents_left_out,
            damaged: ids(&answer.damaged),
            data: hits(answer.hits)?,
        })
    }
}

impl Answer {
    pub(super) fn of(answer: SearchAnswer) -> Result<Self> {
        let reached = answer.indexed_through.into_iter();
        Ok(Self {
            indexed_through: reached.map(|(store, seq)| (store.to_string(), seq)).collect(),
            is_complete: answer.is_complete,
            contents_left_out: answer.contents_left_out,
            stores_left_out: answer.left_out,
            damaged: ids(&answer.damaged),
            data: hits(answer.hits)?,
        })
    }
}

fn ids(damaged: &[(StoreId, MemoryId)]) -> Vec<String> {
    damaged.iter().map(|(_, memory)| memory.to_string()).collect()
}

fn hits(hits: Vec<Hit>) -> Result<Vec<HitView>> {
    hits.into_iter().map(HitView::of).collect()
}
