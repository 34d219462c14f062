//! Places: stores that callers know by a name of their own choosing, such as a path. Whoever comes
//! first with a name must not own it for everybody, so a place is there once for the platform and
//! once for each principal beside it.
//!
//! Who has a store of its own under the name gets that one. The platform's is for those who made it
//! or were let in; to everybody else it is as if it did not exist.

use crate::{Context, Engine, Error, Purpose, Result};
use loci_model::policy;
use loci_model::{Address, Audience, Caller, StoreId, StorePolicy};

/// Where a name leads, and what is made there.
#[derive(Debug, Clone)]
pub struct Place {
    /// The platform's store: that of administrators and of keys that act for agents.
    pub shared: Address,
    /// The caller's own.
    pub own: Address,
    /// What a store that is made is called.
    pub name: String,
    /// How it is made.
    pub policy: StorePolicy,
}

impl Engine {
    /// The store at a place, made when it is to be written; `None` when there is nothing.
    ///
    /// Whether the caller may do what it came for is decided when it does it.
    pub async fn store_at(
        &self,
        context: &Context,
        place: &Place,
        purpose: Purpose,
    ) -> Result<Option<StoreId>> {
        let caller = &context.caller;
        if let Some(own) = self.storage.store_at(caller.workspace, &place.own).await? {
            return Ok(Some(own));
        }
        let shared = self.storage.store_at(caller.workspace, &place.shared).await?;
        if let Some(shared) = shared
            && self.is_known(context, shared).await?
        {
            return Ok(Some(shared));
        }
        policy::at_home(caller, purpose.level())?;
        if purpose != Purpose::Write {
            return Ok(None);
        }
        self.require_primary()?;
        // Whose platform it is does not change with whom the answer is for.
        let host = Caller { audience: Audience::Host, ..caller.clone() };
        let is_platform = policy::convene(&host, self.seams.now()).is_ok();
        if shared.is_none() && is_platform {
            let made = self.make_place(caller, &place.shared, place).await?;
            // Another of the platform's callers may have been faster.
            if self.is_known(context, made).await? {
                return Ok(Some(made));
            }
        }
        self.make_place(caller, &place.own, place).await.map(Some)
    }

    async fn make_place(
        &self,
        caller: &Caller,
        address: &Address,
        place: &Place,
    ) -> Result<StoreId> {
        let owner = self.storage.principal(caller.workspace, caller.principal).await?;
        let owner = owner.ok_or(Error::NotFound("principal"))?;
        self.make_at(&owner, address.clone(), place.name.clone(), place.policy).await
    }

    /// Whether the caller can find anything in a store. Who was let in only so far is told so by
    /// what it does there, rather than led to an empty store of its own.
    async fn is_known(&self, context: &Context, store: StoreId) -> Result<bool> {
        let facts = match self.facts(context, store).await {
            Ok(facts) => facts,
            Err(Error::NotFound(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        let now = self.seams.now();
        let pass = policy::search(&context.caller, std::slice::from_ref(&facts), now);
        Ok(!pass.stores().is_empty() || policy::is_switched_off(&context.caller, &facts, now))
    }
}
