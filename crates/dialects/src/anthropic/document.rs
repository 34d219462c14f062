//! The OpenAPI description of this door, gathered from its endpoints.

use super::{beta, error, memories, registry, render, sessions, stores, versions};
use utoipa::OpenApi;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{RefOr, Required};

#[derive(OpenApi)]
#[openapi(
    paths(
        stores::create,
        stores::list,
        stores::retrieve,
        stores::update,
        stores::delete,
        stores::archive,
        memories::create,
        memories::list,
        memories::retrieve,
        memories::retrieve_by_path,
        memories::update,
        memories::delete,
        versions::list,
        versions::retrieve,
        versions::redact,
        sessions::create,
        sessions::list,
        sessions::retrieve,
        sessions::update,
        sessions::delete,
        sessions::archive,
        sessions::list_resources,
        sessions::change::add_resource,
        sessions::retrieve_resource,
        sessions::change::update_resource,
        sessions::change::delete_resource,
        registry::environments::create,
        registry::environments::retrieve,
    ),
    components(schemas(
        error::Envelope<'_>,
        render::ActorBody,
        stores::render::StoreBody<'_>,
        memories::render::MemoryBody<'_>,
        memories::render::PrefixBody<'_>,
        versions::render::VersionBody<'_>,
        sessions::render::SessionBody<'_>,
        sessions::render::ResourceBody<'_>,
        sessions::AgentBody,
        sessions::request::MemoryStoreResource,
        sessions::resources::FileResource,
        sessions::resources::GithubRepositoryResource,
        sessions::resources::OtherBody,
        sessions::resources::Checkout,
    )),
    tags(
        (name = "memory stores", description = "Containers of memories"),
        (name = "memories", description = "Documents at paths"),
        (name = "memory versions", description = "The history of memories"),
        (name = "sessions", description = "Agents' sessions and the stores attached to them"),
        (name = "environments", description = "Where sessions say that they run; kept and given back"),
    )
)]
struct Document;

/// What this door answers at paths of another one.
#[derive(OpenApi)]
#[openapi(
    paths(registry::agents::create, registry::agents::retrieve),
    components(schemas(registry::agents::AgentObject, sessions::CreateAgent))
)]
struct Agents;

/// What clients of this API send to `/v1/agents` and get there, which [`super::with_agents`] tells from
/// what others do. To be added to the description of the routes that have these paths.
pub fn openapi_of_agents() -> utoipa::openapi::OpenApi {
    let mut document = Agents::openapi();
    for item in document.paths.paths.values_mut() {
        for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
            let mut header = beta_header();
            header.required = Required::False;
            header.description =
                Some(format!("{} for the agents of the Anthropic API", beta::NAMES.join(" or ")));
            operation.parameters.get_or_insert_default().push(RefOr::T(header));
        }
    }
    document
}

/// The description of every route of this door.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    for (path, item) in &mut document.paths.paths {
        // Functions are named within their noun's module; in the document a name must be unique.
        let methods = [
            (&mut item.get, ""),
            (&mut item.post, ""),
            (&mut item.delete, ""),
            (&mut item.patch, "_by_patch"),
        ];
        for (operation, ending) in methods {
            let Some(operation) = operation else { continue };
            if needs_beta(path) {
                operation.parameters.get_or_insert_default().push(RefOr::T(beta_header()));
            }
            name_with_tag(operation, ending);
        }
    }
    document
}

/// As the router has it.
fn needs_beta(path: &str) -> bool {
    path.starts_with("/v1/memory_stores") && !path.ends_with("/memory_by_path")
}

fn beta_header() -> Parameter {
    ParameterBuilder::new()
        .name(beta::HEADER)
        .parameter_in(ParameterIn::Header)
        .required(Required::True)
        .description(Some(format!("names exactly one of {}", beta::NAMES.join(" and "))))
        .schema(Some(<String as utoipa::PartialSchema>::schema()))
        .build()
}

fn name_with_tag(operation: &mut Operation, ending: &str) {
    let tag = operation.tags.iter().flatten().next().map(|tag| tag.replace(' ', "_"));
    if let (Some(tag), Some(name)) = (tag, &mut operation.operation_id) {
        *name = format!("{tag}_{name}{ending}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn routes(document: &Value) -> Vec<String> {
        let paths = document["paths"].as_object().expect("a document has paths");
        let mut routes: Vec<String> = paths
            .iter()
            .flat_map(|(path, item)| {
                let methods = item.as_object().expect("a path has methods");
                methods.keys().map(move |method| format!("{method} {path}"))
            })
            .collect();
        routes.sort();
        routes
    }

    #[test]
    fn every_route_is_described() {
        let document = serde_json::to_value(openapi()).expect("a document is JSON");
        let store = "/v1/memory_stores/{memory_store_id}";
        let memory = format!("{store}/memories/{{memory_id}}");
        let version = format!("{store}/memory_versions/{{memory_version_id}}");
        let session = "/v1/sessions/{session_id}";
        let mut expected = vec![
            "get /v1/memory_stores".to_owned(),
            "post /v1/memory_stores".to_owned(),
            format!("get {store}"),
            format!("post {store}"),
            format!("delete {store}"),
            format!("post {store}/archive"),
            format!("get {store}/memories"),
            format!("post {store}/memories"),
            format!("get {memory}"),
            format!("post {memory}"),
            format!("get {store}/memory_by_path"),
            format!("patch {memory}"),
            format!("delete {memory}"),
            format!("get {store}/memory_versions"),
            format!("get {version}"),
            format!("post {version}/redact"),
            "get /v1/sessions".to_owned(),
            "post /v1/sessions".to_owned(),
            format!("get {session}"),
            format!("post {session}"),
            format!("delete {session}"),
            format!("post {session}/archive"),
            format!("get {session}/resources"),
            format!("post {session}/resources"),
            format!("get {session}/resources/{{resource_id}}"),
            format!("post {session}/resources/{{resource_id}}"),
            format!("delete {session}/resources/{{resource_id}}"),
            "post /v1/environments".to_owned(),
            "get /v1/environments/{environment_id}".to_owned(),
        ];
        expected.sort();
        assert_eq!(routes(&document), expected);
    }

    #[test]
    fn the_beta_header_is_named_where_it_is_needed() {
        let document = serde_json::to_value(openapi()).expect("a document is JSON");
        for (path, item) in document["paths"].as_object().expect("a document has paths") {
            for (method, operation) in item.as_object().expect("a path has methods") {
                let is_named = operation["parameters"].to_string().contains(beta::HEADER);
                assert_eq!(is_named, needs_beta(path), "{method} {path}");
            }
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = serde_json::to_value(openapi()).expect("a document is JSON");
        let text = document.to_string();
        let schemas = &document["components"]["schemas"];
        let named = text.split("\"#/components/schemas/").skip(1);
        for name in named.filter_map(|rest| rest.split('"').next()) {
            assert!(schemas.get(name).is_some(), "{name} is referred to but not described");
        }
    }

    #[test]
    fn operations_have_names_of_their_own() {
        let document = serde_json::to_value(openapi()).expect("a document is JSON");
        let text = document.to_string();
        let mut names: Vec<&str> = text
            .split("\"operationId\":\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{names:?}");
    }
}
