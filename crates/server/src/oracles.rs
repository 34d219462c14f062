//! `POST /v1/oracle_knowledge`: the store of what an oracle knows, made if need be, for the operator
//! who fills it from documents. Written to like any other store afterwards.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use hyper::Response;
use loci_dialects::qiforge::{self, QiforgeOptions};
use loci_engine::{Engine, Error, Identified};
use loci_model::{Invalid, StoreId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const BODY_BYTES_MAX: usize = 4096;

/// Whose store.
#[derive(Deserialize, ToSchema)]
pub(crate) struct OracleBody {
    /// The DID of the oracle.
    oracle: String,
}

/// Where what an oracle knows is kept.
#[derive(Serialize, ToSchema)]
pub(crate) struct OracleStore {
    /// Always `oracle_knowledge`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The store.
    memory_store_id: String,
}

#[derive(Clone)]
pub(crate) struct Oracles {
    engine: Engine,
    options: Arc<QiforgeOptions>,
}

/// The route.
pub(crate) fn router(engine: Engine, options: Arc<QiforgeOptions>) -> Router {
    Router::new().route("/v1/oracle_knowledge", post(open)).with_state(Oracles { engine, options })
}

/// The store of what an oracle knows, made if need be; for administrators.
#[utoipa::path(
    post,
    path = "/v1/oracle_knowledge",
    operation_id = "oracle_knowledge",
    tag = "qiforge",
    request_body = OracleBody,
    responses((status = 200, body = OracleStore), (status = "4XX", description = "Refused"))
)]
pub(crate) async fn open(State(oracles): State<Oracles>, request: Request) -> Response<Body> {
    match opened(&oracles, request).await {
        Ok(store) => {
            let memory_store_id = store.to_string();
            let found = OracleStore { kind: "oracle_knowledge", memory_store_id };
            Json(found).into_response()
        }
        Err(error) => loci_http::refused(&error),
    }
}

async fn opened(oracles: &Oracles, request: Request) -> Result<StoreId, Error> {
    let context = match request.extensions().get::<Identified>().map(|found| &*found.0) {
        Some(Ok(context)) => context.clone(),
        Some(Err(error @ (Error::Unavailable(_) | Error::Denied(_) | Error::NotFound(_)))) => {
            return Err(error.clone());
        }
        _ => return Err(Error::Unauthenticated("an administrator's key is needed")),
    };
    let bytes = axum::body::to_bytes(request.into_body(), BODY_BYTES_MAX).await;
    let body = bytes.ok().and_then(|bytes| serde_json::from_slice::<OracleBody>(&bytes).ok());
    let Some(OracleBody { oracle }) = body.filter(|body| body.oracle.starts_with("did:")) else {
        return Err(Invalid::new("oracle", "expected the DID of an oracle").into());
    };
    qiforge::knowledge_store(&oracles.engine, &context, &oracles.options, &oracle).await
}
