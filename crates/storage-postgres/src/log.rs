//! A store's history, coming in. It is taken as it was, ids, numbers and times included, but only in
//! order and only from where the store stands; everything else is refused whole.

use crate::client::uuid;
use crate::commit::Place;
use crate::draft::{Bare, Draft, Known, Wanted};
use crate::fault::{Fault, Result};
use crate::row::{self, MemoryRow, int};
use crate::stores::StoreRow;
use loci_model::decide::NextContent;
use loci_model::{
    Actor, Audience, ChangeOp, Invalid, Memory, MemoryId, Operation, StoreId, Timestamp, Version,
    VersionId,
};
use loci_storage::StorageError;
use loci_storage::column::Code;
use loci_storage::log::{ImportItem, KnownMemory, LogEntry, check_next};
use loci_storage::tail::{Chain, Head};
use std::collections::{BTreeSet, HashMap, HashSet};
use uuid::Uuid;

/// What the database has already of the history that comes in.
#[derive(Default)]
pub(crate) struct Held {
    /// Entries of the feed by store and number.
    entries: HashMap<(StoreId, u64), (ChangeOp, VersionId, Timestamp)>,
    /// Versions, in whatever store.
    versions: HashSet<VersionId>,
}

/// Takes a store and reads, in two round trips, all that its coming entries need to know.
pub(crate) async fn take(
    draft: &mut Draft<'_>,
    held: &mut Held,
    store: StoreId,
    items: &[ImportItem],
) -> Result<()> {
    let mut wanted = Wanted::default();
    let (mut seqs, mut versions): (Vec<i64>, Vec<Uuid>) = (Vec::new(), Vec::new());
    for item in items {
        let ImportItem::Entry(of, entry) = item else { continue };
        if *of != store {
            continue;
        }
        seqs.push(int(entry.seq()));
        wanted.memories.insert((store, entry.memory()));
        if let LogEntry::Version { version, partition, .. } = entry {
            versions.push(uuid(version.id.to_bytes()));
            if let (Some(path), Some(_)) = (&version.path, version.digest) {
                wanted.path(store, *partition, path);
            }
        }
    }
    draft.take(&BTreeSet::from([store]), &wanted).await?;
    let desk = draft.desk(store)?;
    let last = int(desk.row.seq);
    seqs.retain(|seq| *seq <= last);
    let id = uuid(store.to_bytes());
    let tx = draft.tx;
    if !seqs.is_empty() {
        let sql = include_str!("../queries/change/entries.sql");
        for row in tx.query(sql, &[&id, &seqs]).await? {
            let entry = (
                row::coded(&row, 1)?,
                VersionId::from_bytes(row::id(&row, 2)?),
                row::time(&row, 3)?,
            );
            held.entries.insert((store, row::count(&row, 0)?), entry);
        }
    }
    let sql = include_str!("../queries/version/known.sql");
    for row in tx.query(sql, &[&versions]).await? {
        held.versions.insert(VersionId::from_bytes(row::id(&row, 0)?));
    }
    Ok(())
}

pub(crate) async fn import_entry(
    draft: &mut Draft<'_>,
    held: &mut Held,
    store: StoreId,
    entry: &LogEntry,
) -> Result<bool> {
    let seq = entry.seq();
    let row = &draft.desk(store)?.row;
    if seq == 0 || seq > row.seq + 1 {
        return Err(invalid("is not the next entry of the store's history"));
    }
    if seq <= row.seq {
        let known = held.entries.get(&(store, seq));
        return if known == Some(&told(entry)) {
            Ok(false)
        } else {
            Err(StorageError::Taken("feed number").into())
        };
    }
    let memory = entry.memory();
    let known = draft.memory(store, memory).await?;
    let state = known.as_ref().map(|known| KnownMemory {
        revision: known.revision,
        operation: known.operation,
        partition: known.partition,
        owner: known.owner,
    });
    check_next(entry, store, state.as_ref())?;
    require_later(&draft.desk(store)?.row, entry.at())?;
    match entry {
        LogEntry::Version { version, partition, owner } => {
            if !held.versions.insert(version.id) {
                return Err(StorageError::Taken("memory version").into());
            }
            let known =
                known.unwrap_or_else(|| Known::unborn(*partition, *owner, version.created_at));
            import_version(draft, store, known, version).await?;
        }
        LogEntry::Damaged { .. } => return Err(invalid("is damaged")),
        LogEntry::Redaction { version, actor, at, reason, .. } => {
            import_redaction(draft, store, (memory, *version), *actor, *at, reason).await?;
        }
    }
    held.entries.insert((store, seq), told(entry));
    Ok(true)
}

