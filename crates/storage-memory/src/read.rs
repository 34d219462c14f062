//! Listings. Each one sorts all there is and cuts the page out.

use super::state::{Kept, Shelf, State, is_expired, is_shown_to, memory_in, version_in};
use loci_model::policy::{AdminPass, BrowsePass, Facts, ReadPass};
use loci_model::query::{
    CreatedQuery, Direction, ListCursor, ListItem, ListOrder, ListQuery, SessionQuery, StoreQuery,
    VersionQuery,
};
use loci_model::{
    At, Change, ChangeOp, Grantee, Memory, MemoryId, MemoryPath, Page, PrincipalId, Session,
    SessionId, Store, StoreId, Timestamp, Version, VersionId, View, WorkspaceId,
};
use loci_storage::log::LogEntry;
use loci_storage::{Result, StorageError};

impl State {
    pub(super) fn facts(
        &self,
        workspace: WorkspaceId,
        store: StoreId,
        principal: PrincipalId,
        session: Option<SessionId>,
    ) -> Option<Facts> {
        let shelf = self.shelf(store).ok().filter(|shelf| shelf.store.workspace == workspace)?;
        let concerns = [Grantee::Principal(principal), Grantee::Everyone];
        let mut grants = shelf.grants.clone();
        grants.retain(|grant| concerns.contains(&grant.grantee));
        let session = session.and_then(|id| self.session(workspace, id));
        let session = session.filter(|session| session.archived_at.is_none());
        let mut attachments = session.into_iter().flat_map(|session| &session.attachments);
        let attachment = attachments.find(|attachment| attachment.store == store);
        Some(Facts {
            store: shelf.store.clone(),
            grants,
            home_of: self.home_of(&shelf.store),
            relation: self.relation(principal, shelf.store.owner),
            attachment: attachment.map(|attachment| attachment.access),
        })
    }

    pub(super) fn list_stores(
        &self,
        pass: &BrowsePass,
        query: &StoreQuery,
    ) -> Page<Store, (Timestamp, StoreId)> {
        // A pass without a reader shows what nobody is asked about.
        let reader = pass.reader().unwrap_or(PrincipalId::from_u128(0));
        let known = self.shelves.keys();
        let known = known.filter_map(|store| self.facts(pass.workspace(), *store, reader, None));
        let shown = known.filter(|facts| pass.shows(facts));
        let stores = shown.map(|facts| facts.store).collect();
        page_by_creation(stores, query, |store| {
            (store.created_at, store.id, store.archived_at.is_some())
        })
    }

    pub(super) fn list_sessions(
        &self,
        workspace: WorkspaceId,
        owner: Option<PrincipalId>,
        query: &SessionQuery,
    ) -> Page<Session, (Timestamp, SessionId)> {
        let attaches = |session: &Session, store| {
            let mut attachments = session.attachments.iter();
            attachments.any(|attachment| attachment.store == store)
        };
        let is_listed = |session: &&Session| {
            session.workspace == workspace
                && owner.is_none_or(|owner| session.owner == owner)
                && query.store.is_none_or(|store| attaches(session, store))
                && query.agent_id.as_ref().is_none_or(|agent| session.agent_id == *agent)
                && query.agent_version.is_none_or(|version| session.agent_version == version)
        };
        let sessions = self.sessions.values().filter(is_listed).cloned().collect();
        page_by_creation(sessions, &query.created, |session| {
            (session.created_at, session.id, session.archived_at.is_some())
        })
    }

    pub(super) fn get(&self, pass: &ReadPass, at: &At, view: View) -> Option<Memory> {
        let shelf = self.shelf(pass.store()).ok()?;
        let memory = shelf.find(at, pass.audience(), pass.now())?;
        Some(memory_in(view, memory))
    }

    pub(super) fn newest(&self, pass: &ReadPass, path: &MemoryPath, view: View) -> Option<Memory> {
        let shelf = self.shelf(pass.store()).ok()?;
        let visible = shelf.visible(pass.audience(), pass.now());
        let here = visible.filter(|memory| memory.path == *path);
        here.max_by_key(|memory| memory.updated_at).map(|memory| memory_in(view, memory))
    }

