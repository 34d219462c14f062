//! The lines of an export and their conversion to and from the model. This is a file format: fields
//! are only ever added, with defaults, under a new format number.

use super::attributes::AttributesFields;
use super::damaged::DamagedLine;
use super::names::Names;
use crate::NewPrincipal;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use loci_model::store::{OnRemove, Partitioning, Repeats, Who};
use loci_model::version::Redaction;
use loci_model::{
    Address, Attributes, Cause, Content, Digest, Grant, Grantee, Invalid, Level, Membership,
    MemoryPath, MemorySwitches, Operation, Principal, PrincipalId, PrincipalKind, Store, StoreId,
    StorePolicy, Timestamp, Version, WorkspaceId,
};
use loci_storage::log::{ImportItem, LogEntry};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line {
    #[serde(rename = "loci_export")]
    Header {
        format: u32,
    },
    Principal(PrincipalLine),
    Membership(MembershipLine),
    Store(StoreLine),
    Grant(GrantLine),
    Version(Box<VersionLine>),
    Redaction(RedactionLine),
    /// Last of all, what the export could not read. An import passes over it.
    Damaged(DamagedLine),
}

#[derive(Serialize, Deserialize)]
pub(super) struct PrincipalLine {
    name: String,
    kind: String,
    is_admin: bool,
    /// Absent in exports from before memory could be switched off.
    #[serde(default, skip_serializing_if = "SwitchNames::are_all_on")]
    memory: SwitchNames,
}

#[derive(Serialize, Deserialize, Clone, Copy)]
struct SwitchNames {
    is_on: bool,
    own: bool,
    groups: bool,
    users: bool,
}

impl Default for SwitchNames {
    fn default() -> Self {
        MemorySwitches::default().into()
    }
}

impl SwitchNames {
    fn are_all_on(&self) -> bool {
        MemorySwitches::from(*self) == MemorySwitches::default()
    }
}

impl From<MemorySwitches> for SwitchNames {
    fn from(MemorySwitches { is_on, own, groups, users }: MemorySwitches) -> Self {
        Self { is_on, own, groups, users }
    }
}

impl From<SwitchNames> for MemorySwitches {
    fn from(SwitchNames { is_on, own, groups, users }: SwitchNames) -> Self {
        Self { is_on, own, groups, users }
    }
}

impl PrincipalLine {
    pub(super) fn switches(&self) -> MemorySwitches {
        self.memory.into()
    }
}

#[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MembershipLine {
    group: String,
    member: String,
    since: String,
}

impl MembershipLine {
    pub(super) fn new(membership: &Membership, names: &Names) -> Self {
        Self {
            group: names.name(membership.group),
            member: names.name(membership.member),
            since: membership.since.to_string(),
        }
    }

    pub(super) fn into_membership(self, names: &Names) -> Result<Membership, Invalid> {
        Ok(Membership {
            group: names.id(&self.group)?,
            member: names.id(&self.member)?,
            since: Timestamp::parse(&self.since)?,
        })
    }
}

impl From<&Principal> for PrincipalLine {
    fn from(principal: &Principal) -> Self {
        let kind = match principal.kind {
            PrincipalKind::User => "user",
            PrincipalKind::Agent => "agent",
            PrincipalKind::Service => "service",
            PrincipalKind::Group => "group",
        };
        Self {
            name: principal.name.clone(),
            kind: kind.into(),
            is_admin: principal.is_admin,
            memory: principal.memory.into(),
        }
    }
}

impl TryFrom<PrincipalLine> for NewPrincipal {
    type Error = Invalid;

