//! What a writing transaction knows of the stores it holds, and what it has changed of them but not
//! written yet.
//!
//! A group of writes is decided here in memory and then written by a handful of statements, however
//! many writes it has: a round trip for each row would be most of the time. What is not known yet is
//! read when it is needed; what is known is always as of the last change, written or not. A question
//! that only the database can answer makes the changes go there first.

use crate::client::{Params, Tx, uuid};
use crate::columns::{BelowColumns, MemoryColumns, PlaceColumns};
use crate::contents::NewPayload;
use crate::events::HeldLog;
use crate::fault::{Result, not_found};
use crate::row::{self, LIVE_MEMORY_COLUMNS, MemoryRow, coded, key_of, keyed_id};
use crate::stores::{self, StoreRow};
use futures_util::future::try_join4;
use loci_model::store::Repeats;
use loci_model::{
    Actor, Content, Grant, GrantId, Memory, MemoryId, MemoryPath, Operation, PrincipalId, StoreId,
    Timestamp, Version, VersionId,
};
use loci_storage::tail::Chain;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tokio_postgres::Row;
use uuid::Uuid;

/// A place in a store: whose partition, and the path.
pub(crate) type Place = (Uuid, String);

/// A place to look below: the store, whose partition, and the path.
pub(crate) type Below = (StoreId, Uuid, MemoryPath);

/// The stores a transaction holds.
pub(crate) struct Draft<'t> {
    pub(crate) tx: &'t Tx,
    pub(crate) desks: BTreeMap<StoreId, Desk>,
    /// The audit log, when its end is held.
    pub(crate) log: Option<HeldLog>,
    /// The grants that went with the mutation at hand.
    pub(crate) taken: Vec<Grant>,
    /// Whether something was written before the end.
    pub(crate) has_flushed: bool,
}

/// One store, as far as it is known.
pub(crate) struct Desk {
    pub(crate) row: StoreRow,
    /// Whether the counters are newer than the database's.
    pub(crate) is_counted: bool,
    pub(crate) memories: HashMap<MemoryId, Option<Known>>,
    paths: HashMap<Place, Option<MemoryId>>,
    /// The first memory below a path, as the database has it.
    below: HashMap<Place, Option<MemoryId>>,
    /// Places whose memory changed and is not written yet.
    touched: BTreeSet<Place>,
    /// Content that is not written yet, by its version's number.
    pub(crate) contents: HashMap<u64, Content>,
    pub(crate) pending: Pending,
}

/// A memory, live or removed.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) live: Option<MemoryRow>,
    pub(crate) revision: u64,
    /// What the newest version recorded.
    pub(crate) operation: Operation,
    pub(crate) partition: Option<PrincipalId>,
    pub(crate) owner: PrincipalId,
    /// Number and id of the newest version.
    pub(crate) head: (u64, VersionId),
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) erase_at: Option<Timestamp>,
    /// Who may see it, or its history.
    pub(crate) visibility: i16,
    /// How the content of its head is kept.
    pub(crate) chain: Chain,
    /// The path that the database has for it.
    written_path: Option<Place>,
    is_written: bool,
}

/// What is not written yet.
#[derive(Default)]
pub(crate) struct Pending {
    pub(crate) memories: HashSet<MemoryId>,
    /// With whether its content is sealed.
    pub(crate) versions: Vec<(Version, bool)>,
    pub(crate) payloads: Vec<NewPayload>,
    /// Content taken over from an earlier version: from which, to which.
    pub(crate) copies: Vec<(u64, u64)>,
    pub(crate) redactions: Vec<NewRedaction>,
}

/// An entry of the feed that is not a version's own.
pub(crate) struct NewRedaction {
    pub(crate) seq: u64,
    pub(crate) version_seq: u64,
    pub(crate) actor: Actor,
    pub(crate) at: Timestamp,
    pub(crate) reason: String,
}

/// What a removed memory keeps.
pub(crate) struct Bare {
    pub(crate) revision: u64,
    pub(crate) operation: Operation,
    pub(crate) head: (u64, VersionId),
    pub(crate) updated_at: Timestamp,
    pub(crate) erase_at: Option<Timestamp>,
}

