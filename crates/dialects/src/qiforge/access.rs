//! Who asks, by what the layers found in the token: the user, through which oracle, in which room.
//!
//! Nothing of a request but its token and its room decides where it leads. Whatever is done in a
//! user's place is done as that user, so the ordinary rules keep everybody else out of it.

use super::options::QiforgeOptions;
use super::place::{self, ADDRESSES};
use axum::http::Extensions;
use loci_engine::{Context, Engine, Error, Identified, Place, Purpose, Visit, codes};
use loci_model::query::Amount;
use loci_model::{Audience, Invalid, KeyScope, Level, Power, StoreId};
use std::sync::Arc;

/// A visitor who was let in.
#[derive(Debug, Clone)]
pub struct Access {
    pub(super) context: Context,
    pub(super) visit: Visit,
    pub(super) options: Arc<QiforgeOptions>,
}

/// Why somebody was not let in: a status and a text that begins with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// 400, 401, 403, 429, 503 or 507, and 500 for faults of ours.
    pub status: u16,
    /// After how many seconds it may be asked again.
    pub(super) retry_after_secs: Option<u32>,
    /// For people; clients often see nothing else.
    pub text: String,
    /// For the log only.
    pub(super) hidden: Option<String>,
}

impl Refusal {
    pub(super) fn new(status: u16, why: impl std::fmt::Display) -> Self {
        Self { status, text: format!("{status} {why}"), retry_after_secs: None, hidden: None }
    }
}

impl From<&Error> for Refusal {
    fn from(error: &Error) -> Self {
        let status = match error {
            // Nothing is wrong with what was sent: there is no more room for it.
            Error::OverQuota(_) => 507,
            error => codes::code(error).status,
        };
        let mut refusal = Self::new(status, error);
        refusal.retry_after_secs = codes::retry_after_secs(error);
        if let Error::Internal(why) = error {
            refusal.hidden = Some(why.clone());
        }
        refusal
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        (&error).into()
    }
}

/// Lets somebody in, by what the layers left on the request. The order is the same everywhere: the
/// token, then the room.
pub fn admit(extensions: &Extensions, options: &Arc<QiforgeOptions>) -> Result<Access, Refusal> {
    let context = match extensions.get::<Identified>().map(|found| &*found.0) {
        Some(Ok(context)) => context.clone(),
        Some(Err(error)) => return Err(error.into()),
        None => return Err(Error::Unauthenticated("a UCAN is needed").into()),
    };
    // Without a visit it was something else than a visitor's token.
    let visit = extensions.get::<Visit>().cloned();
    let visit = visit.ok_or(Error::Unauthenticated("a UCAN is needed"))?;
    if visit.room.is_none() && !options.ignores_room {
        return Err(Refusal::new(400, "x-room-id is needed: up to 255 characters of ASCII"));
    }
    Ok(Access { context, visit, options: Arc::clone(options) })
}

/// The knowledge of an oracle, as its reader may see it.
pub(super) struct Knowledge {
    pub(super) context: Context,
    pub(super) place: Place,
}

/// The store of a place that may be written, where there is one already. Nothing is made, and who may not
/// write there is refused.
pub(super) async fn there_to_write(
    engine: &Engine,
    context: &Context,
    place: &Place,
) -> Result<Option<StoreId>, Error> {
    let store = engine.store_at(context, place, Purpose::Change).await?;
    if let Some(store) = store {
        engine.require_write(context, store).await?;
    }
    Ok(store)
}

/// The store of a place in which so much is about to be written. It is made after that was admitted, so
/// what is refused leaves nothing.
pub(super) async fn admitted(
    engine: &Engine,
    context: &Context,
    place: &Place,
    more: Amount,
) -> Result<StoreId, Error> {
    engine.admit_written(context, ADDRESSES, more).await?;
    let store = engine.store_at(context, place, Purpose::Write).await?;
    store.ok_or_else(|| Error::Internal("no store where one was to be made".into()))
}

impl Access {
    /// Whether the user may add to the knowledge of the oracle that they come through.
    pub(super) fn is_owner(&self) -> bool {
        let oracle = self.visit.oracle.as_deref();
        oracle.is_some_and(|oracle| self.options.owns(&self.visit.user, oracle))
    }

