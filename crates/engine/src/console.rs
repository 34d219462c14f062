//! Signing in to the console: a key turns into another one that ends by itself, and a one-time word into
//! either.
//!
//! What a browser holds is a key like any other, with exactly the authority of the one that was shown
//! for it and never longer: so every server knows it, it can be seen and revoked with the others, and
//! the audit log has its beginning and its end. A one-time word is a key too, but opens nothing and is
//! spent by the first who shows it.

use crate::access::expect_receipt;
use crate::keys::require_key_maker;
use crate::{Context, Engine, Error, Result, Secret};
use loci_model::event::kind;
use loci_model::policy::System;
use loci_model::{ApiKey, Caller, KeyScope, RequestId, Timestamp};
use loci_storage::{Mutation, Receipt};

/// How long somebody stays signed in.
const SESSION_SECS: i64 = 12 * 3600;
/// How long a one-time word waits to be used.
const LINK_SECS: i64 = 10 * 60;
/// What keys of signed-in browsers are called.
const SESSION_NAME: &str = "console session";
/// The same where the key that was shown has an end of its own, which counts for what is made with it.
const ENDING_NAME: &str = "console session of a key that ends";
/// What keys are called that are one-time words.
const LINK_NAME: &str = "console link";

/// Whether a key's name says more than a name does, so that nobody else may choose it.
pub(crate) fn is_reserved(name: &str) -> bool {
    [SESSION_NAME, ENDING_NAME, LINK_NAME].contains(&name)
}

/// Whether a key is a one-time word, which opens nothing by itself.
pub(crate) fn is_link(key: &ApiKey) -> bool {
    key.name == LINK_NAME
}

/// Whether a key only ends because browsers sign in for a while: what it makes may outlive it.
pub(crate) fn stands_for_endless(key: &ApiKey) -> bool {
    key.name == SESSION_NAME
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
        self.admit(caller, request).await
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
        let caller = Caller { expires_at: None, ..Self::caller_of(key, &principal) };
        self.admit(caller, request).await
    }

    /// A one-time word for a browser, worth as much as the caller's own credential.
    pub async fn console_link(&self, context: &Context) -> Result<(Secret, Timestamp)> {
        require_key_maker(&context.caller)?;
        if context.caller.expires_at.is_some() {
            return Err(Error::Denied("a key that ends cannot make links, which would outlive it"));
        }
        let (key, secret) = self.derive_key(&context.caller, LINK_NAME, LINK_SECS);
        let expires_at = key.expires_at.unwrap_or(key.created_at);
        let told = self.happening(context, kind::KEY_CREATED).about(&key.id).saying(&LINK_NAME);
        // Asked again, it is another word: the first cannot be told twice.
        self.require_primary()?;
        self.audited_unasked(Mutation::CreateKey(key), told).await?;
        Ok((secret, expires_at))
    }

    /// Signs a browser out: what it shows opens nothing from now on. A key that no browser was given
    /// stays as it is.
    pub async fn sign_out(&self, shown: &str) -> Result<()> {
        let Some((key, principal)) = self.storage.key_by_hash(&Secret::hash_of(shown)).await?
        else {
            return Ok(());
        };
        let now = self.seams.now();
        if !is_reserved(&key.name) || !key.is_valid_at(now) {
            return Ok(());
        }
        let system = System::because("whoever has a session may end it");
        let pass = system.administer(key.workspace, now);
        let told = self.happening_by_itself(key.workspace, principal.id, kind::KEY_REVOKED);
        let revoke = Mutation::RevokeKey(pass, key.id);
        self.audited_unasked(revoke, told.about(&key.id).saying(&SESSION_NAME)).await?;
        Ok(())
    }

    async fn admit(&self, caller: Caller, request: RequestId) -> Result<SignedIn> {
        let name = if caller.expires_at.is_some() { ENDING_NAME } else { SESSION_NAME };
        let (key, secret) = self.derive_key(&caller, name, SESSION_SECS);
        let context = Context { caller, request, idempotency: None };
        let told = self.happening(&context, kind::KEY_CREATED).about(&key.id);
        let told = told.saying(&SESSION_NAME);
        self.audited(&context, Mutation::CreateKey(key), told).await?;
        let caller = self.authenticate(secret.reveal()).await?;
        let expires_at = caller.expires_at.unwrap_or_else(|| self.seams.now());
        Ok(SignedIn { caller, secret, expires_at })
    }

    /// A key that is worth what a caller's own is, for so long at most.
    fn derive_key(&self, caller: &Caller, name: &str, secs: i64) -> (ApiKey, Secret) {
        let now = self.seams.now();
        let secret = Secret::generate(&self.seams);
        let end = now.plus_secs(secs);
        let key = ApiKey {
            id: self.seams.key_id(now),
            workspace: caller.workspace,
            principal: caller.principal,
            name: name.to_owned(),
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
