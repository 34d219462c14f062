//! Plans of edits become edits: small numbers are looked up among what there is, and every edit gets
//! ids of its own.

use super::plan::{
    AtPlan, AttributesPlan, ContentPlan, EditPlan, ExpectPlan, OpPlan, PATHS, TEXTS, UNKNOWN,
};
use loci_model::edit::{Occurrence, Separator};
use loci_model::query::Filter;
use loci_model::{
    At, AttributesPatch, Content, Edit, EditOp, Expect, MemoryId, MemoryPath, OnSame, Patch,
    PrincipalId, Timestamp, VersionId, Visibility,
};
use loci_storage::StampedEdit;

/// What the plan of an edit is read against.
pub(super) struct Stamps<'a> {
    pub(super) memories: &'a [MemoryId],
    pub(super) now: Timestamp,
    pub(super) next_id: &'a mut dyn FnMut() -> u128,
}

impl Stamps<'_> {
    pub(super) fn edit(&mut self, plan: &EditPlan) -> StampedEdit {
        let at = match &plan.at {
            AtPlan::Memory(number) => At::Id(self.memory(*number)),
            AtPlan::Path { partition, path: number } => {
                let partition = partition.map(|bits| PrincipalId::from_u128(bits.into()));
                At::Path(partition, path(*number))
            }
            AtPlan::FirstFact => {
                At::First(Filter { kind: Some("fact".into()), ..Filter::default() })
            }
        };
        let expect = match &plan.expect {
            ExpectPlan::Anything => Expect::Anything,
            ExpectPlan::Absent => Expect::Absent,
            ExpectPlan::Present => Expect::Present,
            ExpectPlan::DigestOf(text) => Expect::Digest(Content::Text(text_of(*text)).digest()),
            ExpectPlan::Revision(revision) => Expect::Revision(*revision),
        };
        let on_same = if plan.records_same { OnSame::Record } else { OnSame::Skip };
        let op = self.op(&plan.op);
        self.stamped(Edit { at, expect, on_same, op })
    }

    /// The edits that make two memories change places, by way of a third path.
    pub(super) fn swap(&mut self, one: (usize, usize), other: (usize, usize)) -> Vec<StampedEdit> {
        let (first, second) = (self.memory(one.0), self.memory(other.0));
        let moves = [
            (first, MemoryPath::parse("/aside").unwrap()),
            (second, path(one.1)),
            (first, path(other.1)),
        ];
        let edits = moves.into_iter().map(|(memory, to)| {
            let attributes = AttributesPatch::default();
            self.stamped(Edit {
                at: At::Id(memory),
                expect: Expect::Anything,
                on_same: OnSame::Skip,
                op: EditOp::Put { content: None, to: Some(to), attributes },
            })
        });
        edits.collect()
    }

    fn memory(&self, number: usize) -> MemoryId {
        pick(self.memories, number, MemoryId::from_u128(7))
    }

    fn stamped(&mut self, edit: Edit) -> StampedEdit {
        StampedEdit {
            edit,
            new_memory: MemoryId::from_u128((self.next_id)()),
            version: VersionId::from_u128((self.next_id)()),
        }
    }

    fn op(&self, plan: &OpPlan) -> EditOp {
        match plan {
            OpPlan::Put { content, to, attributes } => EditOp::Put {
                content: match content {
                    ContentPlan::Keep => None,
                    ContentPlan::Text(text) => Some(Content::Text(text_of(*text))),
                    ContentPlan::Sealed(text) => {
                        Some(Content::Sealed(TEXTS[*text].as_bytes().to_vec()))
                    }
                },
                to: to.map(path),
                attributes: self.attributes(attributes),
            },
            OpPlan::Append { text, to, attributes } => EditOp::Append {
                text: text_of(*text),
                separator: match text % 2 {
                    0 => Separator::Always(" ".into()),
                    _ => Separator::IfMissing("e".into()),
                },
                to: to.map(path),
                attributes: self.attributes(attributes),
            },
            OpPlan::Replace { old, new, only } => EditOp::Replace {
                old: text_of(*old),
                new: text_of(*new),
                which: if *only { Occurrence::Only } else { Occurrence::First },
            },
            OpPlan::Remove => EditOp::Remove,
        }
    }

    fn attributes(&self, plan: &AttributesPlan) -> AttributesPatch {
        let mut patch = AttributesPatch::default();
        match plan {
            AttributesPlan::Keep => {}
            AttributesPlan::Fact => patch.kind = Patch::Set(Some("fact".into())),
            AttributesPlan::Tagged => patch.tags = Patch::Set(vec!["tag".into(), "x".into()]),
            AttributesPlan::Untagged => patch.tags = Patch::Set(vec![]),
            AttributesPlan::Internal => patch.visibility = Patch::Set(Visibility::Internal),
            AttributesPlan::Shown => patch.visibility = Patch::Set(Visibility::Context),
            AttributesPlan::EndsIn(secs) => {
                patch.expires_at = Patch::Set(Some(self.now.plus_secs(*secs)));
            }
            AttributesPlan::Endless => patch.expires_at = Patch::Set(None),
            AttributesPlan::Broken => patch.kind = Patch::Set(Some("two words".into())),
        }
        patch
    }
}

/// One of the things made so far, counted round and round.
pub(super) fn pick<Id: Copy>(made: &[Id], number: usize, unknown: Id) -> Id {
    if number == UNKNOWN || made.is_empty() { unknown } else { made[number % made.len()] }
}

pub(super) fn path(number: usize) -> MemoryPath {
    MemoryPath::parse(PATHS[number]).unwrap()
}

fn text_of(number: usize) -> String {
    TEXTS[number].to_owned()
}
