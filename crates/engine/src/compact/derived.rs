//! What compaction made of a text that is taken away. A summary quotes its sources, so erasing one of
//! them takes it out of the summary as well: the summary is quoted anew from the sources that are
//! left, and what it said before is scrubbed. Where that cannot be done, because somebody changed the
//! summary, it was removed, its store is archived or no source is left, the summary is erased.
//!
//! The link is exact: a source is removed in the batch that writes its summary, so the summary is the
//! newest version that was created before the removal, and it names the source.
//!
//! A summary can be a source itself, if somebody calls it an episode. One that is erased is therefore
//! taken out of the next summary in the same way, and so on to the last one.

use super::summary::{Requoted, requoted};
use super::{ATTEMPTS_MAX, REASON};
use crate::history::HistoryQuery;
use crate::{Engine, Error, Result, damage};
use loci_model::policy::{ReadPass, System};
use loci_model::query::VersionQuery;
use loci_model::{
    At, AttributesPatch, Cause, Content, Edit, EditOp, Expect, Memory, MemoryId, MemoryPath,
    OnSame, Operation, Patch, PathPrefix, PrincipalId, Store, StoreId, Version, VersionId, View,
    WorkspaceId,
};
use loci_storage::Mutation;
use std::collections::HashSet;

/// What the feed shows as the reason where a summary is quoted anew.
const REQUOTED: &str = "requoted";
/// Versions of one summary that are looked at.
const VERSIONS_MAX: usize = 100_000;

/// What becomes of a summary when the text of one of its sources is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is quoted anew from the other sources, and its older versions are scrubbed.
    Requoted,
    /// It is erased.
    Erased,
}

/// A summary of something that was, or would be, erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedLine {
    /// The summary.
    pub memory: MemoryId,
    /// Where it lies, unless it is gone.
    pub path: Option<MemoryPath>,
    /// What becomes of it.
    pub fate: Fate,
}

/// The text that is taken away.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) workspace: WorkspaceId,
    pub(crate) store: StoreId,
    pub(crate) memory: MemoryId,
    /// One version only, or everything the memory ever held.
    pub(crate) version: Option<VersionId>,
}

/// A summary and what it was made from.
struct Derived {
    store: Store,
    /// The source, as the summary names it.
    source: VersionId,
    memory: MemoryId,
    live: Option<Memory>,
    /// Its versions, newest first, without content.
    versions: Vec<Version>,
}

impl Derived {
    /// The newest version that was made from sources.
    fn made(&self) -> Option<&Version> {
        self.versions.iter().find(|version| !version.cause.derived_from.is_empty())
    }

    /// Whether the text it has now was made from any of these.
    fn holds(&self, sources: &[VersionId]) -> bool {
        let is_one = |id: &VersionId| sources.contains(id);
        self.made().is_none_or(|made| made.cause.derived_from.iter().any(is_one))
    }

    /// The live summary and its sources, if it says what was made from them and can be made anew.
    fn as_made(&self) -> Option<(&Memory, &[VersionId])> {
        let live = self.live.as_ref().filter(|_| self.store.archived_at.is_none())?;
        let made = self.made()?;
        let is_as_made = made.digest == Some(live.digest);
        is_as_made.then_some((live, &made.cause.derived_from))
    }

    /// Versions before the newest that was made, as far as they still hold anything.
    fn outdated(&self) -> impl Iterator<Item = &Version> {
        let made = self.made().map_or(0, |made| made.revision);
        self.versions
            .iter()
            .filter(move |version| version.revision < made && version.redaction.is_none())
    }

    /// The summary as a text that is taken away itself.
    fn whole(&self) -> Taken {
        let (workspace, store) = (self.store.workspace, self.store.id);
        Taken { workspace, store, memory: self.memory, version: None }
    }

    fn line(&self, fate: Fate) -> DerivedLine {
        let path = self.live.as_ref().map(|live| live.path.clone());
        DerivedLine { memory: self.memory, path, fate }
    }
}