/// What to read before a group is decided, so that deciding it takes no further look.
#[derive(Default)]
pub(crate) struct Wanted {
    pub(crate) places: BTreeSet<(StoreId, Place)>,
    pub(crate) below: BTreeSet<Below>,
    pub(crate) memories: BTreeSet<(StoreId, MemoryId)>,
}

impl Wanted {
    /// Everything that a memory at this path must get along with.
    pub(crate) fn path(
        &mut self,
        store: StoreId,
        partition: Option<PrincipalId>,
        path: &MemoryPath,
    ) {
        let key = key_of(partition);
        self.places.insert((store, (key, path.as_str().to_owned())));
        for above in path.ancestors() {
            self.places.insert((store, (key, above.to_owned())));
        }
        self.below.insert((store, key, path.clone()));
    }
}

impl<'t> Draft<'t> {
    /// A draft that holds nothing yet.
    pub(crate) fn new(tx: &'t Tx) -> Self {
        Self { tx, desks: BTreeMap::new(), log: None, taken: Vec::new(), has_flushed: false }
    }

    /// Keeps grants that went for the audit log.
    pub(crate) fn gone(&mut self, taken: Vec<Grant>) -> Vec<GrantId> {
        let ids = taken.iter().map(|grant| grant.id).collect();
        self.taken = taken;
        ids
    }

    /// Takes one store.
    pub(crate) async fn of(tx: &'t Tx, store: StoreId) -> Result<Self> {
        let mut draft = Self::new(tx);
        draft.take(&BTreeSet::from([store]), &Wanted::default()).await?;
        draft.desk(store)?;
        Ok(draft)
    }

    /// Takes stores and reads what is wanted of them, in one round trip. Those that are removed or
    /// missing are left out.
    pub(crate) async fn take(&mut self, stores: &BTreeSet<StoreId>, wanted: &Wanted) -> Result<()> {
        let tx = self.tx;
        let ids: Vec<Uuid> = stores.iter().map(|store| uuid(store.to_bytes())).collect();
        // All are prepared before any is sent: they must arrive in this order, so that what is read
        // is read under the lock.
        let lock = tx.prepare(include_str!("../queries/store/lock.sql")).await?;
        let at_paths = tx.prepare(include_str!("../queries/memory/at_paths.sql")).await?;
        let below = tx.prepare(include_str!("../queries/memory/below.sql")).await?;
        let by_ids = tx.prepare(include_str!("../queries/memory/by_ids.sql")).await?;
        let places = PlaceColumns::new(&wanted.places);
        let lows = BelowColumns::new(&wanted.below);
        let memories = MemoryColumns::new(&wanted.memories);
        let client = tx.client();
        let locks: Params<'_> = &[&ids];
        let asked = try_join4(
            client.query(&lock, locks),
            places.query(client, &at_paths),
            lows.query(client, &below),
            memories.query(client, &by_ids),
        );
        let (locked, at_paths, below, by_ids) = tx.in_time(asked).await?;
        for row in &locked {
            let row = stores::read(row)?;
            if !row.is_removed {
                self.desks.insert(row.store.id, Desk::new(row));
            }
        }
        self.take_in(&wanted.places, &at_paths)?;
        self.take_in_below(&wanted.below, &below)?;
        self.take_in_memories(&wanted.memories, &by_ids)
    }

    pub(crate) fn desk(&mut self, store: StoreId) -> Result<&mut Desk> {
        self.desks.get_mut(&store).ok_or_else(|| not_found("memory store"))
    }

    fn take_in(&mut self, asked: &BTreeSet<(StoreId, Place)>, rows: &[Row]) -> Result<()> {
        for (store, place) in asked {
            if let Some(desk) = self.desks.get_mut(store) {
                desk.paths.entry(place.clone()).or_insert(None);
            }
        }
        for row in rows {
            let store = store_of(row)?;
            let Some(desk) = self.desks.get_mut(&store) else { continue };
            let (id, known) = read_known(row, store)?;
            desk.learn(id, known);
        }
        Ok(())
    }

