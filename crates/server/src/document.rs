//! What this crate's own routes are in the OpenAPI document: the protocol's two endpoints, the document
//! that clients of the first are pointed to, and the stores of oracles. What is in the document is held
//! to the matrix of who may do what, so that no route is forgotten there.

use crate::{mcp, oracles};
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    paths(mcp::answer, mcp::describe, mcp::qiforge::answer, oracles::open),
    components(schemas(oracles::OracleBody, oracles::OracleStore)),
    tags((name = "mcp", description = "The Model Context Protocol"))
)]
struct Document;

/// The description of the routes.
pub(crate) fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}
