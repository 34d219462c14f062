//! Makes what the configuration file declares exist: principals, chats, stores, grants, keys.
//!
//! Run at every start, and a second run changes nothing. What is taken out of the file stays as it
//! is: a deleted line must not be able to take access or memories away by accident. The members of a
//! declared chat are one line, and are exactly those that it names.

use crate::config::{ChatEntry, Config, GrantEntry, KeyEntry, MemberEntry, StoreEntry};
use crate::exit::Failure;
use loci_engine::{
    Context, DeclaredKey, Engine, Error, FirstStart, NewGrant, NewPrincipal, NewStore,
};
use loci_model::query::{Direction, StoreQuery};
use loci_model::{Caller, Grantee, Level, Principal, PrincipalKind, Store, StoreId, limit};

/// Applies the file's declarations.
pub(crate) async fn declare(
    engine: &Engine,
    start: &FirstStart,
    config: &Config,
) -> Result<(), Failure> {
    let context = context(engine, engine.local_operator(start));
    let declaration = Declaration { engine, start, context, stores: &config.stores };
    for entry in &config.principals {
        let new = NewPrincipal {
            kind: entry.kind.into(),
            name: entry.name.clone(),
            is_admin: entry.admin,
        };
        let found = declaration.principal(new).await.map_err(named("principal", &entry.name))?;
        let memory = entry.switches().over(found.memory);
        let switched = engine.declare_switches(&found, memory).await;
        switched.map_err(|error| named("principal", &entry.name)(error.into()))?;
    }
    for entry in &config.chats {
        declaration.chat(entry).await.map_err(named("chat", &entry.name))?;
    }
    for entry in &config.stores {
        declaration.store(entry).await.map_err(named("store", &entry.name))?;
    }
    for entry in &config.grants {
        declaration.grant(entry).await.map_err(named("grant on store", &entry.store))?;
    }
    for entry in &config.keys {
        declaration.key(entry).await.map_err(named("key", &entry.name))?;
    }
    if let Some(entry) = config.kilroy.key() {
        declaration.service_key(&entry).await.map_err(named("key", &entry.name))?;
    }
    Ok(())
}

struct Declaration<'a> {
    engine: &'a Engine,
    start: &'a FirstStart,
    context: Context,
    stores: &'a [StoreEntry],
}

