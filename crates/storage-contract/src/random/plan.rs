//! What a random history is made of. Everything is a small number that means something only against
//! the state at hand (the third memory so far, the second path of nine), so that steps meet often
//! and a shorter history is still a history.

use proptest::prelude::*;

pub(super) const PATHS: [&str; 9] =
    ["/a", "/b", "/a/a", "/a/b", "/b/a", "/a/a/b", "/a.b", "/a0", "/é/c"];
pub(super) const TEXTS: [&str; 7] = ["", "x", "x y", "y x y", "Zed", "x\u{0}y", LONG];

/// The number of a text that is long enough for later versions to share it.
const LONG_TEXT: usize = 6;
const LONG: &str = match std::str::from_utf8(&[b'l'; 1100]) {
    Ok(text) => text,
    Err(_) => "",
};

/// Stands for a memory, version or grant that does not exist.
pub(super) const UNKNOWN: usize = usize::MAX;

#[derive(Debug, Clone)]
pub(super) enum Step {
    Commit {
        store: usize,
        who: Who,
        edits: Vec<EditPlan>,
        key: Option<u8>,
    },
    /// Two memories take each other's paths, if these are theirs: a memory and a path for each.
    Swap {
        store: usize,
        one: (usize, usize),
        other: (usize, usize),
    },
    /// Edits that nobody puts in an order.
    Together {
        store: usize,
        edits: Vec<(Who, EditPlan)>,
    },
    /// The end of the process and the beginning of the next.
    Reopen,
    Credential(CredentialStep),
    Group(GroupStep),
    Expire {
        store: usize,
        memory: usize,
    },
    Redact {
        store: usize,
        version: usize,
        key: Option<u8>,
    },
    Erase {
        store: usize,
        memory: usize,
        key: Option<u8>,
    },
    Share {
        store: usize,
        giver: Who,
        grantee: usize,
        level: u8,
        ends_in: Option<i64>,
    },
    Revoke {
        store: usize,
        giver: Who,
        grant: usize,
    },
    Describe {
        store: usize,
        name: u8,
        key: Option<u8>,
    },
    Archive {
        store: usize,
        key: Option<u8>,
    },
    RemoveStore {
        store: usize,
        key: Option<u8>,
    },
    Purge {
        store: usize,
        limit: usize,
    },
    MoveClock {
        secs: i64,
    },
    ForgetKeys {
        secs_ago: i64,
    },
    SetPolicy {
        store: usize,
        repeats: u8,
        soft_cap: Option<u64>,
        key: Option<u8>,
    },
    OpenGeneration {
        model: u8,
        is_fresh: bool,
        key: Option<u8>,
    },
    /// Everything that a store's feed asks for, up to a limit, as the worker would do it.
    Embed {
        store: usize,
        generation: usize,
        limit: usize,
    },
    PutVectors {
        store: usize,
        generation: usize,
        through: u64,
        vectors: Vec<VectorPlan>,
    },
    /// All or nothing: which rows go first is up to the engine.
    DropGeneration {
        generation: usize,
        is_whole: bool,
    },
    /// Everything that a store's feed has for a reader, up to a limit.
    Read {
        store: usize,
        reader: usize,
        limit: usize,
    },
    Misread {
        store: usize,
        reader: usize,
        version: usize,
    },
    ForgetReader {
        reader: usize,
        is_whole: bool,
    },
}

/// What is about principals, keys and sessions.
#[derive(Debug, Clone)]
pub(super) enum CredentialStep {
    CreatePrincipal { name: u8, key: Option<u8> },
    CreateKey { owner: Who, hash: u8, session: Option<usize>, key: Option<u8> },
    RevokeKey { number: usize },
    OpenSession { stores: Vec<(usize, bool)>, key: Option<u8> },
    TitleSession { session: usize, title: Option<u8>, label: Option<u8>, key: Option<u8> },
    ArchiveSession { session: usize, key: Option<u8> },
    RemoveSession { session: usize, key: Option<u8> },
}

