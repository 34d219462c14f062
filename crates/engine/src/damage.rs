//! Reading past damage. Storage answers `Corrupt` rather than wrong bytes; here one damaged content
//! costs only itself: a list of memories is asked for once more without contents and filled one by
//! one, what cannot be read is left out and named, and a read of the damaged thing itself says that
//! it is damaged. What cannot be read even without its content is no damaged content but a damaged
//! row, which stays an error.

use crate::{Error, Result};
use loci_model::policy::{ReadPass, SearchPass};
use loci_model::query::{ListCursor, ListItem, ListQuery, VersionQuery};
use loci_model::{At, Memory, MemoryId, MemoryPath, Page, StoreId, Version, VersionId, View};
use loci_storage::request::note_damaged;
use loci_storage::{Storage, StorageError};

/// A memory, if it is there.
pub(crate) async fn memory(
    storage: &dyn Storage,
    pass: &ReadPass,
    at: &At,
    view: View,
) -> Result<Option<Memory>> {
    let (full, basic) = (storage.get(pass, at, view), storage.get(pass, at, View::Basic));
    one(full, basic, |memory| memory.head).await
}

/// The memory at a path that changed last, if there is one.
pub(crate) async fn newest(
    storage: &dyn Storage,
    pass: &ReadPass,
    path: &MemoryPath,
    view: View,
) -> Result<Option<Memory>> {
    let full = storage.newest(pass, path, view);
    one(full, storage.newest(pass, path, View::Basic), |memory| memory.head).await
}

/// A version, if it is there.
pub(crate) async fn version(
    storage: &dyn Storage,
    pass: &ReadPass,
    id: VersionId,
    view: View,
) -> Result<Option<Version>> {
    let (full, basic) = (storage.version(pass, id, view), storage.version(pass, id, View::Basic));
    one(full, basic, |version| version.id).await
}

/// What the first read finds; if that is damaged, the second tells which version it is.
async fn one<T>(
    full: impl Future<Output = loci_storage::Result<Option<T>>>,
    basic: impl Future<Output = loci_storage::Result<Option<T>>>,
    version: impl Fn(&T) -> VersionId,
) -> Result<Option<T>> {
    let why = match full.await {
        Err(StorageError::Corrupt(why)) => why,
        read => return Ok(read?),
    };
    match basic.await {
        Ok(Some(found)) => {
            let version = version(&found);
            tracing::error!(%version, why, "content is damaged");
            Err(Error::Damaged { version })
        }
        // Hidden or removed in between.
        Ok(None) => Ok(None),
        Err(_) => Err(Error::Internal(why)),
    }
}

/// Memories, and those that are left out because they are damaged.
#[derive(Debug, Default)]
pub(crate) struct Sound {
    pub(crate) memories: Vec<Memory>,
    pub(crate) damaged: Vec<(StoreId, MemoryId)>,
}

/// Memories by id, in the order asked for, as [`Storage::found`] gives them.
pub(crate) async fn found(
    storage: &dyn Storage,
    pass: &SearchPass,
    ids: &[(StoreId, MemoryId)],
    view: View,
) -> Result<Sound> {
    match storage.found(pass, ids, view).await {
        Err(StorageError::Corrupt(_)) => {}
        read => return Ok(Sound { memories: read?, damaged: Vec::new() }),
    }
    let mut sound = Sound::default();
    for id in ids {
        let why = match storage.found(pass, &[*id], view).await {
            Err(StorageError::Corrupt(why)) => why,
            read => {
                sound.memories.extend(read?);
                continue;
            }
        };
        tracing::error!(memory = %id.1, why, "content is damaged");
        // Only what the pass shows is named; a row that cannot be read tells nobody who may see it.
        match storage.found(pass, &[*id], View::Basic).await {
            Ok(basic) => sound.damaged.extend(basic.iter().map(|memory| (memory.store, memory.id))),
            Err(StorageError::Corrupt(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(sound)
}

/// A page of a listing. What is damaged is left out and noted for the answer.
pub(crate) async fn list(
    storage: &dyn Storage,
    pass: &ReadPass,
    query: &ListQuery,
) -> Result<Page<ListItem, ListCursor>> {
    match storage.list(pass, query).await {
        Err(StorageError::Corrupt(_)) if query.view == View::Full => {}
        read => return Ok(read?),
    }
    let basic = ListQuery { view: View::Basic, ..query.clone() };
    let page = storage.list(pass, &basic).await?;
    let mut items = Vec::with_capacity(page.items.len());
    for item in page.items {
        match item {
            ListItem::Directory(_) => items.push(item),
            ListItem::Memory(line) => {
                let read = memory(storage, pass, &At::Id(line.id), View::Full).await;
                items.extend(unless_damaged(&line, read)?.map(Box::new).map(ListItem::Memory));
            }
        }
    }
    Ok(Page { items, next: page.next })
}

/// A page of versions. One that is damaged keeps its place in the history, without its content, and
/// its memory is noted for the answer.
pub(crate) async fn versions(
    storage: &dyn Storage,
    pass: &ReadPass,
    query: &VersionQuery,
) -> Result<Page<Version, u64>> {
    match storage.versions(pass, query).await {
        Err(StorageError::Corrupt(_)) if query.view == View::Full => {}
        read => return Ok(read?),
    }
    let basic = VersionQuery { view: View::Basic, ..query.clone() };
    let mut page = storage.versions(pass, &basic).await?;
    for line in &mut page.items {
        fill(storage, pass, line).await?;
    }
    Ok(page)
}

/// Brings the content of a version, unless it is gone or damaged.
pub(crate) async fn fill(storage: &dyn Storage, pass: &ReadPass, line: &mut Version) -> Result<()> {
    match version(storage, pass, line.id, View::Full).await {
        Ok(full) => *line = full.unwrap_or_else(|| line.clone()),
        Err(Error::Damaged { .. }) => note_damaged(line.store, line.memory),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// What was read of a memory that a list has; nothing, and a note for the answer, when it is
/// damaged.
pub(crate) fn unless_damaged<T>(line: &Memory, read: Result<Option<T>>) -> Result<Option<T>> {
    match read {
        Err(Error::Damaged { .. }) => {
            note_damaged(line.store, line.id);
            Ok(None)
        }
        read => read,
    }
}
