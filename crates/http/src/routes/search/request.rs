//! What a search asks for, as it comes over the wire, and the engine's words for it.
//!
//! Everything but the query is optional. A refusal names the field and never repeats a value. What
//! a number may be is the engine's to say; what only makes sense in one store is refused here for
//! many.

use crate::error::{Failure, Result};
use loci_engine::search::{
    AsOf, Fusion, Mode, Reach, Recency, SearchFilter, SearchRequest, Signals, Span, Wait, Wanted,
};
use loci_model::{PathPrefix, StoreId, Timestamp, VersionId, View, limit};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::time::Duration;
use utoipa::ToSchema;

const SNIPPET_CHARS_DEFAULT: usize = 240;
const WAIT_SECS_DEFAULT: u64 = 5;
/// How fast recency fades when only its weight is given: a month.
const HALF_LIFE_SECS_DEFAULT: f32 = 30.0 * 24.0 * 3600.0;
/// What is added to ranks when only the method is named.
const RRF_K_DEFAULT: f32 = 60.0;

/// A search.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SearchRequest)]
pub(crate) struct SearchBody {
    /// What is looked for, in any words. `"exact words"` must stand in the text as they are, `word*`
    /// is every word with that beginning; nothing else is syntax.
    #[schema(min_length = 1, max_length = 4096)]
    query: String,
    /// How many results, 1 to 100; 10 when not given.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// By word, by meaning, or both; `hybrid` when not given.
    mode: Option<ModeName>,
    /// Which memories may be found.
    filter: Option<FilterBody>,
    /// How words and meaning are put together; `convex` when not given.
    fusion: Option<FusionBody>,
    /// What else moves a result up.
    boost: Option<BoostBody>,
    /// Spread the results: 0 is by score alone, 1 cares only for difference.
    #[schema(minimum = 0, maximum = 1)]
    diversity: Option<f32>,
    /// Whether results say why they are where they are.
    explain: Option<bool>,
    /// With content or without; `full` when not given. Behind about a megabyte of contents results
    /// come without.
    view: Option<ViewName>,
    /// Characters of the snippets, up to 1000; 240 when not given.
    #[schema(maximum = 1000)]
    snippet_chars: Option<usize>,
    /// Search the past: an RFC 3339 time, or in one store also a version's id or a feed number.
    as_of: Option<AsOfBody>,
    /// Wait until vectors reach everything written so far, or in one store this feed number.
    wait_for: Option<WaitForBody>,
    /// Wait no longer than this, up to 30; 5 when not given.
    #[schema(maximum = 30)]
    wait_seconds: Option<u64>,
    /// Only these stores; only in a search of all of them.
    #[schema(min_items = 1, max_items = 10000)]
    memory_store_ids: Option<Vec<String>>,
}

/// Which legs a search runs on.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SearchMode)]
pub(crate) enum ModeName {
    /// By word and by meaning.
    Hybrid,
    /// By word only.
    Lexical,
    /// By meaning only.
    Semantic,
}

/// How much of a memory is shown.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SearchView)]
pub(crate) enum ViewName {
    /// With content.
    Full,
    /// Without.
    Basic,
}

/// Which memories may be found: those for which everything given here holds.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SearchFilter)]
pub(crate) struct FilterBody {
    /// Below this directory; starts and ends with `/`.
    path_prefix: Option<String>,
    /// Of this kind, or of one of these.
    kind: Option<OneOrMore>,
    /// With all of these tags.
    #[schema(max_items = 64)]
    tags: Option<Vec<String>>,
    /// With this claimed source.
    source: Option<String>,
    /// With this scope.
    scope: Option<String>,
    /// Created at this time or later.
    #[schema(format = DateTime)]
    created_after: Option<String>,
    /// Created at this time or earlier.
    #[schema(format = DateTime)]
    created_before: Option<String>,
    /// Last changed at this time or later.
    #[schema(format = DateTime)]
    updated_after: Option<String>,
    /// Last changed at this time or earlier.
    #[schema(format = DateTime)]
    updated_before: Option<String>,
    /// With these members of their metadata.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
}

/// One text or several.
#[derive(Deserialize, ToSchema)]
#[serde(untagged, expecting = "filter.kind: expected a string or a list of strings")]
pub(crate) enum OneOrMore {
    /// One.
    One(String),
    /// Several.
    More(Vec<String>),
}

/// A way of putting words and meaning together.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FusionMethod {
    /// A weighted mean of both scores.
    Convex,
    /// Reciprocal ranks.
    Rrf,
}

/// A way of putting words and meaning together, by name or with its number.
#[derive(Deserialize, ToSchema)]
#[serde(
    untagged,
    expecting = "fusion: expected convex, rrf, or an object with method and lexical_weight or k"
)]
#[schema(as = SearchFusion)]
pub(crate) enum FusionBody {
    /// By name.
    Named(FusionMethod),
    /// With its number.
    Tuned(TunedFusion),
}