/// What is about groups, what stands on them, addresses, and the audit log. Everybody is a number:
/// see [`super::groups::EVERYBODY`].
#[derive(Debug, Clone)]
pub(super) enum GroupStep {
    AddMember {
        group: usize,
        member: usize,
        key: Option<u8>,
    },
    // Without a key: the grants that go come in no particular order.
    RemoveMember {
        group: usize,
        member: usize,
    },
    SwitchMemory {
        who: usize,
        off: u8,
        key: Option<u8>,
    },
    /// A share that anybody tries who is somebody, with its line in the audit log.
    AuditedShare {
        store: usize,
        giver: usize,
        grantee: usize,
        ends_in: Option<i64>,
        is_long: bool,
    },
    /// A write of a memory with a line in the audit log.
    AuditedCommit {
        store: usize,
        edits: Vec<EditPlan>,
        is_long: bool,
        key: Option<u8>,
    },
    Record {
        what: u8,
        is_long: bool,
        key: Option<u8>,
    },
    CreateAt {
        owner: usize,
        address: usize,
        key: Option<u8>,
    },
    RemoveLast,
}

/// A version, and where its vectors come from.
#[derive(Debug, Clone)]
pub(super) enum VectorPlan {
    Made { version: usize, bytes: usize },
    SameAs { version: usize, other: usize },
}

/// Who acts: as a host or as a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Owner,
    OwnersModel,
    Guest,
    OtherGuest,
}

#[derive(Debug, Clone)]
pub(super) struct EditPlan {
    pub(super) at: AtPlan,
    pub(super) expect: ExpectPlan,
    pub(super) records_same: bool,
    pub(super) op: OpPlan,
}

#[derive(Debug, Clone)]
pub(super) enum AtPlan {
    Memory(usize),
    Path { partition: Option<u8>, path: usize },
    FirstFact,
}

#[derive(Debug, Clone)]
pub(super) enum ExpectPlan {
    Anything,
    Absent,
    Present,
    DigestOf(usize),
    Revision(u64),
}

#[derive(Debug, Clone)]
pub(super) enum OpPlan {
    Put { content: ContentPlan, to: Option<usize>, attributes: AttributesPlan },
    Append { text: usize, to: Option<usize>, attributes: AttributesPlan },
    Replace { old: usize, new: usize, only: bool },
    Remove,
}

#[derive(Debug, Clone)]
pub(super) enum ContentPlan {
    Keep,
    Text(usize),
    Sealed(usize),
}

#[derive(Debug, Clone)]
pub(super) enum AttributesPlan {
    Keep,
    Fact,
    Tagged,
    Untagged,
    Internal,
    Shown,
    EndsIn(i64),
    Endless,
    Broken,
}

fn store() -> impl Strategy<Value = usize> {
    prop_oneof![8 => Just(0usize), 2 => Just(1), 2 => Just(2), 1 => Just(3)]
}

fn key() -> impl Strategy<Value = Option<u8>> {
    prop_oneof![5 => Just(None), 1 => (0u8..4).prop_map(Some)]
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let edits = prop_oneof![
        5 => prop::collection::vec(edit(), 1..=1),
        2 => prop::collection::vec(edit(), 2..=4),
        3 => growth(),
    ];
    prop_oneof![
        40 => (store(), who(), edits, key())
            .prop_map(|(store, who, edits, key)| Step::Commit { store, who, edits, key }),
        2 => (store(), (which(), 0..PATHS.len()), (which(), 0..PATHS.len()))
            .prop_map(|(store, one, other)| Step::Swap { store, one, other }),
        4 => (store(), prop::collection::vec((who(), edit()), 2..=5))
            .prop_map(|(store, edits)| Step::Together { store, edits }),
        1 => Just(Step::Reopen),
        8 => credential_step().prop_map(Step::Credential),
        16 => group_step().prop_map(Step::Group),
        3 => (store(), which()).prop_map(|(store, memory)| Step::Expire { store, memory }),
        10 => (store(), which(), key())
            .prop_map(|(store, version, key)| Step::Redact { store, version, key }),
        2 => (store(), which(), key())
            .prop_map(|(store, memory, key)| Step::Erase { store, memory, key }),
        3 => (store(), who(), 0usize..4, 0u8..3, prop::option::of(0i64..30)).prop_map(
            |(store, giver, grantee, level, ends_in)| {
                Step::Share { store, giver, grantee, level, ends_in }
            }
        ),
        2 => (store(), who(), which())
            .prop_map(|(store, giver, grant)| Step::Revoke { store, giver, grant }),
        1 => (store(), 0u8..3, key())
            .prop_map(|(store, name, key)| Step::Describe { store, name, key }),
        1 => (Just(1usize), key()).prop_map(|(store, key)| Step::Archive { store, key }),
        1 => (Just(1usize), key()).prop_map(|(store, key)| Step::RemoveStore { store, key }),
        1 => (store(), 0usize..3).prop_map(|(store, limit)| Step::Purge { store, limit }),
        6 => (-5i64..20).prop_map(|secs| Step::MoveClock { secs }),
        1 => (0i64..30).prop_map(|secs_ago| Step::ForgetKeys { secs_ago }),
        2 => (store(), 0u8..3, proptest::option::of(0u64..4), key()).prop_map(
            |(store, repeats, soft_cap, key)| Step::SetPolicy { store, repeats, soft_cap, key },
        ),
        2 => (0u8..3, any::<bool>(), key()).prop_map(|(model, is_fresh, key)| {
            Step::OpenGeneration { model, is_fresh, key }
        }),
        8 => (store(), 0usize..3, 0usize..9)
            .prop_map(|(store, generation, limit)| Step::Embed { store, generation, limit }),
        3 => (store(), 0usize..3, 0u64..20, prop::collection::vec(vector(), 0..4)).prop_map(
            |(store, generation, through, vectors)| {
                Step::PutVectors { store, generation, through, vectors }
            }
        ),
        1 => (0usize..3, any::<bool>()).prop_map(|(generation, is_whole)| {
            Step::DropGeneration { generation, is_whole }
        }),
        6 => (store(), 0usize..3, 0usize..9)
            .prop_map(|(store, reader, limit)| Step::Read { store, reader, limit }),
        2 => (store(), 1usize..3, which())
            .prop_map(|(store, reader, version)| Step::Misread { store, reader, version }),
        1 => (0usize..3, any::<bool>())
            .prop_map(|(reader, is_whole)| Step::ForgetReader { reader, is_whole }),
    ]
}

