//! Sharing a store and taking it back.

use crate::access::expect_receipt;
use crate::{Context, Engine, Error, Result};
use loci_model::event::kind;
use loci_model::policy::{self, System};
use loci_model::{Grant, GrantId, Grantee, Invalid, Level, PrincipalKind, StoreId, Timestamp};
use loci_storage::ground::spelled;
use loci_storage::{Mutation, Receipt};

/// Why a grant is not taken back for somebody who may share the store.
pub const NOT_THE_GIVER: &str = "only its giver or the store's owner may take this back";
/// How often a grant is looked for again because somebody replaced it meanwhile.
const ATTEMPTS_MAX: usize = 1000;

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

    /// Takes back what was granted to one grantee of a store, and says which grants are gone. None
    /// are where there was nothing to take back; what is another's to take back is refused.
    ///
    /// Sharing again replaces a grant by another one. Whoever takes back means the grantee and not
    /// that grant, so it is looked for again.
    pub async fn revoke_from(
        &self,
        context: &Context,
        store: StoreId,
        grantee: Grantee,
    ) -> Result<Vec<GrantId>> {
        for _ in 0..ATTEMPTS_MAX {
            let pass = self.share_pass(context, store).await?;
            let grants = self.grants(context, store).await?;
            let Some(found) = grants.iter().find(|grant| grant.grantee == grantee) else {
                return Ok(Vec::new());
            };
            if !pass.may_revoke(found) {
                // What has ended opens nothing, whoever gave it.
                return match found.is_valid_at(pass.now()) {
                    true => Err(Error::Denied(NOT_THE_GIVER)),
                    false => Ok(Vec::new()),
                };
            }
            match self.revoke(context, store, found.id).await {
                Err(Error::NotFound("grant")) => {}
                revoked => return revoked,
            }
        }
        Err(Error::Unavailable("others share this store all the time; try again"))
    }

    /// The caller as the agent that gave somebody what it has in a store, for platforms that take
    /// back without saying for which agent. `None` where nothing was given.
    pub async fn acting_as_giver(
        &self,
        context: &Context,
        store: StoreId,
        grantee: Grantee,
    ) -> Result<Option<Context>> {
        let now = self.seams.now();
        policy::convene(&context.caller, now).map_err(|_| Error::Denied(NOT_THE_GIVER))?;
        let workspace = self.facts(context, store).await?.store.workspace;
        let system = System::because("a platform stands behind whoever gave it");
        let grants = self.storage.grants(&system.read(workspace, store, now)).await?;
        let Some(found) = grants.iter().find(|grant| grant.grantee == grantee) else {
            return Ok(None);
        };
        let giver = self.storage.principal(workspace, found.given_by).await?;
        let giver = giver.ok_or(Error::NotFound("principal"))?;
        self.become_agent(context, &giver).map(Some)
    }

    /// The grants of a store, for those who may share it.
    pub async fn grants(&self, context: &Context, store: StoreId) -> Result<Vec<Grant>> {
        self.share_pass(context, store).await?;
        let pass = self.read_pass(context, store).await?;
        Ok(self.storage.grants(&pass).await?)
    }
}
