//! The OpenAPI description of this door, gathered from its endpoints.

use super::{hook, record, render, request};
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    paths(hook::webhook, hook::webhook_sync),
    components(schemas(
        request::CallBody,
        request::MessageBody,
        render::AnswerBody<'_>,
        render::ArgsBody<'_>,
        render::ResultBody<'_>,
        render::TextBody<'_>,
        render::RefusalBody<'_>,
        render::RefusalArgs<'_>,
        record::Record<'_>,
    )),
    tags((name = "kilroy blocks", description = "Kilroy: the memory blocks of its pipelines, called as webhooks"))
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
        let expected = [
            "/api/v1/pd/webhook/{api_token}/{pd_alias}/{trigger_name}",
            "/api/v1/pd/webhook_sync/{api_token}/{pd_alias}/{trigger_name}",
        ];
        assert_eq!(paths, expected);
        let text = document.to_string();
        for rest in text.split("\"#/components/schemas/").skip(1) {
            let name = rest.split('"').next().unwrap_or_default();
            let schema = document["components"]["schemas"].get(name);
            assert!(schema.is_some(), "{name} is referred to but not described");
        }
    }
}