    /// The user's own place.
    pub(super) fn place(&self) -> Result<Place, Error> {
        let room = self.visit.room.as_deref().filter(|_| !self.options.ignores_room);
        Ok(place::of_user(&self.visit.user, self.visit.oracle.as_deref(), room)?)
    }

    /// The store of the user's own place; `None` when nothing was ever written there.
    pub(super) async fn own(
        &self,
        engine: &Engine,
        purpose: Purpose,
    ) -> Result<Option<StoreId>, Error> {
        engine.store_at(&self.context, &self.place()?, purpose).await
    }

    /// The oracles whose knowledge a request may search: the one the user comes through, and open
    /// ones. Naming others widens nothing.
    pub(super) fn oracles<'a>(&'a self, named: Option<&'a [String]>) -> Vec<&'a str> {
        let own = self.visit.oracle.as_deref();
        let Some(named) = named else { return own.into_iter().collect() };
        let mut oracles: Vec<&str> = Vec::new();
        for did in named {
            let is_own = |own: &&str| did == own || did == self.options.entity_of(own);
            let found = own.filter(is_own).or_else(|| self.options.open(did));
            if let Some(found) = found.filter(|found| !oracles.contains(found)) {
                oracles.push(found);
            }
        }
        oracles
    }

    /// The knowledge of one of [`Self::oracles`], to read. What is private in it is there for its
    /// owners only.
    pub(super) async fn knowledge(
        &self,
        engine: &Engine,
        oracle: &str,
    ) -> Result<Option<Knowledge>, Error> {
        let audience = match self.options.owns(&self.visit.user, oracle) {
            true => Audience::Host,
            false => Audience::Model,
        };
        self.knowledge_at(engine, oracle, Level::Read, audience).await
    }

    /// The knowledge of the oracle that the user comes through, to add to it or take away.
    pub(super) async fn knowledge_to_write(&self, engine: &Engine) -> Result<Knowledge, Error> {
        const REFUSED: Error = Error::Denied("only owners of the oracle may change what it knows");
        let oracle = self.visit.oracle.as_deref().ok_or(REFUSED)?;
        if !self.is_owner() {
            return Err(REFUSED);
        }
        let found = self.knowledge_at(engine, oracle, Level::ReadWrite, Audience::Host).await?;
        found.ok_or_else(|| Error::Internal("no principal where one was to be made".into()))
    }

    async fn knowledge_at(
        &self,
        engine: &Engine,
        oracle: &str,
        level: Level,
        audience: Audience,
    ) -> Result<Option<Knowledge>, Error> {
        let entity = self.options.entity_of(oracle);
        let place = place::of_oracle(entity)?;
        let context = engine.in_the_name_of(&self.context, entity, level, audience).await?;
        Ok(context.map(|context| Knowledge { context, place }))
    }
}

/// Where the knowledge of an oracle is kept, made if need be, for an administrator who fills it.
pub async fn knowledge_store(
    engine: &Engine,
    context: &Context,
    options: &QiforgeOptions,
    oracle: &str,
) -> Result<StoreId, Error> {
    engine.require_admin(context)?;
    let entity = options.entity_of(oracle);
    let place = place::of_oracle(entity)?;
    // What is made is the oracle's, and not the administrator's.
    let mut context = context.clone();
    context.caller.is_admin = false;
    context.caller.scope = KeyScope { power: Power::UpTo(Level::ReadWrite), stores: None };
    let in_its_name =
        engine.in_the_name_of(&context, entity, Level::ReadWrite, Audience::Host).await?;
    let knowledge = in_its_name.map(|context| Knowledge { context, place });
    let store = match knowledge {
        Some(knowledge) => knowledge.store(engine, Purpose::Write).await?,
        None => None,
    };
    store.ok_or_else(|| Error::Internal("no store where one was to be made".into()))
}

impl Knowledge {
    /// Where it is kept; `None` when nothing was ever added.
    pub(super) async fn store(
        &self,
        engine: &Engine,
        purpose: Purpose,
    ) -> Result<Option<StoreId>, Error> {
        engine.store_at(&self.context, &self.place, purpose).await
    }
}

impl From<Invalid> for Refusal {
    fn from(invalid: Invalid) -> Self {
        Error::Invalid(invalid).into()
    }
}
