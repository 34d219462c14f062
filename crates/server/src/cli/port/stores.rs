//! Which stores are shown, under which names, and whether they can be written. What a caller may not
//! read is not shown; what it may only read is shown as read-only, so that programs are told by the
//! file system and not by a refusal.

use super::super::client::Client;
use super::super::find::{self, encode, store_url};
use super::super::output::text;
use super::{parse, refusal};
use crate::exit::Failure;
use loci_model::{Access, Attachment, StoreId, limit};
use loci_mount::port::{Refusal, StoreSeen};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A number that no feed comes to: what is asked for after it is only who may do what.
const NO_LINES: u64 = 1 << 52;
/// How long a store that could not be read is not looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(10);
/// Stores shown at once; each is followed by a request of its own.
const STORES_MAX: usize = 256;

/// A store as a person names it: `NAME`, `NAME:ro` or `NAME:rw`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) named: String,
    pub(crate) access: Option<Access>,
}

impl Wanted {
    /// Takes the access off a store's name. A name may hold a colon itself; only these endings count.
    pub(crate) fn parse(given: &str) -> Self {
        let (named, access) = match given.rsplit_once(':') {
            Some((store, "ro")) => (store, Some(Access::ReadOnly)),
            Some((store, "rw")) => (store, Some(Access::ReadWrite)),
            _ => (given, None),
        };
        Self { named: named.to_owned(), access }
    }
}

/// What to show.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// These; all there are if none is named.
    pub(crate) wanted: Vec<Wanted>,
    /// Only what is attached to this session, as it is attached.
    pub(crate) session: Option<String>,
    /// Nothing is written, whatever could be.
    pub(crate) is_read_only: bool,
}

/// What was chosen, and for whom.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) stores: Vec<StoreSeen>,
    pub(crate) principal: String,
}

/// A store that may be shown.
struct Candidate {
    id: StoreId,
    name: String,
    description: String,
    slug: String,
    /// The most that may be done with it here: what was asked for, and how it is attached.
    most: Access,
    is_archived: bool,
}

impl Candidate {
    /// Whether nothing can be written, whatever the server says.
    fn is_read_only(&self) -> bool {
        self.is_archived || self.most == Access::ReadOnly
    }
}

impl Selection {
    /// Looks up what is to be shown to whoever acts; `asking` is who started it.
    pub(crate) async fn choose(&self, asking: &Client, client: &Client) -> Result<Chosen, Failure> {
        let who = client.get("/v1/whoami").await?;
        let found = match &self.session {
            Some(session) => attached(asking, session).await?,
            None => stores(client, &self.wanted).await?,
        };
        let mut found = self.narrowed(asking, found).await?;
        name_apart(&mut found);
        let mut stores = Vec::with_capacity(found.len());
        for candidate in found {
            let is_named = !self.wanted.is_empty();
            let told = match told(client, candidate.id).await? {
                Ok(told) => told,
                Err(_) if !is_named && self.session.is_none() => continue,
                Err(failure) => return Err(failure),
            };
            if stores.len() == STORES_MAX {
                return Err(Failure::usage(format!(
                    "there are over {STORES_MAX} stores; name those to show with --store"
                )));
            }
            stores.push(self.seen(client, candidate, told).await);
        }
        Ok(Chosen { stores, principal: text(&who["principal"], "id").to_owned() })
    }

    /// Whether stores that can be read later are meant as well: none was named.
    pub(crate) fn is_every_store(&self) -> bool {
        self.wanted.is_empty() && self.session.is_none()
    }

