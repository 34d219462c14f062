//! What this crate's own routes are in the OpenAPI document: the protocol's two endpoints, the document
//! that clients of the first are pointed to, and the stores of oracles. What is in the document is held
//! to the matrix of who may do what, so that no route is forgotten there.

use crate::{mcp, oracles};
use loci_dialects::anthropic;
use utoipa::openapi::path::{Operation, Parameter};
use utoipa::openapi::schema::AnyOfBuilder;
use utoipa::openapi::{
    Content, ContentBuilder, OpenApi as OpenApiDocument, Ref, RefOr, ResponseBuilder, Schema,
};
use utoipa::{Modify, OpenApi};

#[derive(OpenApi)]
#[openapi(
    paths(mcp::answer, mcp::describe, mcp::qiforge::answer, oracles::open),
    components(schemas(
        oracles::OracleBody,
        oracles::OracleStore,
        mcp::RefusalBody,
        mcp::RefusalWords,
    )),
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
pub(crate) fn openapi() -> OpenApiDocument {
    Document::openapi()
}

/// Adds to the routes of Mobius' agents what clients of the Anthropic API send and get there.
pub(crate) fn add_agents(document: &mut OpenApiDocument) {
    let OpenApiDocument { paths, components, .. } = anthropic::openapi_of_agents();
    for (path, item) in paths.paths {
        let Some(known) = document.paths.paths.get_mut(&path) else { continue };
        for (known, added) in [(&mut known.get, item.get), (&mut known.post, item.post)] {
            if let (Some(known), Some(added)) = (known, added) {
                widen(known, added);
            }
        }
    }
    let schemas = &mut document.components.get_or_insert_default().schemas;
    schemas.extend(components.map(|components| components.schemas).unwrap_or_default());
}

/// Lets an operation take and answer what another one does, too.
fn widen(known: &mut Operation, added: Operation) {
    let parameters = known.parameters.get_or_insert_default();
    for parameter in added.parameters.into_iter().flatten() {
        if !parameters.iter().any(|it| is_same(it, &parameter)) {
            parameters.push(parameter);
        }
    }
    if let (Some(known), Some(added)) = (&mut known.request_body, added.request_body)
        && let (RefOr::T(known), RefOr::T(added)) = (known, added)
    {
        for (kind, added) in added.content {
            widen_content(known.content.get_mut(&kind), added);
        }
    }
    for (status, added) in added.responses.responses {
        let known = known.responses.responses.get_mut(&status);
        if let (Some(RefOr::T(known)), RefOr::T(added)) = (known, added) {
            for (kind, added) in added.content {
                widen_content(known.content.get_mut(&kind), added);
            }
        }
    }
}

/// Lets a content have the schema of another one, too.
fn widen_content(known: Option<&mut RefOr<Content>>, added: RefOr<Content>) {
    let (Some(RefOr::T(known)), RefOr::T(added)) = (known, added) else { return };
    if let (Some(own), Some(added)) = (known.schema.take(), added.schema) {
        let either = AnyOfBuilder::new().item(own).item(added);
        known.schema = Some(RefOr::T(Schema::AnyOf(either.build())));
    }
}

/// Whether two parameters are one.
fn is_same(one: &RefOr<Parameter>, other: &RefOr<Parameter>) -> bool {
    let name = |it: &RefOr<Parameter>| match it {
        RefOr::T(it) => Some((it.name.clone(), it.parameter_in.clone())),
        RefOr::Ref(_) => None,
    };
    name(one) == name(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_dialects::mobius;

    #[test]
    fn the_routes_of_agents_tell_of_both_apis() {
        let mut document = mobius::openapi();
        add_agents(&mut document);
        let document = serde_json::to_value(&document).unwrap();
        for (method, path) in [("post", "/v1/agents"), ("get", "/v1/agents/{agent}")] {
            let operation = &document["paths"][path][method];
            let told = operation.to_string();
            for name in ["anthropic-beta", "schemas/ManagedAgent"] {
                assert!(told.contains(name), "{method} {path}: {told}");
            }
            let answer = &operation["responses"]["200"]["content"]["application/json"]["schema"];
            assert_eq!(answer["anyOf"].as_array().unwrap().len(), 2, "{answer}");
            let parameters = operation["parameters"].as_array().unwrap();
            let agents = parameters.iter().filter(|it| it["name"] == "agent").count();
            assert_eq!(agents, usize::from(method == "get"), "{told}");
        }
        assert!(document["components"]["schemas"]["ManagedAgent"].is_object());
    }
}
