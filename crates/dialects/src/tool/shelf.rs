//! One place as the tool works on it: what is at a path, what is below one, and the edits that
//! belong together.
//!
//! In a store with partitions several writers may have a memory at one path. The tool shows the one
//! that changed last, writes what is new into the caller's own partition and edits what is there in
//! place, so that everybody keeps seeing one tree.

use super::answer::{NOT_THE_WRITER, Stop, says};
use super::path::prefix_of;
use super::place::Place;
use crate::key::Name;
use loci_engine::{Context, Engine, Error, Turn};
use loci_model::query::{Direction, Filter, ListCursor, ListItem, ListOrder, ListQuery};
use loci_model::{
    At, AttributesPatch, Content, Edit, EditOp, Expect, Memory, MemoryId, MemoryPath, OnSame,
    Patch, PathPrefix, StoreId, View,
};

/// What the feed shows as the reason of writes by the tool.
pub(super) const REASON: &str = "tool";
/// How often a replacement is decided again because somebody else was faster; then it is left to
/// the core, which replaces whatever the text is by then.
const ASKED_MAX: u32 = 3;
/// Memories looked through for one listing.
pub(super) const SCAN_MAX: usize = 20_000;
/// Memories taken in one read of a listing.
const STEP: usize = 500;
/// The same where only those at one path matter.
const AT_ONE_PATH: usize = 20;

/// A place, and who works on it.
#[derive(Clone, Copy)]
pub(super) struct Shelf<'a> {
    pub(super) engine: &'a Engine,
    pub(super) context: &'a Context,
    pub(super) place: &'a Place,
}

/// Everything below a directory, as far as it was looked through.
pub(super) struct Tree {
    /// In the order of their paths; several of one path where several wrote it.
    pub(super) memories: Vec<Memory>,
    /// Whether there are more.
    pub(super) is_cut: bool,
}

