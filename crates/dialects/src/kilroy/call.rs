//! One request on its way to a block. The order of refusals is the same everywhere: who asks (401),
//! the method (405), the hook (404), the body (400), and only then the block.
//!
//! The token of the URL is a credential. It was looked at before the request came here and is read
//! by nothing in this door, so it cannot end up in an answer or a log.

use super::error::Problem;
use super::hook::Block;
use super::request::Message;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::{Method, Response, Uri};
use loci_engine::{Context, Engine, Error, Identified};
use loci_model::{Audience, RequestId};
use percent_encoding::percent_decode_str;
use std::pin::Pin;

/// More than any layer around this door lets through; a bound all the same.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// What Kilroy's own blocks are called under.
const ALIAS: &str = "kilroy.ai.webhooks";

/// What an endpoint returns.
pub(super) type Answer = Result<Response<Body>, Problem>;

/// A request whose sender and block are known.
pub(super) struct Call {
    pub(super) engine: Engine,
    /// The caller. What blocks find is shown to models, so they look with a model's eyes: internal
    /// memories are not there.
    pub(super) context: Context,
    pub(super) block: Block,
    pub(super) message: Message,
}

/// An endpoint as the router takes it.
#[derive(Clone, Copy)]
pub(super) struct Endpoint<F>(pub(super) F);

impl<F, Running> Handler<(), Engine> for Endpoint<F>
where
    F: Fn(Call) -> Running + Clone + Send + Sync + 'static,
    Running: Future<Output = Answer> + Send + 'static,
{
    type Future = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

    fn call(self, request: Request, engine: Engine) -> Self::Future {
        Box::pin(async move {
            let id = request.extensions().get::<RequestId>().copied();
            let answer = match receive(request, engine).await {
                Ok(call) => (self.0)(call).await,
                Err(problem) => Err(problem),
            };
            answer.unwrap_or_else(|problem| problem.render(id))
        })
    }
}

/// The endpoint for every method but the one that hooks are called by.
pub(super) const WRONG_METHOD: Endpoint<fn(Call) -> std::future::Ready<Answer>> =
    Endpoint(|_| std::future::ready(Err(Problem::wrong_method())));

async fn receive(request: Request, engine: Engine) -> Result<Call, Problem> {
    let mut context = match request.extensions().get::<Identified>().map(|found| &*found.0) {
        Some(Ok(context)) => context.clone(),
        Some(Err(error)) => return Err(error.into()),
        None => return Err(Error::Unauthenticated("an API key is needed").into()),
    };
    context.caller.audience = Audience::Model;
    if request.method() != Method::POST {
        return Err(Problem::wrong_method());
    }
    let block = block(request.uri())?;
    let body = to_bytes(request.into_body(), BODY_BYTES_MAX).await;
    let message = Message::read(&body.map_err(|_| Problem::too_large())?)?;
    Ok(Call { engine, context, block, message })
}

/// The block that the last two segments of a URL name.
fn block(uri: &Uri) -> Result<Block, Problem> {
    let mut segments =
        uri.path().rsplit('/').map(|segment| percent_decode_str(segment).decode_utf8());
    let (trigger, alias) = (segments.next(), segments.next());
    if !matches!(alias, Some(Ok(alias)) if alias == ALIAS) {
        return Err(Problem::not_found(
            "there is no such pd_alias; the blocks are in kilroy.ai.webhooks",
        ));
    }
    let block = trigger.and_then(Result::ok).and_then(|name| Block::named(&name));
    block.ok_or_else(|| Problem::not_found("there is no such trigger"))
}
