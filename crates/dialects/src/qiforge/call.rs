//! One request on its way to an endpoint. The order of refusals is the same everywhere: who asks
//! (401, 403), the room (400), the method (405), the body (400).

use super::access::{Access, Refusal, admit};
use super::options::QiforgeOptions;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::{Method, Response};
use loci_engine::Engine;
use loci_model::RequestId;
use serde_json::{Map, Value};
use std::pin::Pin;
use std::sync::Arc;

/// More than any layer around this door lets through; a bound all the same.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What endpoints work with.
#[derive(Clone)]
pub(super) struct Door {
    pub(super) engine: Engine,
    pub(super) options: Arc<QiforgeOptions>,
}

/// What an endpoint returns.
pub(super) type Answer = Result<Response<Body>, Refusal>;

/// A request whose sender is known and whose body is a JSON object.
pub(super) struct Call {
    pub(super) engine: Engine,
    pub(super) access: Access,
    pub(super) body: Map<String, Value>,
}

/// An endpoint as the router takes it.
#[derive(Clone, Copy)]
pub(super) struct Endpoint<F>(pub(super) F);

impl<F, Running> Handler<(), Door> for Endpoint<F>
where
    F: Fn(Call) -> Running + Clone + Send + Sync + 'static,
    Running: Future<Output = Answer> + Send + 'static,
{
    type Future = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

    fn call(self, request: Request, door: Door) -> Self::Future {
        Box::pin(async move {
            let id = request.extensions().get::<RequestId>().copied();
            let answer = match receive(request, door).await {
                Ok(call) => (self.0)(call).await,
                Err(refusal) => Err(refusal),
            };
            answer.unwrap_or_else(|refusal| refusal.render(id))
        })
    }
}

/// The endpoint for every method but the one that this door is called by.
pub(super) const WRONG_METHOD: Endpoint<fn(Call) -> std::future::Ready<Answer>> =
    Endpoint(|_| std::future::ready(Err(wrong_method())));

fn wrong_method() -> Refusal {
    Refusal::new(405, "this route is called by POST")
}

async fn receive(request: Request, door: Door) -> Result<Call, Refusal> {
    let access = admit(request.extensions(), &door.options)?;
    if request.method() != Method::POST {
        return Err(wrong_method());
    }
    let bytes = to_bytes(request.into_body(), BODY_BYTES_MAX).await;
    let bytes = bytes.map_err(|_| Refusal::new(413, "the body is too large"))?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(body)) => Ok(Call { engine: door.engine, access, body }),
        Ok(_) => Err(Refusal::new(400, "the body must be a JSON object")),
        Err(error) => Err(Refusal::new(400, format_args!("the body is not JSON: {error}"))),
    }
}
