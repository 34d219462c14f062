//! API keys: made, listed, revoked, and turned into a caller.

use crate::access::expect_receipt;
use crate::{Context, Engine, Error, Result, Secret, console};
use loci_model::Power;
use loci_model::event::kind;
use loci_model::path;
use loci_model::policy::{AdminPass, System};
use loci_model::{
    Actor, ApiKey, Audience, Caller, Invalid, KeyId, KeyScope, Principal, PrincipalId,
    PrincipalKind, SessionId, StoreId, Timestamp, WorkspaceId, limit,
};
use loci_storage::{Mutation, Receipt};
use subtle::ConstantTimeEq;

const OUTLIVES_SESSION: &str = "a key that is made in the console ends when its maker signs out; to \
    make one that lasts, send your own key along (Authorization: Bearer KEY)";

/// A key to be made.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// A name for people.
    pub name: String,
    /// For whom; the caller's own principal when not given.
    pub principal: Option<PrincipalId>,
    /// How much.
    pub power: Power,
    /// Only these stores.
    pub stores: Option<Vec<StoreId>>,
    /// Bound to this session: acts as the session, on its stores only.
    pub session: Option<SessionId>,
    /// Host or model.
    pub audience: Audience,
    /// Whether it may act for any agent that a request names.
    pub acts_for_agents: bool,
    /// Until when.
    pub expires_at: Option<Timestamp>,
}

/// A key that the operator declares in configuration or environment, with a secret of their own.
#[derive(Debug, Clone)]
pub struct DeclaredKey {
    /// The declaration's name; declaring it again with another secret retires the old one.
    pub name: String,
    /// In which workspace.
    pub workspace: WorkspaceId,
    /// For whom.
    pub principal: PrincipalId,
    /// How much.
    pub power: Power,
    /// Only these stores.
    pub stores: Option<Vec<StoreId>>,
    /// Whether it may act for any agent that a request names.
    pub acts_for_agents: bool,
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
}

impl Engine {
    /// Turns a presented secret into a caller.
    pub async fn authenticate(&self, presented: &str) -> Result<Caller> {
        match self.authenticate_hash(&Secret::hash_of(presented)).await {
            Err(Error::Unauthenticated(_)) if Secret::is_mistyped(presented) => {
                Err(Error::Unauthenticated("invalid API key: it has a typing error"))
            }
            found => found,
        }
    }

    /// The same by the hash of the secret, for whoever must look again and should not keep it.
    pub async fn authenticate_hash(&self, hash: &[u8; 32]) -> Result<Caller> {
        const REFUSED: Error = Error::Unauthenticated("invalid API key");
        let Some((key, principal)) = self.storage.key_by_hash(hash).await? else {
            return Err(REFUSED);
        };
        let is_same: bool = key.secret_hash.ct_eq(hash).into();
        // A one-time word signs in to the console and opens nothing else.
        if !is_same || !key.is_valid_at(self.seams.now()) || console::is_link(&key) {
            return Err(REFUSED);
        }
        Ok(Self::caller_of(key, &principal))
    }

    /// The caller of a request that is still under way, as the credential stands now: refused when it
    /// has ended or was revoked. Only keys can be looked up again, by the hash of what was `shown`.
    pub(crate) async fn caller_again(
        &self,
        caller: &Caller,
        shown: Option<&[u8; 32]>,
    ) -> Result<Caller> {
        if caller.expires_at.is_some_and(|end| end <= self.seams.now()) {
            return Err(Error::Unauthenticated("the credential has ended"));
        }
        let is_by_key = matches!(caller.actor, Actor::Key(_) | Actor::Session(_));
        let Some(shown) = shown.filter(|_| is_by_key) else { return Ok(caller.clone()) };
        let mut fresh = self.authenticate_hash(shown).await?;
        // What the request itself narrowed stays narrow.
        fresh.session_user = caller.session_user;
        if caller.audience == Audience::Model {
            fresh.audience = Audience::Model;
        }
        Ok(fresh)
    }

    pub(crate) fn caller_of(key: ApiKey, principal: &Principal) -> Caller {
        Caller {
            workspace: key.workspace,
            principal: principal.id,
            is_admin: principal.is_admin,
            actor: key.session.map_or(Actor::Key(key.id), Actor::Session),
            session: key.session,
            session_user: loci_model::SessionUser::Unsaid,
            audience: key.audience,
            acts_for_agents: key.acts_for_agents,
            memory: principal.memory,
            scope: key.scope,
            expires_at: key.expires_at,
        }
    }