    fn take_in_below(&mut self, asked: &BTreeSet<Below>, rows: &[Row]) -> Result<()> {
        for (store, partition, path) in asked {
            if let Some(desk) = self.desks.get_mut(store) {
                desk.below.insert((*partition, path.as_str().to_owned()), None);
            }
        }
        for row in rows {
            let store = store_of(row)?;
            let Some(desk) = self.desks.get_mut(&store) else { continue };
            let (id, known) = read_known(row, store)?;
            let place = (row::get(row, STORE_COLUMN + 1)?, row::get(row, STORE_COLUMN + 2)?);
            desk.below.insert(place, Some(id));
            desk.learn(id, known);
        }
        Ok(())
    }

    fn take_in_memories(
        &mut self,
        asked: &BTreeSet<(StoreId, MemoryId)>,
        rows: &[Row],
    ) -> Result<()> {
        for (store, memory) in asked {
            if let Some(desk) = self.desks.get_mut(store) {
                desk.memories.entry(*memory).or_insert(None);
            }
        }
        self.take_in(&BTreeSet::new(), rows)
    }

    /// A memory, live or removed.
    pub(crate) async fn memory(&mut self, store: StoreId, id: MemoryId) -> Result<Option<Known>> {
        if !self.desk(store)?.memories.contains_key(&id) {
            let asked = BTreeSet::from([(store, id)]);
            let columns = MemoryColumns::new(&asked);
            let by_ids = self.tx.prepare(include_str!("../queries/memory/by_ids.sql")).await?;
            let rows = self.tx.in_time(columns.query(self.tx.client(), &by_ids)).await?;
            self.take_in_memories(&asked, &rows)?;
        }
        Ok(self.desk(store)?.memories.get(&id).cloned().flatten())
    }

    /// The live memory at a path.
    pub(crate) async fn at_path(
        &mut self,
        store: StoreId,
        partition: Option<PrincipalId>,
        path: &str,
    ) -> Result<Option<MemoryRow>> {
        let place = (key_of(partition), path.to_owned());
        if !self.desk(store)?.paths.contains_key(&place) {
            let asked = BTreeSet::from([(store, place.clone())]);
            let columns = PlaceColumns::new(&asked);
            let at_paths = self.tx.prepare(include_str!("../queries/memory/at_paths.sql")).await?;
            let rows = self.tx.in_time(columns.query(self.tx.client(), &at_paths)).await?;
            self.take_in(&asked, &rows)?;
        }
        let id = self.desk(store)?.paths.get(&place).copied().flatten();
        match id {
            None => Ok(None),
            Some(id) => Ok(self.memory(store, id).await?.and_then(|known| known.live)),
        }
    }

    /// The first live memory below a path, other than one that moves there itself.
    pub(crate) async fn below(
        &mut self,
        store: StoreId,
        partition: Option<PrincipalId>,
        path: &MemoryPath,
        itself: Option<MemoryId>,
    ) -> Result<Option<MemoryRow>> {
        let place = (key_of(partition), path.as_str().to_owned());
        let (low, high) = path.descendants();
        let desk = self.desk(store)?;
        let span = (place.0, low)..(place.0, high);
        if desk.touched.range(span).next().is_some() {
            self.flush().await?;
        }
        let desk = self.desk(store)?;
        let known = desk.below.get(&place).copied();
        let known = match known {
            // A memory that moves below itself is not in its own way; another may be behind it.
            Some(found) if found.is_none() || found != itself => found,
            _ => {
                let asked = BTreeSet::from([(store, place.0, path.clone())]);
                let columns = BelowColumns::new(&asked).but(itself);
                let below = self.tx.prepare(include_str!("../queries/memory/below.sql")).await?;
                let rows = self.tx.in_time(columns.query(self.tx.client(), &below)).await?;
                self.take_in_below(&asked, &rows)?;
                let desk = self.desk(store)?;
                let found = desk.below.get(&place).copied().flatten();
                if itself.is_some() {
                    desk.below.remove(&place);
                }
                found
            }
        };
        match known {
            None => Ok(None),
            Some(id) => Ok(self.memory(store, id).await?.and_then(|known| known.live)),
        }
    }
}

