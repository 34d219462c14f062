//! Documents, kept as memories of a piece each: found piece by piece, replaced as a whole.
//!
//! The pieces of one document lie in a directory of its name, numbered. Writing it again changes only
//! the pieces that changed, and takes away those it no longer has.

use crate::{Context, Engine, Error, Result};
use loci_model::query::{ListItem, ListQuery};
use loci_model::{
    At, AttributesPatch, Content, Edit, EditOp, Expect, Invalid, MemoryPath, OnSame, Patch,
    PathPrefix, StoreId, View, Visibility, limit,
};
use serde_json::json;

/// Pieces of one document.
pub const PIECES_MAX: usize = 20_000;
/// Pieces of one request.
pub const PIECES_AT_ONCE_MAX: usize = 500;
/// Memories read at a time.
const PAGE: usize = 1000;
/// What the metadata of a piece says it is, so that nobody takes it for what somebody said.
const ROLE: &str = "document";

/// Some of the pieces of a document.
#[derive(Debug, Clone)]
pub struct Pieces {
    /// What it is called; may have directories.
    pub document: String,
    /// The number of the first of these, from 1.
    pub first: usize,
    /// How many the document has.
    pub total: usize,
    /// The pieces.
    pub texts: Vec<String>,
    /// The kind of the memories.
    pub kind: String,
    /// Who may see them.
    pub visibility: Visibility,
}

/// What became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ingested {
    /// New or changed.
    pub written: usize,
    /// As they were.
    pub unchanged: usize,
    /// No longer part of the document.
    pub removed: usize,
}

impl Pieces {
    fn validate(&self) -> Result<()> {
        let count = self.texts.len();
        if count == 0 || count > PIECES_AT_ONCE_MAX {
            let why = format!("takes 1 to {PIECES_AT_ONCE_MAX} at a time");
            return Err(Invalid::new("pieces", why).into());
        }
        let is_counted = self.first >= 1 && self.first - 1 + count <= self.total;
        if !is_counted || self.total > PIECES_MAX {
            let why = format!("are numbered from 1 to total, which is at most {PIECES_MAX}");
            return Err(Invalid::new("pieces", why).into());
        }
        Ok(())
    }

    /// Whether the document ends with these.
    fn is_last(&self) -> bool {
        self.first - 1 + self.texts.len() == self.total
    }

    fn directory(&self) -> Result<String> {
        let name = self.document.trim_matches('/');
        if name.is_empty() {
            return Err(Invalid::new("document", "must have a name").into());
        }
        Ok(format!("/documents/{name}/"))
    }

    fn edit(&self, directory: &str, number: usize, text: &str) -> Result<Edit> {
        let path = MemoryPath::parse(&format!("{directory}{number:05}"))?;
        let metadata =
            json!({"role": ROLE, "document": self.document, "piece": number, "of": self.total});
        let summary: String = self.document.chars().take(limit::SUMMARY_CHARS_MAX).collect();
        let attributes = AttributesPatch {
            kind: Patch::Set(Some(self.kind.clone())),
            summary: Patch::Set(Some(summary)),
            visibility: Patch::Set(self.visibility),
            metadata: Patch::Set(Some(metadata.to_string())),
            ..AttributesPatch::default()
        };
        Ok(Edit {
            at: At::Path(None, path),
            expect: Expect::Anything,
            on_same: OnSame::Skip,
            op: EditOp::Put { content: Some(Content::Text(text.to_owned())), to: None, attributes },
        })
    }
}

impl Engine {
    /// Writes pieces of a document. With the last of them goes what an earlier, longer form of the
    /// document had.
    pub async fn ingest(
        &self,
        context: &Context,
        store: StoreId,
        pieces: &Pieces,
    ) -> Result<Ingested> {
        pieces.validate()?;
        let directory = pieces.directory()?;
        let texts = (pieces.first..).zip(&pieces.texts);
        let mut edits: Vec<Edit> = texts
            .map(|(number, text)| pieces.edit(&directory, number, text))
            .collect::<Result<_>>()?;
        let put = edits.len();
        if pieces.is_last() {
            edits.extend(self.left_over(context, store, &directory, pieces.total).await?);
        }
        let outcomes = self.commit_tree(context, store, edits, "ingest").await?;
        let written = outcomes[..put].iter().filter(|one| one.operation.is_some()).count();
        Ok(Ingested { written, unchanged: put - written, removed: outcomes.len() - put })
    }

    /// Removes the pieces behind the last one.
    async fn left_over(
        &self,
        context: &Context,
        store: StoreId,
        directory: &str,
        total: usize,
    ) -> Result<Vec<Edit>> {
        let mut query = ListQuery {
            prefix: PathPrefix::parse(directory)?,
            ..ListQuery::everything(View::Basic, PAGE)
        };
        let mut edits = Vec::new();
        loop {
            let page = self.list(context, store, &query).await?;
            for item in page.items {
                let ListItem::Memory(memory) = item else { continue };
                let number = memory.path.as_str()[directory.len()..].parse::<usize>();
                if number.is_ok_and(|number| number > total) {
                    edits.push(Edit::remove(At::Id(memory.id), Expect::Anything));
                }
                if edits.len() > limit::TREE_EDITS_MAX - PIECES_AT_ONCE_MAX {
                    let why = "has too many pieces left over; remove it first";
                    return Err(Error::from(Invalid::new("document", why)));
                }
            }
            match page.next {
                Some(next) => query.after = Some(next),
                None => return Ok(edits),
            }
        }
    }
}
