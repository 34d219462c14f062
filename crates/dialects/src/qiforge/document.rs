//! The OpenAPI description of this door, gathered from its endpoints.

use super::{batch, did, error, messages, render};
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    paths(did::document, messages::messages, batch::search_enhanced_batch),
    components(schemas(
        did::DidDocument<'_>,
        messages::MessagesBody,
        messages::MessageBody,
        messages::MessagesAnswer,
        batch::BatchBody,
        batch::QueryBody,
        batch::BatchAnswer,
        batch::Slot,
        batch::Failed,
        batch::FailedBody,
        render::Found,
        render::Totals,
        render::FactBody,
        render::EntityBody,
        render::EpisodeBody,
        render::CommunityBody,
        error::RefusalBody<'_>,
    )),
    tags((name = "qiforge", description = "QiForge: the Memory Engine of its oracles"))
)]
struct Document;

/// The description of every route of this door.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_described_and_every_reference_leads_somewhere() {
        let document = serde_json::to_value(openapi()).expect("a document is JSON");
        let paths = document["paths"].as_object().expect("a document has paths");
        let mut paths: Vec<&str> = paths.keys().map(String::as_str).collect();
        paths.sort_unstable();
        let expected =
            ["/.well-known/did.json", "/qiforge/messages", "/qiforge/search-enhanced-batch"];
        assert_eq!(paths, expected);
        let text = document.to_string();
        for rest in text.split("\"#/components/schemas/").skip(1) {
            let name = rest.split('"').next().unwrap_or_default();
            let schema = document["components"]["schemas"].get(name);
            assert!(schema.is_some(), "{name} is referred to but not described");
        }
    }
}
