//! What is known about a memory beside its content. Every door shares these few; a door that needs
//! another word escapes it into `metadata`.

use crate::{Invalid, Timestamp, limit};

/// Who a memory is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Visibility {
    /// Shown to models and hosts.
    #[default]
    Context,
    /// Shown to hosts only.
    Internal,
    /// Held back until a host approves it.
    Quarantine,
}

/// The attributes of a memory or version.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attributes {
    /// A slug such as `fact`; closed sets belong to the doors.
    pub kind: Option<String>,
    /// Tags, in the order given, without repeats.
    pub tags: Vec<String>,
    /// 0 to 100; higher is kept longer.
    pub importance: Option<u8>,
    /// Exempt from compaction.
    pub pinned: bool,
    /// Who sees it.
    pub visibility: Visibility,
    /// When it stops existing.
    pub expires_at: Option<Timestamp>,
    /// Where the writer says it came from. A claim: it grants nothing.
    pub source: Option<String>,
    /// A free grouping label.
    pub scope: Option<String>,
    /// One line for indexes.
    pub summary: Option<String>,
    /// What the content is, when it is not plain text.
    pub media_type: Option<String>,
    /// A JSON object, as text; opaque here.
    pub metadata: Option<String>,
}

impl Attributes {
    /// What a memory is found by beside its content and path: its tags, and the line about it.
    pub fn names(&self) -> Vec<String> {
        self.tags.iter().chain(&self.summary).cloned().collect()
    }

    /// Checks every limit.
    pub fn validate(&self) -> Result<(), Invalid> {
        if let Some(kind) = &self.kind {
            let is_slug = !kind.is_empty()
                && kind.chars().count() <= limit::KIND_CHARS_MAX
                && !kind.chars().any(|c| c.is_control() || c.is_whitespace());
            if !is_slug {
                let why = format!("expected 1 to {} characters, no spaces", limit::KIND_CHARS_MAX);
                return Err(Invalid::new("kind", why));
            }
        }
        if self.tags.len() > limit::TAGS_MAX {
            let why = format!("has {} tags, limit {}", self.tags.len(), limit::TAGS_MAX);
            return Err(Invalid::new("tags", why));
        }
        for (position, tag) in self.tags.iter().enumerate() {
            check_chars("tags", tag, limit::TAG_CHARS_MAX)?;
            if tag.is_empty() {
                return Err(Invalid::new("tags", "must not be empty"));
            }
            if self.tags[..position].contains(tag) {
                return Err(Invalid::new("tags", "must not repeat"));
            }
        }
        if self.importance.is_some_and(|importance| importance > limit::IMPORTANCE_MAX) {
            return Err(Invalid::new("importance", "expected 0 to 100"));
        }
        for (field, value, chars_max) in [
            ("source", &self.source, limit::LABEL_CHARS_MAX),
            ("scope", &self.scope, limit::LABEL_CHARS_MAX),
            ("media_type", &self.media_type, limit::LABEL_CHARS_MAX),
            ("summary", &self.summary, limit::SUMMARY_CHARS_MAX),
        ] {
            if let Some(value) = value {
                check_chars(field, value, chars_max)?;
            }
        }
        if let Some(metadata) = &self.metadata
            && metadata.len() > limit::MEMORY_METADATA_BYTES_MAX
        {
            let max = limit::MEMORY_METADATA_BYTES_MAX;
            return Err(Invalid::new(
                "metadata",
                format!("is {} bytes, limit {max}", metadata.len()),
            ));
        }
        Ok(())
    }
}

/// One field of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// Leave as it is.
    #[default]
    Keep,
    /// Put this in its place.
    Set(T),
}

impl<T> Patch<T> {
    /// Applies the patch to a field.
    pub fn apply(self, field: &mut T) {
        if let Self::Set(value) = self {
            *field = value;
        }
    }
}

impl<T> From<Option<T>> for Patch<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Keep, Self::Set)
    }
}

/// A change of some attributes; what is not named stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "each field patches the attribute of the same name")]
pub struct AttributesPatch {
    pub kind: Patch<Option<String>>,
    pub tags: Patch<Vec<String>>,
    pub importance: Patch<Option<u8>>,
    pub pinned: Patch<bool>,
    pub visibility: Patch<Visibility>,
    pub expires_at: Patch<Option<Timestamp>>,
    pub source: Patch<Option<String>>,
    pub scope: Patch<Option<String>>,
    pub summary: Patch<Option<String>>,
    pub media_type: Patch<Option<String>>,
    pub metadata: Patch<Option<String>>,
}

impl AttributesPatch {
    /// A patch that replaces everything.
    pub fn replace(with: Attributes) -> Self {
        Self {
            kind: Patch::Set(with.kind),
            tags: Patch::Set(with.tags),
            importance: Patch::Set(with.importance),
            pinned: Patch::Set(with.pinned),
            visibility: Patch::Set(with.visibility),
            expires_at: Patch::Set(with.expires_at),
            source: Patch::Set(with.source),
            scope: Patch::Set(with.scope),
            summary: Patch::Set(with.summary),
            media_type: Patch::Set(with.media_type),
            metadata: Patch::Set(with.metadata),
        }
    }

    /// The attributes after this patch.
    pub fn apply_to(&self, current: &Attributes) -> Attributes {
        let patch = self.clone();
        let mut next = current.clone();
        patch.kind.apply(&mut next.kind);
        patch.tags.apply(&mut next.tags);
        patch.importance.apply(&mut next.importance);
        patch.pinned.apply(&mut next.pinned);
        patch.visibility.apply(&mut next.visibility);
        patch.expires_at.apply(&mut next.expires_at);
        patch.source.apply(&mut next.source);
        patch.scope.apply(&mut next.scope);
        patch.summary.apply(&mut next.summary);
        patch.media_type.apply(&mut next.media_type);
        patch.metadata.apply(&mut next.metadata);
        next
    }
}

pub(crate) fn check_chars(
    field: &'static str,
    value: &str,
    chars_max: usize,
) -> Result<(), Invalid> {
    let chars = value.chars().count();
    if chars > chars_max {
        return Err(Invalid::new(field, format!("is {chars} characters, limit {chars_max}")));
    }
    if value.chars().any(char::is_control) {
        return Err(Invalid::new(field, "must not contain control characters"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_named() {
        let check = |attributes: Attributes, field: &str| {
            assert_eq!(attributes.validate().unwrap_err().field, field);
        };
        check(Attributes { kind: Some("two words".into()), ..Default::default() }, "kind");
        check(Attributes { tags: vec!["a".into(), "a".into()], ..Default::default() }, "tags");
        check(Attributes { tags: vec![String::new()], ..Default::default() }, "tags");
        check(Attributes { importance: Some(101), ..Default::default() }, "importance");
        check(Attributes { summary: Some("x".repeat(281)), ..Default::default() }, "summary");
        check(Attributes { metadata: Some("x".repeat(20_000)), ..Default::default() }, "metadata");
        assert!(Attributes::default().validate().is_ok());
    }

    #[test]
    fn a_patch_keeps_what_it_does_not_name() {
        let current =
            Attributes { kind: Some("fact".into()), pinned: true, ..Attributes::default() };
        let patch = AttributesPatch { kind: Patch::Set(None), ..AttributesPatch::default() };
        let next = patch.apply_to(&current);
        assert_eq!((next.kind, next.pinned), (None, true));
        assert_eq!(AttributesPatch::replace(current.clone()).apply_to(&next_default()), current);
    }

    fn next_default() -> Attributes {
        Attributes::default()
    }
}
