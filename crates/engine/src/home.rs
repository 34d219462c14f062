//! Homes: the store of an agent, a user or a chat, found by whose it is. Foreign doors know stores
//! by the id of whoever they belong to; here such an id becomes a principal, and the principal has
//! one home.
//!
//! A home always belongs to the one it is named after, never to whoever touched it first, so naming
//! somebody's id gives no right to anything.

use crate::access::expect_receipt;
use crate::principals::is_guessable;
use crate::{Context, Engine, Error, Result};
use loci_model::policy::{self, Ground, System};
use loci_model::store::{OnRemove, Partitioning, Repeats, Who};
use loci_model::{
    Actor, Address, Audience, Caller, KeyScope, Level, Power, Principal, PrincipalId,
    PrincipalKind, SessionUser, Store, StoreId, StorePolicy, Timestamp, WorkspaceId, limit,
};
use loci_storage::{Mutation, Receipt};
use std::collections::BTreeMap;

/// What a home may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HomeLimits {
    /// Bytes of one content.
    pub content_bytes_max: u64,
    /// Live memories.
    pub memories_max: u64,
}

impl Default for HomeLimits {
    fn default() -> Self {
        Self { content_bytes_max: limit::CONTENT_BYTES_DEFAULT as u64, memories_max: 10_000 }
    }
}

/// What a home is looked for, which decides what becomes of one that is not there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To search it.
    Search,
    /// To read it.
    Read,
    /// To change or take away what is there; where nothing is, nothing is made.
    Change,
    /// To write; it is made.
    Write,
}

impl Purpose {
    pub(crate) fn level(self) -> Level {
        match self {
            Self::Search => Level::Search,
            Self::Read => Level::Read,
            Self::Change | Self::Write => Level::ReadWrite,
        }
    }
}

/// A store that somebody can reach, and why.
#[derive(Debug, Clone)]
pub struct Reached {
    /// The store.
    pub store: Store,
    /// By which rule.
    pub ground: Ground,
    /// How much.
    pub level: Level,
    /// Whose home it is, if it is one.
    pub home_of: Option<Principal>,
}

impl Engine {
    /// The caller as the agent that a request says it is about. A credential of the agent itself
    /// may say so or not; one that acts for agents becomes the agent, which is made when it was
    /// never heard of; any other is refused.
    pub async fn acting(&self, context: &Context, agent: Option<&str>) -> Result<Context> {
        let Some(agent) = agent else { return Ok(context.clone()) };
        let caller = &context.caller;
        if let Some(named) = self.named(context, agent).await? {
            if named.id == caller.principal {
                return Ok(context.clone());
            }
            return self.become_agent(context, &named);
        }
        // Whether it may is asked before anything is made.
        if !policy::acts_for_agents(caller, self.seams.now()) {
            return Err(NOT_YOURS);
        }
        let made = self.found_or_made(caller.workspace, agent, PrincipalKind::Agent).await?;
        self.become_agent(context, &made)
    }

    pub(crate) fn become_agent(&self, context: &Context, agent: &Principal) -> Result<Context> {
        let caller = policy::act_for(&context.caller, agent, self.seams.now());
        Ok(Context { caller: caller.map_err(|_| NOT_YOURS)?, ..context.clone() })
    }

    /// The caller that a credential of another issuer names: an agent, made when it was never heard
    /// of. On one day so many are made and no more.
    pub async fn authenticate_agent(
        &self,
        agent: &str,
        audience: Audience,
        expires_at: Option<Timestamp>,
    ) -> Result<Caller> {
        const REFUSED: Error = Error::Unauthenticated("the token names no agent of this server");
        let workspace = self.storage.default_workspace().await?.ok_or(REFUSED)?;
        let agent = match self.named_in(workspace, agent).await? {
            Some(known) => known,
            None => {
                self.newcomers.admit_agent(self.seams.now())?;
                match self.found_or_made(workspace, agent, PrincipalKind::Agent).await {
                    // A token is not a request that could be mended.
                    Err(Error::Invalid(_)) => return Err(REFUSED),
                    made => made?,
                }
            }
        };
        if agent.kind != PrincipalKind::Agent || agent.is_admin {
            return Err(REFUSED);
        }
        Ok(Caller {
            workspace,
            principal: agent.id,
            is_admin: false,
            actor: Actor::Service(agent.id),
            session: None,
            session_user: SessionUser::Unsaid,
            audience,
            acts_for_agents: false,
            memory: agent.memory,
            scope: KeyScope { power: Power::UpTo(Level::ReadWrite), stores: None },
            expires_at,
        })
    }

