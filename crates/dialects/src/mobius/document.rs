//! The OpenAPI description of this door, gathered from its endpoints. They are written down for the
//! paths without projects; what is at the others too is described once more there.

use super::call::Revision;
use super::{
    agent, agents, changes, compact, context, entries, error, labels, promotion, render, summary,
    tools,
};
use utoipa::OpenApi;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::{ObjectBuilder, RefOr, Required, Type};

/// What is only there without projects.
const PROMOTION: &str = "/promotion";

#[derive(OpenApi)]
#[openapi(
    paths(
        agents::many,
        agents::create,
        agents::one,
        agents::change,
        summary::read,
        entries::many,
        entries::save,
        entries::remove,
        changes::read,
        context::read,
        compact::compact,
        promotion::promote,
        promotion::revert,
        tools::define,
        tools::invoke,
    ),
    components(schemas(
        error::ErrorBody<'_>,
        render::EntryBody,
        render::EntriesBody,
        summary::MemoryBody,
        changes::ChangesBody,
        context::ReminderBody,
        compact::CompactBody,
        compact::CompactedBody,
        agent::AgentBody,
        agent::AgentsBody,
        labels::MemoryContext,
        tools::ToolsBody,
        tools::InvocationBody,
    )),
    tags((name = "mobius", description = "Mobius: the memory of agents as entries under keys"))
)]
struct Document;

/// The description of every route of this door.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    let paths = std::mem::take(&mut document.paths.paths);
    for (path, item) in paths {
        let rest = path.strip_prefix(Revision::B.base()).unwrap_or_default().to_owned();
        if !rest.ends_with(PROMOTION) {
            let path = format!("{}{rest}", Revision::A.base());
            document.paths.paths.insert(path.clone(), described(item.clone(), &path, "project_"));
        }
        document.paths.paths.insert(path.clone(), described(item, &path, ""));
    }
    document
}

/// A path with the parameters that are in it, and names for its operations.
fn described(mut item: PathItem, path: &str, prefix: &str) -> PathItem {
    let resource = resource(path);
    let methods = [
        ("get", &mut item.get),
        ("put", &mut item.put),
        ("post", &mut item.post),
        ("patch", &mut item.patch),
        ("delete", &mut item.delete),
    ];
    for (method, operation) in methods {
        let Some(operation) = operation else { continue };
        operation.operation_id = Some(format!("mobius_{prefix}{method}_{resource}"));
        add_path_parameters(operation, path);
    }
    item
}

/// What the words of a path after the agents are about.
fn resource(path: &str) -> String {
    let (_, rest) = path.split_once("/agents").unwrap_or_default();
    let plain = |word: &str| word.trim_matches(['{', '}']).to_owned();
    let words: Vec<String> = rest.split('/').filter(|word| !word.is_empty()).map(plain).collect();
    if words.is_empty() { "agents".to_owned() } else { words.join("_") }
}

fn add_path_parameters(operation: &mut Operation, path: &str) {
    let names = path.split('/').filter_map(|word| word.strip_prefix('{')?.strip_suffix('}'));
    let given = operation.parameters.get_or_insert_default();
    let parameter = |name: &str| -> RefOr<Parameter> {
        let text = ObjectBuilder::new().schema_type(Type::String);
        let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path);
        RefOr::T(parameter.required(Required::True).schema(Some(text)).build())
    };
    let all = names.map(parameter).chain(std::mem::take(given)).collect();
    *given = all;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_described() {
        let document = serde_json::to_value(openapi()).expect("a document is JSON");
        let paths = document["paths"].as_object().expect("a document has paths");
        let mut routes: Vec<String> = Vec::new();
        for (path, item) in paths {
            for (method, operation) in item.as_object().expect("a path has methods") {
                assert!(operation["responses"]["4XX"].is_object(), "{method} {path}");
                assert!(operation["summary"].is_string(), "{method} {path}");
                routes.push(format!("{method} {path}"));
            }
        }
        routes.sort();
        let rests = [
            ("delete", "/{agent}/memory/entries/{memory_key}"),
            ("delete", "/{agent}/memory/entries/{memory_key}/promotion"),
            ("get", ""),
            ("get", "/{agent}"),
            ("get", "/{agent}/memory"),
            ("get", "/{agent}/memory/changes"),
            ("get", "/{agent}/memory/context"),
            ("post", "/{agent}/memory/compact"),
            ("get", "/{agent}/memory/entries"),
            ("get", "/{agent}/tools"),
            ("patch", "/{agent}"),
            ("post", ""),
            ("post", "/{agent}/memory/entries/{memory_key}/promotion"),
            ("post", "/{agent}/tools/{tool}/invoke"),
            ("put", "/{agent}/memory/entries/{memory_key}"),
        ];
        let mut expected: Vec<String> = Vec::new();
        for (method, rest) in rests {
            expected.push(format!("{method} /v1/agents{rest}"));
            if !rest.ends_with(PROMOTION) {
                expected.push(format!("{method} /v1/projects/{{project}}/agents{rest}"));
            }
        }
        expected.sort();
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
