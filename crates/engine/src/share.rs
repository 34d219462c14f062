//! Sharing a store and taking it back.

use crate::access::expect_receipt;
use crate::{Context, Engine, Error, Result};
use loci_model::event::kind;
use loci_model::policy::System;
use loci_model::{Grant, GrantId, Grantee, Invalid, Level, PrincipalKind, StoreId, Timestamp};
use loci_storage::ground::spelled;
use loci_storage::{Mutation, Receipt};

/// A grant that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// As it is now.
    pub grant: Grant,
    /// The grants that went because it left their giver with less.
    pub revoked: Vec<GrantId>,
}

/// A grant to be given.
#[derive(Debug, Clone)]
pub struct NewGrant {
    /// To whom.
    pub grantee: Grantee,
    /// How much.
    pub level: Level,
    /// Until when.
    pub expires_at: Option<Timestamp>,
}

impl Engine {
    /// Shares a store; a second grant to the same grantee replaces the first.
    pub async fn share(&self, context: &Context, store: StoreId, new: NewGrant) -> Result<Shared> {
        if let Some(receipt) = self.recall(context).await? {
            return expect_receipt!(receipt, Receipt::Grant { grant, revoked } => Shared { grant, revoked });
        }
        let pass = self.share_pass(context, store).await?;
        if new.expires_at.is_some_and(|end| end <= pass.now()) {
            return Err(Invalid::new("expires_at", "must be in the future").into());
        }
        if new.grantee == Grantee::Principal(context.caller.principal) {
            return Err(Invalid::new("grantee", "is yourself").into());
        }
        if let Grantee::Principal(id) = new.grantee {
            let principal = self.storage.principal(context.caller.workspace, id).await?;
            let principal = principal.ok_or(Error::NotFound("principal"))?;
            if principal.kind == PrincipalKind::Group {
                let why = "is a chat; those in it have access to its store, and to no other";
                return Err(Invalid::new("grantee", why).into());
            }
        }
        let grant = Grant {
            id: self.seams.grant_id(pass.now()),
            store,
            grantee: new.grantee,
            level: new.level,
            given_by: context.caller.principal,
            expires_at: new.expires_at,
            created_at: pass.now(),
        };
        let told = self.happening(context, kind::GRANT_GIVEN).in_store(store);
        let told =
            told.about(&spelled(new.grantee)).saying(&format!("{:?}", new.level).to_lowercase());
        let receipt = self.audited(context, Mutation::Share(pass, grant), told).await?;
        expect_receipt!(receipt, Receipt::Grant { grant, revoked } => Shared { grant, revoked })
    }

    /// Takes back a grant and those its grantee gave on.
    pub async fn revoke(
        &self,
        context: &Context,
        store: StoreId,
        grant: GrantId,
    ) -> Result<Vec<GrantId>> {
        if let Some(receipt) = self.recall(context).await? {
            return expect_receipt!(receipt, Receipt::Revoked(grants) => grants);
        }
        let pass = self.share_pass(context, store).await?;
        let system = System::because("the audit log says whose grant it was");
        let known = system.read(context.caller.workspace, store, pass.now());
        let known = self.storage.grants(&known).await?;
        let mut told = self.happening(context, kind::GRANT_REVOKED).in_store(store).about(&grant);
        if let Some(known) = known.iter().find(|known| known.id == grant) {
            told = told.saying(&spelled(known.grantee));
        }
        let receipt = self.audited(context, Mutation::Revoke(pass, grant), told).await?;
        expect_receipt!(receipt, Receipt::Revoked(grants) => grants)
    }

    /// Whether the caller may share a store at all; asked before names of others are looked up.
    pub async fn require_share(&self, context: &Context, store: StoreId) -> Result<()> {
        self.share_pass(context, store).await.map(|_| ())
    }

    /// Takes back what was granted to one grantee of a store.
    pub async fn revoke_from(
        &self,
        context: &Context,
        store: StoreId,
        grantee: Grantee,
    ) -> Result<Vec<GrantId>> {
        let grants = self.grants(context, store).await?;
        let found = grants.into_iter().find(|grant| grant.grantee == grantee);
        self.revoke(context, store, found.ok_or(Error::NotFound("grant"))?.id).await
    }

    /// The grants of a store, for those who may share it.
    pub async fn grants(&self, context: &Context, store: StoreId) -> Result<Vec<Grant>> {
        self.share_pass(context, store).await?;
        let pass = self.read_pass(context, store).await?;
        Ok(self.storage.grants(&pass).await?)
    }
}
