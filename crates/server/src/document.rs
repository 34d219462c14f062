//! What this crate's own routes are in the OpenAPI document: the protocol's two endpoints, the document
//! that clients of the first are pointed to, and the stores of oracles. What is in the document is held
//! to the matrix of who may do what, so that no route is forgotten there.

use crate::{mcp, oracles};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa::{Modify, OpenApi};

#[derive(OpenApi)]
#[openapi(
    paths(mcp::answer, mcp::describe, mcp::qiforge::answer, oracles::open),
    components(schemas(oracles::OracleBody, oracles::OracleStore)),
    tags((name = "mcp", description = "The Model Context Protocol")),
    modifiers(&Visitors)
)]
struct Document;

/// Visitors are refused in the words of their own clients, which the QiForge door describes.
struct Visitors;

impl Modify for Visitors {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let refusal = Ref::from_schema_name("QiforgeRefusal");
        let content = ContentBuilder::new().schema(Some(refusal)).build();
        let refused = ResponseBuilder::new().description("Refused");
        let refused = refused.content("application/json", content).build();
        let visited = openapi.paths.paths.get_mut("/qiforge/mcp");
        if let Some(operation) = visited.and_then(|item| item.post.as_mut()) {
            operation.responses.responses.insert("4XX".to_owned(), RefOr::T(refused));
        }
    }
}

/// The description of the routes.
pub(crate) fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}
