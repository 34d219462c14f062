//! Memories as resources: `loci://<store>/<path>`, the path with its segments percent-encoded. Listed
//! store by store in the order of paths, read whole, and watched through the change feed of their
//! stores, so that whoever subscribed learns of every writer, whatever door it came through.

use crate::cursor::Question;
use crate::place::{self, HOME};
use crate::trouble::Trouble;
use loci_engine::{Context, Engine, Error, Purpose};
use loci_model::query::{ListCursor, ListItem, ListOrder, ListQuery};
use loci_model::{
    At, ChangeOp, Content, Level, Memory, MemoryPath, StoreId, Timestamp, View, limit,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::collections::{BTreeMap, BTreeSet};

const SCHEME: &str = "loci://";
/// Memories on a page of the listing.
const PAGE: usize = 100;
/// How much of a feed is read at a time.
const CHANGES: usize = 500;
/// Stores that one subscription may follow.
pub(crate) const STORES_MAX: usize = 32;
/// Resources that one subscription may follow.
pub(crate) const URIS_MAX: usize = 1000;
/// Bytes of a resource's name: the path, every byte of it escaped, and what is around it.
const URI_BYTES_MAX: usize = 3 * limit::PATH_BYTES_MAX + 300;

/// What stays as it is in a URI; a slash is between segments.
const KEPT: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// What `resources/templates/list` says.
pub(crate) const TEMPLATE: &str = "loci://{store}/{+path}";

/// Memories, for programs that show or attach them.
#[derive(Clone)]
pub struct Library {
    engine: Engine,
}

/// A resource in a listing.
pub(crate) struct Shown {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) mime_type: &'static str,
    pub(crate) size: u64,
}

/// Which paths are asked for under which URIs.
type Asked = BTreeMap<MemoryPath, Vec<String>>;

/// Where a subscription is in the feeds it follows.
pub(crate) struct Following {
    /// By store: the last number seen, and what is asked for there.
    stores: BTreeMap<StoreId, (u64, Asked)>,
    /// What is asked for in a home that is not there yet; none when it is.
    at_home: Option<Asked>,
}

/// What happened since the last look.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Resources that changed.
    pub(crate) updated: BTreeSet<String>,
    /// Whether there are others than before.
    pub(crate) is_list_changed: bool,
}

impl Library {
    /// The memories of an engine.
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// A page of everything the caller can read, and where the next one begins.
    pub(crate) async fn list(
        &self,
        context: &Context,
        cursor: Option<&str>,
    ) -> Result<(Vec<Shown>, Option<String>), Trouble> {
        let question = Question::new("resources", &[]);
        let from = cursor.map(|cursor| question.position(cursor)).transpose()?;
        let mut from = from.as_deref().map(position).transpose()?;
        let mut shown = Vec::new();
        for store in self.readable(context).await? {
            let after = match &from {
                Some((first, _)) if *first != store => continue,
                Some((_, after)) => after.clone(),
                None => None,
            };
            from = None;
            let mut query = ListQuery::everything(View::Basic, PAGE);
            query.after = after;
            loop {
                query.limit = PAGE - shown.len();
                let page = self.engine.list(context, store, &query).await?;
                shown.extend(page.items.iter().filter_map(|item| match item {
                    // There is nothing in it that a model could read.
                    ListItem::Memory(memory) if memory.is_sealed => None,
                    ListItem::Memory(memory) => Some(Shown::of(memory)),
                    ListItem::Directory(_) => None,
                }));
                let last = page.items.last().map(|item| item.cursor(ListOrder::Path));
                let Some(next) = page.next.or(last.filter(|_| shown.len() == PAGE)) else { break };
                if shown.len() == PAGE {
                    return Ok((shown, Some(question.cursor(&spelled(store, &next)))));
                }
                query.after = Some(next);
            }
        }
        Ok((shown, None))
    }

