//! One request on its way to an endpoint. Every endpoint is reached through [`Endpoint`], so the
//! order of refusals is the same everywhere: who asks (401), the beta header, query and body (400),
//! and only then the engine. An endpoint's refusal is rendered here, with the request's id.

use super::beta;
use super::error::Problem;
use super::query::Query;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::handler::Handler;
use axum::http::{Method, Response, Uri};
use loci_engine::{Context, Engine, Error, Identified};
use loci_model::RequestId;
use std::pin::Pin;
use std::str::FromStr;

/// More than any layer around this door lets through; a bound all the same.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What an endpoint returns.
pub(super) type Answer = Result<Response<Body>, Problem>;

/// A request whose sender is known.
pub(super) struct Call {
    pub(super) engine: Engine,
    pub(super) context: Context,
    pub(super) body: Bytes,
    uri: Uri,
    /// `None` when the URL's parameters are not UTF-8: then they name nothing of ours.
    params: Option<RawPathParams>,
}

impl Call {
    pub(super) fn query(&self) -> Query<'_> {
        Query::new(self.uri.query().unwrap_or_default())
    }

    /// An id from the URL. One that is not of our making names nothing: the same answer as for one
    /// that is unknown.
    pub(super) fn id<T: FromStr>(&self, name: &str, noun: &'static str) -> Result<T, Problem> {
        let id = self.param(name).and_then(|text| text.parse().ok());
        id.ok_or_else(|| Error::NotFound(noun).into())
    }

    /// A parameter from the URL, decoded.
    pub(super) fn param(&self, name: &str) -> Option<&str> {
        let mut params = self.params.iter().flatten();
        params.find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// An endpoint that needs the beta header.
pub(super) fn beta<F>(run: F) -> Endpoint<F> {
    let needs_beta = true;
    Endpoint { run, needs_beta }
}

/// An endpoint that does not.
pub(super) fn plain<F>(run: F) -> Endpoint<F> {
    let needs_beta = false;
    Endpoint { run, needs_beta }
}

/// An endpoint as the router takes it.
#[derive(Clone, Copy)]
pub(super) struct Endpoint<F> {
    run: F,
    needs_beta: bool,
}

impl<F, Running> Handler<(), Engine> for Endpoint<F>
where
    F: Fn(Call) -> Running + Clone + Send + Sync + 'static,
    Running: Future<Output = Answer> + Send + 'static,
{
    type Future = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

    fn call(self, request: Request, engine: Engine) -> Self::Future {
        Box::pin(async move {
            let id = request.extensions().get::<RequestId>().copied();
            let answer = match receive(request, engine, self.needs_beta).await {
                Ok(call) => (self.run)(call).await,
                Err(problem) => Err(problem),
            };
            answer.unwrap_or_else(|problem| problem.render(id))
        })
    }
}

async fn receive(request: Request, engine: Engine, needs_beta: bool) -> Result<Call, Problem> {
    let context = match request.extensions().get::<Identified>().map(|found| &*found.0) {
        Some(Ok(context)) => context.clone(),
        Some(Err(error)) => return Err(error.into()),
        None => return Err(Error::Unauthenticated("an API key is needed").into()),
    };
    if needs_beta {
        beta::require(request.headers())?;
    }
    let (mut parts, body) = request.into_parts();
    let body = match parts.method {
        Method::GET | Method::HEAD | Method::DELETE => Bytes::new(),
        _ => to_bytes(body, BODY_BYTES_MAX).await.map_err(|_| Problem::too_large())?,
    };
    let params = RawPathParams::from_request_parts(&mut parts, &()).await;
    Ok(Call { engine, context, body, uri: parts.uri, params: params.ok() })
}
