//! Reading requests about memories into edits and listings. Creating never overwrites; updating is
//! one edit that changes content, path or both and compares against the content's digest.

use crate::anthropic::body::Object;
use crate::anthropic::cursor::Cursor;
use crate::anthropic::error::Problem;
use crate::anthropic::query::{Query, refuse};
use loci_engine::Error;
use loci_model::query::{Direction, Filter, ListCursor, ListOrder, ListQuery};
use loci_model::{
    At, AttributesPatch, Content, Digest, Edit, EditOp, Expect, MemoryId, MemoryPath, OnSame,
    PathPrefix, View, limit,
};
use serde::Deserialize;
use utoipa::ToSchema;

/// A memory to be created.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct CreateMemory {
    /// Where: `/seg/seg`, 1 to 20 segments, at most 1,024 bytes, NFC.
    #[schema(min_length = 2, max_length = 1024, pattern = "^(/[^/]+){1,20}$")]
    path: String,
    /// What: text of at most 102,400 bytes; may be empty.
    content: String,
}

impl CreateMemory {
    pub(super) fn into_edit(self) -> Result<Edit, Problem> {
        let path = MemoryPath::parse(&self.path)?;
        Ok(Edit {
            at: At::Path(None, path),
            expect: Expect::Absent,
            on_same: OnSame::Skip,
            op: EditOp::Put {
                content: Some(text(self.content)?),
                to: None,
                attributes: AttributesPatch::default(),
            },
        })
    }
}

/// A change of a memory. At least one of content and path must be given.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct UpdateMemory {
    /// New content; null or not given keeps it.
    content: Option<String>,
    /// New path; null or not given keeps it.
    #[schema(min_length = 2, max_length = 1024, pattern = "^(/[^/]+){1,20}$")]
    path: Option<String>,
    /// Change only if this holds.
    #[schema(value_type = Option<Precondition>)]
    precondition: Option<Object<Precondition>>,
}

/// What must hold for a change to happen.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct Precondition {
    /// Always `content_sha256`.
    r#type: String,
    /// SHA-256 of the content as it must be now, 64 lower-case hex digits.
    content_sha256: Option<String>,
}

/// A change of a memory whose every part is valid.
pub(super) struct Update {
    content: Option<Content>,
    path: Option<MemoryPath>,
    expect: Expect,
}

impl UpdateMemory {
    pub(super) fn checked(self) -> Result<Update, Problem> {
        if self.content.is_none() && self.path.is_none() {
            return Err(refuse("body", "content or path must be given"));
        }
        Ok(Update {
            content: self.content.map(text).transpose()?,
            path: self.path.as_deref().map(MemoryPath::parse).transpose()?,
            expect: match self.precondition {
                None => Expect::Anything,
                Some(Object(precondition)) => Expect::Digest(precondition.digest()?),
            },
        })
    }
}

impl Precondition {
    fn digest(&self) -> Result<Digest, Problem> {
        if self.r#type != "content_sha256" {
            return Err(refuse("precondition", "type must be content_sha256"));
        }
        match &self.content_sha256 {
            None => Err(refuse("precondition", "content_sha256 must be given")),
            Some(digest) => Ok(digest.parse()?),
        }
    }
}

impl Update {
    pub(super) fn into_edit(self, memory: MemoryId) -> Edit {
        Edit {
            at: At::Id(memory),
            expect: self.expect,
            on_same: OnSame::Skip,
            op: EditOp::Put {
                content: self.content,
                to: self.path,
                attributes: AttributesPatch::default(),
            },
        }
    }
}

/// The content an edit brings.
pub(super) fn content_of(edit: &Edit) -> Option<&Content> {
    match &edit.op {
        EditOp::Put { content, .. } => content.as_ref(),
        EditOp::Append { .. } | EditOp::Replace { .. } | EditOp::Remove => None,
    }
}

/// Content within this door's limit. Stores made through other doors may allow more.
fn text(content: String) -> Result<Content, Problem> {
    let (bytes, limit) = (content.len() as u64, limit::CONTENT_BYTES_DEFAULT as u64);
    if bytes > limit {
        return Err(Error::TooLarge { bytes, limit }.into());
    }
    Ok(Content::Text(content))
}

/// The path a query names.
pub(super) fn path(query: Query<'_>) -> Result<MemoryPath, Problem> {
    match query.get("path")? {
        None => Err(refuse("path", "must be given")),
        Some(path) => Ok(MemoryPath::parse(&path)?),
    }
}

