//! The OpenAPI description of this door, gathered from its endpoints.

use super::{error, kv, memory, reach, render, scoped};
use utoipa::OpenApi;
use utoipa::openapi::path::Operation;

#[derive(OpenApi)]
#[openapi(
    paths(
        memory::many,
        memory::give,
        memory::take_back,
        memory::nameless,
        memory::read,
        memory::write,
        memory::remove,
        kv::many,
        kv::read,
        kv::write,
        kv::remove,
        kv::first_read,
        kv::first_write,
        kv::first_remove,
        scoped::read,
        scoped::write,
        scoped::push,
        scoped::forget,
    ),
    components(schemas(
        error::ErrorBody<'_>,
        render::EntryBody<'_>,
        reach::StoresBody,
        scoped::EntryBody,
        scoped::LineBody,
        scoped::PutBody,
        scoped::PushBody,
    )),
    tags(
        (name = "store memory", description = "Robutler: entries under keys, in the stores of agents, chats and users"),
        (name = "key-value", description = "Robutler: an agent's own entries, as the two older generations ask for them"),
        (name = "caller-scoped memory", description = "Robutler: an agent's notes about those who call it"),
    )
)]
struct Document;

/// The description of every route of this door.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    for item in document.paths.paths.values_mut() {
        let methods = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete];
        methods.into_iter().flatten().for_each(name_with_tag);
    }
    document
}

/// Functions are named within their module; in the document a name must be unique.
fn name_with_tag(operation: &mut Operation) {
    let tag = operation.tags.iter().flatten().next().map(|tag| tag.replace([' ', '-'], "_"));
    if let (Some(tag), Some(name)) = (tag, &mut operation.operation_id) {
        *name = format!("{tag}_{name}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_described() {
        let document = serde_json::to_value(openapi()).expect("a document is JSON");
        let paths = document["paths"].as_object().expect("a document has paths");
        let routes = paths.iter().flat_map(|(path, item)| {
            let methods = item.as_object().expect("a path has methods");
            methods.keys().map(move |method| format!("{method} {path}"))
        });
        let mut routes: Vec<String> = routes.collect();
        routes.sort();
        let expected = [
            "delete /api/kv",
            "delete /api/storage/kv/{key}",
            "delete /api/storage/memory",
            "delete /api/storage/memory-scoped",
            "delete /api/storage/memory/{key}",
            "get /api/kv",
            "get /api/storage/kv",
            "get /api/storage/kv/{key}",
            "get /api/storage/memory",
            "get /api/storage/memory-scoped",
            "get /api/storage/memory/{key}",
            "post /api/kv",
            "post /api/storage/memory",
            "post /api/storage/memory-scoped",
            "put /api/storage/kv/{key}",
            "put /api/storage/memory",
            "put /api/storage/memory-scoped",
            "put /api/storage/memory/{key}",
        ];
        assert_eq!(routes, expected);
    }

    #[test]
    fn references_lead_somewhere_and_operations_have_names_of_their_own() {
        let document = serde_json::to_value(openapi()).expect("a document is JSON");
        let text = document.to_string();
        let named = |after: &str| {
            let rest = text.split(after).skip(1);
            rest.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect::<Vec<_>>()
        };
        for name in named("\"#/components/schemas/") {
            let schema = document["components"]["schemas"].get(&name);
            assert!(schema.is_some(), "{name} is referred to but not described");
        }
        let mut names = named("\"operationId\":\"");
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{names:?}");
    }
}
