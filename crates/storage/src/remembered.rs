//! What a retried request is answered from: its key, and the receipt of the first one as ids only.
//! Content and paths are never kept here; a receipt is read again from what is there now, so that a
//! redaction reaches it too.
//!
//! The bytes are a file format: every SQL engine writes the same ones, and old ones stay readable.

use crate::column::{self, Code};
use crate::{GenerationId, Idempotency, Receipt};
use loci_model::{
    GrantId, KeyId, Membership, MemoryId, Operation, Outcome, PrincipalId, SessionId, StoreId,
    Timestamp, VersionId, WorkspaceId,
};

/// What stands for "changed nothing" beside the codes of operations.
const NO_OPERATION: u8 = 255;

/// A request that had an idempotency key, and what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The key, the digest of the request and its moment.
    pub idempotency: Idempotency,
    /// What it did.
    pub refs: ReceiptRefs,
}

/// A receipt as the ids it takes to read it again, and the numbers that nothing else keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptRefs {
    /// A workspace.
    Workspace(WorkspaceId),
    /// A principal.
    Principal(PrincipalId),
    /// A key.
    Key(KeyId),
    /// A store.
    Store(StoreId),
    /// A store that was removed.
    StoreRemoved(StoreId),
    /// A step of purging, and whether it was the last.
    Purged(bool),
    /// What each edit did.
    Committed(Vec<OutcomeRefs>),
    /// A version that was redacted.
    Redacted(StoreId, VersionId),
    /// A memory that was erased, and how many versions were scrubbed.
    Erased(MemoryId, u64),
    /// A grant, and the grants that went because it left their giver with less.
    Grant(GrantId, Vec<GrantId>),
    /// Grants that were taken back.
    Revoked(Vec<GrantId>),
    /// A session.
    Session(WorkspaceId, SessionId),
    /// A session that was removed.
    SessionRemoved(SessionId),
    /// How many items were imported.
    Imported(u64),
    /// How many idempotency keys were forgotten.
    KeysForgotten(u64),
    /// A generation of vectors.
    Generation(GenerationId),
    /// How many versions got vectors.
    VectorsPut(u64),
    /// In how many memories something was read.
    ReadingsPut(u64),
    /// A membership.
    Member(Membership),
    /// A group, who left it, and the grants that went with it.
    MemberRemoved(PrincipalId, PrincipalId, Vec<GrantId>),
    /// The number of an event.
    Recorded(u64),
}

/// One edit's outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutcomeRefs {
    /// Where.
    pub store: StoreId,
    /// The version that the edit wrote or found.
    pub head: VersionId,
    /// What it did, if anything.
    pub operation: Option<Operation>,
}

impl From<&Receipt> for ReceiptRefs {
    fn from(receipt: &Receipt) -> Self {
        match receipt {
            Receipt::Workspace(id) => Self::Workspace(*id),
            Receipt::Principal(principal) => Self::Principal(principal.id),
            Receipt::Key(key) => Self::Key(key.id),
            Receipt::Store(store) => Self::Store(store.id),
            Receipt::StoreRemoved(id) => Self::StoreRemoved(*id),
            Receipt::Purged { is_done } => Self::Purged(*is_done),
            Receipt::Committed(outcomes) => {
                Self::Committed(outcomes.iter().map(OutcomeRefs::from).collect())
            }
            Receipt::Redacted(version) => Self::Redacted(version.store, version.id),
            Receipt::Erased { memory, versions } => Self::Erased(*memory, *versions),
            Receipt::Grant { grant, revoked } => Self::Grant(grant.id, revoked.clone()),
            Receipt::Revoked(ids) => Self::Revoked(ids.clone()),
            Receipt::Session(session) => Self::Session(session.workspace, session.id),
            Receipt::SessionRemoved(id) => Self::SessionRemoved(*id),
            Receipt::Imported(added) => Self::Imported(*added),
            Receipt::KeysForgotten(forgotten) => Self::KeysForgotten(*forgotten),
            Receipt::Generation(generation) => Self::Generation(generation.id),
            Receipt::VectorsPut(written) => Self::VectorsPut(*written),
            Receipt::ReadingsPut(written) => Self::ReadingsPut(*written),
            Receipt::Member(membership) => Self::Member(*membership),
            Receipt::MemberRemoved { group, member, revoked } => {
                Self::MemberRemoved(*group, *member, revoked.clone())
            }
            Receipt::Recorded(seq) => Self::Recorded(*seq),
        }
    }
}

impl From<&Outcome> for OutcomeRefs {
    fn from(outcome: &Outcome) -> Self {
        let memory = &outcome.memory;
        Self { store: memory.store, head: memory.head, operation: outcome.operation }
    }
}