    /// The user whom a request says it is about, for the caller of that request.
    pub async fn session_user(&self, context: &Context, user: Option<&str>) -> Result<SessionUser> {
        let Some(user) = user else { return Ok(SessionUser::Unsaid) };
        let found = self.named(context, user).await?;
        Ok(found.map_or(SessionUser::Unknown, |found| SessionUser::Is(found.id)))
    }

    /// The principal of the caller's workspace that a text names: by its id, by its id as a UUID, or
    /// by its name.
    pub async fn named(&self, context: &Context, text: &str) -> Result<Option<Principal>> {
        self.named_in(context.caller.workspace, text).await
    }

    pub(crate) async fn named_in(
        &self,
        workspace: WorkspaceId,
        text: &str,
    ) -> Result<Option<Principal>> {
        if text.chars().count() > limit::NAME_CHARS_MAX {
            return Ok(None);
        }
        // Ids first: names can be chosen, and nobody may take the place of somebody's id by theirs.
        let uuid = uuid::Uuid::try_parse(text).ok();
        let ours = uuid.filter(|uuid| uuid.get_version_num() == OWN_UUID_VERSION);
        let id = text.parse::<PrincipalId>().ok();
        if let Some(id) = id.or(ours.map(|uuid| PrincipalId::from_u128(uuid.as_u128())))
            && let Some(found) = self.storage.principal(workspace, id).await?
        {
            return Ok(Some(found));
        }
        if let Some(found) = self.storage.principal_by_name(workspace, text).await? {
            return Ok(Some(found));
        }
        match uuid.map(|uuid| uuid.to_string()).filter(|plain| plain != text) {
            Some(plain) => Ok(self.storage.principal_by_name(workspace, &plain).await?),
            None => Ok(None),
        }
    }

    /// The principal somebody is shared with by a foreign id; made as an agent when it was never
    /// heard of, because stores are shared with agents that have not come yet.
    pub async fn grantee(&self, context: &Context, text: &str) -> Result<Principal> {
        let (caller, now) = (&context.caller, self.seams.now());
        let is_bounded = is_guessable(caller, text, now);
        if is_bounded {
            self.newcomers.may_name(caller.principal, now)?;
            self.newcomers.may_bring(caller.principal, now)?;
        }
        match self.named(context, text).await? {
            Some(found) => {
                if is_bounded && found.kind == PrincipalKind::Group {
                    self.newcomers.count_unknown(caller.principal, now)?;
                }
                return Ok(found);
            }
            None => self.newcomers.admit(caller.principal, now)?,
        }
        self.found_or_made(context.caller.workspace, text, PrincipalKind::Agent).await
    }

    /// The store that a text names: a store's own id, or whose home it is. `None` is a home of the
    /// caller's in which nothing was ever written.
    ///
    /// Whether the caller may do anything there is decided when it does it. Ids that name nothing
    /// are `NotFound`.
    pub async fn store_named(
        &self,
        context: &Context,
        text: &str,
        purpose: Purpose,
    ) -> Result<Option<StoreId>> {
        if let Ok(id) = text.parse::<StoreId>() {
            return Ok(Some(id));
        }
        if let Some(principal) = self.named(context, text).await? {
            return self.home(context, &principal, purpose).await;
        }
        match uuid::Uuid::try_parse(text) {
            Ok(uuid) => Ok(Some(StoreId::from_u128(uuid.as_u128()))),
            Err(_) => Err(Error::NotFound("memory store")),
        }
    }

    /// The home of a principal; see [`Self::store_named`].
    pub async fn home(
        &self,
        context: &Context,
        of: &Principal,
        purpose: Purpose,
    ) -> Result<Option<StoreId>> {
        let address = Address::home(of.id);
        if let Some(store) = self.storage.store_at(of.workspace, &address).await? {
            return Ok(Some(store));
        }
        let is_own = of.id == context.caller.principal;
        if is_own {
            policy::at_home(&context.caller, purpose.level())?;
        } else if !self.may_be_near(context, of).await? {
            return Err(Error::NotFound("memory store"));
        }
        if is_own && purpose != Purpose::Write {
            return Ok(None);
        }
        self.require_primary()?;
        let policy = StorePolicy {
            partitioning: Partitioning::ByOwner,
            remove: Who::Owner,
            ..self.home_policy()
        };
        self.make_at(of, address, format!("home of {}", of.name), policy).await.map(Some)
    }

