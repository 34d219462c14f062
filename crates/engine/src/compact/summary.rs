//! The text of a summary: written by a model where the operator configured one, otherwise quoted
//! from the sources. Whatever fails, a summary can be made, and it says how it was made.

use super::extract::{Quoted, extract};
use crate::{Engine, Error, Result, damage};
use loci_model::compact::{IMPORTANCE_DEFAULT, Place, SUMMARY};
use loci_model::policy::System;
use loci_model::{
    At, Attributes, AttributesPatch, Content, Edit, EditOp, Expect, Memory, MemoryPath, OnSame,
    Store, Timestamp, Version, View,
};

/// Bytes of a summary: as much as the smallest door takes as one entry.
const BYTES_MAX: usize = 16_000;
/// Bytes of the names of sources that a summary carries along; their versions are named in full.
const NAMES_BYTES_MAX: usize = 12_000;
/// Who wrote a summary that is made of quotations.
const EXTRACTION: &str = "extraction";

/// What a summary is to be made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What the memory was called where it lay.
    pub name: String,
    /// Its line about itself, if it had one.
    pub line: Option<String>,
    /// When it last changed.
    pub at: Timestamp,
    /// Its content.
    pub text: String,
}

/// A summary that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The text.
    pub text: String,
    /// By whom, such as the name of a model.
    pub by: String,
}

/// Something that writes summaries. Waits on the thread it is called on.
pub trait Summarizer: Send + Sync + 'static {
    /// Writes one in at most so many bytes, or says why it could not.
    fn summarize(
        &self,
        sources: &[Source],
        bytes_max: usize,
    ) -> std::result::Result<Summary, String>;
}

impl Engine {
    /// The contents of memories that are about to be merged, as they were when that was planned.
    pub(super) async fn sources(&self, store: &Store, going: &[&Memory]) -> Result<Vec<Source>> {
        let system = System::because("what is merged is quoted");
        let pass = system.read(store.workspace, store.id, self.seams.now());
        let mut sources = Vec::with_capacity(going.len());
        for memory in going {
            let at = At::Id(memory.id);
            let found = match damage::memory(self.storage.as_ref(), &pass, &at, View::Full).await {
                // What cannot be read is quoted by its name and line, as what is sealed would be.
                Err(Error::Damaged { version }) if version == memory.head => {
                    Some((*memory).clone())
                }
                found => found?,
            };
            let found = found.filter(|found| found.revision == memory.revision);
            let found = found.ok_or(Error::ExpectFailed)?;
            let text = found.content.as_ref().and_then(Content::text).unwrap_or_default();
            sources.push(Source {
                name: name_in(&found.path).to_owned(),
                line: found.attributes.summary.clone(),
                at: found.updated_at,
                text: text.to_owned(),
            });
        }
        sort(&mut sources);
        Ok(sources)
    }

    /// The edit that writes the summary of memories of one place.
    pub(super) async fn summary_edit(
        &self,
        store: &Store,
        place: &Place,
        path: MemoryPath,
        going: &[&Memory],
        sources: Vec<Source>,
    ) -> Edit {
        let summary = self.write_summary(&sources, bytes_max(store)).await;
        let importance =
            going.iter().map(|one| one.attributes.importance.unwrap_or(IMPORTANCE_DEFAULT));
        let attributes = Attributes {
            kind: Some(SUMMARY.to_owned()),
            importance: importance.max(),
            visibility: place.visibility,
            scope: place.scope.clone(),
            ..about(&sources, &summary.by)
        };
        Edit {
            at: At::Path(place.partition, path),
            expect: Expect::Absent,
            on_same: OnSame::Skip,
            op: EditOp::Put {
                content: Some(Content::Text(summary.text)),
                to: None,
                attributes: AttributesPatch::replace(attributes),
            },
        }
    }

    async fn write_summary(&self, sources: &[Source], bytes_max: usize) -> Summary {
        if let Some(summarizer) = self.summarizer.clone() {
            let given = sources.to_vec();
            let writing =
                tokio::task::spawn_blocking(move || summarizer.summarize(&given, bytes_max));
            match writing.await.unwrap_or_else(|error| Err(error.to_string())) {
                Ok(summary) if fits(&summary, bytes_max) => return summary,
                Ok(_) => tracing::warn!("a summary was empty or too long; the sources are quoted"),
                Err(why) => tracing::warn!(why, "no summary was written; the sources are quoted"),
            }
        }
        let quoted: Vec<Quoted<'_>> = sources.iter().map(Quoted::of).collect();
        Summary { text: extract(&quoted, bytes_max), by: EXTRACTION.to_owned() }
    }
}

/// A summary that is quoted once more.
pub(super) struct Requoted {
    pub(super) text: String,
    /// What it says of itself; all else stays as it is.
    pub(super) attributes: Attributes,
}

/// A summary quoted from versions of its sources, as far as they are still there; none from nothing.
pub(super) fn requoted(store: &Store, versions: Vec<Version>) -> Option<Requoted> {
    let source = |version: Version| {
        let text = version.content.as_ref().and_then(Content::text)?.to_owned();
        let name = name_in(version.path.as_ref()?).to_owned();
        let line = version.attributes.and_then(|attributes| attributes.summary);
        Some(Source { name, line, at: version.created_at, text })
    };
    let mut sources: Vec<Source> = versions.into_iter().filter_map(source).collect();
    sort(&mut sources);
    let quoted: Vec<Quoted<'_>> = sources.iter().map(Quoted::of).collect();
    let text = (!quoted.is_empty()).then(|| extract(&quoted, bytes_max(store)))?;
    Some(Requoted { text, attributes: about(&sources, EXTRACTION) })
}

fn sort(sources: &mut [Source]) {
    sources.sort_by(|one, other| (one.at, &one.name).cmp(&(other.at, &other.name)));
}

fn bytes_max(store: &Store) -> usize {
    BYTES_MAX.min(usize::try_from(store.policy.content_bytes_max).unwrap_or(BYTES_MAX))
}

/// What a summary says of itself.
fn about(sources: &[Source], by: &str) -> Attributes {
    Attributes {
        summary: Some(headline(sources)),
        source: Some(format!("compaction by {by}")),
        metadata: Some(provenance(sources, by)),
        ..Attributes::default()
    }
}

fn fits(summary: &Summary, bytes_max: usize) -> bool {
    !summary.text.trim().is_empty() && summary.text.len() <= bytes_max
}

/// What a memory is called in its directory.
pub(super) fn name_in(path: &MemoryPath) -> &str {
    path.as_str().rsplit('/').next().unwrap_or_default()
}

/// One line for indexes.
fn headline(sources: &[Source]) -> String {
    let days = super::extract::days(sources.iter().map(|source| source.at));
    format!("Summary of {} episodes, {days}", sources.len())
}

/// What the summary was made from, for people and for doors that show metadata.
fn provenance(sources: &[Source], by: &str) -> String {
    let mut names = Vec::new();
    let mut bytes = 0;
    for source in sources {
        bytes += source.name.len() + 8;
        if bytes > NAMES_BYTES_MAX {
            break;
        }
        names.push(source.name.as_str());
    }
    serde_json::json!({
        "compacted_from": names,
        "count": sources.len(),
        "summarized_by": by,
    })
    .to_string()
}