impl ReceiptRefs {
    /// A kind and its bytes, for two columns.
    pub fn encode(&self) -> (i16, Vec<u8>) {
        match self {
            Self::Workspace(id) => (0, id.to_bytes().into()),
            Self::Principal(id) => (1, id.to_bytes().into()),
            Self::Key(id) => (2, id.to_bytes().into()),
            Self::Store(id) => (3, id.to_bytes().into()),
            Self::StoreRemoved(id) => (4, id.to_bytes().into()),
            Self::Purged(is_done) => (5, vec![u8::from(*is_done)]),
            Self::Committed(outcomes) => {
                (6, outcomes.iter().flat_map(OutcomeRefs::encode).collect())
            }
            Self::Redacted(store, version) => {
                (7, column::pack_ids([store.to_bytes(), version.to_bytes()]))
            }
            Self::Erased(memory, versions) => {
                (8, [&memory.to_bytes()[..], &versions.to_be_bytes()].concat())
            }
            Self::Grant(id, revoked) => {
                let grants = revoked.iter().map(|id| id.to_bytes());
                (9, column::pack_ids([id.to_bytes()].into_iter().chain(grants)))
            }
            Self::Revoked(ids) => (10, column::pack_ids(ids.iter().map(|id| id.to_bytes()))),
            Self::Session(workspace, session) => {
                (11, column::pack_ids([workspace.to_bytes(), session.to_bytes()]))
            }
            Self::SessionRemoved(id) => (12, id.to_bytes().into()),
            Self::Imported(added) => (13, added.to_be_bytes().into()),
            Self::KeysForgotten(forgotten) => (14, forgotten.to_be_bytes().into()),
            Self::Generation(id) => (15, id.0.to_be_bytes().into()),
            Self::VectorsPut(written) => (16, written.to_be_bytes().into()),
            Self::Member(Membership { group, member, since }) => {
                let since = since.as_micros().to_be_bytes();
                (17, [&group.to_bytes()[..], &member.to_bytes(), &since].concat())
            }
            Self::MemberRemoved(group, member, revoked) => {
                let grants = revoked.iter().map(|id| id.to_bytes());
                (
                    18,
                    column::pack_ids(
                        [group.to_bytes(), member.to_bytes()].into_iter().chain(grants),
                    ),
                )
            }
            Self::Recorded(seq) => (19, seq.to_be_bytes().into()),
            Self::ReadingsPut(written) => (20, written.to_be_bytes().into()),
        }
    }

    /// The inverse of [`Self::encode`]; `None` for what no engine can have written.
    pub fn decode(kind: i16, bytes: &[u8]) -> Option<Self> {
        let mut rest = Rest(bytes);
        let refs = match kind {
            0 => Self::Workspace(WorkspaceId::from_bytes(rest.take()?)),
            1 => Self::Principal(PrincipalId::from_bytes(rest.take()?)),
            2 => Self::Key(KeyId::from_bytes(rest.take()?)),
            3 => Self::Store(StoreId::from_bytes(rest.take()?)),
            4 => Self::StoreRemoved(StoreId::from_bytes(rest.take()?)),
            5 => Self::Purged(rest.take()? == [1]),
            6 => {
                let mut outcomes = Vec::with_capacity(bytes.len() / OutcomeRefs::BYTES);
                while !rest.0.is_empty() {
                    outcomes.push(OutcomeRefs::decode(&mut rest)?);
                }
                Self::Committed(outcomes)
            }
            7 => Self::Redacted(
                StoreId::from_bytes(rest.take()?),
                VersionId::from_bytes(rest.take()?),
            ),
            8 => {
                let memory = MemoryId::from_bytes(rest.take()?);
                Self::Erased(memory, u64::from_be_bytes(rest.take()?))
            }
            9 => {
                let id = GrantId::from_bytes(rest.take()?);
                let revoked = column::unpack_ids(std::mem::take(&mut rest.0))?;
                Self::Grant(id, revoked.into_iter().map(GrantId::from_bytes).collect())
            }
            10 => {
                let ids = column::unpack_ids(std::mem::take(&mut rest.0))?;
                Self::Revoked(ids.into_iter().map(GrantId::from_bytes).collect())
            }
            11 => Self::Session(
                WorkspaceId::from_bytes(rest.take()?),
                SessionId::from_bytes(rest.take()?),
            ),
            12 => Self::SessionRemoved(SessionId::from_bytes(rest.take()?)),
            13 => Self::Imported(u64::from_be_bytes(rest.take()?)),
            14 => Self::KeysForgotten(u64::from_be_bytes(rest.take()?)),
            15 => Self::Generation(GenerationId(u32::from_be_bytes(rest.take()?))),
            16 => Self::VectorsPut(u64::from_be_bytes(rest.take()?)),
            17 => Self::Member(Membership {
                group: PrincipalId::from_bytes(rest.take()?),
                member: PrincipalId::from_bytes(rest.take()?),
                since: Timestamp::from_micros(i64::from_be_bytes(rest.take()?)),
            }),
            18 => {
                let group = PrincipalId::from_bytes(rest.take()?);
                let member = PrincipalId::from_bytes(rest.take()?);
                let ids = column::unpack_ids(std::mem::take(&mut rest.0))?;
                let revoked = ids.into_iter().map(GrantId::from_bytes).collect();
                Self::MemberRemoved(group, member, revoked)
            }
            19 => Self::Recorded(u64::from_be_bytes(rest.take()?)),
            20 => Self::ReadingsPut(u64::from_be_bytes(rest.take()?)),
            _ => return None,
        };
        rest.0.is_empty().then_some(refs)
    }
}

