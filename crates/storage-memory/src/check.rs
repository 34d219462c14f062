//! The oracle's look at itself: the invariants every engine keeps, spelled out once more.

use super::commit::overlap;
use super::state::{Shelf, State};
use loci_model::{Content, Memory, MemoryId, Operation, VersionId};
use loci_storage::{CheckReport, GenerationId, fits};

impl State {
    pub(super) fn check(&self) -> CheckReport {
        let mut report = CheckReport { problems: self.problems_of_log(), ..CheckReport::default() };
        for (workspace, end) in self.log_ends() {
            report.audit_log(workspace, end, Some(end));
        }
        for shelf in self.shelves.values().filter(|shelf| !shelf.is_removed) {
            report.stores += 1;
            report.memories += shelf.live().count() as u64;
            report.versions += shelf.versions().count() as u64;
            report.changes += shelf.feed.len() as u64;
            report.vectors += shelf.vectors.len() as u64;
            report.readings += shelf.readings.kept.len() as u64;
            let store = shelf.store.id;
            let problems = shelf.problems().chain(shelf.problems_of_vectors(self));
            let problems = problems.chain(shelf.problems_of_readings());
            let named = problems.map(|problem| format!("{store}: {problem}"));
            report.problems.extend(named);
        }
        report
    }
}

impl Shelf {
    fn problems(&self) -> impl Iterator<Item = String> {
        self.problems_of_feed().chain(self.problems_of_versions()).chain(self.problems_of_paths())
    }

    fn problems_of_feed(&self) -> impl Iterator<Item = String> {
        let pairs = self.feed.windows(2);
        let backwards = pairs.filter(|pair| pair[1].at <= pair[0].at);
        let numbers = self.feed.iter().zip(1..).filter(|(change, n)| change.seq != *n);
        backwards
            .map(|pair| format!("entry {} is not later than the one before", pair[1].seq))
            .chain(numbers.map(|(change, n)| format!("entry {n} has number {}", change.seq)))
    }

    fn problems_of_versions(&self) -> impl Iterator<Item = String> {
        let is_sound = |memory: &super::state::Kept| {
            let numbered = memory.versions.iter().zip(1..);
            let mut numbered = numbered.map(|(version, n)| {
                let has_content = version.content.is_some();
                let may_have =
                    version.operation != Operation::Deleted && version.redaction.is_none();
                let digest = version.content.as_ref().map(Content::digest);
                version.revision == n && has_content == may_have && digest == version.digest
            });
            numbered.all(|is_sound| is_sound)
        };
        let unsound = self.memories.iter().filter(move |(_, kept)| !is_sound(kept));
        unsound.map(|(id, _)| format!("{id} has a version that does not fit"))
    }

    fn problems_of_vectors(&self, state: &State) -> impl Iterator<Item = String> {
        let dims = |id: &GenerationId| {
            let known = state.generations.iter().find(|known| known.id == *id);
            known.map_or(0, |known| known.dims)
        };
        let is_text = |id: &VersionId| {
            let mut versions = self.versions().filter(|version| version.id == *id);
            versions.any(|version| version.content.as_ref().is_some_and(|c| !c.is_sealed()))
        };
        let unfit = self.vectors.iter().filter(move |((generation, version), bytes)| {
            !fits(bytes.len(), dims(generation)) || !is_text(version)
        });
        let end = self.feed.len() as u64;
        let ahead = self.marks.iter().filter(move |(id, through)| **through > end || dims(id) == 0);
        unfit
            .map(|((_, version), _)| format!("{version} has vectors that do not fit"))
            .chain(ahead.map(|(id, _)| format!("the mark of generation {} does not fit", id.0)))
    }

    fn problems_of_readings(&self) -> impl Iterator<Item = String> {
        let is_fit = |id: MemoryId, version: VersionId| {
            self.text_version(version).is_some_and(|version| version.memory == id)
        };
        let kept = self.readings.kept.values().map(|(_, reading)| reading);
        let end = self.feed.len() as u64;
        let ahead = self.readings.marks.values().filter(move |mark| mark.through > end);
        kept.filter(move |reading| !is_fit(reading.memory, reading.version))
            .map(|reading| format!("{} was read where it has no text", reading.version))
            .chain(ahead.map(|mark| format!("{} is said to have read too far", mark.reader)))
    }

    fn problems_of_paths(&self) -> impl Iterator<Item = String> {
        let live: Vec<Memory> = self.live().collect();
        let others = live.clone();
        live.into_iter().filter_map(move |memory| {
            let clash = others.iter().find(|other| {
                other.id > memory.id
                    && other.partition == memory.partition
                    && overlap(&other.path, &memory.path)
            })?;
            Some(format!("{} and {} overlap", memory.id, clash.id))
        })
    }
}