    /// The text of one resource.
    pub(crate) async fn read(
        &self,
        context: &Context,
        uri: &str,
    ) -> Result<(String, &'static str), Trouble> {
        let (store, path) = self.locate(context, uri).await?;
        let store = store.ok_or(Error::NotFound("memory"))?;
        let at = At::Path(None, path);
        let memory = self.engine.get(context, store, &at, View::Full).await?;
        match memory.content.as_ref().and_then(Content::text) {
            Some(text) => Ok((text.to_owned(), mime_type(&memory.path))),
            None => Err(Trouble::call("this memory is sealed")),
        }
    }

    /// What time it is, for [`Self::follow`].
    pub(crate) fn now(&self) -> Timestamp {
        self.engine.seams().now()
    }

    /// Begins to follow resources, and the caller's own store, from a moment on.
    pub(crate) async fn follow(
        &self,
        context: &Context,
        uris: &[String],
        since: Timestamp,
    ) -> Result<Following, Trouble> {
        if uris.len() > URIS_MAX {
            return Err(Trouble::call(format!("one subscription takes {URIS_MAX} resources")));
        }
        let home = place::home(&self.engine, context, Purpose::Read).await?;
        let mut wanted: BTreeMap<Option<StoreId>, Asked> = BTreeMap::from([(home, Asked::new())]);
        for uri in uris {
            let (store, path) = self.locate(context, uri).await?;
            wanted.entry(store).or_default().entry(path).or_default().push(uri.clone());
        }
        if wanted.len() > STORES_MAX {
            return Err(Trouble::call(format!("one subscription takes {STORES_MAX} stores")));
        }
        let mut following = Following { stores: BTreeMap::new(), at_home: None };
        for (store, asked) in wanted {
            let Some(store) = store else {
                following.at_home = Some(asked);
                continue;
            };
            // What cannot be read cannot be followed, and looks like nothing that ever changes.
            match self.reached(context, store, since).await {
                Ok(seen) => drop(following.stores.insert(store, (seen, asked))),
                Err(Error::NotFound(_) | Error::Denied(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(following)
    }

    /// How far a feed was at a moment that has just passed.
    async fn reached(
        &self,
        context: &Context,
        store: StoreId,
        since: Timestamp,
    ) -> Result<u64, Error> {
        let end = self.engine.stats(context, store).await?.last_seq;
        let before = end.saturating_sub(CHANGES as u64);
        let page = self.engine.changes(context, store, before, CHANGES).await?;
        let first = page.changes.iter().find(|change| change.at >= since);
        Ok(first.map_or(page.last_seq.max(end), |change| change.seq.saturating_sub(1)))
    }

    /// What happened since the last look.
    pub(crate) async fn look(
        &self,
        context: &Context,
        following: &mut Following,
    ) -> Result<News, Trouble> {
        if let Some(asked) = following.at_home.take() {
            match place::home(&self.engine, context, Purpose::Read).await? {
                Some(home) => drop(following.stores.insert(home, (0, asked))),
                None => following.at_home = Some(asked),
            }
        }
        let mut news = News::default();
        for (store, (seen, asked)) in &mut following.stores {
            loop {
                let page = match self.engine.changes(context, *store, *seen, CHANGES).await {
                    Ok(page) => page,
                    // The store is gone or is no longer theirs.
                    Err(Error::NotFound(_) | Error::Denied(_)) => break,
                    Err(error) => return Err(error.into()),
                };
                for change in &page.changes {
                    news.is_list_changed |= change.op != ChangeOp::Modified;
                    let uris = change.path.as_ref().and_then(|path| asked.get(path));
                    news.updated.extend(uris.into_iter().flatten().cloned());
                }
                *seen = page.last_seq;
                if !page.has_more {
                    break;
                }
            }
        }
        Ok(news)
    }

    /// The stores the caller can read, its own first.
    async fn readable(&self, context: &Context) -> Result<Vec<StoreId>, Trouble> {
        let reached = self.engine.stores_of(context).await?;
        let readable = reached.iter().filter(|one| place::level(one, context) >= Level::Read);
        Ok(readable.map(|one| one.store.id).collect())
    }

    /// The store and the path of a URI; no store is a home in which nothing was written.
    async fn locate(
        &self,
        context: &Context,
        uri: &str,
    ) -> Result<(Option<StoreId>, MemoryPath), Trouble> {
        let (store, path) = taken_apart(uri)?;
        let purpose = Purpose::Read;
        let store = match store == HOME {
            true => place::home(&self.engine, context, purpose).await?,
            false => place::find(&self.engine, context, Some(&store), purpose).await?,
        };
        Ok((store, path))
    }
}

impl Shown {
    fn of(memory: &Memory) -> Self {
        Self {
            uri: uri(memory.store, &memory.path),
            name: memory.path.to_string(),
            description: memory.attributes.summary.clone(),
            mime_type: mime_type(&memory.path),
            size: memory.size_bytes,
        }
    }
}

/// The URI of a memory.
pub(crate) fn uri(store: StoreId, path: &MemoryPath) -> String {
    format!("{SCHEME}{store}{}", utf8_percent_encode(path.as_str(), KEPT))
}

fn taken_apart(uri: &str) -> Result<(String, MemoryPath), Trouble> {
    let parts = uri.strip_prefix(SCHEME).filter(|_| uri.len() <= URI_BYTES_MAX);
    let parts = parts.and_then(|rest| rest.find('/').map(|at| rest.split_at(at)));
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().ok().map(String::from);
    let parts = parts.and_then(|(store, path)| Some((decoded(store)?, decoded(path)?)));
    let (store, path) =
        parts.ok_or_else(|| Trouble::call("a resource is called loci://<store>/<path>"))?;
    Ok((store, MemoryPath::parse(&path)?))
}

fn mime_type(path: &MemoryPath) -> &'static str {
    match path.as_str().rsplit_once('.').map(|(_, extension)| extension) {
        Some("md") => "text/markdown",
        Some("json") => "application/json",
        _ => "text/plain",
    }
}

/// Where a page ended, as text.
fn spelled(store: StoreId, cursor: &ListCursor) -> String {
    match cursor {
        ListCursor::Memory(path, id) => format!("{store} {id} {path}"),
        // Nothing is folded and nothing is listed by time here.
        ListCursor::Directory(_) | ListCursor::Time(..) => format!("{store}"),
    }
}

fn position(text: &str) -> Result<(StoreId, Option<ListCursor>), Trouble> {
    let parsed = || {
        let mut parts = text.splitn(3, ' ');
        let store = parts.next()?.parse().ok()?;
        let Some(id) = parts.next() else { return Some((store, None)) };
        let path = MemoryPath::parse(parts.next()?).ok()?;
        Some((store, Some(ListCursor::Memory(path, id.parse().ok()?))))
    };
    parsed().ok_or_else(|| Trouble::call("this cursor is not one of ours"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_carry_any_path() {
        let store = StoreId::from_u128(7);
        for text in ["/a", "/a b/ü?#%.md", "/a/b/c.json"] {
            let path = MemoryPath::parse(text).unwrap();
            let uri = uri(store, &path);
            assert!(uri.is_ascii() && !uri[SCHEME.len()..].contains(['?', '#', ' ']), "{uri}");
            assert_eq!(taken_apart(&uri).unwrap(), (store.to_string(), path));
        }
        for bad in ["", "loci://", "loci://home", "file:///a", "loci://home/a/../b", "loci://h/%ff"]
        {
            assert!(taken_apart(bad).is_err(), "{bad}");
        }
        assert!(taken_apart(&format!("loci://home/{}", "a".repeat(URI_BYTES_MAX))).is_err());
    }

    #[test]
    fn positions_survive_the_way_to_the_client() {
        let store = StoreId::from_u128(7);
        let path = MemoryPath::parse("/with blanks/in it").unwrap();
        let cursor = ListCursor::Memory(path, loci_model::MemoryId::from_u128(9));
        assert_eq!(position(&spelled(store, &cursor)).unwrap(), (store, Some(cursor)));
        assert!(position("x y z").is_err());
    }
}
