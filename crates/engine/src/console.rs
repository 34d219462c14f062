//! Signing in to the console: a key turns into another one that ends by itself, and a one-time word into
//! either.
//!
//! What a browser holds is a key like any other, with exactly the authority of the one that was shown
//! for it and never longer: so every server knows it, it can be seen and revoked with the others, and
//! the audit log has its beginning and its end. Its name says which key was shown, and it ends with that
//! one. The keys that it makes say so in theirs, and end with it: whoever has only a cookie can make
//! nothing that outlives it. A one-time word is a key too, but opens nothing and is spent by the first
//! who shows it.

use crate::access::expect_receipt;
use crate::compute::finished;
use crate::keys::require_key_maker;
use crate::{Context, Engine, Error, Result, Secret};
use loci_model::event::kind;
use loci_model::policy::{AdminPass, System};
use loci_model::{Actor, ApiKey, Caller, KeyId, KeyScope, RequestId, Timestamp};
use loci_storage::{Mutation, Receipt};
use std::future::Future;

/// How long somebody stays signed in.
const SESSION_SECS: i64 = 12 * 3600;
/// How long a one-time word waits to be used.
const LINK_SECS: i64 = 10 * 60;
/// What keys of signed-in browsers are called.
const SESSION_NAME: &str = "console session";
/// What keys are called that are one-time words.
const LINK_NAME: &str = "console link";

/// What stands behind the name of a key that was made in a browser, before the session's id.
const MADE_IN: &str = "made in console session ";

/// A name of one of these sorts, and for which key it was made.
fn read_name(name: &str) -> (&str, Option<&str>) {
    let parts = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("));
    parts.map_or((name, None), |(sort, key)| (sort, Some(key)))
}

/// Whether a key's name says more than a name does, so that nobody else may choose it.
pub(crate) fn is_reserved(name: &str) -> bool {
    let (sort, key) = read_name(name);
    [SESSION_NAME, LINK_NAME].contains(&sort) || key.is_some_and(|key| key.starts_with(MADE_IN))
}

/// The name of a key that is made in a browser's session.
pub(crate) fn name_in(session: KeyId, name: &str) -> String {
    format!("{name} ({MADE_IN}{session})")
}

fn is_session(key: &ApiKey) -> bool {
    read_name(&key.name).0 == SESSION_NAME
}

/// The browser's session that a key stands on: itself, or the one that it was made in.
pub(crate) fn session_of(key: &ApiKey) -> Option<KeyId> {
    if is_session(key) {
        return Some(key.id);
    }
    read_name(&key.name).1?.strip_prefix(MADE_IN)?.parse().ok()
}

/// A key's name as it was given, and the browser's session that the key was made in and ends with.
pub fn made_in(key: &ApiKey) -> (&str, Option<&str>) {
    match read_name(&key.name) {
        (name, Some(maker)) if maker.starts_with(MADE_IN) => (name, maker.strip_prefix(MADE_IN)),
        _ => (&key.name, None),
    }
}

/// Whether a key is a one-time word, which opens nothing by itself.
pub(crate) fn is_link(key: &ApiKey) -> bool {
    read_name(&key.name).0 == LINK_NAME
}

/// The key that a browser's was made for, or the browser's that another was made in, as its name says.
fn made_for(key: &ApiKey) -> Option<&str> {
    let (_, maker) = read_name(&key.name);
    let maker = maker.filter(|_| is_reserved(&key.name))?;
    Some(maker.strip_prefix(MADE_IN).unwrap_or(maker))
}

/// A browser that was let in.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// Who it acts as from now on.
    pub caller: Caller,
    /// What it shows for it.
    pub secret: Secret,
    /// Until when.
    pub expires_at: Timestamp,
}

impl Engine {
    /// Lets a browser in for a key. Whatever key it is, what comes of it is worth the same; so the
    /// key of a model or of a session signs in as well, and is no more by it.
    pub async fn sign_in(&self, key: &str, request: RequestId) -> Result<SignedIn> {
        self.require_primary()?;
        let caller = self.authenticate(key).await?;
        let shown = self.storage.key_by_hash(&Secret::hash_of(key)).await?;
        let shown = shown.map(|(key, _)| key.id.to_string());
        let let_in = self.admit(caller, shown.as_deref(), request).await?;
        // Who revoked the key meanwhile may have looked for its sessions before there was this one.
        if let Err(refused) = self.authenticate(key).await {
            self.sign_out(let_in.secret.reveal()).await?;
            return Err(refused);
        }
        Ok(let_in)
    }

    /// The same for a one-time word, which is spent by it.
    pub async fn sign_in_once(&self, word: &str, request: RequestId) -> Result<SignedIn> {
        const REFUSED: Error =
            Error::Unauthenticated("this link was used already, or is older than 10 minutes");
        self.require_primary()?;
        let found = self.storage.key_by_hash(&Secret::hash_of(word)).await?;
        let now = self.seams.now();
        let is_unspent = |key: &ApiKey| is_link(key) && key.is_valid_at(now);
        let (key, principal) = found.filter(|(key, _)| is_unspent(key)).ok_or(REFUSED)?;
        let system = System::because("whoever has the word may spend it");
        let pass = system.administer(key.workspace, now);
        let told = self.happening_by_itself(key.workspace, principal.id, kind::KEY_REVOKED);
        let revoke = Mutation::RevokeKey(pass, key.id);
        let receipt = self.audited_unasked(revoke, told.about(&key.id).saying(&LINK_NAME)).await?;
        let spent = expect_receipt!(receipt, Receipt::Key(key) => key)?;
        // Of two who come at once, the one whose moment was written down was first.
        if spent.revoked_at != Some(now) {
            return Err(REFUSED);
        }
        let maker = made_for(&key).map(str::to_owned);
        let caller = Caller { expires_at: None, ..Self::caller_of(key, &principal) };
        self.admit(caller, maker.as_deref(), request).await
    }