/// A way of putting words and meaning together, with its number.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TunedFusion {
    /// Which.
    method: FusionMethod,
    /// For `convex`: the share of words, 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    lexical_weight: Option<f32>,
    /// For `rrf`: added to every rank, 0 to 1000; 60 when not given.
    #[schema(minimum = 0, maximum = 1000)]
    k: Option<f32>,
}

/// What else moves a result up. Each adds at most its weight to a score between 0 and about 1.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SearchBoost)]
pub(crate) struct BoostBody {
    /// Newer is better.
    recency: Option<RecencyBody>,
    /// The weight of importance.
    #[schema(minimum = 0, maximum = 1)]
    importance: Option<f32>,
    /// Added to what is pinned.
    #[schema(minimum = 0, maximum = 1)]
    pinned: Option<f32>,
}

/// Newer is better: by a weight alone, or with the time after which half of it is left.
#[derive(Deserialize, ToSchema)]
#[serde(
    untagged,
    expecting = "boost.recency: expected a number, or an object with weight and half_life_seconds"
)]
#[schema(as = SearchRecency)]
pub(crate) enum RecencyBody {
    /// Only the weight; half of it is left after a month.
    Weight(f32),
    /// Both.
    Fading(FadingRecency),
}

/// Newer is better.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FadingRecency {
    /// What a memory changed just now gets.
    #[schema(minimum = 0, maximum = 1)]
    weight: f32,
    /// Seconds after which half of it is left; a month when not given.
    #[schema(minimum = 1)]
    half_life_seconds: Option<f32>,
}

/// A moment of the past.
#[derive(Deserialize, ToSchema)]
#[serde(untagged, expecting = "as_of: expected an RFC 3339 time, a version's id, or a feed number")]
#[schema(as = SearchAsOf)]
pub(crate) enum AsOfBody {
    /// After this entry of the feed.
    Seq(u64),
    /// A time, or a version's id.
    Text(String),
}

/// What to wait for.
#[derive(Deserialize, ToSchema)]
#[serde(untagged, expecting = "wait_for: expected latest or a feed number")]
#[schema(as = SearchWaitFor)]
pub(crate) enum WaitForBody {
    /// This number of the feed.
    Seq(u64),
    /// Everything written so far.
    Named(WaitForName),
}

/// Everything written so far.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WaitForName {
    /// Everything written so far.
    Latest,
}

impl SearchBody {
    /// A search of one store.
    pub(super) fn in_store(self, store: StoreId) -> Result<SearchRequest> {
        if self.memory_store_ids.is_some() {
            return Err(Failure::invalid("memory_store_ids: only a search of all stores takes it"));
        }
        let as_of = self.as_of.as_ref().map(AsOfBody::parse).transpose()?;
        self.into_request(Reach::Store(store), as_of)
    }

    /// A search of everything, or of the stores it names.
    pub(super) fn everywhere(self) -> Result<SearchRequest> {
        let as_of = match self.as_of.as_ref().map(AsOfBody::parse).transpose()? {
            // Feeds and versions are a single store's.
            Some(AsOf::Seq(_) | AsOf::Version(_)) => {
                return Err(Failure::invalid(
                    "as_of: a search of several stores takes a time only",
                ));
            }
            as_of => as_of,
        };
        if let Some(WaitForBody::Seq(_)) = self.wait_for {
            return Err(Failure::invalid("wait_for: a search of several stores takes latest only"));
        }
        let reach = match &self.memory_store_ids {
            None => Reach::Everywhere,
            Some(ids) => Reach::Stores(stores(ids)?),
        };
        self.into_request(reach, as_of)
    }

    fn into_request(self, reach: Reach, as_of: Option<AsOf>) -> Result<SearchRequest> {
        if self.query.trim().is_empty() {
            return Err(Failure::invalid("query: must not be empty"));
        }
        let snippet_chars = self.snippet_chars.unwrap_or(SNIPPET_CHARS_DEFAULT);
        if snippet_chars > limit::SNIPPET_CHARS_MAX {
            let max = limit::SNIPPET_CHARS_MAX;
            return Err(Failure::invalid(format!("snippet_chars: expected up to {max}")));
        }
        let wait = wait(self.wait_for.as_ref(), self.wait_seconds)?;
        let wanted = Wanted {
            mode: self.mode.map(Mode::from).unwrap_or_default(),
            filter: self.filter.unwrap_or_default().parse()?,
            fusion: self.fusion.map(FusionBody::parse).transpose()?.unwrap_or_default(),
            signals: self.boost.unwrap_or_default().into(),
            diversity: self.diversity.unwrap_or_default(),
            ..Wanted::new(self.query, self.limit.unwrap_or(limit::SEARCH_RESULTS_DEFAULT))
        };
        wanted.validate()?;
        Ok(SearchRequest {
            reach,
            wanted,
            view: self.view.map_or(View::Full, View::from),
            explain: self.explain.unwrap_or_default(),
            content_bytes_max: limit::SEARCH_CONTENT_BYTES,
            snippet_chars,
            as_of,
            wait,
        })
    }
}

