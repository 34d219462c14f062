//! What one request to the tool works with: the engine, who asks, and how the operator set it up.
//!
//! The tool is a model's hand, so it reads and writes as one whatever the credential is: internal
//! memories are not there. Sharing alone asks with the credential's own side of the prompt, because
//! a model's key may not share.

use super::ToolOptions;
use super::answer::{Stop, says};
use super::input::Input;
use super::place::{Place, Whose};
use super::shelf::Shelf;
use loci_engine::{Context, Engine, Purpose};
use loci_model::{Audience, PrincipalKind, limit};

/// A request that is being answered.
pub(super) struct Desk<'a> {
    pub(super) engine: &'a Engine,
    pub(super) options: &'a ToolOptions,
    /// As a model: for everything but sharing.
    pub(super) context: Context,
    /// As the credential is: for sharing.
    pub(super) sharer: Context,
}

impl<'a> Desk<'a> {
    /// A desk for somebody. A command may take several commits, so an idempotency key, which stands
    /// for one, is not passed on.
    pub(super) fn new(engine: &'a Engine, options: &'a ToolOptions, context: Context) -> Self {
        let sharer = Context { idempotency: None, ..context };
        let mut context = sharer.clone();
        context.caller.audience = Audience::Model;
        Self { engine, options, context, sharer }
    }

    /// Which store a path is in that may name one itself; then the arguments beside it may not.
    pub(super) fn whose_path<'i>(
        &self,
        input: &'i Input,
        shared: Option<&'i str>,
    ) -> Result<Whose<'i>, Stop> {
        match shared {
            None => self.whose(input),
            Some(_) if input.names_store() => {
                says("scope and store do not go with a path below /memories/shared")
            }
            Some(store) => Ok(Whose::named(store)),
        }
    }

    /// Which store the arguments beside a path choose.
    pub(super) fn whose<'i>(&self, input: &'i Input) -> Result<Whose<'i>, Stop> {
        let store = input.text("store", limit::NAME_CHARS_MAX)?;
        let scope = input.text("scope", limit::NAME_CHARS_MAX)?;
        match (scope, store) {
            (Some(_), Some(_)) => says("scope and store exclude each other"),
            (None, None) | (Some("agent"), None) => Ok(Whose::Own),
            (None, Some(store)) => Ok(Whose::named(store)),
            (Some("user"), None) => whose_scope(input, "user", "userId", PrincipalKind::User),
            (Some("chat"), None) => whose_scope(input, "chat", "chatId", PrincipalKind::Group),
            (Some(_), None) => says("scope must be agent, user or chat"),
        }
    }

    /// Where that is.
    pub(super) async fn place(&self, whose: Whose<'_>, purpose: Purpose) -> Result<Place, Stop> {
        Ok(Place::find(self.engine, &self.context, whose, purpose).await?)
    }

    /// A place, ready to be worked on.
    pub(super) fn shelf<'p>(&'p self, place: &'p Place) -> Shelf<'p> {
        Shelf { engine: self.engine, context: &self.context, place }
    }
}

fn whose_scope<'i>(
    input: &'i Input,
    scope: &str,
    name: &str,
    kind: PrincipalKind,
) -> Result<Whose<'i>, Stop> {
    match input.text(name, limit::NAME_CHARS_MAX)? {
        None | Some("undefined") => says(format!("scope {scope} needs a {name}")),
        Some(id) => Ok(Whose::Of(kind, id)),
    }
}
