//! Which table a row is of, by what its columns hold: a page of a lost tree has no other name. Only
//! what cannot be made again is looked for; vectors, readings and indexes are left behind.

use super::cells::Row;
use rusqlite::types::Value;

/// What a column holds.
#[derive(Clone, Copy)]
enum Holds {
    /// The key of the row, which its record leaves empty.
    Key,
    Int,
    OptInt,
    Text,
    OptText,
    Blob,
    OptBlob,
    /// Sixteen bytes.
    Id,
    OptId,
    /// Sixteen bytes or none.
    IdOrEmpty,
    /// Thirty-two bytes.
    Hash,
    OptHash,
}

use Holds::{Blob, Hash, Id, IdOrEmpty, Int, Key, OptBlob, OptHash, OptId, OptInt, OptText, Text};

/// A table, by its columns in the order of its records.
pub(super) struct Table {
    pub(super) name: &'static str,
    columns: &'static [(&'static str, Holds)],
    /// How many of them the oldest format has.
    least: usize,
}

/// Those with keys of their own, then those whose records begin with their primary key.
pub(super) const TABLES: [Table; 14] = [
    Table {
        name: "store",
        least: 22,
        columns: &[
            ("store", Key),
            ("store_id", Id),
            ("workspace_id", Id),
            ("owner", Id),
            ("name", Text),
            ("description", Text),
            ("metadata", Text),
            ("partitioning", Int),
            ("remove_by", Int),
            ("share_by", Int),
            ("erase_after_secs", OptInt),
            ("content_bytes_max", Int),
            ("memories_max", Int),
            ("created_at", Int),
            ("updated_at", Int),
            ("archived_at", OptInt),
            ("removed_at", OptInt),
            ("seq", Int),
            ("last_at", OptInt),
            ("memory_count", Int),
            ("content_bytes", Int),
            ("version_count", Int),
            ("repeats", Int),
            ("address", OptText),
            ("soft_cap", OptInt),
        ],
    },
    Table {
        name: "memory",
        least: 25,
        columns: &[
            ("memory", Key),
            ("store", Int),
            ("memory_id", Id),
            ("partition", IdOrEmpty),
            ("owner", Id),
            ("path", OptText),
            ("kind", OptText),
            ("tags", OptText),
            ("importance", OptInt),
            ("pinned", Int),
            ("visibility", Int),
            ("expires_at", OptInt),
            ("source", OptText),
            ("scope", OptText),
            ("summary", OptText),
            ("media_type", OptText),
            ("metadata", OptText),
            ("head", Int),
            ("revision", Int),
            ("digest", OptHash),
            ("size_bytes", OptInt),
            ("is_sealed", Int),
            ("created_at", Int),
            ("updated_at", Int),
            ("erase_at", OptInt),
            ("repeat_digest", OptHash),
            ("depth", Int),
            ("hash", OptBlob),
        ],
    },
    Table {
        name: "version",
        least: 21,
        columns: &[
            ("version", Key),
            ("version_id", Id),
            ("memory", Int),
            ("revision", Int),
            ("seq", Int),
            ("op", Int),
            ("path", OptText),
            ("attributes", OptText),
            ("visibility", Int),
            ("digest", OptHash),
            ("size_bytes", OptInt),
            ("is_sealed", Int),
            ("actor_kind", Int),
            ("actor_id", OptId),
            ("created_at", Int),
            ("request", OptText),
            ("reason", Text),
            ("derived_from", OptBlob),
            ("redacted_at", OptInt),
            ("redacted_kind", OptInt),
            ("redacted_id", OptId),
        ],
    },
    Table {
        name: "payload",
        least: 2,
        columns: &[("version", Key), ("content", Blob), ("base", OptInt)],
    },
    Table {
        name: "principal",
        least: 6,
        columns: &[
            ("principal_id", Id),
            ("workspace_id", Id),
            ("kind", Int),
            ("name", Text),
            ("is_admin", Int),
            ("created_at", Int),
            ("memory", Int),
        ],
    },
    Table {
        name: "api_key",
        least: 13,
        columns: &[
            ("key_id", Id),
            ("workspace_id", Id),
            ("principal_id", Id),
            ("name", Text),
            ("hint", Text),
            ("secret_hash", Hash),
            ("power", Int),
            ("stores", OptBlob),
            ("session_id", OptId),
            ("audience", Int),
            ("created_at", Int),
            ("expires_at", OptInt),
            ("revoked_at", OptInt),
            ("acts_for_agents", Int),
        ],
    },
    Table {
        name: "change",
        least: 8,
        columns: &[
            ("store", Int),
            ("seq", Int),
            ("op", Int),
            ("version", Int),
            ("actor_kind", Int),
            ("actor_id", OptId),
            ("at", Int),
            ("reason", Text),
        ],
    },
    Table {
        name: "grant_",
        least: 7,
        columns: &[
            ("store", Int),
            ("grantee", IdOrEmpty),
            ("grant_id", Id),
            ("level", Int),
            ("given_by", Id),
            ("expires_at", OptInt),
            ("created_at", Int),
        ],
    },
    Table {
        name: "session",
        least: 11,
        columns: &[
            ("session_id", Id),
            ("workspace_id", Id),
            ("owner", Id),
            ("title", OptText),
            ("metadata", Text),
            ("agent_id", Text),
            ("agent_version", Int),
            ("details", Text),
            ("created_at", Int),
            ("updated_at", Int),
            ("archived_at", OptInt),
        ],
    },
    Table {
        name: "attachment",
        least: 8,
        columns: &[
            ("session_id", Id),
            ("position", Int),
            ("store_id", Id),
            ("access", Int),
            ("instructions", OptText),
            ("name", Text),
            ("description", Text),
            ("mount_path", Text),
        ],
    },
    Table {
        name: "idempotency",
        least: 6,
        columns: &[
            ("scope", Blob),
            ("key", Text),
            ("fingerprint", Blob),
            ("kind", Int),
            ("refs", Blob),
            ("at", Int),
        ],
    },
    Table {
        name: "membership",
        least: 3,
        columns: &[("group_id", Id), ("member_id", Id), ("since", Int)],
    },
    Table {
        name: "event",
        least: 11,
        columns: &[
            ("workspace_id", Id),
            ("seq", Int),
            ("at", Int),
            ("actor_kind", Int),
            ("actor_id", OptId),
            ("principal_id", Id),
            ("kind", Text),
            ("store_id", OptId),
            ("subject", OptText),
            ("detail", OptText),
            ("hash", Hash),
        ],
    },
    Table { name: "workspace", least: 2, columns: &[("workspace_id", Id), ("created_at", Int)] },
];