    /// The stores that can be read now and are not known; those that were looked at in vain a moment
    /// ago are left out.
    pub(super) async fn newcomers(
        &self,
        client: &Client,
        known: &[StoreId],
        unreadable: &Unreadable,
    ) -> Result<Vec<StoreSeen>, Failure> {
        let mut found = stores(client, &[]).await?;
        // Before those that are known are left out: a name that one of them has is taken.
        name_apart(&mut found);
        let is_news = |one: &Candidate| !known.contains(&one.id) && !unreadable.has(one.id);
        found.retain(is_news);
        let room = STORES_MAX.saturating_sub(known.len());
        let mut new = Vec::new();
        for candidate in found {
            if new.len() == room {
                break;
            }
            match told(client, candidate.id).await? {
                Ok(told) => new.push(self.seen(client, candidate, told).await),
                Err(_) => unreadable.note(candidate.id),
            }
        }
        Ok(new)
    }

    async fn seen(&self, client: &Client, candidate: Candidate, told: Access) -> StoreSeen {
        let url = store_url(&candidate.id.to_string());
        // Whoever may not see a store's switches goes by the usual ones; the server knows better anyway.
        let policy = client.get(&format!("{url}/policy")).await.unwrap_or(Value::Null);
        let bytes = policy["content_bytes_max"].as_u64();
        let Candidate { id, name, description, slug, most, .. } = candidate;
        let most = if self.is_read_only { Access::ReadOnly } else { most };
        StoreSeen {
            id,
            slug,
            name,
            description,
            access: if most == Access::ReadOnly { most } else { told },
            most,
            content_bytes_max: bytes.unwrap_or(limit::CONTENT_BYTES_DEFAULT as u64),
            memories_max: policy["memories_max"]
                .as_u64()
                .unwrap_or(limit::MEMORIES_PER_STORE_DEFAULT),
        }
    }

    /// Only what was named, with no more access than was asked for.
    async fn narrowed(
        &self,
        client: &Client,
        found: Vec<Candidate>,
    ) -> Result<Vec<Candidate>, Failure> {
        if self.wanted.is_empty() {
            return Ok(found);
        }
        let mut kept: Vec<Candidate> = Vec::new();
        let mut found: BTreeMap<String, Candidate> =
            found.into_iter().map(|candidate| (candidate.id.to_string(), candidate)).collect();
        for Wanted { named, access } in &self.wanted {
            let by_name = |one: &&Candidate| one.name == *named || one.id.to_string() == *named;
            let id = match found.values().find(by_name) {
                Some(candidate) => candidate.id.to_string(),
                None => find::store(client, named).await?,
            };
            let Some(candidate) = found.remove(&id) else {
                let why = match &self.session {
                    Some(session) => format!("memory store {named:?} is not attached to {session}"),
                    None => format!("memory store {named:?} is named twice"),
                };
                return Err(Failure::usage(why));
            };
            if candidate.is_read_only() && *access == Some(Access::ReadWrite) {
                let why = format!("memory store {named:?} can only be read here");
                return Err(Failure::usage(why));
            }
            let most =
                if *access == Some(Access::ReadOnly) { Access::ReadOnly } else { candidate.most };
            kept.push(Candidate { most, ..candidate });
        }
        Ok(kept)
    }
}

fn candidate(store: &Value) -> Option<Candidate> {
    let id: StoreId = text(store, "id").parse().ok()?;
    let name = text(store, "name").to_owned();
    let is_archived = !store["archived_at"].is_null();
    Some(Candidate {
        id,
        slug: Attachment::slug(&name, id),
        name,
        description: text(store, "description").to_owned(),
        most: Access::ReadWrite,
        is_archived,
    })
}