    /// How much the caller could do in its own home if there is none yet.
    pub fn level_at_home(&self, context: &Context) -> Option<Level> {
        let levels = [Level::ReadWrite, Level::Read, Level::Search];
        levels.into_iter().find(|level| policy::at_home(&context.caller, *level).is_ok())
    }

    /// Whether somebody may reach a home that is not there yet: then nobody was given anything in
    /// it, and a stranger's question makes nothing. Who is in a chat with a user is asked of the
    /// store, which is made for it.
    async fn may_be_near(&self, context: &Context, of: &Principal) -> Result<bool> {
        let caller = &context.caller;
        match of.kind {
            PrincipalKind::Agent | PrincipalKind::Service => Ok(false),
            PrincipalKind::User => Ok(true),
            PrincipalKind::Group if caller.is_admin => Ok(true),
            PrincipalKind::Group => {
                let system = System::because("who is in a group decides about its store");
                let pass = system.convene(of.workspace, self.seams.now());
                let members = self.storage.members(&pass, of.id).await?;
                Ok(members.iter().any(|one| one.member == caller.principal))
            }
        }
    }

    /// The caller's own notes about those who call it; `None` when it never wrote any.
    pub async fn callers_store(
        &self,
        context: &Context,
        purpose: Purpose,
    ) -> Result<Option<StoreId>> {
        let Caller { workspace, principal, .. } = context.caller;
        let address = Address::callers(principal);
        if let Some(store) = self.storage.store_at(workspace, &address).await? {
            return Ok(Some(store));
        }
        policy::at_home(&context.caller, purpose.level())?;
        if purpose != Purpose::Write {
            return Ok(None);
        }
        self.require_primary()?;
        let principal = self.storage.principal(workspace, principal).await?;
        let principal = principal.ok_or(Error::NotFound("principal"))?;
        let policy = StorePolicy { share: Who::Owner, ..self.home_policy() };
        let name = format!("callers of {}", principal.name);
        self.make_at(&principal, address, name, policy).await.map(Some)
    }

    fn home_policy(&self) -> StorePolicy {
        StorePolicy {
            partitioning: Partitioning::None,
            remove: Who::Writer,
            share: Who::Writer,
            on_remove: OnRemove::KeepHistory,
            content_bytes_max: self.homes.content_bytes_max,
            memories_max: self.homes.memories_max,
            repeats: Repeats::Allow,
            soft_cap: None,
        }
    }

    /// Makes a store at an address, or gives the one that somebody made there meanwhile.
    pub(crate) async fn make_at(
        &self,
        owner: &Principal,
        address: Address,
        name: String,
        policy: StorePolicy,
    ) -> Result<StoreId> {
        let now = self.seams.now();
        let store = Store {
            id: self.seams.store_id(now),
            workspace: owner.workspace,
            owner: owner.id,
            address: Some(address),
            name: name.chars().take(limit::STORE_NAME_CHARS_MAX).collect(),
            description: String::new(),
            metadata: BTreeMap::new(),
            policy,
            created_at: now,
            updated_at: now,
            archived_at: None,
        };
        let receipt = self.write_unasked(Mutation::CreateStore(store)).await?;
        expect_receipt!(receipt, Receipt::Store(store) => store.id)
    }

    /// Every store the caller can at least search by a rule of its own, an administrator's rights
    /// aside; its own first, then by age.
    pub async fn stores_of(&self, context: &Context) -> Result<Vec<Reached>> {
        let now = self.seams.now();
        let caller = Caller { is_admin: false, ..context.caller.clone() };
        let mut reached = Vec::new();
        for facts in self.storage.all_facts(&caller).await?.iter() {
            if policy::search(&caller, std::slice::from_ref(facts), now).stores().is_empty() {
                continue;
            }
            let Some((ground, level)) = facts.ground_of(&caller, now) else { continue };
            let store = facts.store.clone();
            let is_home = store.address.as_ref().is_some_and(|one| one.is_home_of(store.owner));
            let home_of = match is_home {
                true => self.storage.principal(store.workspace, store.owner).await?,
                false => None,
            };
            reached.push(Reached { store, ground, level, home_of });
        }
        reached.sort_by_key(|one| one.ground != Ground::Owner);
        Ok(reached)
    }
}

/// What our ids are, seen as UUIDs.
const OWN_UUID_VERSION: usize = 7;

const NOT_YOURS: Error = Error::Denied("this credential is not that agent's");
