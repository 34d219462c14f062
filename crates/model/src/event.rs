//! The audit log: everything that happened to access, and every look through a search-only grant.
//! What happened to memories is in their versions.
//!
//! Events of a workspace are numbered 1, 2, 3 … and each carries a hash over itself and the hash
//! before it, so that one taken out or changed afterwards shows.

use crate::{Actor, Invalid, PrincipalId, StoreId, Timestamp, WorkspaceId, limit};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

/// What sort of thing happened, by the name it has on every wire.
pub mod kind {
    /// A principal was made.
    pub const PRINCIPAL_CREATED: &str = "principal_created";
    /// A principal that was only shared with became what it is.
    pub const PRINCIPAL_RECAST: &str = "principal_recast";
    /// A principal's memory was switched on or off, in parts or whole.
    pub const MEMORY_SWITCHED: &str = "memory_switched";
    /// A key was made.
    pub const KEY_CREATED: &str = "key_created";
    /// A key was revoked.
    pub const KEY_REVOKED: &str = "key_revoked";
    /// A store was archived.
    pub const STORE_ARCHIVED: &str = "store_archived";
    /// A store was removed.
    pub const STORE_REMOVED: &str = "store_removed";
    /// A store was shared.
    pub const GRANT_GIVEN: &str = "grant_given";
    /// A grant was taken back.
    pub const GRANT_REVOKED: &str = "grant_revoked";
    /// Somebody joined a group.
    pub const MEMBER_ADDED: &str = "member_added";
    /// Somebody left a group.
    pub const MEMBER_REMOVED: &str = "member_removed";
    /// What a reader found was forgotten.
    pub const READER_FORGOTTEN: &str = "reader_forgotten";
    /// A version was redacted, and why.
    pub const VERSION_REDACTED: &str = "version_redacted";
    /// A memory was erased with all its versions.
    pub const MEMORY_ERASED: &str = "memory_erased";
    /// The workspace was exported.
    pub const EXPORTED: &str = "exported";
    /// Something was imported into the workspace.
    pub const IMPORTED: &str = "imported";
    /// The data was copied whole.
    pub const BACKED_UP: &str = "backed_up";
    /// An administrator looked with somebody else's eyes: once an hour for each pair and server.
    pub const VIEWED_AS: &str = "viewed_as";
    /// Somebody searched a store that they may only search.
    pub const SEARCHED: &str = "searched";
}

/// Something that happened, before it has a place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happening {
    /// The tenant.
    pub workspace: WorkspaceId,
    /// When.
    pub at: Timestamp,
    /// With which credential.
    pub actor: Actor,
    /// On whose authority.
    pub principal: PrincipalId,
    /// What sort of thing; one of [`kind`].
    pub kind: &'static str,
    /// In which store.
    pub store: Option<StoreId>,
    /// What it was about, by its id.
    pub subject: Option<String>,
    /// More of it: a level, a name, a query. Never content of a memory.
    pub detail: Option<String>,
}

impl Happening {
    /// Checks the limits. Details that are too long are cut by whoever writes them.
    pub fn validate(&self) -> Result<(), Invalid> {
        for (field, text, max) in [
            ("subject", &self.subject, limit::EVENT_SUBJECT_CHARS_MAX),
            ("detail", &self.detail, limit::EVENT_DETAIL_CHARS_MAX),
        ] {
            let chars = text.as_ref().map_or(0, |text| text.chars().count());
            if chars > max {
                return Err(Invalid::new(field, format!("is {chars} characters, limit {max}")));
            }
        }
        Ok(())
    }
}

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// 1, 2, 3 … within the workspace.
    pub seq: u64,
    /// The tenant.
    pub workspace: WorkspaceId,
    /// When.
    pub at: Timestamp,
    /// With which credential.
    pub actor: Actor,
    /// On whose authority.
    pub principal: PrincipalId,
    /// What sort of thing.
    pub kind: String,
    /// In which store.
    pub store: Option<StoreId>,
    /// What it was about, by its id.
    pub subject: Option<String>,
    /// More of it.
    pub detail: Option<String>,
    /// Over everything above and the hash of the event before.
    pub hash: [u8; 32],
}

/// The end of a workspace's log: the number and hash of its last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogEnd {
    /// The last number, 0 when there is none.
    pub seq: u64,
    /// The last hash, zeros when there is none.
    pub hash: [u8; 32],
}

impl LogEnd {
    /// What a log goes on from whose end is not known any more, though one was written down when its
    /// workspace was made. No event has this hash, so what follows never looks like an unbroken log.
    pub fn lost(seq: u64) -> Self {
        Self { seq, hash: [u8::MAX; 32] }
    }
}