    fn try_from(line: PrincipalLine) -> Result<Self, Invalid> {
        let kind = match line.kind.as_str() {
            "user" => PrincipalKind::User,
            "agent" => PrincipalKind::Agent,
            "service" => PrincipalKind::Service,
            "group" => PrincipalKind::Group,
            _ => return Err(Invalid::new("line", "has an unknown kind of principal")),
        };
        Ok(Self { kind, name: line.name, is_admin: line.is_admin })
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoreLine {
    id: String,
    owner: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<AddressName>,
    name: String,
    description: String,
    metadata: BTreeMap<String, String>,
    policy: PolicyFields,
    created_at: String,
    updated_at: String,
    archived_at: Option<String>,
}

/// An address, told from the owner where it names the owner: ids are others after an import.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AddressName {
    Home,
    Callers,
    Named(String),
}

impl AddressName {
    fn new(address: &Address, owner: PrincipalId) -> Self {
        if *address == Address::home(owner) {
            Self::Home
        } else if *address == Address::callers(owner) {
            Self::Callers
        } else {
            Self::Named(address.to_string())
        }
    }

    fn into_address(self, owner: PrincipalId) -> Result<Address, Invalid> {
        match self {
            Self::Home => Ok(Address::home(owner)),
            Self::Callers => Ok(Address::callers(owner)),
            Self::Named(text) => Address::parse(&text),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct PolicyFields {
    partition_by_owner: bool,
    remove_by_owner_only: bool,
    share_by_owner_only: bool,
    erase_after_secs: Option<u32>,
    content_bytes_max: u64,
    memories_max: u64,
    /// Absent in exports from before there was a choice.
    #[serde(default)]
    repeats: RepeatsName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    soft_cap: Option<u64>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
enum RepeatsName {
    #[default]
    Allow,
    Refuse,
    Merge,
}

impl From<Repeats> for RepeatsName {
    fn from(repeats: Repeats) -> Self {
        match repeats {
            Repeats::Allow => Self::Allow,
            Repeats::Refuse => Self::Refuse,
            Repeats::Merge => Self::Merge,
        }
    }
}

impl From<RepeatsName> for Repeats {
    fn from(name: RepeatsName) -> Self {
        match name {
            RepeatsName::Allow => Self::Allow,
            RepeatsName::Refuse => Self::Refuse,
            RepeatsName::Merge => Self::Merge,
        }
    }
}

impl StoreLine {
    pub(super) fn new(store: &Store, names: &Names) -> Self {
        let policy = &store.policy;
        Self {
            id: store.id.to_string(),
            owner: names.name(store.owner),
            address: store.address.as_ref().map(|one| AddressName::new(one, store.owner)),
            name: store.name.clone(),
            description: store.description.clone(),
            metadata: store.metadata.clone(),
            policy: PolicyFields {
                partition_by_owner: policy.partitioning == Partitioning::ByOwner,
                remove_by_owner_only: policy.remove == Who::Owner,
                share_by_owner_only: policy.share == Who::Owner,
                erase_after_secs: match policy.on_remove {
                    OnRemove::KeepHistory => None,
                    OnRemove::EraseAfter { secs } => Some(secs),
                },
                content_bytes_max: policy.content_bytes_max,
                memories_max: policy.memories_max,
                repeats: policy.repeats.into(),
                soft_cap: policy.soft_cap,
            },
            created_at: store.created_at.to_string(),
            updated_at: store.updated_at.to_string(),
            archived_at: store.archived_at.map(|at| at.to_string()),
        }
    }

    pub(super) fn into_store(
        self,
        workspace: WorkspaceId,
        names: &Names,
    ) -> Result<Store, Invalid> {
        let who = |owner_only| if owner_only { Who::Owner } else { Who::Writer };
        let owner = names.id(&self.owner)?;
        let store = Store {
            id: parse(&self.id)?,
            workspace,
            owner,
            address: self.address.map(|one| one.into_address(owner)).transpose()?,
            name: self.name,
            description: self.description,
            metadata: self.metadata,
            policy: StorePolicy {
                partitioning: match self.policy.partition_by_owner {
                    true => Partitioning::ByOwner,
                    false => Partitioning::None,
                },
                remove: who(self.policy.remove_by_owner_only),
                share: who(self.policy.share_by_owner_only),
                on_remove: self
                    .policy
                    .erase_after_secs
                    .map_or(OnRemove::KeepHistory, |secs| OnRemove::EraseAfter { secs }),
                content_bytes_max: self.policy.content_bytes_max,
                memories_max: self.policy.memories_max,
                repeats: self.policy.repeats.into(),
                soft_cap: self.policy.soft_cap,
            },
            created_at: Timestamp::parse(&self.created_at)?,
            updated_at: Timestamp::parse(&self.updated_at)?,
            archived_at: time(self.archived_at.as_deref())?,
        };
        store.validate()?;
        Ok(store)
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct GrantLine {
    id: String,
    store: String,
    grantee: Option<String>,
    level: String,
    given_by: String,
    expires_at: Option<String>,
    created_at: String,
}

impl GrantLine {
    pub(super) fn new(grant: &Grant, names: &Names) -> Self {
        Self {
            id: grant.id.to_string(),
            store: grant.store.to_string(),
            grantee: match grant.grantee {
                Grantee::Principal(id) => Some(names.name(id)),
                Grantee::Everyone => None,
            },
            level: match grant.level {
                Level::Search => "search",
                Level::Read => "read",
                Level::ReadWrite => "readwrite",
            }
            .into(),
            given_by: names.name(grant.given_by),
            expires_at: grant.expires_at.map(|at| at.to_string()),
            created_at: grant.created_at.to_string(),
        }
    }

    pub(super) fn into_grant(self, names: &Names) -> Result<Grant, Invalid> {
        let grantee = match &self.grantee {
            Some(name) => Grantee::Principal(names.id(name)?),
            None => Grantee::Everyone,
        };
        let level = match self.level.as_str() {
            "search" => Level::Search,
            "read" => Level::Read,
            "readwrite" => Level::ReadWrite,
            _ => return Err(Invalid::new("line", "has an unknown level")),
        };
        Ok(Grant {
            id: parse(&self.id)?,
            store: parse(&self.store)?,
            grantee,
            level,
            given_by: names.id(&self.given_by)?,
            expires_at: time(self.expires_at.as_deref())?,
            created_at: Timestamp::parse(&self.created_at)?,
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct VersionLine {
    store: String,
    seq: u64,
    id: String,
    memory: String,
    owner: String,
    partition: Option<String>,
    revision: u64,
    operation: String,
    path: Option<String>,
    attributes: Option<AttributesFields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sealed_base64: Option<String>,
    sha256: Option<String>,
    actor: String,
    created_at: String,
    request: Option<String>,
    reason: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    derived_from: Vec<String>,
    redacted_at: Option<String>,
    redacted_by: Option<String>,
}

impl VersionLine {
    pub(super) fn new(
        version: &Version,
        partition: Option<PrincipalId>,
        owner: PrincipalId,
        names: &Names,
    ) -> Self {
        let (text, sealed_base64) = match &version.content {
            None => (None, None),
            Some(Content::Text(text)) => (Some(text.clone()), None),
            Some(Content::Sealed(bytes)) => (None, Some(BASE64.encode(bytes))),
        };
        Self {
            store: version.store.to_string(),
            seq: version.seq,
            id: version.id.to_string(),
            memory: version.memory.to_string(),
            owner: names.name(owner),
            partition: partition.map(|id| names.name(id)),
            revision: version.revision,
            operation: match version.operation {
                Operation::Created => "created",
                Operation::Modified => "modified",
                Operation::Deleted => "deleted",
            }
            .into(),
            path: version.path.as_ref().map(|path| path.to_string()),
            attributes: version.attributes.as_ref().map(AttributesFields::from),
            text,
            sealed_base64,
            sha256: version.digest.map(|digest| digest.to_string()),
            actor: names.actor(version.actor),
            created_at: version.created_at.to_string(),
            request: version.cause.request.clone(),
            reason: version.cause.reason.clone(),
            derived_from: version.cause.derived_from.iter().map(|id| id.to_string()).collect(),
            redacted_at: version.redaction.map(|redaction| redaction.at.to_string()),
            redacted_by: version.redaction.map(|redaction| names.actor(redaction.by)),
        }
    }

    pub(super) fn into_item(self, names: &Names) -> Result<ImportItem, Invalid> {
        let content = match (self.text, self.sealed_base64) {
            (Some(text), None) => Some(Content::Text(text)),
            (None, Some(sealed)) => {
                let bytes = BASE64.decode(sealed);
                Some(Content::Sealed(bytes.map_err(|_| Invalid::new("line", "is not base64"))?))
            }
            (None, None) => None,
            (Some(_), Some(_)) => return Err(Invalid::new("line", "has two contents")),
        };
        let digest: Option<Digest> = self.sha256.as_deref().map(parse).transpose()?;
        if content.as_ref().map(Content::digest) != digest {
            return Err(Invalid::new("line", "has content that does not match its sha256"));
        }
        let redaction = match (&self.redacted_at, &self.redacted_by) {
            (Some(at), Some(by)) => {
                Some(Redaction { at: Timestamp::parse(at)?, by: names.parse_actor(by)? })
            }
            (None, None) => None,
            _ => return Err(Invalid::new("line", "is half redacted")),
        };
        let store: StoreId = parse(&self.store)?;
        let derived_from: Result<Vec<_>, _> =
            self.derived_from.iter().map(|id| parse(id)).collect();
        let version = Version {
            id: parse(&self.id)?,
            memory: parse(&self.memory)?,
            store,
            revision: self.revision,
            seq: self.seq,
            operation: match self.operation.as_str() {
                "created" => Operation::Created,
                "modified" => Operation::Modified,
                "deleted" => Operation::Deleted,
                _ => return Err(Invalid::new("line", "has an unknown operation")),
            },
            path: self.path.as_deref().map(MemoryPath::parse).transpose()?,
            attributes: self.attributes.map(Attributes::try_from).transpose()?,
            size_bytes: content.as_ref().map(|content| content.bytes().len() as u64),
            content,
            digest,
            actor: names.parse_actor(&self.actor)?,
            created_at: Timestamp::parse(&self.created_at)?,
            cause: Cause {
                request: self.request,
                reason: self.reason,
                derived_from: derived_from?,
            },
            redaction,
        };
        version.cause.validate()?;
        let partition = self.partition.as_deref().map(|name| names.id(name)).transpose()?;
        let owner = names.id(&self.owner)?;
        let entry = LogEntry::Version { version: Box::new(version), partition, owner };
        Ok(ImportItem::Entry(store, entry))
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct RedactionLine {
    store: String,
    seq: u64,
    memory: String,
    version: String,
    actor: String,
    at: String,
    reason: String,
}

impl RedactionLine {
    pub(super) fn new(store: StoreId, entry: &LogEntry, names: &Names) -> Self {
        let LogEntry::Redaction { seq, memory, version, actor, at, reason } = entry else {
            unreachable!("called for redactions only")
        };
        Self {
            store: store.to_string(),
            seq: *seq,
            memory: memory.to_string(),
            version: version.to_string(),
            actor: names.actor(*actor),
            at: at.to_string(),
            reason: reason.clone(),
        }
    }

    pub(super) fn into_item(self, names: &Names) -> Result<ImportItem, Invalid> {
        let entry = LogEntry::Redaction {
            seq: self.seq,
            memory: parse(&self.memory)?,
            version: parse(&self.version)?,
            actor: names.parse_actor(&self.actor)?,
            at: Timestamp::parse(&self.at)?,
            reason: self.reason,
        };
        Ok(ImportItem::Entry(parse(&self.store)?, entry))
    }
}

fn parse<T: FromStr<Err = Invalid>>(text: &str) -> Result<T, Invalid> {
    text.parse()
}

pub(super) fn time(text: Option<&str>) -> Result<Option<Timestamp>, Invalid> {
    text.map(Timestamp::parse).transpose()
}
