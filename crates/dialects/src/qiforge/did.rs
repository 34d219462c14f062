//! The document that says who this server is. Clients read its `id` before they make a token and send
//! what they find as the token's audience.

use super::access::Refusal;
use super::call::Door;
use super::error::{RefusalBody, json};
use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use serde::Serialize;
use utoipa::ToSchema;

/// Who this server is.
#[derive(Serialize, ToSchema)]
#[schema(as = QiforgeDidDocument)]
pub(super) struct DidDocument<'a> {
    #[serde(rename = "@context")]
    context: [&'static str; 1],
    /// What tokens are to be made out to.
    id: &'a str,
    /// Nothing is signed by this server.
    #[serde(rename = "verificationMethod")]
    #[schema(value_type = Vec<Object>)]
    verification_method: [(); 0],
    #[schema(value_type = Vec<Object>)]
    service: [(); 0],
}

/// Says who this server is.
#[utoipa::path(
    get,
    path = "/.well-known/did.json",
    security(()),
    operation_id = "qiforge_did",
    tag = "qiforge",
    responses(
        (status = 200, body = DidDocument<'_>),
        (status = "4XX", description = "This server takes no QiForge tokens", body = RefusalBody<'_>)
    )
)]
pub(super) async fn document(State(door): State<Door>) -> Response<Body> {
    match &door.options.did {
        Some(id) => json(&DidDocument {
            context: ["https://www.w3.org/ns/did/v1"],
            id,
            verification_method: [],
            service: [],
        }),
        None => Refusal::new(404, "this server does not take QiForge's tokens").render(None),
    }
}