fn credential_step() -> impl Strategy<Value = CredentialStep> {
    let stores = || prop::collection::vec((0usize..2, any::<bool>()), 0..3);
    let session = || 0usize..4;
    prop_oneof![
        2 => (0u8..4, key()).prop_map(|(name, key)| CredentialStep::CreatePrincipal { name, key }),
        3 => (who(), 0u8..6, prop::option::of(which()), key()).prop_map(
            |(owner, hash, session, key)| CredentialStep::CreateKey { owner, hash, session, key }
        ),
        1 => which().prop_map(|number| CredentialStep::RevokeKey { number }),
        4 => (stores(), key())
            .prop_map(|(stores, key)| CredentialStep::OpenSession { stores, key }),
        2 => (session(), prop::option::of(0u8..3), prop::option::of(0u8..3), key()).prop_map(
            |(session, title, label, key)| {
                CredentialStep::TitleSession { session, title, label, key }
            }
        ),
        1 => (session(), key())
            .prop_map(|(session, key)| CredentialStep::ArchiveSession { session, key }),
        1 => (session(), key())
            .prop_map(|(session, key)| CredentialStep::RemoveSession { session, key }),
    ]
}

fn group_step() -> impl Strategy<Value = GroupStep> {
    let who = || 0usize..7;
    let store = || prop_oneof![1 => Just(0usize), 3 => Just(2), 3 => Just(3)];
    prop_oneof![
        8 => (4usize..7, who(), key())
            .prop_map(|(group, member, key)| GroupStep::AddMember { group, member, key }),
        5 => (4usize..7, who())
            .prop_map(|(group, member)| GroupStep::RemoveMember { group, member }),
        2 => (who(), 0u8..16, key())
            .prop_map(|(who, off, key)| GroupStep::SwitchMemory { who, off, key }),
        8 => (store(), who(), who(), prop::option::of(0i64..30), prop::bool::weighted(0.1))
            .prop_map(|(store, giver, grantee, ends_in, is_long)| {
                GroupStep::AuditedShare { store, giver, grantee, ends_in, is_long }
            }),
        3 => (store(), prop::collection::vec(edit(), 1..=3), prop::bool::weighted(0.2), key())
            .prop_map(|(store, edits, is_long, key)| {
                GroupStep::AuditedCommit { store, edits, is_long, key }
            }),
        2 => (0u8..4, prop::bool::weighted(0.1), key())
            .prop_map(|(what, is_long, key)| GroupStep::Record { what, is_long, key }),
        3 => (who(), 0usize..4, key())
            .prop_map(|(owner, address, key)| GroupStep::CreateAt { owner, address, key }),
        1 => Just(GroupStep::RemoveLast),
    ]
}

fn vector() -> impl Strategy<Value = VectorPlan> {
    let bytes = prop_oneof![9 => Just(4usize), 3 => Just(8), 1 => Just(3)];
    prop_oneof![
        2 => (which(), bytes).prop_map(|(version, bytes)| VectorPlan::Made { version, bytes }),
        1 => (which(), which())
            .prop_map(|(version, other)| VectorPlan::SameAs { version, other }),
    ]
}

