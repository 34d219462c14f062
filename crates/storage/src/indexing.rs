//! What search indexes are made of: the texts of a store, what changed in them, and the vectors
//! that follow the feed. Indexes themselves live above storage and can always be made anew from
//! here, so the only derived rows a storage engine keeps are vectors, which cost too much to make
//! twice.

use loci_model::{
    Invalid, Memory, MemoryId, MemoryPath, StoreId, Timestamp, VersionId, WorkspaceId, limit,
};

/// How many revisions back [`Embeddable::same_as`] looks: an edit that leaves the content alone
/// comes right after the version that has its vectors, and a long history must not be walked for
/// each new version.
pub const SAME_AS_REVISIONS_MAX: u64 = 16;
/// Characters of a model's name.
const MODEL_CHARS_MAX: usize = 256;

/// Vectors made by one model in one go. Vectors of different generations are never compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GenerationId(pub u32);

/// A generation of vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generation {
    /// Its number: 1, 2, 3 …, later is newer.
    pub id: GenerationId,
    /// The name of the model, as the embedder gives it.
    pub model: String,
    /// Numbers in a vector.
    pub dims: u32,
    /// Since when.
    pub created_at: Timestamp,
}

/// How far a store has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEnd {
    /// The store.
    pub store: StoreId,
    /// The newest number of its feed.
    pub seq: u64,
    /// Up to which number each generation has vectors for what changed, by generation; one that
    /// has not begun is left out.
    pub vectors: Vec<(GenerationId, u64)>,
}

/// Some texts of a store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextPage {
    /// Memories with their content.
    pub memories: Vec<Memory>,
    /// Where to go on; `None` at the end. Means something only to the engine that made it.
    pub next: Option<u64>,
}

/// What became of the memories that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedTexts {
    /// The last feed number looked at; the one asked for when nothing changed.
    pub through: u64,
    /// Each changed memory once: as it is now, or `None` when the reader may not find it (any
    /// more).
    pub memories: Vec<(MemoryId, Option<Memory>)>,
}

/// A moment of a store's past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsOf {
    /// After everything that happened up to this time.
    Time(Timestamp),
    /// After this entry of the feed.
    Seq(u64),
    /// When this version had just been written.
    Version(VersionId),
}

/// A text that needs a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embeddable {
    /// The head version that needs it.
    pub version: VersionId,
    /// Its text.
    pub text: String,
    /// Where it is.
    pub path: MemoryPath,
    /// What else it is found by; see [`loci_model::Attributes::names`].
    pub names: Vec<String>,
    /// The newest of the [`SAME_AS_REVISIONS_MAX`] versions before it that has the same content and
    /// its vectors already.
    pub same_as: Option<VersionId>,
}

/// What changed and needs vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedPage {
    /// The last feed number looked at; the one asked for when nothing changed.
    pub through: u64,
    /// Heads of live, unexpired text memories without vectors, each once.
    pub texts: Vec<Embeddable>,
}

/// A store whose vectors are behind its feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorLag {
    /// The store's tenant.
    pub workspace: WorkspaceId,
    /// The store.
    pub store: StoreId,
    /// Up to which feed number vectors follow.
    pub through: u64,
    /// The newest feed number.
    pub end: u64,
}

/// Where a version's vectors come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VectorSource {
    /// Half-precision little-endian numbers, one vector after the other, one for each passage.
    Made(Vec<u8>),
    /// Those of another version, which has the same content.
    SameAs(VersionId),
}

/// Vectors for one store, and how far they reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorBatch {
    /// The store's tenant.
    pub workspace: WorkspaceId,
    /// Of which generation.
    pub generation: GenerationId,
    /// Of which store.
    pub store: StoreId,
    /// Everything up to this feed number has its vectors after this batch.
    pub through: u64,
    /// The vectors. Those of versions that were scrubbed in the meantime are dropped.
    pub vectors: Vec<(VersionId, VectorSource)>,
    /// The distinct words each version is found by, those of its path and names included; also of
    /// versions that get no vectors. For engines that can be asked for a
    /// [`Shortlist`](crate::Shortlist); the others have no use for them.
    pub words: Vec<(VersionId, Vec<String>)>,
}

impl VectorBatch {
    /// Checks sizes against the numbers in a vector of the batch's generation: a pure check that
    /// every engine makes.
    pub fn check(&self, dims: u32) -> Result<(), Invalid> {
        let refuse = |why: String| Err(Invalid::new("vectors", why));
        if self.vectors.len() > limit::VECTOR_BATCH_MAX {
            let max = limit::VECTOR_BATCH_MAX;
            return refuse(format!("are {}, limit {max}", self.vectors.len()));
        }
        let made = self.vectors.iter().filter_map(|(_, source)| match source {
            VectorSource::Made(bytes) => Some(bytes.len()),
            VectorSource::SameAs(_) => None,
        });
        for bytes in made {
            if !fits(bytes, dims) {
                return refuse(format!("of {dims} numbers do not take {bytes} bytes"));
            }
        }
        if self.words.len() > limit::VECTOR_BATCH_MAX {
            let max = limit::VECTOR_BATCH_MAX;
            return Err(Invalid::new("words", format!("of {}, limit {max}", self.words.len())));
        }
        for (_, words) in &self.words {
            let bytes: usize = words.iter().map(String::len).sum();
            let is_long = words.iter().any(|word| word.len() > limit::INDEX_WORD_BYTES_MAX);
            if words.len() > limit::INDEX_WORDS_MAX || bytes > limit::INDEX_BYTES_MAX || is_long {
                return Err(Invalid::new("words", "of a version are too many or too long"));
            }
        }
        Ok(())
    }
}

/// Whether this many bytes can be the vectors of one version.
pub fn fits(bytes: usize, dims: u32) -> bool {
    let vector = dims as usize * 2;
    vector > 0 && bytes > 0 && bytes.is_multiple_of(vector) && bytes / vector <= limit::PASSAGES_MAX
}

/// Checks what a new generation is said to be.
pub fn check_generation(model: &str, dims: u32) -> Result<(), Invalid> {
    if model.is_empty() || model.chars().count() > MODEL_CHARS_MAX {
        return Err(Invalid::new("model", format!("takes 1 to {MODEL_CHARS_MAX} characters")));
    }
    if dims == 0 || dims as usize > limit::VECTOR_DIMS_MAX {
        let max = limit::VECTOR_DIMS_MAX;
        return Err(Invalid::new("dims", format!("expected 1 to {max}")));
    }
    Ok(())
}