/// What the feed says about an entry. A version that was redacted since it was exported is the same
/// version.
fn told(entry: &LogEntry) -> (ChangeOp, VersionId, Timestamp) {
    match entry {
        LogEntry::Version { version, .. } | LogEntry::Damaged { version, .. } => {
            (version.operation.into(), version.id, version.created_at)
        }
        LogEntry::Redaction { version, at, .. } => (ChangeOp::Redacted, *version, *at),
    }
}

async fn import_redaction(
    draft: &mut Draft<'_>,
    store: StoreId,
    (memory, version): (MemoryId, VersionId),
    actor: Actor,
    at: Timestamp,
    reason: &str,
) -> Result<()> {
    // The version may have come in just before.
    draft.flush().await?;
    let known = draft.version(store, version).await?;
    let known = known
        .filter(|known| known.version.memory == memory)
        .ok_or_else(|| invalid("redacts what is unknown"))?;
    let seq = known.version.seq;
    let live = draft.memory(store, memory).await?.and_then(|known| known.live);
    if live.is_some_and(|row| row.head == seq) {
        return Err(invalid("redacts the head of a live memory"));
    }
    if known.version.redaction.is_none() {
        draft.empty(store, &[seq], actor, &[at]).await?;
        draft.refresh_visibility(store, memory).await?;
    }
    draft.desk(store)?.append_redaction(seq, actor, at, reason);
    Ok(())
}

async fn import_version(
    draft: &mut Draft<'_>,
    store: StoreId,
    known: Known,
    version: &Version,
) -> Result<()> {
    let memory = version.memory;
    let is_sealed = version.content.as_ref().is_some_and(|content| content.is_sealed());
    let desk = draft.desk(store)?;
    let stored = Version { content: None, ..version.clone() };
    let head = desk.append(stored, is_sealed);
    let mut chain = Chain::default();
    match (&version.content, &known.live) {
        (Some(content), Some(before)) => {
            let next = NextContent::Whole(content.clone());
            let written = Head::of(&before.memory, &known.chain).write(next, None);
            desk.put_piece(before.head, head, written.piece);
            chain = written.chain;
        }
        (Some(content), None) => desk.put_content(head, content.clone()),
        (None, _) => {}
    }
    if let Some(before) = &known.live {
        desk.unlist(before.memory.size_bytes);
    }
    let Some(live) = live_memory(&known, version, is_sealed) else {
        let is_removed = version.operation == Operation::Deleted;
        let due = is_removed.then(|| desk.erase_at(version.created_at));
        let bare = Bare {
            revision: version.revision,
            operation: version.operation,
            head: (head, version.id),
            updated_at: version.created_at,
            erase_at: due.flatten(),
        };
        desk.set_bare(memory, known, &bare);
        if let Some(attributes) = &version.attributes {
            desk.set_visibility(memory, attributes.visibility.code());
            return Ok(());
        }
        // The newest version says nothing any more: an older one does.
        draft.flush().await?;
        return draft.refresh_visibility(store, memory).await;
    };
    let place = Place {
        partition: live.partition,
        path: &live.path,
        itself: Some(memory),
        audience: Audience::Host,
    };
    // Nothing has expired at the moment of its own writing.
    draft.require_free(store, &place, Timestamp::from_micros(i64::MIN)).await?;
    let desk = draft.desk(store)?;
    desk.list(live.size_bytes);
    desk.set_live(MemoryRow { head, memory: live }, chain, version.operation);
    Ok(())
}

/// The memory as an imported version leaves it; `None` when it is not live then.
fn live_memory(known: &Known, version: &Version, is_sealed: bool) -> Option<Memory> {
    Some(Memory {
        id: version.memory,
        store: version.store,
        partition: known.partition,
        owner: known.owner,
        path: version.path.clone()?,
        attributes: version.attributes.clone()?,
        head: version.id,
        revision: version.revision,
        content: None,
        digest: version.digest?,
        size_bytes: version.size_bytes?,
        is_sealed,
        created_at: known.created_at,
        updated_at: version.created_at,
    })
}

fn require_later(store: &StoreRow, at: Timestamp) -> Result<()> {
    if Timestamp::after(store.last_at, at) == at {
        Ok(())
    } else {
        Err(invalid("is not later than the entry before it"))
    }
}

fn invalid(why: &str) -> Fault {
    Invalid::new("entry", why).into()
}