impl Shelf<'_> {
    /// The memories at a path, the one that changed last first, without content.
    pub(super) async fn at(&self, path: &MemoryPath) -> Result<Vec<Memory>, Error> {
        let Some(store) = self.place.store else { return Ok(Vec::new()) };
        let parent = path.parent().map(|parent| format!("{parent}/"));
        let parent = PathPrefix::parse(parent.as_deref().unwrap_or("/"));
        let parent = parent.expect("a parent is a prefix");
        // No memory has the smallest id, so a listing after it begins with those at the path.
        let mut after = Some(ListCursor::Memory(path.clone(), MemoryId::from_u128(0)));
        let mut found: Vec<Memory> = Vec::new();
        while let Some(cursor) = after {
            let query = listing(parent.clone(), Some(cursor), AT_ONE_PATH);
            let page = self.engine.list(self.context, store, &query).await?;
            let before = found.len();
            let memories = page.items.into_iter().filter_map(memory_of);
            found.extend(memories.take_while(|memory| memory.path == *path));
            let is_full = found.len() - before == query.limit;
            after = page.next.filter(|_| is_full && found.len() < SCAN_MAX);
        }
        found.sort_by_key(|memory| std::cmp::Reverse((memory.updated_at, memory.id)));
        Ok(found)
    }

    /// The same of several paths that mean one thing.
    pub(super) async fn at_any(&self, paths: &[MemoryPath]) -> Result<Vec<Memory>, Error> {
        let mut found = Vec::new();
        for path in paths {
            found.extend(self.at(path).await?);
        }
        found.sort_by_key(|memory| std::cmp::Reverse((memory.updated_at, memory.id)));
        Ok(found)
    }

    /// The memory that changed last at one of several paths that mean one thing.
    pub(super) async fn newest_of(
        &self,
        paths: &[MemoryPath],
        view: View,
    ) -> Result<Option<Memory>, Error> {
        let mut newest: Option<Memory> = None;
        for path in paths {
            let found = self.newest(path, view).await?;
            let all = newest.into_iter().chain(found);
            newest = all.max_by_key(|memory| (memory.updated_at, memory.id));
        }
        Ok(newest)
    }

    /// The memory at a path that changed last.
    async fn newest(&self, path: &MemoryPath, view: View) -> Result<Option<Memory>, Error> {
        self.get(&At::Path(None, path.clone()), view).await
    }

    /// A memory with its content; none when it is gone by now.
    pub(super) async fn load(&self, memory: MemoryId) -> Result<Option<Memory>, Error> {
        self.get(&At::Id(memory), View::Full).await
    }

    /// The same of a memory that a list has; none also when it is damaged.
    pub(super) async fn listed(&self, memory: MemoryId) -> Result<Option<Memory>, Error> {
        let Some(store) = self.place.store else { return Ok(None) };
        self.engine.get_listed(self.context, store, memory).await
    }

    async fn get(&self, at: &At, view: View) -> Result<Option<Memory>, Error> {
        let Some(store) = self.place.store else { return Ok(None) };
        match self.engine.get(self.context, store, at, view).await {
            Ok(memory) => Ok(Some(memory)),
            Err(Error::NotFound("memory")) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What is below a directory, at most so many, without content.
    pub(super) async fn below(&self, prefix: &PathPrefix, max: usize) -> Result<Tree, Error> {
        let mut tree = Tree { memories: Vec::new(), is_cut: false };
        let Some(store) = self.place.store else { return Ok(tree) };
        let mut after = None;
        loop {
            let left = max - tree.memories.len();
            let query = listing(prefix.clone(), after, left.min(STEP));
            let page = self.engine.list(self.context, store, &query).await?;
            tree.memories.extend(page.items.into_iter().filter_map(memory_of));
            after = page.next;
            tree.is_cut = after.is_some();
            if !tree.is_cut || tree.memories.len() >= max {
                return Ok(tree);
            }
        }
    }

    /// Whether anything is below a path.
    pub(super) async fn first_below(&self, path: &MemoryPath) -> Result<Option<Memory>, Error> {
        Ok(self.below(&prefix_of(path), 1).await?.memories.into_iter().next())
    }

    /// What stands in the way of a new memory at the first of several paths that mean one thing: one
    /// at any of them, or above or below it. The core looks at the writer's own partition only; the
    /// tree that the tool shows has them all.
    pub(super) async fn blocker(&self, paths: &[MemoryPath]) -> Result<Option<Memory>, Error> {
        let Some(path) = paths.first() else { return Ok(None) };
        if let Some(there) = self.newest_of(paths, View::Basic).await? {
            return Ok(Some(there));
        }
        for ancestor in path.ancestors() {
            let ancestor = MemoryPath::parse(ancestor).expect("an ancestor is a path");
            if let Some(above) = self.newest(&ancestor, View::Basic).await? {
                return Ok(Some(above));
            }
        }
        self.first_below(path).await
    }

    /// Applies edits, all or none.
    pub(super) async fn commit(&self, edits: Vec<Edit>) -> Result<(), Error> {
        let store = self.place.to_write(self.engine, self.context).await?;
        self.engine.commit_tree(self.context, store, edits, REASON).await.map(drop)
    }

    /// Writes content where nothing is, into the caller's own partition.
    pub(super) async fn create(&self, path: MemoryPath, text: String) -> Result<(), Error> {
        let edit = Edit {
            at: At::Path(None, path),
            expect: Expect::Absent,
            on_same: OnSame::Skip,
            op: put(Content::Text(text)),
        };
        self.commit(vec![edit]).await
    }

    /// Takes memories away from where they are, each by an edit. Where only the creator may do
    /// that, memories of one name go as far as they are the caller's own; `Ok(false)` says that
    /// others stay. A directory goes whole or not at all.
    pub(super) async fn take_away(
        &self,
        memories: &[Memory],
        edit: impl Fn(&Memory) -> Result<Edit, Stop>,
    ) -> Result<bool, Stop> {
        let edits = memories.iter().map(&edit).collect::<Result<Vec<Edit>, Stop>>()?;
        match self.commit(edits).await {
            Ok(()) => return Ok(true),
            Err(Error::Denied(NOT_THE_WRITER)) => {}
            Err(error) => return Err(error.into()),
        }
        let is_one_name =
            memories.windows(2).all(|pair| Name::of(&pair[0].path) == Name::of(&pair[1].path));
        let is_own = |memory: &&Memory| memory.partition == Some(self.context.caller.principal);
        let own: Vec<&Memory> = memories.iter().filter(is_own).collect();
        if own.is_empty() || !is_one_name {
            return Err(Error::Denied(NOT_THE_WRITER).into());
        }
        self.commit(own.into_iter().map(edit).collect::<Result<Vec<Edit>, Stop>>()?).await?;
        Ok(false)
    }

    /// Waits for those who change the same memory. A place without a store has nothing to change.
    pub(super) async fn turn(&self, path: &MemoryPath) -> Result<Turn, Error> {
        let store = self.place.store.unwrap_or(StoreId::from_u128(0));
        // Both shapes mean the same entry by different paths.
        let name = Name::of(path).path();
        self.engine.turn(store, name.as_ref().unwrap_or(path).as_str()).await
    }

    /// Changes the text of a memory, provided nobody is faster: then there is no result, and the
    /// change is to be made anew on top of what they wrote. A change that the core has a word for
    /// (`atomic`) is left to it when it was in vain too often.
    pub(super) async fn rewrite<T>(
        &self,
        turn: &Turn,
        found: MemoryId,
        change: impl Fn(&Memory, &str) -> Result<(String, T), Stop>,
        atomic: Option<&EditOp>,
        sealed: impl Fn() -> String,
    ) -> Result<Option<T>, Stop> {
        let Some(memory) = self.load(found).await? else { return Ok(None) };
        let Some(old) = memory.content.as_ref().and_then(Content::text) else {
            return says(sealed());
        };
        let (new, told) = change(&memory, old)?;
        let (expect, op) = match atomic.filter(|_| turn.tries() >= ASKED_MAX) {
            Some(op) => (Expect::Anything, op.clone()),
            None => (Expect::Revision(memory.revision), put(Content::Text(new))),
        };
        let edit = Edit { at: At::Id(memory.id), expect, on_same: OnSame::Skip, op };
        match self.commit(vec![edit]).await {
            Ok(()) => Ok(Some(told)),
            // Why it does not fit what they wrote is told by reading that.
            Err(Error::ExpectFailed | Error::NotFound("memory") | Error::TextMatches { .. }) => {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// New content for a memory; everything else stays.
pub(super) fn put(content: Content) -> EditOp {
    EditOp::Put { content: Some(content), to: None, attributes: AttributesPatch::default() }
}

/// A memory goes elsewhere, provided nobody changed it meanwhile, and with what it has to tell there.
pub(super) fn relocation(memory: &Memory, to: MemoryPath, metadata: Patch<Option<String>>) -> Edit {
    let attributes = AttributesPatch { metadata, ..AttributesPatch::default() };
    Edit {
        at: At::Id(memory.id),
        expect: Expect::Revision(memory.revision),
        on_same: OnSame::Skip,
        op: EditOp::Put { content: None, to: Some(to), attributes },
    }
}

/// A memory goes away, whatever became of it meanwhile.
pub(super) fn removal(memory: &Memory) -> Edit {
    Edit::remove(At::Id(memory.id), Expect::Anything)
}

fn listing(prefix: PathPrefix, after: Option<ListCursor>, limit: usize) -> ListQuery {
    ListQuery {
        prefix,
        fold_depth: None,
        order: ListOrder::Path,
        direction: Direction::Ascending,
        filter: Filter::default(),
        view: View::Basic,
        after,
        limit,
    }
}

fn memory_of(item: ListItem) -> Option<Memory> {
    match item {
        ListItem::Memory(memory) => Some(*memory),
        ListItem::Directory(_) => None,
    }
}