    /// A one-time word for a browser, worth as much as the caller's own credential.
    pub async fn console_link(&self, context: &Context) -> Result<(Secret, Timestamp)> {
        require_key_maker(&context.caller)?;
        if context.caller.expires_at.is_some() {
            return Err(Error::Denied("a key that ends cannot make links, which would outlive it"));
        }
        let maker = match context.caller.actor {
            Actor::Key(id) => Some(id.to_string()),
            _ => None,
        };
        let (key, secret) =
            self.derive_key(&context.caller, LINK_NAME, maker.as_deref(), LINK_SECS);
        let expires_at = key.expires_at.unwrap_or(key.created_at);
        let told = self.happening(context, kind::KEY_CREATED).about(&key.id).saying(&LINK_NAME);
        // Asked again, it is another word: the first cannot be told twice.
        self.require_primary()?;
        self.audited_unasked(Mutation::CreateKey(key), told).await?;
        Ok((secret, expires_at))
    }

    /// Signs a browser out: what it shows opens nothing from now on, and nor does what was made in its
    /// session. A session that was ended already is gone through once more: the request that ended it may
    /// have been cut off. A key that no browser was given stays as it is.
    pub async fn sign_out(&self, shown: &str) -> Result<()> {
        let Some((key, principal)) = self.storage.key_by_hash(&Secret::hash_of(shown)).await?
        else {
            return Ok(());
        };
        let now = self.seams.now();
        // What was made in a session ends no later than the session does by itself.
        if !is_session(&key) || key.expires_at.is_some_and(|end| end <= now) {
            return Ok(());
        }
        let system = System::because("whoever has a session may end it");
        let pass = system.administer(key.workspace, now);
        let told = self.happening_by_itself(key.workspace, principal.id, kind::KEY_REVOKED);
        let told = told.about(&key.id).saying(&SESSION_NAME);
        let engine = self.clone();
        self.end_with_sessions(&pass.clone(), key.id, async move {
            if key.revoked_at.is_some() {
                return Ok(());
            }
            let revoke = Mutation::RevokeKey(pass, key.id);
            engine.audited_unasked(revoke, told).await.map(drop)
        })
        .await
    }

    /// Ends a key by `last`, after everything that stands on it: so whatever interrupts this, what is left
    /// stands on a key that is still there to be ended again. What was made meanwhile goes afterwards.
    pub(crate) async fn end_with_sessions<T: Send + 'static>(
        &self,
        pass: &AdminPass,
        key: KeyId,
        last: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (engine, pass) = (self.clone(), pass.clone());
        finished(async move {
            engine.end_sessions_of(&pass, key).await?;
            let done = last.await?;
            engine.end_sessions_of(&pass, key).await?;
            Ok(done)
        })
        .await
    }

    /// Ends what browsers were given for a key, what they made, and what they were given for that: each
    /// before what it stands on.
    async fn end_sessions_of(&self, pass: &AdminPass, gone: KeyId) -> Result<()> {
        let (keys, now) = (self.storage.keys(pass).await?, self.seams.now());
        let (mut standing, mut on) = (Vec::new(), vec![gone.to_string()]);
        while let Some(maker) = on.pop() {
            // Also through keys that have ended: what was made in them may not have.
            for key in keys.iter().filter(|key| made_for(key) == Some(maker.as_str())) {
                standing.push(key);
                on.push(key.id.to_string());
            }
        }
        for key in standing.into_iter().rev().filter(|key| key.is_valid_at(now)) {
            let told = self.happening_by_itself(key.workspace, key.principal, kind::KEY_REVOKED);
            let told = told.about(&key.id).saying(&read_name(&key.name).0);
            self.audited_unasked(Mutation::RevokeKey(pass.clone(), key.id), told).await?;
        }
        Ok(())
    }

    async fn admit(
        &self,
        caller: Caller,
        maker: Option<&str>,
        request: RequestId,
    ) -> Result<SignedIn> {
        let (key, secret) = self.derive_key(&caller, SESSION_NAME, maker, SESSION_SECS);
        let context = Context { caller, request, idempotency: None };
        let told = self.happening(&context, kind::KEY_CREATED).about(&key.id);
        let told = told.saying(&SESSION_NAME);
        self.audited(&context, Mutation::CreateKey(key), told).await?;
        let caller = self.authenticate(secret.reveal()).await?;
        let expires_at = caller.expires_at.unwrap_or_else(|| self.seams.now());
        Ok(SignedIn { caller, secret, expires_at })
    }

    /// A key that is worth what a caller's own is, for so long at most.
    fn derive_key(
        &self,
        caller: &Caller,
        sort: &str,
        maker: Option<&str>,
        secs: i64,
    ) -> (ApiKey, Secret) {
        let now = self.seams.now();
        let secret = Secret::generate(&self.seams);
        let end = now.plus_secs(secs);
        let key = ApiKey {
            id: self.seams.key_id(now),
            workspace: caller.workspace,
            principal: caller.principal,
            name: maker.map_or_else(|| sort.to_owned(), |key| format!("{sort} ({key})")),
            hint: secret.hint(),
            secret_hash: secret.hash(),
            scope: KeyScope { power: caller.scope.power, stores: caller.scope.stores.clone() },
            session: caller.session,
            audience: caller.audience,
            acts_for_agents: caller.acts_for_agents,
            created_at: now,
            expires_at: Some(caller.expires_at.map_or(end, |own| own.min(end))),
            revoked_at: None,
        };
        (key, secret)
    }
}