/// What a deletion expects.
pub(super) fn delete_expectation(query: Query<'_>) -> Result<Expect, Problem> {
    const NAME: &str = "expected_content_sha256";
    let digest = query.parsed(NAME, "expected 64 lower-case hex digits")?;
    Ok(digest.map_or(Expect::Anything, Expect::Digest))
}

/// The listing a query asks for. `order_by` and `order` are from the first client releases; later
/// ones leave the order to us, and we keep to the byte order of paths.
pub(super) fn listing(query: Query<'_>) -> Result<ListQuery, Problem> {
    let order_by = query.get("order_by")?;
    let order = match order_by.as_deref() {
        None | Some("path") => ListOrder::Path,
        Some("created_at") => ListOrder::Created,
        Some("updated_at") => ListOrder::Updated,
        Some(_) => {
            let expected = "expected path, created_at or updated_at";
            return Err(refuse("order_by", expected));
        }
    };
    let direction = query.order()?.unwrap_or(Direction::Ascending);
    let view = query.view(View::Basic)?;
    let prefix = match query.get("path_prefix")? {
        None => PathPrefix::root(),
        Some(text) => PathPrefix::parse(&text)?,
    };
    Ok(ListQuery {
        prefix,
        fold_depth: fold_depth(query, order_by.is_some(), order)?,
        order,
        direction,
        filter: Filter::default(),
        view,
        after: position(query, order, direction)?,
        limit: query.page_limit(view)?,
    })
}

/// How deep a listing shows single memories. Directories have no time, so only a listing by path
/// can show them; deeper than one level only for callers that asked for that order by name, as the
/// first releases did.
fn fold_depth(
    query: Query<'_>,
    is_order_given: bool,
    order: ListOrder,
) -> Result<Option<usize>, Problem> {
    let depth: usize = query.parsed("depth", "expected 0 or 1")?.unwrap_or(0);
    match depth {
        0 => Ok(None),
        1.. if order != ListOrder::Path => Err(refuse("depth", "needs an order by path")),
        1 => Ok(Some(1)),
        2..=limit::PATH_SEGMENTS_MAX if is_order_given => Ok(Some(depth)),
        _ => Err(refuse("depth", "expected 0 or 1")),
    }
}

fn position(
    query: Query<'_>,
    order: ListOrder,
    direction: Direction,
) -> Result<Option<ListCursor>, Problem> {
    Cursor::from_query(query, |cursor| match cursor {
        Cursor::Memories(of_order, of_direction, at)
            if of_order == order && of_direction == direction =>
        {
            Some(at)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_follows_the_order() {
        let check = |raw, expect: Option<Option<usize>>| {
            let depth = listing(Query::new(raw)).ok().map(|query| query.fold_depth);
            assert_eq!(depth, expect, "{raw}");
        };
        check("", Some(None));
        check("depth=0", Some(None));
        check("depth=1", Some(Some(1)));
        check("depth=2", None);
        check("depth=-1", None);
        check("depth=x", None);
        check("depth=1&order_by=path", Some(Some(1)));
        check("depth=2&order_by=path", Some(Some(2)));
        check("depth=20&order_by=path", Some(Some(20)));
        check("depth=21&order_by=path", None);
        check("depth=0&order_by=created_at", Some(None));
        check("depth=1&order_by=created_at", None);
        check("depth=2&order_by=updated_at", None);
    }

    #[test]
    fn a_cursor_is_bound_to_its_order() {
        let path = MemoryPath::parse("/a").unwrap();
        let at = ListCursor::Memory(path, MemoryId::from_u128(1));
        let cursor = Cursor::Memories(ListOrder::Path, Direction::Ascending, at).show();
        let check = |rest: &str, is_accepted: bool| {
            let raw = format!("page={cursor}{rest}");
            assert_eq!(listing(Query::new(&raw)).is_ok(), is_accepted, "{rest}");
        };
        check("", true);
        check("&order_by=path&order=asc", true);
        check("&view=full&limit=3&depth=1&path_prefix=/b/", true);
        check("&order=desc", false);
        check("&order_by=created_at", false);
        let foreign = Cursor::Versions(3).show();
        assert!(listing(Query::new(&format!("page={foreign}"))).is_err());
    }
}
