//! What a search asks for and how an answer explains itself: plain values, so that every door can
//! build them and every part of the pipeline can be tested with them.

use loci_model::{Invalid, PathPrefix, Timestamp, limit};

/// Which legs a search runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// By word and by meaning.
    #[default]
    Hybrid,
    /// By word only.
    Lexical,
    /// By meaning only.
    Semantic,
}

/// How the legs are put together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fusion {
    /// A weighted mean of both legs' normalised scores; `None` lets the measured default decide.
    Convex {
        /// The weight of the lexical leg, 0 to 1.
        lexical_weight: Option<f32>,
    },
    /// Reciprocal ranks: robust, but blind to how much better a result is.
    Rrf {
        /// Added to every rank; larger is flatter.
        k: f32,
    },
}

impl Default for Fusion {
    fn default() -> Self {
        Self::Convex { lexical_weight: None }
    }
}

impl Fusion {
    /// The number that tunes it, with its name and its largest value.
    fn number(self) -> (&'static str, f32, f32) {
        match self {
            Self::Convex { lexical_weight } => {
                ("fusion.lexical_weight", lexical_weight.unwrap_or(0.0), 1.0)
            }
            Self::Rrf { k } => ("fusion.k", k, 1_000.0),
        }
    }
}

/// What else may move a result, all off by default. Each adds at most its weight to a score that
/// lies between 0 and about 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Signals {
    /// Newer is better.
    pub recency: Option<Recency>,
    /// Weight of importance (0 to 100, unset counts as 50).
    pub importance: f32,
    /// Added to what is pinned.
    pub pinned: f32,
}

/// Newer is better: a memory changed one half-life ago gets half the weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recency {
    /// What a memory changed just now gets.
    pub weight: f32,
    /// Seconds after which half of it is left.
    pub half_life_secs: f32,
}

/// A time span; both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Not before.
    pub since: Option<Timestamp>,
    /// Not after.
    pub until: Option<Timestamp>,
}

impl Span {
    /// Whether a moment lies in it.
    pub fn holds(&self, at: Timestamp) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at <= until)
    }
}

/// Which memories may be found. Applied before anything is ranked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchFilter {
    /// Below one of these directories, when there are any.
    pub prefixes: Vec<PathPrefix>,
    /// Of one of these kinds, when there are any.
    pub kinds: Vec<String>,
    /// With all of these tags.
    pub tags: Vec<String>,
    /// With this claimed source.
    pub source: Option<String>,
    /// With this scope.
    pub scope: Option<String>,
    /// Created in this span.
    pub created: Span,
    /// Last changed in this span.
    pub updated: Span,
    /// With these members of their metadata: names, and values as compact JSON.
    pub metadata: Vec<(String, String)>,
}

impl SearchFilter {
    /// Whether it lets everything through.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One search, apart from where and by whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// The words of the query.
    pub text: String,
    /// Which legs.
    pub mode: Mode,
    /// Which memories.
    pub filter: SearchFilter,
    /// How the legs are put together.
    pub fusion: Fusion,
    /// What else counts.
    pub signals: Signals,
    /// Spread the results: 0 is by score alone, 1 cares only for difference.
    pub diversity: f32,
    /// How many results.
    pub limit: usize,
}

impl Wanted {
    /// A plain hybrid search.
    pub fn new(text: impl Into<String>, limit: usize) -> Self {
        Self {
            text: text.into(),
            mode: Mode::default(),
            filter: SearchFilter::default(),
            fusion: Fusion::default(),
            signals: Signals::default(),
            diversity: 0.0,
            limit,
        }
    }

    /// Checks every bound.
    pub fn validate(&self) -> Result<(), Invalid> {
        let refuse = |field: &'static str, why: String| Err(Invalid::new(field, why));
        let chars = self.text.chars().count();
        if chars > limit::QUERY_CHARS_MAX {
            return refuse(
                "query",
                format!("is {chars} characters, limit {}", limit::QUERY_CHARS_MAX),
            );
        }
        if self.limit == 0 || self.limit > limit::SEARCH_RESULTS_MAX {
            return refuse("limit", format!("takes 1 to {}", limit::SEARCH_RESULTS_MAX));
        }
        let filter = &self.filter;
        for (field, count) in [
            ("filter.path_prefix", filter.prefixes.len()),
            ("filter.kind", filter.kinds.len()),
            ("filter.tags", filter.tags.len()),
            ("filter.metadata", filter.metadata.len()),
        ] {
            if count > limit::FILTER_VALUES_MAX {
                return refuse(field, format!("takes up to {} values", limit::FILTER_VALUES_MAX));
            }
        }
        let recency = self.signals.recency;
        for (field, value, max) in [
            ("diversity", self.diversity, 1.0),
            ("boost.importance", self.signals.importance, 1.0),
            ("boost.pinned", self.signals.pinned, 1.0),
            ("boost.recency.weight", recency.map_or(0.0, |recency| recency.weight), 1.0),
            self.fusion.number(),
        ] {
            // Also refuses what is not a number.
            if !(0.0..=max).contains(&value) {
                return refuse(field, format!("takes 0 to {max}"));
            }
        }
        if recency.is_some_and(|recency| !(1.0..=3.2e9).contains(&recency.half_life_secs)) {
            return refuse("boost.recency.half_life_seconds", "takes 1 to 3200000000".into());
        }
        Ok(())
    }
}

/// Why a result stands where it stands.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Explanation {
    /// The lexical score (BM25) as it came out, neighbours included; 0 when no word matched.
    pub lexical: f32,
    /// The same between 0 and 1 among everything searched.
    pub lexical_normalised: f32,
    /// The similarity in meaning, −1 to 1; `None` when there is no vector to compare.
    pub semantic: Option<f32>,
    /// The same between 0 and 1 among everything searched, neighbours included.
    pub semantic_normalised: f32,
    /// The lexical leg's share in the mean.
    pub lexical_weight: f32,
    /// Both legs put together.
    pub fused: f32,
    /// What the author named in the query multiplied it by.
    pub author_boost: f32,
    /// What the rest of its directory added.
    pub directory_prior: f32,
    /// What recency added.
    pub recency: f32,
    /// What importance added.
    pub importance: f32,
    /// What being pinned added.
    pub pinned: f32,
    /// Which words of the query it holds itself, as indexed.
    pub words: Vec<String>,
}