fn stores(ids: &[String]) -> Result<Vec<StoreId>> {
    if ids.is_empty() || ids.len() > limit::SEARCH_STORES_MAX {
        let max = limit::SEARCH_STORES_MAX;
        return Err(Failure::invalid(format!("memory_store_ids: expected 1 to {max} ids")));
    }
    let unknown = |_| Failure::not_found("memory store");
    ids.iter().map(|id| id.parse().map_err(unknown)).collect()
}

fn wait(until: Option<&WaitForBody>, secs: Option<u64>) -> Result<Option<Wait>> {
    let secs_max = limit::SEARCH_WAIT_SECS_MAX;
    if secs.is_some_and(|secs| secs > secs_max) {
        return Err(Failure::invalid(format!("wait_seconds: expected up to {secs_max}")));
    }
    let until = match until {
        Some(WaitForBody::Seq(seq)) => Some(*seq),
        Some(WaitForBody::Named(WaitForName::Latest)) => None,
        None if secs.is_some() => {
            return Err(Failure::invalid("wait_seconds: goes with wait_for only"));
        }
        None => return Ok(None),
    };
    let at_most = Duration::from_secs(secs.unwrap_or(WAIT_SECS_DEFAULT));
    Ok(Some(Wait { until, at_most }))
}

impl FilterBody {
    fn parse(self) -> Result<SearchFilter> {
        let prefix = self.path_prefix.map(|text| PathPrefix::parse(&text)).transpose();
        let prefix = prefix.map_err(|why| Failure::invalid(format!("filter.{why}")))?;
        let created_after = moment("filter.created_after", self.created_after.as_deref())?;
        let created_before = moment("filter.created_before", self.created_before.as_deref())?;
        let updated_after = moment("filter.updated_after", self.updated_after.as_deref())?;
        let updated_before = moment("filter.updated_before", self.updated_before.as_deref())?;
        let metadata = self.metadata.unwrap_or_default();
        Ok(SearchFilter {
            prefixes: prefix.into_iter().collect(),
            kinds: match self.kind {
                None => Vec::new(),
                Some(OneOrMore::One(kind)) => vec![kind],
                Some(OneOrMore::More(kinds)) => kinds,
            },
            tags: self.tags.unwrap_or_default(),
            source: self.source,
            scope: self.scope,
            created: Span { since: created_after, until: created_before },
            updated: Span { since: updated_after, until: updated_before },
            metadata: metadata.into_iter().map(|(name, value)| (name, value.to_string())).collect(),
        })
    }
}

fn moment(field: &str, text: Option<&str>) -> Result<Option<Timestamp>> {
    let parsed = text.map(Timestamp::parse).transpose();
    parsed.map_err(|invalid| Failure::invalid(format!("{field}: {}", invalid.why)))
}

impl AsOfBody {
    fn parse(&self) -> Result<AsOf> {
        match self {
            Self::Seq(seq) => Ok(AsOf::Seq(*seq)),
            Self::Text(text) if text.starts_with("memver_") => {
                let version: std::result::Result<VersionId, _> = text.parse();
                version.map(AsOf::Version).map_err(|_| Failure::not_found("memory version"))
            }
            Self::Text(text) => match Timestamp::parse(text) {
                Ok(time) => Ok(AsOf::Time(time)),
                Err(invalid) => Err(Failure::invalid(format!("as_of: {}", invalid.why))),
            },
        }
    }
}

impl FusionBody {
    fn parse(self) -> Result<Fusion> {
        let tuned = match self {
            Self::Named(method) => TunedFusion { method, lexical_weight: None, k: None },
            Self::Tuned(tuned) => tuned,
        };
        match tuned {
            TunedFusion { method: FusionMethod::Convex, lexical_weight, k: None } => {
                Ok(Fusion::Convex { lexical_weight })
            }
            TunedFusion { method: FusionMethod::Rrf, lexical_weight: None, k } => {
                Ok(Fusion::Rrf { k: k.unwrap_or(RRF_K_DEFAULT) })
            }
            _ => Err(Failure::invalid(
                "fusion: lexical_weight goes with convex, and k with rrf, only",
            )),
        }
    }
}