/// After the columns of a memory: what its newest version recorded, when its history is erased, who
/// may see it, how its content is kept; then the store, and the place that was asked for.
const OPERATION_COLUMN: usize = LIVE_MEMORY_COLUMNS;
const CHAIN_COLUMN: usize = LIVE_MEMORY_COLUMNS + 3;
const STORE_COLUMN: usize = LIVE_MEMORY_COLUMNS + 5;

fn store_of(row: &Row) -> Result<StoreId> {
    row::id(row, STORE_COLUMN).map(StoreId::from_bytes)
}

fn read_known(row: &Row, store: StoreId) -> Result<(MemoryId, Known)> {
    let path: Option<&str> = row::get(row, 3)?;
    let live = path.map(|_| row::memory(row, store)).transpose()?;
    let partition = keyed_id(row, 1)?;
    let known = Known {
        revision: row::count(row, 6)?,
        operation: coded(row, OPERATION_COLUMN)?,
        partition,
        owner: PrincipalId::from_bytes(row::id(row, 2)?),
        head: (row::count(row, 12)?, VersionId::from_bytes(row::id(row, 5)?)),
        created_at: row::time(row, 10)?,
        updated_at: row::time(row, 11)?,
        erase_at: row::opt_time(row, OPERATION_COLUMN + 1)?,
        visibility: row::get(row, OPERATION_COLUMN + 2)?,
        chain: Chain {
            depth: u32::try_from(row::get::<i32>(row, CHAIN_COLUMN)?).unwrap_or(u32::MAX),
            hash: row::get(row, CHAIN_COLUMN + 1)?,
        },
        written_path: path.map(|path| (key_of(partition), path.to_owned())),
        is_written: true,
        live,
    };
    Ok((MemoryId::from_bytes(row::id(row, 0)?), known))
}

impl Desk {
    fn new(row: StoreRow) -> Self {
        Self {
            row,
            is_counted: false,
            memories: HashMap::new(),
            paths: HashMap::new(),
            below: HashMap::new(),
            touched: BTreeSet::new(),
            contents: HashMap::new(),
            pending: Pending::default(),
        }
    }

    /// Takes in what the database has of a memory, unless it is known better here.
    fn learn(&mut self, id: MemoryId, known: Known) {
        if let Some(place) = &known.written_path
            && !self.touched.contains(place)
        {
            self.paths.insert(place.clone(), Some(id));
        }
        let better = self.memories.entry(id).or_default();
        if better.is_none() {
            *better = Some(known);
        }
    }

    /// The time of the store's next feed entry.
    pub(crate) fn next_at(&self, now: Timestamp) -> Timestamp {
        Timestamp::after(self.row.last_at, now)
    }

    /// Gives out the next feed number.
    fn next_seq(&mut self, at: Timestamp) -> u64 {
        self.row.seq += 1;
        self.row.last_at = Some(at);
        self.is_counted = true;
        self.row.seq
    }

    /// Appends a version and with it an entry to the feed; gives back its number.
    pub(crate) fn append(&mut self, mut version: Version, is_sealed: bool) -> u64 {
        let seq = self.next_seq(version.created_at);
        version.seq = seq;
        self.row.version_count += 1;
        self.pending.versions.push((version, is_sealed));
        seq
    }

    /// Appends a redaction to the feed.
    pub(crate) fn append_redaction(
        &mut self,
        version_seq: u64,
        actor: Actor,
        at: Timestamp,
        reason: &str,
    ) {
        let seq = self.next_seq(at);
        let reason = reason.to_owned();
        self.pending.redactions.push(NewRedaction { seq, version_seq, actor, at, reason });
    }

