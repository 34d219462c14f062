//! Visitors: people who are known by an identifier of their own and prove it by a token of their own
//! making, most of the time through an agent that they let speak for them.
//!
//! The visitor is a principal like any other, named by the identifier, and so is the agent. What is
//! done is done by the visitor's authority alone; the agent is what stands on the versions.

use crate::{Context, Engine, Error, Result};
use loci_model::{
    Actor, Audience, Caller, KeyScope, Level, Power, Principal, PrincipalKind, Timestamp,
};
use std::sync::Arc;

/// What authentication leaves beside [`crate::Identified`] for the door of visitors. It gives no
/// right; it says which place of the visitor's is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// Who it is.
    pub user: Arc<str>,
    /// Through whom they come; nothing if in person.
    pub oracle: Option<Arc<str>>,
    /// The room that the request names.
    pub room: Option<Arc<str>>,
}

const REFUSED: Error = Error::Unauthenticated("the token names somebody who cannot come this way");

impl Engine {
    /// A visitor, made when never heard of, with no more than a level. Visitors look with a model's
    /// eyes. On one day so many come for the first time and no more; those who are known come always.
    pub async fn authenticate_visitor(
        &self,
        user: &str,
        oracle: Option<&str>,
        level: Level,
        expires_at: Option<Timestamp>,
    ) -> Result<Caller> {
        let workspace = self.storage.default_workspace().await?.ok_or(REFUSED)?;
        let user = self.visitor(workspace, user, PrincipalKind::User).await?;
        let actor = match oracle {
            Some(oracle) => {
                let oracle = self.visitor(workspace, oracle, PrincipalKind::Agent).await?;
                Actor::Service(oracle.id)
            }
            None => Actor::User(user.id),
        };
        Ok(Caller {
            workspace,
            principal: user.id,
            is_admin: false,
            actor,
            session: None,
            session_user: loci_model::SessionUser::Unsaid,
            audience: Audience::Model,
            acts_for_agents: false,
            memory: user.memory,
            scope: KeyScope { power: Power::UpTo(level), stores: None },
            expires_at,
        })
    }

    async fn visitor(
        &self,
        workspace: loci_model::WorkspaceId,
        name: &str,
        kind: PrincipalKind,
    ) -> Result<Principal> {
        if self.named_in(workspace, name).await?.is_none() {
            self.newcomers.admit_visitor(self.seams.now())?;
        }
        let found = match self.found_or_made(workspace, name, kind).await {
            // A token is not a request that could be mended.
            Err(Error::Invalid(_) | Error::Taken(_)) => return Err(REFUSED),
            found => found?,
        };
        // Sharing with somebody who has not come yet makes an agent of that name.
        let is_plain = matches!(found.kind, PrincipalKind::User | PrincipalKind::Agent);
        if is_plain && !found.is_admin { Ok(found) } else { Err(REFUSED) }
    }

    /// The context in which the knowledge of an oracle is read, or written by those whom the operator
    /// named as its owners: the oracle's own. `None` when nobody ever heard of it and nothing is to
    /// be made.
    pub async fn in_the_name_of(
        &self,
        context: &Context,
        oracle: &str,
        level: Level,
        audience: Audience,
    ) -> Result<Option<Context>> {
        let workspace = context.caller.workspace;
        let known = match level {
            Level::ReadWrite => Some(self.visitor(workspace, oracle, PrincipalKind::Agent).await?),
            Level::Read | Level::Search => self.named_in(workspace, oracle).await?,
        };
        let Some(known) = known else { return Ok(None) };
        let Power::UpTo(most) = context.caller.scope.power else { return Err(REFUSED) };
        if known.is_admin || known.kind == PrincipalKind::Group || most < level {
            return Err(Error::Denied("the token does not allow this"));
        }
        let caller = Caller {
            principal: known.id,
            memory: known.memory,
            audience,
            scope: KeyScope { power: Power::UpTo(level), stores: None },
            ..context.caller.clone()
        };
        Ok(Some(Context { caller, ..context.clone() }))
    }
}
