//! Who and what ids are. People see ids everywhere and know nobody by them; so whoever shares a store
//! with somebody may know what they are called. An administrator knows everybody.

use crate::{Context, Engine, Error, Result};
use loci_model::policy::{self, Reach, System};
use loci_model::query::{CreatedQuery, Direction, SessionQuery};
use loci_model::{
    Actor, ApiKey, Grantee, KeyId, Level, Principal, PrincipalId, PrincipalKind, SessionId, StoreId,
};
use std::collections::{BTreeMap, HashSet};

/// Ids asked about at once.
pub const NAMES_MAX: usize = 200;
/// Sessions of one principal whose writing counts as the principal's.
const SESSIONS_MAX: usize = 1000;

/// What an id stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// What it is called.
    pub name: String,
    /// What sort of thing it is.
    pub sort: Sort,
    /// On whose authority it acts.
    pub principal: Option<PrincipalId>,
    /// What the key is called, of a key; its principal's name is the one that says more.
    pub key: Option<String>,
}

/// What sort of thing an id stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Somebody.
    Principal(PrincipalKind),
    /// A session.
    Session,
    /// A store.
    Store,
}

/// What an id can be of.
enum Meant {
    Key(KeyId),
    Session(SessionId),
    Principal(PrincipalId),
    Store(StoreId),
}

fn meant(id: &str) -> Option<Meant> {
    let somebody = |prefix| PrincipalId::parse_with_prefix(prefix, id).map(Meant::Principal);
    let key = id.parse().ok().map(Meant::Key);
    key.or_else(|| id.parse().ok().map(Meant::Session))
        .or_else(|| id.parse().ok().map(Meant::Principal))
        .or_else(|| id.parse().ok().map(Meant::Store))
        .or_else(|| somebody("user_"))
        .or_else(|| somebody("svac_"))
}

impl Engine {
    /// What ids stand for, as far as the caller may know; the others are left out.
    pub async fn names(&self, context: &Context, ids: &[&str]) -> Result<BTreeMap<String, Named>> {
        let workspace = context.caller.workspace;
        let known = self.acquaintances(context).await?;
        let may_know = |id: PrincipalId| known.as_ref().is_none_or(|known| known.contains(&id));
        let mut keys: Option<Vec<ApiKey>> = None;
        let mut names = BTreeMap::new();
        for id in ids {
            let found = match meant(id) {
                None => None,
                Some(Meant::Principal(who)) => self.somebody(context, who, None).await?,
                Some(Meant::Key(wanted)) => {
                    if keys.is_none() {
                        let system = System::because("names of keys go with those of their owners");
                        let pass = system.administer(workspace, self.seams.now());
                        keys = Some(self.storage.keys(&pass).await?);
                    }
                    let key = keys.iter().flatten().find(|key| key.id == wanted);
                    match key {
                        Some(key) => {
                            let name = Some(key.name.clone());
                            self.somebody(context, key.principal, name).await?
                        }
                        None => None,
                    }
                }
                Some(Meant::Session(session)) => {
                    let session = self.storage.session(workspace, session).await?;
                    session.map(|session| Named {
                        name: session.title.unwrap_or(session.agent_id),
                        sort: Sort::Session,
                        principal: Some(session.owner),
                        key: None,
                    })
                }
                Some(Meant::Store(store)) => match self.facts(context, store).await {
                    Ok(facts) => {
                        let now = self.seams.now();
                        let reach = policy::reach(&context.caller, &facts, now);
                        (reach >= Reach::Upto(Level::Read)).then_some(Named {
                            name: facts.store.name,
                            sort: Sort::Store,
                            principal: None,
                            key: None,
                        })
                    }
                    Err(Error::NotFound(_)) => None,
                    Err(error) => return Err(error),
                },
            };
            let found = found.filter(|found| found.principal.is_none_or(&may_know));
            names.extend(found.map(|found| ((*id).to_owned(), found)));
        }
        Ok(names)
    }

    async fn somebody(
        &self,
        context: &Context,
        who: PrincipalId,
        key: Option<String>,
    ) -> Result<Option<Named>> {
        let found = self.storage.principal(context.caller.workspace, who).await?;
        Ok(found.map(|found| Named {
            name: found.name,
            sort: Sort::Principal(found.kind),
            principal: Some(found.id),
            key,
        }))
    }

    /// Those whose names the caller may know: whoever owns, gave or was given a store that the caller
    /// may read, and who is in the same chats. `None` is everybody.
    async fn acquaintances(&self, context: &Context) -> Result<Option<HashSet<PrincipalId>>> {
        let (caller, now) = (&context.caller, self.seams.now());
        if policy::administer(caller, now).is_ok() {
            return Ok(None);
        }
        let mut known = HashSet::from([caller.principal]);
        let system = System::because("who shares a store knows each other");
        for facts in self.storage.all_facts(caller).await?.iter() {
            let Ok(pass) = policy::read(caller, facts, now) else { continue };
            known.insert(facts.store.owner);
            for grant in self.storage.grants(&pass).await? {
                known.insert(grant.given_by);
                if let Grantee::Principal(id) = grant.grantee {
                    known.insert(id);
                }
            }
            if facts.home_of == Some(PrincipalKind::Group) {
                let pass = system.convene(caller.workspace, now);
                let members = self.storage.members(&pass, facts.store.owner).await?;
                known.extend(members.iter().map(|membership| membership.member));
            }
        }
        Ok(Some(known))
    }

    /// Everything that may stand on versions which somebody wrote, or one credential of theirs.
    pub async fn actors(&self, context: &Context, text: &str) -> Result<HashSet<Actor>> {
        let one = |actor| Ok(HashSet::from([actor]));
        if let Ok(key) = text.parse() {
            return one(Actor::Key(key));
        }
        if let Ok(session) = text.parse() {
            return one(Actor::Session(session));
        }
        if let Some(user) = PrincipalId::parse_with_prefix("user_", text) {
            return one(Actor::User(user));
        }
        if let Some(service) = PrincipalId::parse_with_prefix("svac_", text) {
            return one(Actor::Service(service));
        }
        let found: Principal = self.find_grantee(context, text).await?;
        let workspace = context.caller.workspace;
        let system = System::because("what somebody's keys wrote, they wrote");
        let keys = self.storage.keys(&system.administer(workspace, self.seams.now())).await?;
        let own = keys.iter().filter(|key| key.principal == found.id);
        let mut actors: HashSet<Actor> =
            own.map(|key| key.session.map_or(Actor::Key(key.id), Actor::Session)).collect();
        actors.extend([Actor::User(found.id), Actor::Service(found.id)]);
        let query = SessionQuery {
            created: CreatedQuery {
                since: None,
                until: None,
                include_archived: true,
                direction: Direction::Descending,
                after: None,
                limit: SESSIONS_MAX,
            },
            store: None,
            agent_id: None,
            agent_version: None,
        };
        let sessions = self.storage.list_sessions(workspace, Some(found.id), &query).await?;
        actors.extend(sessions.items.iter().map(|session| Actor::Session(session.id)));
        Ok(actors)
    }
}