    /// Brings a memory to a new head.
    pub(crate) fn set_live(&mut self, row: MemoryRow, chain: Chain, operation: Operation) {
        let memory = &row.memory;
        let id = memory.id;
        let before = self.memories.remove(&id).flatten();
        let (written_path, is_written) =
            before.as_ref().map_or((None, false), |b| (b.written_path.clone(), b.is_written));
        self.vacate(before.as_ref());
        let place = (key_of(memory.partition), memory.path.as_str().to_owned());
        self.touched.insert(place.clone());
        self.paths.insert(place, Some(id));
        let known = Known {
            revision: memory.revision,
            operation,
            partition: memory.partition,
            owner: memory.owner,
            head: (row.head, memory.head),
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            erase_at: None,
            visibility: loci_storage::column::Code::code(memory.attributes.visibility),
            chain,
            written_path,
            is_written,
            live: Some(row),
        };
        self.memories.insert(id, Some(known));
        self.pending.memories.insert(id);
    }

    /// Takes everything from a memory that it has only while it is live. Who may see its history
    /// stays. A memory that was not there is made bare.
    pub(crate) fn set_bare(&mut self, id: MemoryId, mut known: Known, bare: &Bare) {
        self.vacate(Some(&known));
        known.live = None;
        known.revision = bare.revision;
        known.operation = bare.operation;
        known.head = bare.head;
        known.updated_at = bare.updated_at;
        known.erase_at = bare.erase_at;
        known.chain = Chain::default();
        self.memories.insert(id, Some(known));
        self.pending.memories.insert(id);
    }

    /// Takes over who may see the history of a removed memory.
    pub(crate) fn set_visibility(&mut self, id: MemoryId, visibility: i16) {
        if let Some(Some(known)) = self.memories.get_mut(&id) {
            known.visibility = visibility;
        }
    }

    fn vacate(&mut self, known: Option<&Known>) {
        if let Some(row) = known.and_then(|known| known.live.as_ref()) {
            let place = (key_of(row.memory.partition), row.memory.path.as_str().to_owned());
            self.touched.insert(place.clone());
            self.paths.insert(place, None);
        }
    }

    /// The memories that are not written yet.
    pub(crate) fn changed(&self) -> impl Iterator<Item = (MemoryId, &Known)> {
        let memories = self.pending.memories.iter();
        memories.filter_map(|id| Some((*id, self.memories.get(id)?.as_ref()?)))
    }

    /// What the index of repeats holds of a live memory.
    pub(crate) fn repeat_digest<'a>(&self, memory: &'a Memory) -> Option<&'a [u8]> {
        let minds = self.row.store.policy.repeats != Repeats::Allow;
        (minds && !memory.is_sealed).then(|| memory.digest.as_bytes().as_slice())
    }

    /// Everything is written; what is known stays.
    pub(crate) fn written(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        for id in pending.memories {
            if let Some(Some(known)) = self.memories.get_mut(&id) {
                known.is_written = true;
                known.written_path = known
                    .live
                    .as_ref()
                    .map(|row| (key_of(row.memory.partition), row.memory.path.as_str().to_owned()));
            }
        }
        self.touched.clear();
        self.below.clear();
        self.is_counted = false;
    }

    /// Whether anything is not written yet.
    pub(crate) fn is_pending(&self) -> bool {
        self.is_counted || !self.pending.memories.is_empty()
    }
}

impl Known {
    /// A memory that an import is about to bring.
    pub(crate) fn unborn(
        partition: Option<PrincipalId>,
        owner: PrincipalId,
        created_at: Timestamp,
    ) -> Self {
        Self {
            live: None,
            revision: 0,
            operation: Operation::Created,
            partition,
            owner,
            head: (0, VersionId::from_u128(0)),
            created_at,
            updated_at: created_at,
            erase_at: None,
            visibility: 0,
            chain: Chain::default(),
            written_path: None,
            is_written: false,
        }
    }

    pub(crate) fn is_written(&self) -> bool {
        self.is_written
    }

    pub(crate) fn written_path(&self) -> Option<&Place> {
        self.written_path.as_ref()
    }
}
