//! Filters inside the index. What a memory can be filtered by is kept as a few hashes, so that a
//! filter costs no more than comparing numbers and nothing is ranked that it does not let through.

use crate::wanted::{SearchFilter, Span};
use foldhash::fast::FixedState;
use loci_model::{Attributes, Timestamp};
use std::hash::BuildHasher;

fn label(sort: char, name: &str, value: &str) -> u64 {
    FixedState::with_seed(1).hash_one((sort, name, value))
}

/// What a memory can be filtered by, sorted.
pub(crate) fn labels(attributes: &Attributes) -> Box<[u64]> {
    let mut labels = Vec::new();
    labels.extend(attributes.kind.iter().map(|kind| label('k', "", kind)));
    labels.extend(attributes.source.iter().map(|source| label('s', "", source)));
    labels.extend(attributes.scope.iter().map(|scope| label('c', "", scope)));
    labels.extend(attributes.tags.iter().map(|tag| label('t', "", tag)));
    if let Some(metadata) = &attributes.metadata
        && let Ok(serde_json::Value::Object(members)) = serde_json::from_str(metadata)
    {
        labels.extend(members.iter().map(|(name, value)| label('m', name, &value.to_string())));
    }
    labels.sort_unstable();
    labels.dedup();
    labels.into()
}

/// A filter made ready.
#[derive(Debug)]
pub(crate) struct Sieve<'q> {
    prefixes: Vec<&'q str>,
    kinds: Vec<u64>,
    all: Vec<u64>,
    created: Span,
    updated: Span,
    is_open: bool,
}

/// What a filter looks at.
pub(crate) struct Filtered<'d> {
    pub(crate) path: &'d str,
    pub(crate) labels: &'d [u64],
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

impl<'q> Sieve<'q> {
    pub(crate) fn new(filter: &'q SearchFilter) -> Self {
        let mut all: Vec<u64> = filter.tags.iter().map(|tag| label('t', "", tag)).collect();
        all.extend(filter.source.iter().map(|source| label('s', "", source)));
        all.extend(filter.scope.iter().map(|scope| label('c', "", scope)));
        all.extend(filter.metadata.iter().map(|(name, value)| label('m', name, value)));
        Self {
            prefixes: filter.prefixes.iter().map(loci_model::PathPrefix::as_str).collect(),
            kinds: filter.kinds.iter().map(|kind| label('k', "", kind)).collect(),
            all,
            created: filter.created,
            updated: filter.updated,
            is_open: filter.is_empty(),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(crate) fn lets_through(&self, memory: &Filtered<'_>) -> bool {
        let has = |label: &u64| memory.labels.binary_search(label).is_ok();
        let is_below = |prefix: &&str| memory.path.starts_with(prefix);
        self.is_open
            || ((self.prefixes.is_empty() || self.prefixes.iter().any(is_below))
                && (self.kinds.is_empty() || self.kinds.iter().any(has))
                && self.all.iter().all(has)
                && self.created.holds(memory.created_at)
                && self.updated.holds(memory.updated_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::PathPrefix;

    #[track_caller]
    fn check(filter: &SearchFilter, expected: bool) {
        let attributes = Attributes {
            kind: Some("fact".into()),
            tags: vec!["red".into(), "blue".into()],
            source: Some("chat".into()),
            metadata: Some(r#"{"n":1,"who":{"name":"Ann"}}"#.into()),
            ..Attributes::default()
        };
        let memory = Filtered {
            path: "/notes/a.md",
            labels: &labels(&attributes),
            created_at: Timestamp::from_micros(10),
            updated_at: Timestamp::from_micros(20),
        };
        assert_eq!(Sieve::new(filter).lets_through(&memory), expected, "{filter:?}");
    }

    #[test]
    fn every_part_of_a_filter_counts() {
        let none = SearchFilter::default;
        let at = Timestamp::from_micros;
        check(&none(), true);
        let below = |texts: &[&str]| SearchFilter {
            prefixes: texts.iter().map(|text| PathPrefix::parse(text).unwrap()).collect(),
            ..none()
        };
        check(&below(&["/notes/"]), true);
        check(&below(&["/other/", "/notes/"]), true);
        check(&below(&["/other/"]), false);
        check(&below(&["/other/", "/note/"]), false);
        check(&SearchFilter { kinds: vec!["x".into(), "fact".into()], ..none() }, true);
        check(&SearchFilter { kinds: vec!["x".into()], ..none() }, false);
        check(&SearchFilter { tags: vec!["red".into(), "blue".into()], ..none() }, true);
        check(&SearchFilter { tags: vec!["red".into(), "green".into()], ..none() }, false);
        // A tag is no kind, and a source no scope.
        check(&SearchFilter { tags: vec!["fact".into()], ..none() }, false);
        check(&SearchFilter { scope: Some("chat".into()), ..none() }, false);
        check(&SearchFilter { source: Some("chat".into()), ..none() }, true);
        check(&SearchFilter { metadata: vec![("n".into(), "1".into())], ..none() }, true);
        check(&SearchFilter { metadata: vec![("n".into(), "2".into())], ..none() }, false);
        check(
            &SearchFilter { metadata: vec![("who".into(), r#"{"name":"Ann"}"#.into())], ..none() },
            true,
        );
        check(&SearchFilter { created: Span { since: Some(at(10)), until: None }, ..none() }, true);
        check(
            &SearchFilter { created: Span { since: Some(at(11)), until: None }, ..none() },
            false,
        );
        check(
            &SearchFilter { updated: Span { since: None, until: Some(at(19)) }, ..none() },
            false,
        );
    }
}