    /// Makes a key; its secret is returned here and never again, not even when the request is
    /// repeated. An administrator makes keys for anybody; others make keys for themselves, never
    /// wider or longer than their own. What a browser's session makes ends with that session.
    pub async fn create_key(
        &self,
        context: &Context,
        new: NewKey,
    ) -> Result<(ApiKey, Option<Secret>)> {
        let caller = &context.caller;
        require_key_maker(caller)?;
        if let Some(receipt) = self.recall(context).await? {
            return expect_receipt!(receipt, Receipt::Key(key) => (key, None));
        }
        let principal = new.principal.unwrap_or(caller.principal);
        if new.acts_for_agents {
            self.admin_pass(context)?;
            if new.session.is_some() {
                return Err(Invalid::new("acts_for_agents", "cannot stand beside a session").into());
            }
        }
        if principal != caller.principal {
            self.admin_pass(context)?;
            let found = self.storage.principal(caller.workspace, principal).await?;
            let found = found.ok_or(Error::NotFound("principal"))?;
            if found.kind == PrincipalKind::Group {
                return Err(Invalid::new("principal", "is a group, which holds no keys").into());
            }
        }
        check_key_name(&new.name)?;
        let now = self.seams.now();
        let browser = self.session_behind(caller).await?;
        let expires_at = new.expires_at.or(caller.expires_at);
        if expires_at.is_some_and(|end| end <= now) {
            return Err(Invalid::new("expires_at", "must be in the future").into());
        }
        if caller.expires_at.is_some_and(|own| expires_at > Some(own)) {
            return Err(Error::Denied(match browser {
                None => "a key cannot outlive the key that makes it",
                Some(_) => OUTLIVES_SESSION,
            }));
        }
        let name = match browser {
            None => new.name.clone(),
            Some(session) => console::name_in(session, &new.name),
        };
        check_name(&name)?;
        let scope = self.scope_for(context, &new).await?;
        let secret = Secret::generate(&self.seams);
        let key = ApiKey {
            id: self.seams.key_id(now),
            workspace: caller.workspace,
            principal,
            name,
            hint: secret.hint(),
            secret_hash: secret.hash(),
            scope,
            session: new.session,
            audience: new.audience,
            acts_for_agents: new.acts_for_agents,
            created_at: now,
            expires_at,
            revoked_at: None,
        };
        let told = self.happening(context, kind::KEY_CREATED).about(&key.id);
        let receipt = self.audited(context, Mutation::CreateKey(key), told).await?;
        let key = expect_receipt!(receipt, Receipt::Key(key) => key)?;
        if let Some(session) = browser {
            self.end_if_orphaned(context, session, key.id).await?;
        }
        // Somebody may have got in between with the same idempotency key.
        let is_ours = key.secret_hash == secret.hash();
        Ok((key, is_ours.then_some(secret)))
    }

    /// The browser's session that a caller's key stands on, if it stands on one. Such keys end.
    async fn session_behind(&self, caller: &Caller) -> Result<Option<KeyId>> {
        let (Some(_), Actor::Key(id)) = (caller.expires_at, caller.actor) else { return Ok(None) };
        let keys = self.storage.keys(&self.looking_pass(caller.workspace)).await?;
        Ok(keys.iter().find(|key| key.id == id).and_then(console::session_of))
    }

    /// Whoever signed out meanwhile may have looked for what the session made before there was this.
    async fn end_if_orphaned(&self, context: &Context, session: KeyId, made: KeyId) -> Result<()> {
        const ENDED: Error =
            Error::Unauthenticated("the console's session has ended; sign in again");
        let pass = self.looking_pass(context.caller.workspace);
        let (keys, now) = (self.storage.keys(&pass).await?, self.seams.now());
        if keys.iter().any(|key| key.id == session && key.is_valid_at(now)) {
            return Ok(());
        }
        let told = self.happening(context, kind::KEY_REVOKED).about(&made);
        self.audited_unasked(Mutation::RevokeKey(pass, made), told).await?;
        Err(ENDED)
    }

    fn looking_pass(&self, workspace: WorkspaceId) -> AdminPass {
        let system = System::because("whether a key is a browser's is for nobody to see");
        system.administer(workspace, self.seams.now())
    }

    /// Whose key a text asks for. Only an administrator learns who there is.
    pub async fn key_owner(&self, context: &Context, text: &str) -> Result<PrincipalId> {
        require_key_maker(&context.caller)?;
        let named = self.named(context, text).await?.map(|found| found.id);
        if named == Some(context.caller.principal) {
            return Ok(context.caller.principal);
        }
        self.admin_pass(context)?;
        named.ok_or(Error::NotFound("principal"))
    }

    async fn scope_for(&self, context: &Context, new: &NewKey) -> Result<KeyScope> {
        let mut stores = new.stores.clone();
        if let Some(session) = new.session {
            let session = self.session(context, session).await?;
            if session.archived_at.is_some() {
                return Err(Invalid::new("session_id", "is archived").into());
            }
            // Whether each can still be reached is asked at every request; that it is within the
            // maker's own scope, only here.
            let attached = session.attachments.iter().map(|attachment| attachment.store);
            let attached = attached.filter(|store| context.caller.scope.reaches(*store));
            stores = Some(match stores {
                None => attached.collect(),
                Some(wanted) => attached.filter(|store| wanted.contains(store)).collect(),
            });
        } else {
            for store in stores.iter().flatten() {
                self.read_pass(context, *store).await?;
            }
        }
        if let (None, Some(own)) = (&stores, &context.caller.scope.stores) {
            stores = Some(own.clone());
        }
        if stores.as_ref().is_some_and(|stores| stores.len() > limit::KEY_STORES_MAX) {
            let why = format!("takes at most {}", limit::KEY_STORES_MAX);
            return Err(Invalid::new("stores", why).into());
        }
        Ok(KeyScope { power: new.power, stores })
    }