/// Which of the things made so far; the largest number is something unknown.
pub(super) fn which() -> impl Strategy<Value = usize> {
    prop_oneof![15 => 0usize..40, 1 => Just(UNKNOWN)]
}

pub(super) fn who() -> impl Strategy<Value = Who> {
    prop_oneof![
        6 => Just(Who::Owner),
        2 => Just(Who::OwnersModel),
        2 => Just(Who::Guest),
        1 => Just(Who::OtherGuest),
    ]
}

pub(super) fn edit() -> impl Strategy<Value = EditPlan> {
    let at = prop_oneof![
        4 => which().prop_map(AtPlan::Memory),
        8 => (prop_oneof![8 => Just(None), 1 => (1u8..3).prop_map(Some)], 0..PATHS.len())
            .prop_map(|(partition, path)| AtPlan::Path { partition, path }),
        1 => Just(AtPlan::FirstFact),
    ];
    let expect = prop_oneof![
        20 => Just(ExpectPlan::Anything),
        2 => Just(ExpectPlan::Absent),
        1 => Just(ExpectPlan::Present),
        1 => (0..TEXTS.len()).prop_map(ExpectPlan::DigestOf),
        1 => (0u64..4).prop_map(ExpectPlan::Revision),
    ];
    (at, expect, prop::bool::weighted(0.1), op())
        .prop_map(|(at, expect, records_same, op)| EditPlan { at, expect, records_same, op })
}

/// A text that becomes long and grows on, in one go or in several.
fn growth() -> impl Strategy<Value = Vec<EditPlan>> {
    let text = || 0..TEXTS.len();
    let op = prop_oneof![
        6 => text().prop_map(|text| OpPlan::Append {
            text,
            to: None,
            attributes: AttributesPlan::Keep,
        }),
        1 => Just(OpPlan::Put {
            content: ContentPlan::Text(LONG_TEXT),
            to: None,
            attributes: AttributesPlan::Keep,
        }),
        1 => attributes().prop_map(|attributes| OpPlan::Put {
            content: ContentPlan::Keep,
            to: None,
            attributes,
        }),
        1 => (text(), text())
            .prop_map(|(old, new)| OpPlan::Replace { old, new, only: false }),
    ];
    (0usize..3, any::<bool>(), prop::collection::vec(op, 1..=5)).prop_map(
        |(path, is_begun, ops)| {
            let begin =
                OpPlan::Append { text: LONG_TEXT, to: None, attributes: AttributesPlan::Keep };
            let ops = is_begun.then_some(begin).into_iter().chain(ops);
            let at = |op| EditPlan {
                at: AtPlan::Path { partition: None, path },
                expect: ExpectPlan::Anything,
                records_same: false,
                op,
            };
            ops.map(at).collect()
        },
    )
}

fn op() -> impl Strategy<Value = OpPlan> {
    let text = || 0..TEXTS.len();
    let to = || prop_oneof![3 => Just(None), 1 => (0..PATHS.len()).prop_map(Some)];
    let content = prop_oneof![
        8 => text().prop_map(ContentPlan::Text),
        1 => Just(ContentPlan::Keep),
        1 => text().prop_map(ContentPlan::Sealed),
    ];
    prop_oneof![
        12 => (content, to(), attributes())
            .prop_map(|(content, to, attributes)| OpPlan::Put { content, to, attributes }),
        4 => (text(), to(), attributes())
            .prop_map(|(text, to, attributes)| OpPlan::Append { text, to, attributes }),
        1 => (text(), text(), any::<bool>())
            .prop_map(|(old, new, only)| OpPlan::Replace { old, new, only }),
        2 => Just(OpPlan::Remove),
    ]
}

fn attributes() -> impl Strategy<Value = AttributesPlan> {
    prop_oneof![
        14 => Just(AttributesPlan::Keep),
        2 => Just(AttributesPlan::Fact),
        2 => Just(AttributesPlan::Tagged),
        1 => Just(AttributesPlan::Untagged),
        2 => Just(AttributesPlan::Internal),
        1 => Just(AttributesPlan::Shown),
        3 => (0i64..20).prop_map(AttributesPlan::EndsIn),
        1 => Just(AttributesPlan::Endless),
        1 => Just(AttributesPlan::Broken),
    ]
}
