//! Whose memory a command is about, and which store that is. Ids of agents, users and chats lead to
//! their homes; a home in which nothing was ever written is empty to read and made by the first
//! write. Whether the caller may do anything there is decided by the core when it is done.

use crate::reach::own;
use loci_engine::{Context, Engine, Error, Purpose};
use loci_model::{PrincipalKind, StoreId};

/// Whose memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose<'i> {
    /// The acting agent's.
    Own,
    /// Of whoever has this id, or the store with this id.
    Named(&'i str),
    /// Of the user or chat with this id, and of nobody else who may have it.
    Of(PrincipalKind, &'i str),
}

impl<'i> Whose<'i> {
    /// What a store is called by clients that may not know their own id.
    pub(super) fn named(store: &'i str) -> Self {
        match store {
            "" | "self" | "default" | "undefined" => Self::Own,
            other => Self::Named(other),
        }
    }
}

/// A store, or where one will be.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The store; none while nothing was written.
    pub(super) store: Option<StoreId>,
    /// What it is called: the id of whose home it is, or the one it was asked for by.
    pub(super) name: String,
}

impl Place {
    /// The place that somebody's memory is at.
    pub(super) async fn find(
        engine: &Engine,
        context: &Context,
        whose: Whose<'_>,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        Ok(match whose {
            Whose::Own => {
                let own = own(engine, context).await?;
                Self { store: engine.home(context, &own, purpose).await?, name: own.name }
            }
            Whose::Named(id) => {
                let store = engine.store_named(context, id, purpose).await?;
                Self { store, name: id.to_owned() }
            }
            Whose::Of(kind, id) => {
                let found = engine.named(context, id).await?.filter(|found| found.kind == kind);
                let found = found.ok_or(Error::NotFound("memory store"))?;
                Self { store: engine.home(context, &found, purpose).await?, name: found.name }
            }
        })
    }

    /// The store, made if it is the caller's home and this is the first that is written there.
    pub(super) async fn to_write(
        &self,
        engine: &Engine,
        context: &Context,
    ) -> Result<StoreId, Error> {
        if let Some(store) = self.store {
            return Ok(store);
        }
        let own = own(engine, context).await?;
        engine.home(context, &own, Purpose::Write).await?.ok_or(Error::NotFound("memory store"))
    }
}