    /// The workspace's keys.
    pub async fn keys(&self, context: &Context) -> Result<Vec<ApiKey>> {
        let pass = self.admin_pass(context)?;
        Ok(self.storage.keys(&pass).await?)
    }

    /// Revokes a key; it opens nothing from now on, and nor does what browsers were given for it.
    pub async fn revoke_key(&self, context: &Context, key: KeyId) -> Result<ApiKey> {
        let pass = self.admin_pass(context)?;
        let told = self.happening(context, kind::KEY_REVOKED).about(&key);
        let revoke = Mutation::RevokeKey(pass.clone(), key);
        let (engine, context) = (self.clone(), context.clone());
        let revoked = async move { engine.audited(&context, revoke, told).await };
        let receipt = self.end_with_sessions(&pass, key, revoked).await?;
        expect_receipt!(receipt, Receipt::Key(key) => key)
    }

    /// Makes a declared key exist with exactly this secret and scope.
    pub async fn declare_key(&self, declared: DeclaredKey) -> Result<ApiKey> {
        check_key_name(&declared.name)?;
        let owner = self.storage.principal(declared.workspace, declared.principal).await?;
        let owner = owner.ok_or(Error::NotFound("principal"))?;
        let now = self.seams.now();
        let scope = KeyScope { power: declared.power, stores: declared.stores.clone() };
        let pass = System::because("the operator declared it").administer(owner.workspace, now);
        let keys = self.storage.keys(&pass).await?.into_iter();
        let named = keys.filter(|key| key.name == declared.name && key.revoked_at.is_none());
        let (mut standing, outdated): (Vec<_>, Vec<_>) = named.partition(|key| {
            key.secret_hash == declared.secret_hash
                && key.principal == declared.principal
                && key.scope == scope
                && key.acts_for_agents == declared.acts_for_agents
        });
        // First of all, so that a start that fails here, for lack of room, leaves the key that stood.
        let key = match standing.pop() {
            Some(key) => key,
            None => self.make_declared_key(owner.clone(), declared, scope).await?,
        };
        for outdated in outdated {
            let told = self.happening_by_itself(owner.workspace, owner.id, kind::KEY_REVOKED);
            let revoke = Mutation::RevokeKey(pass.clone(), outdated.id);
            let told = told.about(&outdated.id);
            let engine = self.clone();
            let revoked = async move { engine.audited_unasked(revoke, told).await };
            self.end_with_sessions(&pass, outdated.id, revoked).await?;
        }
        Ok(key)
    }

    async fn make_declared_key(
        &self,
        owner: Principal,
        declared: DeclaredKey,
        scope: KeyScope,
    ) -> Result<ApiKey> {
        let now = self.seams.now();
        let key = ApiKey {
            id: self.seams.key_id(now),
            workspace: owner.workspace,
            principal: owner.id,
            name: declared.name,
            hint: String::new(),
            secret_hash: declared.secret_hash,
            scope,
            session: None,
            audience: Audience::Host,
            acts_for_agents: declared.acts_for_agents,
            created_at: now,
            expires_at: None,
            revoked_at: None,
        };
        let told = self.happening_by_itself(owner.workspace, owner.id, kind::KEY_CREATED);
        let told = told.about(&key.id);
        let receipt = self.audited_unasked(Mutation::CreateKey(key), told).await?;
        expect_receipt!(receipt, Receipt::Key(key) => key)
    }
}

pub(crate) fn require_key_maker(caller: &Caller) -> Result<()> {
    let is_whole = caller.scope.power == Power::Full && caller.session.is_none();
    if !is_whole || caller.audience == Audience::Model {
        return Err(Error::Denied("this key cannot make keys"));
    }
    Ok(())
}

/// A name that stands for somebody: nobody may look like somebody else by what cannot be seen.
pub(crate) fn check_principal_name(name: &str) -> Result<()> {
    check_name(name)?;
    Ok(path::check_visible("name", name)?)
}

fn check_key_name(name: &str) -> Result<()> {
    if console::is_reserved(name) {
        return Err(Invalid::new("name", "is kept for the console").into());
    }
    check_name(name)
}

pub(crate) fn check_name(name: &str) -> Result<()> {
    let chars = name.chars().count();
    if chars == 0 || chars > limit::NAME_CHARS_MAX || name.chars().any(char::is_control) {
        let why = format!("takes 1 to {} characters, no control characters", limit::NAME_CHARS_MAX);
        return Err(Invalid::new("name", why).into());
    }
    Ok(())
}