impl Engine {
    /// What taking some texts away would do to the summaries made from them.
    pub(crate) async fn plan_derived(&self, all: &[Taken]) -> Result<Vec<DerivedLine>> {
        let mut found: Vec<(Derived, Vec<VersionId>)> = Vec::new();
        let mut followed = HashSet::new();
        let mut next = all.to_vec();
        loop {
            for taken in next.drain(..) {
                let Some(derived) = self.derived_of(taken).await? else { continue };
                let source = derived.source;
                match found.iter_mut().find(|(known, _)| known.memory == derived.memory) {
                    Some((_, sources)) => sources.push(source),
                    None => found.push((derived, vec![source])),
                }
            }
            let mut lines = Vec::with_capacity(found.len());
            for (derived, sources) in &found {
                let fate = self.fate(derived, sources).await?;
                lines.push(derived.line(fate));
                if fate == Fate::Erased && followed.insert(derived.memory) {
                    next.push(derived.whole());
                }
            }
            // A source more can only turn a summary from quoted anew to erased, so this ends.
            if next.is_empty() {
                return Ok(lines);
            }
        }
    }

    async fn fate(&self, derived: &Derived, sources: &[VersionId]) -> Result<Fate> {
        let is_clean = derived.live.is_some() && !derived.holds(sources);
        let is_requoted = is_clean || self.requote(derived, sources).await?.is_some();
        Ok(if is_requoted { Fate::Requoted } else { Fate::Erased })
    }

    /// Takes a text that is gone out of the summary made from it, and out of those made from that one
    /// if it has to go. When this returns, their old text is gone from every file; asked again, it
    /// finishes what was left and says the same.
    pub(crate) async fn take_derived(&self, taken: Taken) -> Result<Vec<DerivedLine>> {
        let mut lines = Vec::new();
        let mut next = Some(taken);
        while let Some(taken) = next.take() {
            let Some((derived, line)) = self.take_from_summary(taken).await? else { break };
            if line.fate == Fate::Erased {
                next = Some(derived.whole());
            }
            lines.push(line);
        }
        Ok(lines)
    }