/// The stores that are named, or all that are not archived.
async fn stores(client: &Client, wanted: &[Wanted]) -> Result<Vec<Candidate>, Failure> {
    let mut found = Vec::new();
    if wanted.is_empty() {
        find::each(client, "/v1/memory_stores", &[], |store| {
            found.extend(candidate(store));
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        return Ok(found);
    }
    for one in wanted {
        let id = find::store(client, &one.named).await?;
        let store = client.get(&store_url(&id)).await?;
        found.extend(candidate(&store));
    }
    Ok(found)
}

/// What is attached to a session, as it was when it was attached.
async fn attached(client: &Client, session: &str) -> Result<Vec<Candidate>, Failure> {
    let session = client.get(&format!("/v1/sessions/{}", encode(session))).await?;
    if !session["archived_at"].is_null() {
        return Err(Failure::failed(format!("{} is archived", text(&session, "id"))));
    }
    let one = |resource: &Value| {
        let id: StoreId = text(resource, "memory_store_id").parse().ok()?;
        let name = text(resource, "name").to_owned();
        let slug = text(resource, "mount_path").rsplit('/').next().unwrap_or_default();
        let slug = match slug {
            "" => Attachment::slug(&name, id),
            given => given.to_owned(),
        };
        let most = match text(resource, "access") {
            "read_only" => Access::ReadOnly,
            _ => Access::ReadWrite,
        };
        let description = text(resource, "description").to_owned();
        Some(Candidate { id, name, description, slug, most, is_archived: false })
    };
    Ok(session["resources"].as_array().into_iter().flatten().filter_map(one).collect())
}

/// Two stores must not have one directory: those of one name get their ids appended.
fn name_apart(found: &mut [Candidate]) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for candidate in found.iter() {
        *count.entry(candidate.slug.clone()).or_default() += 1;
    }
    for candidate in found {
        if count[&candidate.slug] > 1 {
            candidate.slug = format!("{}-{}", candidate.slug, candidate.id);
        }
    }
}

/// What may be done with a store whose memories can be listed, and not only searched; the inner
/// failure is that of a store that cannot be read, the outer one says nothing about the store.
async fn told(client: &Client, store: StoreId) -> Result<Result<Access, Failure>, Failure> {
    let url = store_url(&store.to_string());
    match client.get_bytes(&format!("{url}/changes?after={NO_LINES}&limit=1")).await {
        Ok(page) => match parse::feed(&page) {
            Ok(feed) => Ok(Ok(feed.access)),
            Err(refusal) => Err(Failure::failed(format!("{url}: {refusal:?}"))),
        },
        Err(refused) => match refusal(&refused) {
            Refusal::Denied | Refusal::NotFound => Ok(Err(refused.into())),
            _ => Err(refused.into()),
        },
    }
}

/// Stores that could not be read when they were looked at, such as those that may only be searched:
/// looked at again after a while.
#[derive(Debug, Default)]
pub(crate) struct Unreadable(Mutex<HashMap<StoreId, Instant>>);

impl Unreadable {
    fn known(&self) -> MutexGuard<'_, HashMap<StoreId, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, store: StoreId) {
        self.known().insert(store, Instant::now());
    }

    fn has(&self, store: StoreId) -> bool {
        let mut known = self.known();
        known.retain(|_, at| at.elapsed() < LOOK_AGAIN);
        known.contains_key(&store)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_is_what_follows_the_last_colon() {
        let check = |given: &str, named: &str, access| {
            assert_eq!(Wanted::parse(given), Wanted { named: named.into(), access });
        };
        check("notes", "notes", None);
        check("notes:ro", "notes", Some(Access::ReadOnly));
        check("a:b:rw", "a:b", Some(Access::ReadWrite));
        check("a:b", "a:b", None);
    }

    #[test]
    fn two_stores_never_share_a_directory() {
        let store = |id: u128, name: &str| {
            let id = StoreId::from_u128(id);
            let slug = Attachment::slug(name, id);
            let (name, description) = (name.to_owned(), String::new());
            let most = Access::ReadWrite;
            Candidate { id, name, description, slug, most, is_archived: false }
        };
        let mut found = [store(1, "Notes"), store(2, "notes"), store(3, "other")];
        name_apart(&mut found);
        assert_eq!(found[0].slug, format!("notes-{}", found[0].id));
        assert_ne!(found[0].slug, found[1].slug);
        assert_eq!(found[2].slug, "other");
    }
}
