//! Cursors: a prefix and a few words as JSON in base64, so that nobody is tempted to make one up. A
//! position in a listing comes with what is listed, so that whoever sends nothing but the cursor
//! goes on where they were; a position in a feed comes with the store whose feed it is. None gives
//! any right: that is asked anew with every request.

use super::kind::Kind;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use loci_model::query::ListCursor;
use loci_model::{MemoryId, PrincipalId, StoreId, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

const CHARS_MAX: usize = 16 * 1024;
const PAGE: &str = "page_";
const FEED: &str = "feed_";
const AGENTS: &str = "agents_";

/// How entries are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SearchMode {
    #[default]
    Keyword,
    Semantic,
    Hybrid,
}

impl SearchMode {
    pub(super) const ALL: [(Self, &'static str); 3] =
        [(Self::Keyword, "keyword"), (Self::Semantic, "semantic"), (Self::Hybrid, "hybrid")];

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(mode, _)| mode)
    }

    fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(mode, _)| *mode == self).map_or("keyword", |(_, name)| name)
    }
}

/// What is listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Listed {
    /// The words; empty for everything.
    pub(super) query: String,
    pub(super) kind: Option<Kind>,
    pub(super) mode: SearchMode,
}

/// Where a listing goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Position {
    /// After this memory, from the newest to the oldest.
    After(Timestamp, MemoryId),
    /// After so many, from the best to the worst.
    Shown(usize),
}

impl Position {
    pub(super) fn of(cursor: &ListCursor) -> Option<Self> {
        match cursor {
            ListCursor::Time(at, id) => Some(Self::After(*at, *id)),
            ListCursor::Memory(..) | ListCursor::Directory(_) => None,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PageWords {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    q: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    k: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    m: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<(i64, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<usize>,
}

/// The cursor of a listing.
pub(super) fn show_page(listed: &Listed, position: &Position) -> String {
    let (after, shown) = match position {
        Position::After(at, id) => (Some((at.as_micros(), id.to_string())), None),
        Position::Shown(shown) => (None, Some(*shown)),
    };
    let mode = Some(listed.mode).filter(|mode| *mode != SearchMode::default());
    show(
        PAGE,
        &PageWords {
            q: listed.query.clone(),
            k: listed.kind.map(|kind| kind.name().to_owned()),
            m: mode.map(|mode| mode.name().to_owned()),
            after,
            shown,
        },
    )
}

/// The inverse of [`show_page`].
pub(super) fn parse_page(text: &str) -> Option<(Listed, Position)> {
    let words: PageWords = parse(PAGE, text)?;
    let kind = match words.k {
        None => None,
        Some(kind) => Some(Kind::parse(&kind).ok()?),
    };
    let mode = match words.m {
        None => SearchMode::default(),
        Some(mode) => SearchMode::parse(&mode)?,
    };
    let position = match (words.after, words.shown) {
        (Some((at, id)), None) => Position::After(Timestamp::from_micros(at), id.parse().ok()?),
        (None, Some(shown)) => Position::Shown(shown),
        _ => return None,
    };
    let is_ranked = !words.q.is_empty() && mode != SearchMode::Keyword;
    let fits = is_ranked == matches!(position, Position::Shown(_));
    fits.then_some((Listed { query: words.q, kind, mode }, position))
}

/// Where a feed goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FeedPosition {
    /// Whose feed; none of an agent that had no memory yet.
    pub(super) store: Option<StoreId>,
    /// After this number.
    pub(super) seq: u64,
    /// And after so many rows of the next one.
    pub(super) rows: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FeedWords {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    s: Option<String>,
    n: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    r: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl FeedPosition {
    pub(super) fn show(self) -> String {
        let s = self.store.map(|store| store.to_string());
        show(FEED, &FeedWords { s, n: self.seq, r: self.rows })
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let FeedWords { s, n, r } = parse(FEED, text)?;
        let store = match s {
            None => None,
            Some(store) => Some(store.parse().ok()?),
        };
        // Storage counts with signed numbers.
        let is_number = i64::try_from(n).is_ok_and(|n| n < i64::MAX) && r <= 1;
        (is_number && (store.is_some() || n == 0)).then_some(Self { store, seq: n, rows: r })
    }
}

/// Where a list of agents goes on: after this one.
pub(super) fn show_agents(last: PrincipalId) -> String {
    show(AGENTS, &last.to_string())
}

/// The inverse of [`show_agents`].
pub(super) fn parse_agents(text: &str) -> Option<PrincipalId> {
    parse::<String>(AGENTS, text)?.parse().ok()
}

fn show(prefix: &str, words: &impl Serialize) -> String {
    let bytes = serde_json::to_vec(words).expect("our words have string keys");
    let mut text = String::from(prefix);
    URL_SAFE_NO_PAD.encode_string(bytes, &mut text);
    text
}

fn parse<T: DeserializeOwned>(prefix: &str, text: &str) -> Option<T> {
    if text.len() > CHARS_MAX {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(prefix)?).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_come_back() {
        let after = Position::After(Timestamp::from_micros(7), MemoryId::from_u128(9));
        let query = || "two words & ключ".to_owned();
        for (listed, position) in [
            (Listed::default(), after.clone()),
            (Listed { query: query(), kind: Some(Kind::Episode), ..Listed::default() }, after),
            (Listed { query: query(), kind: None, mode: SearchMode::Hybrid }, Position::Shown(20)),
        ] {
            let text = show_page(&listed, &position);
            assert_eq!(parse_page(&text), Some((listed, position)));
        }
        for store in [None, Some(StoreId::from_u128(3))] {
            let position = FeedPosition { store, seq: u64::from(store.is_some()) * 5, rows: 1 };
            assert_eq!(FeedPosition::parse(&position.show()), Some(position));
        }
        let agent = PrincipalId::from_u128(4);
        assert_eq!(parse_agents(&show_agents(agent)), Some(agent));
    }

    #[test]
    fn garbage_is_none() {
        let of = |prefix: &str, json: &str| format!("{prefix}{}", URL_SAFE_NO_PAD.encode(json));
        for bad in ["", "x", "page_", "page_!!", &of(PAGE, "{}"), &of(PAGE, r#"{"shown":1}"#)] {
            assert_eq!(parse_page(bad), None, "{bad}");
        }
        assert_eq!(parse_page(&of(PAGE, r#"{"m":"semantic","q":"x","after":[1,"mem_1"]}"#)), None);
        assert_eq!(parse_page(&of(PAGE, r#"{"shown":1,"more":2}"#)), None);
        for bad in [r#"{"n":5}"#, r#"{"n":-1}"#, r#"{"s":"x","n":1}"#, r#"{"n":0,"r":2}"#] {
            assert_eq!(FeedPosition::parse(&of(FEED, bad)), None, "{bad}");
        }
        let huge = of(FEED, &format!(r#"{{"s":"{}","n":{}}}"#, StoreId::from_u128(1), u64::MAX));
        assert_eq!(FeedPosition::parse(&huge), None);
        assert_eq!(FeedPosition::parse(&show_agents(PrincipalId::from_u128(4))), None);
    }
}