/// `SEQ:HASH`, the hash in hexadecimal: short enough to be kept on paper.
impl fmt::Display for LogEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.seq)?;
        self.hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for LogEnd {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("audit_end", "is not SEQ:HASH with 64 hexadecimal digits");
        let (seq, hex) = text.split_once(':').ok_or_else(invalid)?;
        if hex.len() != 64 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(invalid());
        }
        let mut hash = [0; 32];
        for (byte, digits) in hash.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| invalid())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| invalid())?;
        }
        Ok(Self { seq: seq.parse().map_err(|_| invalid())?, hash })
    }
}

impl Event {
    /// The next event of a log.
    pub fn next(end: LogEnd, happening: Happening) -> Self {
        let mut event = Self {
            seq: end.seq + 1,
            workspace: happening.workspace,
            at: happening.at,
            actor: happening.actor,
            principal: happening.principal,
            kind: happening.kind.to_owned(),
            store: happening.store,
            subject: happening.subject,
            detail: happening.detail,
            hash: [0; 32],
        };
        event.hash = event.hash_after(end.hash);
        event
    }

    /// Whether this event is the one that follows the end of a log.
    pub fn follows(&self, end: LogEnd) -> bool {
        self.seq == end.seq + 1 && self.hash == self.hash_after(end.hash)
    }

    /// The end of a log whose last event is this one.
    pub fn end(&self) -> LogEnd {
        LogEnd { seq: self.seq, hash: self.hash }
    }

    fn hash_after(&self, before: [u8; 32]) -> [u8; 32] {
        let mut hasher = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        add(&before);
        add(&self.seq.to_be_bytes());
        add(&self.workspace.to_bytes());
        add(&self.at.as_micros().to_be_bytes());
        let (kind, id) = match self.actor {
            Actor::Session(id) => (0, id.to_bytes()),
            Actor::Key(id) => (1, id.to_bytes()),
            Actor::User(id) => (2, id.to_bytes()),
            Actor::Service(id) => (3, id.to_bytes()),
            Actor::System => (4, [0; 16]),
        };
        add(&[kind]);
        add(&id);
        add(&self.principal.to_bytes());
        add(self.kind.as_bytes());
        add(&self.store.map(StoreId::to_bytes).unwrap_or_default());
        for text in [&self.subject, &self.detail] {
            // Nothing and an empty text are two things.
            add(&[u8::from(text.is_some())]);
            add(text.as_deref().unwrap_or_default().as_bytes());
        }
        hasher.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn happening(detail: Option<&str>) -> Happening {
        Happening {
            workspace: WorkspaceId::from_u128(1),
            at: Timestamp::from_micros(7),
            actor: Actor::System,
            principal: PrincipalId::from_u128(2),
            kind: kind::GRANT_GIVEN,
            store: None,
            subject: Some("grt_1".into()),
            detail: detail.map(str::to_owned),
        }
    }

    #[test]
    fn a_changed_or_missing_event_breaks_the_chain() {
        let first = Event::next(LogEnd::default(), happening(None));
        let second = Event::next(first.end(), happening(Some("read")));
        assert!(first.follows(LogEnd::default()) && second.follows(first.end()));
        assert!(!second.follows(LogEnd::default()), "one is missing");
        let changed = Event { detail: Some("readwrite".into()), ..second.clone() };
        assert!(!changed.follows(first.end()));
        let emptied = Event { detail: Some(String::new()), ..first };
        assert!(!emptied.follows(LogEnd::default()), "nothing is not an empty text");
    }

    #[test]
    fn an_end_is_kept_as_text() {
        let end = Event::next(LogEnd::default(), happening(None)).end();
        assert_eq!(end.to_string().parse(), Ok(end));
        assert_eq!(LogEnd::default().to_string(), format!("0:{}", "0".repeat(64)));
        let hash = "a".repeat(64);
        for text in
            ["", "7", ":", &format!("7:{hash}0"), &format!("-7:{hash}"), &format!(":{hash}")]
        {
            assert!(text.parse::<LogEnd>().is_err(), "{text}");
        }
        assert!(format!("7:{}", "é".repeat(32)).parse::<LogEnd>().is_err());
    }

    #[test]
    fn nothing_that_follows_a_lost_end_looks_unbroken() {
        let first = Event::next(LogEnd::lost(0), happening(None));
        assert!(!first.follows(LogEnd::default()));
    }

    #[test]
    fn details_are_bounded() {
        let long = "x".repeat(limit::EVENT_DETAIL_CHARS_MAX + 1);
        assert_eq!(happening(Some(&long)).validate().unwrap_err().field, "detail");
        assert!(happening(Some(&long[1..])).validate().is_ok());
    }
}
