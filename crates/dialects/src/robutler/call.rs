//! One request on its way to an endpoint. Every endpoint is reached through [`Endpoint`], so the
//! order of refusals is the same everywhere: who asks (401), the body (400), for which agent (403),
//! and only then the endpoint, whose refusal is rendered here.
//!
//! Clients put the same parameters into the query of one method and the body of another; here it
//! does not matter where they are.

use super::error::Problem;
use super::fields::Fields;
use super::query::Query;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::{Method, Response, Uri};
use loci_engine::{Context, Engine, Error, Identified};
use loci_model::{RequestId, SessionUser, limit};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::pin::Pin;

/// More than any layer around this door lets through; a bound all the same.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The first generation, whose clients read `message`.
const FIRST: &str = "/api/kv";

/// What an endpoint returns.
pub(in crate::robutler) type Answer = Result<Response<Body>, Problem>;

/// A request whose sender is known.
pub(in crate::robutler) struct Call {
    pub(in crate::robutler) engine: Engine,
    /// The credential's owner.
    pub(in crate::robutler) context: Context,
    /// What the body says; nothing where there is none.
    pub(in crate::robutler) fields: Fields,
    uri: Uri,
}

impl Call {
    pub(in crate::robutler) fn query(&self) -> Query<'_> {
        Query::new(self.uri.query().unwrap_or_default())
    }

    /// A short text from the body or else from the query. Empty is as good as none.
    pub(in crate::robutler) fn text(
        &self,
        name: &'static str,
    ) -> Result<Option<Cow<'_, str>>, Problem> {
        let text = match self.fields.text(name)? {
            Some(text) => Some(text.into()),
            None => self.query().get(name)?,
        };
        let text = text.filter(|text| !text.is_empty());
        if text.as_ref().is_some_and(|text| text.chars().count() > limit::NAME_CHARS_MAX) {
            let max = limit::NAME_CHARS_MAX;
            return Err(Problem::invalid(format!("{name} takes up to {max} characters")));
        }
        Ok(text)
    }

    /// The same for somebody's id: some clients write `undefined` when they know none.
    pub(in crate::robutler) fn id(
        &self,
        name: &'static str,
    ) -> Result<Option<Cow<'_, str>>, Problem> {
        Ok(self.text(name)?.filter(|id| id != "undefined"))
    }

    /// The key that the URL names after a route's beginning: everything that follows, decoded once.
    /// A `%` that begins no escape is itself.
    pub(in crate::robutler) fn key_after(&self, route: &str) -> Result<Option<String>, Problem> {
        let rest = self.uri.path().strip_prefix(route).unwrap_or_default();
        let Some(raw) = rest.strip_prefix('/').filter(|raw| !raw.is_empty()) else {
            return Ok(None);
        };
        let key = percent_decode_str(raw).decode_utf8();
        let key = key.map_err(|_| Problem::invalid("key is not UTF-8"))?;
        Ok(Some(key.into_owned()))
    }

    /// The user whom the request is about. Naming one opens nothing, and closes others' homes.
    async fn session_user(&self) -> Result<SessionUser, Problem> {
        let user = self.id("userId")?;
        Ok(self.engine.session_user(&self.context, user.as_deref()).await?)
    }

    /// The caller as the agent the request says it is.
    pub(in crate::robutler) async fn acting(&self) -> Result<Context, Problem> {
        let agent = self.id("agentId")?;
        Ok(self.engine.acting(&self.context, agent.as_deref()).await?)
    }
}

/// An endpoint as the router takes it.
#[derive(Clone, Copy)]
pub(in crate::robutler) struct Endpoint<F>(pub(in crate::robutler) F);

impl<F, Running> Handler<(), Engine> for Endpoint<F>
where
    F: Fn(Call) -> Running + Clone + Send + Sync + 'static,
    Running: Future<Output = Answer> + Send + 'static,
{
    type Future = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

    fn call(self, request: Request, engine: Engine) -> Self::Future {
        Box::pin(async move {
            let id = request.extensions().get::<RequestId>().copied();
            let has_message = request.uri().path() == FIRST;
            let answer = match receive(request, engine).await {
                Ok(call) => (self.0)(call).await,
                Err(problem) => Err(problem),
            };
            answer.unwrap_or_else(|problem| problem.render(id, has_message))
        })
    }
}

/// Refuses a method that a route does not have, whatever came with it.
pub(in crate::robutler) async fn wrong_method(request: Request) -> Response<Body> {
    let problem = sender(&request).err().unwrap_or_else(Problem::wrong_method);
    let id = request.extensions().get::<RequestId>().copied();
    problem.render(id, request.uri().path() == FIRST)
}

fn sender(request: &Request) -> Result<Context, Problem> {
    match request.extensions().get::<Identified>().map(|found| &*found.0) {
        Some(Ok(context)) => Ok(context.clone()),
        Some(Err(error)) => Err(error.into()),
        None => Err(Error::Unauthenticated("an API key is needed").into()),
    }
}

async fn receive(request: Request, engine: Engine) -> Result<Call, Problem> {
    let context = sender(&request)?;
    let (parts, body) = request.into_parts();
    let fields = match parts.method {
        Method::GET | Method::HEAD => Fields::default(),
        method => {
            let body = to_bytes(body, BODY_BYTES_MAX).await.map_err(|_| Problem::too_large())?;
            match method == Method::DELETE && body.is_empty() {
                true => Fields::default(),
                false => Fields::read(&body)?,
            }
        }
    };
    let mut call = Call { engine, context, fields, uri: parts.uri };
    call.context.caller.session_user = call.session_user().await?;
    Ok(call)
}