impl OutcomeRefs {
    /// How many bytes one takes.
    const BYTES: usize = 33;

    fn encode(&self) -> Vec<u8> {
        let code = |operation: Operation| {
            u8::try_from(operation.code()).expect("operations have small codes")
        };
        let mut bytes = Vec::with_capacity(Self::BYTES);
        bytes.extend(self.store.to_bytes());
        bytes.extend(self.head.to_bytes());
        bytes.push(self.operation.map_or(NO_OPERATION, code));
        bytes
    }

    fn decode(rest: &mut Rest<'_>) -> Option<Self> {
        let store = StoreId::from_bytes(rest.take()?);
        let head = VersionId::from_bytes(rest.take()?);
        let operation = match rest.take()? {
            [NO_OPERATION] => None,
            [code] => Some(Operation::from_code(code.into())?),
        };
        Some(Self { store, head, operation })
    }
}

/// Bytes, taken from the front.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_kind() -> Vec<ReceiptRefs> {
        let outcome = |operation| OutcomeRefs {
            store: StoreId::from_u128(1),
            head: VersionId::from_u128(2),
            operation,
        };
        vec![
            ReceiptRefs::Workspace(WorkspaceId::from_u128(1)),
            ReceiptRefs::Principal(PrincipalId::from_u128(2)),
            ReceiptRefs::Key(KeyId::from_u128(3)),
            ReceiptRefs::Store(StoreId::from_u128(4)),
            ReceiptRefs::StoreRemoved(StoreId::from_u128(5)),
            ReceiptRefs::Purged(true),
            ReceiptRefs::Committed(vec![
                outcome(None),
                outcome(Some(Operation::Created)),
                outcome(Some(Operation::Modified)),
                outcome(Some(Operation::Deleted)),
            ]),
            ReceiptRefs::Redacted(StoreId::from_u128(6), VersionId::from_u128(7)),
            ReceiptRefs::Erased(MemoryId::from_u128(8), 9),
            ReceiptRefs::Grant(GrantId::from_u128(10), vec![GrantId::from_u128(27)]),
            ReceiptRefs::Revoked(vec![GrantId::from_u128(11), GrantId::from_u128(12)]),
            ReceiptRefs::Session(WorkspaceId::from_u128(13), SessionId::from_u128(14)),
            ReceiptRefs::SessionRemoved(SessionId::from_u128(15)),
            ReceiptRefs::Imported(16),
            ReceiptRefs::KeysForgotten(17),
            ReceiptRefs::Generation(GenerationId(18)),
            ReceiptRefs::VectorsPut(19),
            ReceiptRefs::Member(Membership {
                group: PrincipalId::from_u128(20),
                member: PrincipalId::from_u128(21),
                since: Timestamp::from_micros(22),
            }),
            ReceiptRefs::MemberRemoved(
                PrincipalId::from_u128(23),
                PrincipalId::from_u128(24),
                vec![GrantId::from_u128(25)],
            ),
            ReceiptRefs::Recorded(26),
            ReceiptRefs::ReadingsPut(27),
        ]
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (refs, number) in every_kind().into_iter().zip(0..) {
            let (kind, bytes) = refs.encode();
            assert_eq!(kind, number, "kinds are numbered for good");
            assert_eq!(ReceiptRefs::decode(kind, &bytes), Some(refs));
        }
    }

    #[test]
    fn what_nobody_wrote_is_not_read() {
        for refs in every_kind() {
            let (kind, bytes) = refs.encode();
            let longer = [&bytes[..], &[9]].concat();
            for wrong in [&bytes[..bytes.len() - 1], &longer] {
                assert_eq!(ReceiptRefs::decode(kind, wrong), None, "{refs:?}");
            }
        }
        assert_eq!(ReceiptRefs::decode(21, &[]), None);
        assert_eq!(ReceiptRefs::decode(6, &[3; 33]), None, "there is no such operation");
    }
}