impl Declaration<'_> {
    async fn principal(&self, new: NewPrincipal) -> Result<Principal, Failure> {
        match self.engine.declare_principal(self.start.workspace, new).await {
            Err(Error::Taken(_)) => Err(Failure::failed(
                "exists with another kind or another admin flag, which cannot be changed",
            )),
            found => Ok(found?),
        }
    }

    async fn chat(&self, entry: &ChatEntry) -> Result<(), Failure> {
        let member = |one: &MemberEntry| (one.name().to_owned(), one.kind().map(Into::into));
        let members: Vec<_> = entry.members.iter().map(member).collect();
        self.engine.declare_group(self.start.workspace, &entry.name, &members).await?;
        Ok(())
    }

    async fn owner(&self, name: Option<&str>) -> Result<Principal, Failure> {
        match name {
            None => Ok(self.start.administrator.clone()),
            Some(name) => Ok(self.engine.find_principal(&self.context, name).await?),
        }
    }

    async fn store(&self, entry: &StoreEntry) -> Result<(), Failure> {
        let owner = self.owner(entry.owner.as_deref()).await?;
        let named = self.stores_named(&entry.name).await?;
        if named.iter().any(|store| store.owner == owner.id) {
            return Ok(());
        }
        let caller =
            Caller { principal: owner.id, is_admin: owner.is_admin, ..self.context.caller.clone() };
        let new = NewStore {
            name: entry.name.clone(),
            description: entry.description.clone(),
            ..NewStore::default()
        };
        self.engine.create_store(&context(self.engine, caller), new).await?;
        Ok(())
    }

    async fn grant(&self, entry: &GrantEntry) -> Result<(), Failure> {
        let store = self.resolve(&entry.store).await?;
        let grantee = match entry.grantee.as_str() {
            "everyone" => Grantee::Everyone,
            name => Grantee::Principal(self.engine.find_principal(&self.context, name).await?.id),
        };
        let level = Level::from(entry.level);
        let now = self.engine.seams().now();
        let stands = |grant: &loci_model::Grant| {
            grant.grantee == grantee && grant.level == level && grant.is_valid_at(now)
        };
        if self.engine.grants(&self.context, store).await?.iter().any(stands) {
            return Ok(());
        }
        let new = NewGrant { grantee, level, expires_at: None };
        self.engine.share(&self.context, store, new).await?;
        Ok(())
    }

    async fn key(&self, entry: &KeyEntry) -> Result<(), Failure> {
        let principal = self.owner(entry.principal.as_deref()).await?;
        let stores = match &entry.stores {
            None => None,
            Some(names) => {
                let mut stores = Vec::with_capacity(names.len());
                for name in names {
                    stores.push(self.resolve(name).await?);
                }
                Some(stores)
            }
        };
        let declared = DeclaredKey {
            name: entry.name.clone(),
            workspace: principal.workspace,
            principal: principal.id,
            power: entry.level.into(),
            stores,
            acts_for_agents: entry.acts_for_agents,
            secret_hash: entry.secret_hash()?,
        };
        self.engine.declare_key(declared).await?;
        Ok(())
    }

    /// A key of a service that is made with it, unless there is somebody of that name.
    async fn service_key(&self, entry: &KeyEntry) -> Result<(), Failure> {
        let name = entry.principal.clone().unwrap_or_default();
        match self.engine.find_principal(&self.context, &name).await {
            Ok(found) if found.kind == PrincipalKind::Group => {
                return Err(Failure::failed("a group has no keys"));
            }
            Ok(_) => {}
            Err(Error::NotFound(_)) => {
                let kind = PrincipalKind::Service;
                self.principal(NewPrincipal { kind, name, is_admin: false }).await?;
            }
            Err(error) => return Err(error.into()),
        }
        self.key(entry).await
    }

    /// A store by id or by name. Anybody may call a store of theirs what they like, so one that the
    /// file declares goes before others of its name, and one of the administrator's before the rest.
    async fn resolve(&self, name: &str) -> Result<StoreId, Failure> {
        if let Ok(id) = name.parse::<StoreId>() {
            return Ok(self.engine.store(&self.context, id).await?.id);
        }
        let named = self.stores_named(name).await?;
        let declared = self.stores.iter().filter(|entry| entry.name == name);
        let mut preferred = Vec::new();
        for owner in declared.map(|entry| entry.owner.as_deref()).chain([None]) {
            let owner = self.owner(owner).await?.id;
            if !preferred.contains(&owner) {
                preferred.push(owner);
            }
        }
        for owner in preferred {
            if let Some(store) = named.iter().find(|store| store.owner == owner) {
                return Ok(store.id);
            }
        }
        match named.as_slice() {
            [] => Err(Failure::failed(format!("there is no store {name:?}"))),
            [store] => Ok(store.id),
            several => Err(Failure::failed(format!(
                "{} stores are called {name:?}; give the id",
                several.len()
            ))),
        }
    }

    async fn stores_named(&self, name: &str) -> Result<Vec<Store>, Failure> {
        let mut query = StoreQuery {
            since: None,
            until: None,
            include_archived: true,
            direction: Direction::Ascending,
            after: None,
            limit: limit::PAGE_ITEMS_MAX,
        };
        let mut found = Vec::new();
        loop {
            let page = self.engine.list_stores(&self.context, &query).await?;
            found.extend(page.items.into_iter().filter(|store| store.name == name));
            match page.next {
                Some(next) => query.after = Some(next),
                None => return Ok(found),
            }
        }
    }
}

fn context(engine: &Engine, caller: Caller) -> Context {
    let seams = engine.seams();
    Context { caller, request: seams.request_id(seams.now()), idempotency: None }
}

/// Says which entry of the file a failure is about.
fn named(kind: &'static str, name: &str) -> impl FnOnce(Failure) -> Failure {
    move |failure| {
        let message = format!("configuration: {kind} {name:?}: {}", failure.message);
        Failure { may_pass: failure.may_pass, ..Failure::failed(message) }
    }
}