impl From<BoostBody> for Signals {
    fn from(boost: BoostBody) -> Self {
        let recency = boost.recency.map(|recency| match recency {
            RecencyBody::Weight(weight) => {
                Recency { weight, half_life_secs: HALF_LIFE_SECS_DEFAULT }
            }
            RecencyBody::Fading(FadingRecency { weight, half_life_seconds }) => Recency {
                weight,
                half_life_secs: half_life_seconds.unwrap_or(HALF_LIFE_SECS_DEFAULT),
            },
        });
        Self {
            recency,
            importance: boost.importance.unwrap_or_default(),
            pinned: boost.pinned.unwrap_or_default(),
        }
    }
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Hybrid => Self::Hybrid,
            ModeName::Lexical => Self::Lexical,
            ModeName::Semantic => Self::Semantic,
        }
    }
}

impl From<ViewName> for View {
    fn from(name: ViewName) -> Self {
        match name {
            ViewName::Full => Self::Full,
            ViewName::Basic => Self::Basic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body(value: Value) -> SearchBody {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_bare_query_takes_the_defaults() {
        let store = StoreId::from_u128(1);
        let request = body(json!({"query": "tea"})).in_store(store).unwrap();
        assert_eq!(request.reach, Reach::Store(store));
        assert_eq!(request.wanted, Wanted::new("tea", 10));
        assert_eq!((request.view, request.explain), (View::Full, false));
        assert_eq!((request.snippet_chars, request.as_of, request.wait), (240, None, None));
        assert_eq!(body(json!({"query": "tea"})).everywhere().unwrap().reach, Reach::Everywhere);
    }

    #[test]
    fn everything_said_reaches_the_engine() {
        let request = body(json!({
            "query": "tea", "limit": 3, "mode": "semantic",
            "filter": {
                "path_prefix": "/a/", "kind": "fact", "tags": ["x", "y"], "source": "s",
                "scope": "t", "created_after": "1970-01-01T00:00:01Z",
                "updated_before": "1970-01-01T00:00:02Z", "metadata": {"n": 1, "o": {"k": [true]}},
            },
            "fusion": {"method": "convex", "lexical_weight": 0.25},
            "boost": {"recency": {"weight": 0.5, "half_life_seconds": 60}, "importance": 0.1, "pinned": 1},
            "diversity": 0.5, "explain": true, "view": "basic", "snippet_chars": 0,
            "as_of": 7, "wait_for": "latest", "wait_seconds": 30,
        }));
        let request = request.in_store(StoreId::from_u128(1)).unwrap();
        let Wanted { mode, filter, fusion, signals, diversity, limit, .. } = request.wanted;
        assert_eq!((mode, limit, diversity), (Mode::Semantic, 3, 0.5));
        assert_eq!(filter.prefixes, [PathPrefix::parse("/a/").unwrap()]);
        assert_eq!(
            (filter.kinds, filter.tags),
            (vec!["fact".into()], vec!["x".into(), "y".into()])
        );
        assert_eq!((filter.source, filter.scope), (Some("s".into()), Some("t".into())));
        let since = Some(Timestamp::from_micros(1_000_000));
        let until = Some(Timestamp::from_micros(2_000_000));
        assert_eq!(filter.created, Span { since, until: None });
        assert_eq!(filter.updated, Span { since: None, until });
        let metadata = [("n", "1"), ("o", r#"{"k":[true]}"#)];
        assert_eq!(filter.metadata, metadata.map(|(name, value)| (name.into(), value.into())));
        assert_eq!(fusion, Fusion::Convex { lexical_weight: Some(0.25) });
        let recency = Some(Recency { weight: 0.5, half_life_secs: 60.0 });
        assert_eq!(signals, Signals { recency, importance: 0.1, pinned: 1.0 });
        assert_eq!((request.view, request.explain, request.snippet_chars), (View::Basic, true, 0));
        assert_eq!(request.as_of, Some(AsOf::Seq(7)));
        assert_eq!(request.wait, Some(Wait { until: None, at_most: Duration::from_secs(30) }));
    }

    #[test]
    fn short_forms_stand_for_long_ones() {
        let wanted = |value: Value| body(value).everywhere().unwrap().wanted;
        let rrf = wanted(json!({"query": "q", "fusion": "rrf"}));
        assert_eq!(rrf.fusion, Fusion::Rrf { k: 60.0 });
        let tuned = wanted(json!({"query": "q", "fusion": {"method": "rrf", "k": 10}}));
        assert_eq!(tuned.fusion, Fusion::Rrf { k: 10.0 });
        let recent = wanted(json!({"query": "q", "boost": {"recency": 0.2}}));
        assert_eq!(recent.signals.recency.map(|recency| recency.weight), Some(0.2));
        let kinds = wanted(json!({"query": "q", "filter": {"kind": ["a", "b"]}}));
        assert_eq!(kinds.filter.kinds, ["a", "b"]);
    }
}