    pub(super) fn list(
        &self,
        pass: &ReadPass,
        query: &ListQuery,
    ) -> Result<Page<ListItem, ListCursor>> {
        let shelf = self.shelf(pass.store())?;
        let mut items: Vec<ListItem> = Vec::new();
        for memory in shelf.visible(pass.audience(), pass.now()) {
            let path = memory.path.as_str();
            if !path.starts_with(query.prefix.as_str()) || !query.filter.matches(&memory) {
                continue;
            }
            let depth = query.fold_depth.filter(|_| query.order == ListOrder::Path);
            let item = match depth.and_then(|depth| query.prefix.fold(path, depth)) {
                Some(directory) => ListItem::Directory(directory.to_owned()),
                None => ListItem::Memory(Box::new(memory_in(query.view, memory))),
            };
            if !items.contains(&item) {
                items.push(item);
            }
        }
        items.sort_by_key(|item| sort_key(&item.cursor(query.order)));
        if query.direction == Direction::Descending {
            items.reverse();
        }
        if let Some(after) = &query.after {
            let start = sort_key(after);
            items.retain(|item| {
                let key = sort_key(&item.cursor(query.order));
                is_after(query.direction, &key, &start)
            });
        }
        let limit = query.limit;
        Ok(Page::cut(items, limit, |item| item.cursor(query.order)))
    }

    pub(super) fn version(&self, pass: &ReadPass, id: VersionId, view: View) -> Option<Version> {
        let shelf = self.shelf(pass.store()).ok()?;
        let version = shelf.versions().find(|version| version.id == id)?;
        let is_shown = shelf.shows_history(pass, version.memory);
        is_shown.then(|| version_in(view, version))
    }

    pub(super) fn versions(
        &self,
        pass: &ReadPass,
        query: &VersionQuery,
    ) -> Result<Page<Version, u64>> {
        let shelf = self.shelf(pass.store())?;
        let is_listed = |version: &&Version| {
            shelf.shows_history(pass, version.memory)
                && query.memory.is_none_or(|memory| version.memory == memory)
                && query.operation.is_none_or(|op| version.operation == op)
                && query.actor.is_none_or(|actor| version.actor == actor)
                && query.since.is_none_or(|since| version.created_at >= since)
                && query.until.is_none_or(|until| version.created_at <= until)
                && query.before_seq.is_none_or(|before| version.seq < before)
        };
        let listed = shelf.versions().filter(is_listed);
        let mut versions: Vec<Version> = listed.map(|one| version_in(query.view, one)).collect();
        versions.sort_by_key(|version| std::cmp::Reverse(version.seq));
        Ok(Page::cut(versions, query.limit, |version| version.seq))
    }

    pub(super) fn changes(&self, pass: &ReadPass, after: u64, limit: usize) -> Result<Vec<Change>> {
        let shelf = self.shelf(pass.store())?;
        let later = shelf.feed.iter().filter(|change| change.seq > after);
        let with_path = |change: &Change| {
            let version = shelf.version(change.version);
            let is_shown = shelf.shows_history(pass, change.memory);
            let path = version.path.clone().filter(|_| is_shown);
            Change { path, ..change.clone() }
        };
        Ok(later.take(limit).map(with_path).collect())
    }

