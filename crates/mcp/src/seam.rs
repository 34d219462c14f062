//! The seam between the protocol and what is done: a set of tools, as this crate and its users make
//! them. A set knows nothing of transports, versions or sessions; it finds who asks in the extensions
//! that the layers in front of the endpoint left on the HTTP request.

use crate::trouble::Trouble;
use async_trait::async_trait;
use http::Extensions;
use loci_engine::{Context, Error, Identified};
use loci_model::Audience;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What a call changes, for programs that ask people before they let a model do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It adds something, and more when it is repeated.
    Adds,
    /// It changes what is there, and again when it is repeated.
    Edits,
    /// It puts something in the place of what is there, or takes it away; repeating changes nothing.
    Sets,
}

/// A tool, as models are told about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// What it is called.
    pub name: Cow<'static, str>,
    /// What it is for and when to use it.
    pub description: Cow<'static, str>,
    /// What it takes: a JSON Schema of type `object`.
    pub input_schema: Map<String, Value>,
    /// What it changes.
    pub effect: Effect,
}

/// A call of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Which tool.
    pub name: &'a str,
    /// What the model gave it.
    pub arguments: &'a Map<String, Value>,
    /// What the layers in front left on the request, such as [`Identified`].
    pub extensions: &'a Extensions,
}

impl Asked<'_> {
    /// Who asks, as a model: internal memories are not there, whatever the credential is.
    pub fn context(&self) -> Result<Context, Error> {
        asker(self.extensions)
    }

    /// Who asks, as the credential is: for what a model must not do unless an operator chose to let
    /// it, such as sharing.
    pub(crate) fn credential(&self) -> Result<Context, Error> {
        credential(self.extensions)
    }
}

/// What a tool did: one text for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What the model reads.
    pub text: String,
    /// Whether it did not work.
    pub is_error: bool,
}

impl Outcome {
    /// It worked.
    pub fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    /// It did not, and this says why and what to do next.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }

    /// The same, saying how many memories it leaves out because they are damaged.
    pub(crate) fn noting(self, damaged: usize) -> (Self, Option<String>) {
        let note = match damaged {
            0 => None,
            1 => Some("1 memory is left out: its content is damaged on disk.".to_owned()),
            more => Some(format!("{more} memories are left out: they are damaged on disk.")),
        };
        (self, note)
    }
}

/// Tools that belong together.
#[async_trait]
pub trait ToolSet: Send + Sync + 'static {
    /// The tools, always the same and in the same order: clients keep the list.
    fn tools(&self) -> Vec<ToolDefinition>;

    /// Calls one of them.
    async fn call(&self, asked: &Asked<'_>) -> Outcome;
}

/// The caller that the layers in front found, as a model.
pub(crate) fn asker(extensions: &Extensions) -> Result<Context, Error> {
    let mut context = credential(extensions)?;
    context.caller.audience = Audience::Model;
    Ok(context)
}

fn credential(extensions: &Extensions) -> Result<Context, Error> {
    match extensions.get::<Identified>().map(|found| &*found.0) {
        Some(Ok(context)) => Ok(context.clone()),
        Some(Err(Error::Unavailable(why))) => Err(Error::Unavailable(why)),
        Some(Err(_)) | None => Err(Error::Unauthenticated("an API key is needed")),
    }
}

/// The outcome of a tool whose troubles are words.
pub(crate) fn told(result: Result<String, Trouble>) -> Outcome {
    match result {
        Ok(text) => Outcome::done(text),
        Err(trouble) => Outcome::failed(trouble.to_string()),
    }
}