    /// The same for the one summary that was made from the text itself.
    async fn take_from_summary(&self, taken: Taken) -> Result<Option<(Derived, DerivedLine)>> {
        for _ in 0..ATTEMPTS_MAX {
            let Some(derived) = self.derived_of(taken).await? else { return Ok(None) };
            if derived.live.is_some() && !derived.holds(&[derived.source]) {
                let line = self.scrub_outdated(taken, &derived).await?;
                return Ok(Some((derived, line)));
            }
            let Some(edit) = self.requote(&derived, &[derived.source]).await? else {
                self.erase_derived(taken, &derived).await?;
                let line = DerivedLine { path: None, ..derived.line(Fate::Erased) };
                return Ok(Some((derived, line)));
            };
            match self.write_requoted(taken, &derived, edit).await {
                // The next look finds the new version, and scrubs those before it.
                Ok(()) => {}
                Err(Error::ExpectFailed | Error::NotFound(_) | Error::Archived) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Unavailable("others change a summary of this all the time; ask again"))
    }

    /// The summary made from a text, unless there is none. A store that is gone has none.
    async fn derived_of(&self, taken: Taken) -> Result<Option<Derived>> {
        match self.look_for_derived(taken).await {
            Err(Error::NotFound(_)) => Ok(None),
            found => found,
        }
    }

    async fn look_for_derived(&self, taken: Taken) -> Result<Option<Derived>> {
        let Taken { workspace, store, memory, version } = taken;
        let system = System::because("what was made of an erased text is found by its sources");
        let pass = system.read(workspace, store, self.seams.now());
        let mut newest = self.newest(&pass, Some(memory), None, None, 2).await?.into_iter();
        let (Some(removal), Some(source)) = (newest.next(), newest.next()) else {
            return Ok(None);
        };
        let is_compacted =
            removal.operation == Operation::Deleted && removal.cause.reason == REASON;
        if !is_compacted || version.is_some_and(|version| version != source.id) {
            return Ok(None);
        }
        let before =
            self.newest(&pass, None, Some(Operation::Created), Some(removal.seq), 1).await?;
        let summary = before.into_iter().next();
        let is_from_it = |summary: &Version| summary.cause.derived_from.contains(&source.id);
        let Some(summary) = summary.filter(is_from_it) else { return Ok(None) };
        let facts = self.storage.facts(workspace, store, PrincipalId::from_u128(0), None).await?;
        let facts = facts.ok_or(Error::NotFound("memory store"))?;
        let live = self.storage.get(&pass, &At::Id(summary.memory), View::Basic).await?;
        let history = HistoryQuery {
            memory: Some(summary.memory),
            actors: None,
            since: None,
            until: None,
            prefix: PathPrefix::root(),
            view: View::Basic,
            before_seq: None,
            limit: 1,
        };
        let engine = self.clone();
        let looked_at = async move { engine.all_versions(&pass, &history, VERSIONS_MAX).await };
        let (versions, _) = self.compute(looked_at).await?;
        let (store, source, memory) = (facts.store, source.id, summary.memory);
        Ok(Some(Derived { store, source, memory, live, versions }))
    }

    async fn newest(
        &self,
        pass: &ReadPass,
        memory: Option<MemoryId>,
        operation: Option<Operation>,
        before_seq: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Version>> {
        let query = VersionQuery {
            memory,
            operation,
            actor: None,
            since: None,
            until: None,
            view: View::Basic,
            before_seq,
            limit,
        };
        Ok(self.storage.versions(pass, &query).await?.items)
    }

    /// The summary quoted anew without some of its sources; none where it has to be erased.
    async fn requote(
        &self,
        derived: &Derived,
        without: &[VersionId],
    ) -> Result<Option<(Edit, Vec<VersionId>)>> {
        let Some((live, sources)) = derived.as_made() else { return Ok(None) };
        let system = System::because("what is left of a summary is quoted anew");
        let pass = system.read(derived.store.workspace, derived.store.id, self.seams.now());
        let mut left = Vec::new();
        for source in sources.iter().filter(|source| !without.contains(source)) {
            let found = damage::version(self.storage.as_ref(), &pass, *source, View::Full).await;
            // What cannot be read any more is not quoted again.
            let found = match found {
                Err(Error::Damaged { .. }) => None,
                found => found?,
            };
            left.extend(found.filter(|version| version.content.is_some()));
        }
        let ids = left.iter().map(|version| version.id).collect();
        let Some(Requoted { text, attributes }) = requoted(&derived.store, left) else {
            return Ok(None);
        };
        let attributes = AttributesPatch {
            summary: Patch::Set(attributes.summary),
            source: Patch::Set(attributes.source),
            metadata: Patch::Set(attributes.metadata),
            ..AttributesPatch::default()
        };
        let edit = Edit {
            at: At::Id(live.id),
            expect: Expect::Revision(live.revision),
            on_same: OnSame::Record,
            op: EditOp::Put { content: Some(Content::Text(text)), to: None, attributes },
        };
        Ok(Some((edit, ids)))
    }

    async fn write_requoted(
        &self,
        taken: Taken,
        derived: &Derived,
        (edit, sources): (Edit, Vec<VersionId>),
    ) -> Result<()> {
        let system = System::because("an erased text is taken out of what was made of it");
        let partition = derived.live.as_ref().and_then(|live| live.partition);
        let owner = partition.unwrap_or(derived.store.owner);
        let pass = system.write(taken.workspace, taken.store, owner, self.seams.now());
        let cause = Cause { derived_from: sources, ..Cause::new(None, REQUOTED) };
        self.write_batch(&pass, self.stamp(vec![edit], cause), None).await?;
        Ok(())
    }

    /// Scrubs what a summary said before it was quoted anew.
    async fn scrub_outdated(&self, taken: Taken, derived: &Derived) -> Result<DerivedLine> {
        let system = System::because("an erased text is taken out of what was made of it");
        for version in derived.outdated() {
            let pass = system.manage(taken.workspace, taken.store, self.seams.now());
            self.write_unasked(Mutation::Redact(pass, version.id)).await?;
        }
        self.search.wrote();
        Ok(derived.line(Fate::Requoted))
    }

    async fn erase_derived(&self, taken: Taken, derived: &Derived) -> Result<()> {
        let system = System::because("what was made of an erased text goes with it");
        let now = self.seams.now();
        let pass = system.manage(taken.workspace, taken.store, now);
        let version = self.seams.version_id(now);
        let erase = Mutation::Erase { pass, memory: derived.memory, version };
        self.write_unasked(erase).await?;
        self.search.wrote();
        Ok(())
    }
}