    pub(super) fn log(
        &self,
        pass: &AdminPass,
        store: StoreId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LogEntry>> {
        let shelf = self.shelf(store)?;
        if shelf.store.workspace != pass.workspace() {
            return Err(StorageError::NotFound("memory store"));
        }
        let later = shelf.feed.iter().filter(|change| change.seq > after);
        let entry = |change: &Change| match change.op {
            ChangeOp::Redacted => LogEntry::Redaction {
                seq: change.seq,
                memory: change.memory,
                version: change.version,
                actor: change.actor,
                at: change.at,
                reason: change.reason.clone(),
            },
            ChangeOp::Created | ChangeOp::Modified | ChangeOp::Deleted => LogEntry::Version {
                version: Box::new(shelf.version(change.version).clone()),
                partition: shelf.memories[&change.memory].partition,
                owner: shelf.memories[&change.memory].owner,
            },
        };
        Ok(later.take(limit).map(entry).collect())
    }

    pub(super) fn expired(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Vec<(WorkspaceId, StoreId, MemoryId)> {
        let due = |shelf: &Shelf| {
            let memories = shelf.live().filter(|memory| is_expired(memory, now));
            memories.map(|memory| memory.id).collect()
        };
        self.due(due, limit)
    }

    pub(super) fn erasable(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Vec<(WorkspaceId, StoreId, MemoryId)> {
        let due = |shelf: &Shelf| {
            let is_due = |kept: &Kept| kept.erase_at.is_some_and(|at| at <= now);
            let memories = shelf.memories.iter().filter(|(_, kept)| is_due(kept));
            memories.map(|(id, _)| *id).collect()
        };
        self.due(due, limit)
    }

    fn due(
        &self,
        due: impl Fn(&Shelf) -> Vec<MemoryId>,
        limit: usize,
    ) -> Vec<(WorkspaceId, StoreId, MemoryId)> {
        let of_store = |shelf: &Shelf| {
            let (workspace, store) = (shelf.store.workspace, shelf.store.id);
            due(shelf).into_iter().map(move |memory| (workspace, store, memory))
        };
        self.present().flat_map(of_store).take(limit).collect()
    }

    pub(super) fn unpurged(&self, limit: usize) -> Vec<(WorkspaceId, StoreId)> {
        let removed = self.shelves.values().filter(|shelf| shelf.is_removed);
        removed.map(|shelf| (shelf.store.workspace, shelf.store.id)).take(limit).collect()
    }

    pub(super) fn crowded(&self, limit: usize) -> Vec<(WorkspaceId, StoreId)> {
        let over = |shelf: &Shelf| {
            let cap = shelf.store.policy.soft_cap?;
            let count = shelf.live().count() as u64;
            (count > cap && shelf.store.archived_at.is_none()).then(|| count - cap)
        };
        let mut crowded: Vec<_> = self
            .present()
            .filter_map(|shelf| Some((over(shelf)?, shelf.store.id, shelf.store.workspace)))
            .collect();
        crowded.sort_by_key(|(over, id, _)| (std::cmp::Reverse(*over), *id));
        crowded.into_iter().take(limit).map(|(_, id, workspace)| (workspace, id)).collect()
    }

    pub(super) fn newest_time(&self, workspace: WorkspaceId) -> Option<Timestamp> {
        let stores = self.present().filter(|shelf| shelf.store.workspace == workspace);
        let of_stores = stores.flat_map(|shelf| {
            [Some(shelf.store.updated_at), shelf.feed.last().map(|change| change.at)]
        });
        let sessions = self.sessions.values().filter(|session| session.workspace == workspace);
        let event = self.events.iter().rfind(|event| event.workspace == workspace);
        let of_others = sessions.map(|session| session.created_at).chain(event.map(|it| it.at));
        of_stores.flatten().chain(of_others).max()
    }

    fn present(&self) -> impl Iterator<Item = &Shelf> {
        self.shelves.values().filter(|shelf| !shelf.is_removed)
    }
}

impl Shelf {
    pub(super) fn shows_history(&self, pass: &ReadPass, memory: MemoryId) -> bool {
        is_shown_to(pass.audience(), self.memories[&memory].visibility())
    }

    pub(super) fn version(&self, id: VersionId) -> &Version {
        let found = self.versions().find(|version| version.id == id);
        found.expect("the feed names versions that exist")
    }
}

fn page_by_creation<T, Id: Ord + Copy>(
    mut all: Vec<T>,
    query: &CreatedQuery<Id>,
    facts: impl Fn(&T) -> (Timestamp, Id, bool),
) -> Page<T, (Timestamp, Id)> {
    let key = |item: &T| {
        let (created_at, id, _) = facts(item);
        (created_at, id)
    };
    all.retain(|item| {
        let (created_at, _, is_archived) = facts(item);
        query.since.is_none_or(|since| created_at >= since)
            && query.until.is_none_or(|until| created_at <= until)
            && (query.include_archived || !is_archived)
            && query.after.is_none_or(|after| is_after(query.direction, &key(item), &after))
    });
    all.sort_by_key(key);
    if query.direction == Direction::Descending {
        all.reverse();
    }
    Page::cut(all, query.limit, key)
}

fn is_after<K: Ord>(direction: Direction, key: &K, start: &K) -> bool {
    match direction {
        Direction::Ascending => key > start,
        Direction::Descending => key < start,
    }
}

/// A cursor as something that sorts: time for orders by time, otherwise the text.
fn sort_key(cursor: &ListCursor) -> (Option<Timestamp>, String, Option<MemoryId>) {
    match cursor {
        ListCursor::Memory(path, id) => (None, path.as_str().to_owned(), Some(*id)),
        ListCursor::Directory(prefix) => (None, prefix.as_str().to_owned(), None),
        ListCursor::Time(at, id) => (Some(*at), String::new(), Some(*id)),
    }
}