/// Keys of vectors begin here; they look like the oldest payloads.
const VECTOR_KEYS: i64 = 1 << 40;
/// Numbers below this are keys of rows and not moments: the year 1970 was over when Loci began.
const MOMENTS: i64 = 1 << 40;

impl Table {
    /// The table of a row, if it is one that is looked for.
    pub(super) fn of(row: &Row) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.fits(row))
    }

    fn fits(&self, row: &Row) -> bool {
        let has_key = matches!(self.columns.first(), Some((_, Key)));
        let count = row.values.len();
        let is_like = has_key == row.key.is_some()
            && (self.least..=self.columns.len()).contains(&count)
            && row.values.iter().zip(self.columns).all(|(value, (_, holds))| holds.fits(value));
        is_like
            && match (self.name, row.values.last()) {
                ("payload", _) => row.key.is_some_and(|key| (1..VECTOR_KEYS).contains(&key)),
                // An index of grants has the same shape, with the key of a store.
                ("workspace", Some(Value::Integer(at))) => *at >= MOMENTS,
                _ => true,
            }
    }

    /// The statement that takes a row of so many columns, unless it is there.
    pub(super) fn insert(&self, count: usize) -> String {
        let names: Vec<&str> = self.columns[..count].iter().map(|(name, _)| *name).collect();
        let places: Vec<String> = (1..=count).map(|nth| format!("?{nth}")).collect();
        let (name, names, places) = (self.name, names.join(", "), places.join(", "));
        format!("insert or ignore into {name} ({names}) values ({places})")
    }
}

impl Holds {
    fn fits(self, value: &Value) -> bool {
        let is_bytes = |lens: &[usize]| match value {
            Value::Blob(bytes) => lens.contains(&bytes.len()),
            _ => false,
        };
        match self {
            Key => matches!(value, Value::Null),
            Int => matches!(value, Value::Integer(_)),
            OptInt => matches!(value, Value::Integer(_) | Value::Null),
            Text => matches!(value, Value::Text(_)),
            OptText => matches!(value, Value::Text(_) | Value::Null),
            Blob => matches!(value, Value::Blob(_)),
            OptBlob => matches!(value, Value::Blob(_) | Value::Null),
            Id => is_bytes(&[16]),
            OptId => is_bytes(&[16]) || matches!(value, Value::Null),
            IdOrEmpty => is_bytes(&[0, 16]),
            Hash => is_bytes(&[32]),
            OptHash => is_bytes(&[32]) || matches!(value, Value::Null),
        }
    }
}
