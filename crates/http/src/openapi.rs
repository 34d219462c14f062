//! The OpenAPI document: our routes and the doors', generated from the code that serves them.

use crate::routes::{
    access, admin, attributes, brief, changes, chats, compact, console, context, documents, dump,
    duplicates, edits, embedding, entries, erase, events, extraction, grants, health, history,
    hygiene, keys, knowledge, policy, principals, redactions, revert, sealed, search,
    sessions_note, stats, switches, whoami,
};
use crate::wire::ErrorEnvelope;
use bytes::Bytes;
use utoipa::openapi::path::{HttpMethod, Operation};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    ContentBuilder, OpenApi as OpenApiDocument, Ref, RefOr, Response, ResponseBuilder,
};
use utoipa::{Modify, OpenApi, ToSchema};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Loci",
        description = "A memory server for AI agents. Every answer carries a `request-id`; every \
            refusal is an error envelope. Send the key as `Authorization: Bearer KEY` or as \
            `X-Api-Key: KEY`. Any write takes an `Idempotency-Key`."
    ),
    paths(
        health::healthz,
        health::readyz,
        health::metrics,
        health::openapi,
        grants::list,
        grants::share,
        grants::revoke,
        attributes::show,
        attributes::change,
        erase::erase,
        sealed::put,
        sealed::fetch,
        whoami::show,
        entries::list,
        entries::show,
        edits::apply,
        history::list,
        hygiene::list,
        redactions::create,
        revert::revert,
        access::list,
        changes::list,
        search::in_store,
        search::everywhere,
        duplicates::report,
        policy::show,
        policy::change,
        compact::compact,
        compact::undo,
        brief::show,
        documents::ingest,
        knowledge::facts,
        knowledge::dismiss,
        knowledge::entities,
        knowledge::ask,
        context::show,
        stats::of_store,
        stats::of_all,
        keys::list,
        keys::create,
        keys::revoke,
        principals::list,
        principals::create,
        switches::show,
        switches::change,
        chats::list,
        chats::show,
        chats::add_member,
        chats::remove_member,
        events::list,
        sessions_note::show,
        admin::check,
        embedding::show,
        embedding::reembed,
        extraction::show,
        extraction::forget,
        admin::backup,
        dump::export,
        dump::import,
        console::session::login,
        console::session::logout,
        console::session::show,
        console::session::link,
        console::events::stream,
        console::stores::list,
        console::series::show,
        console::stores::names,
    ),
    components(schemas(
        ErrorEnvelope<'_>,
        entries::OrderName,
        entries::DirectionName,
        entries::ViewName,
        hygiene::CheckName
    )),
    tags(
        (name = "attributes", description = "What is known about memories beside their content"),
        (name = "sealed", description = "Content that clients encrypt and only clients can open"),
        (name = "entries", description = "Memories with their attributes, listed and edited in batches"),
        (name = "changes", description = "What happened in a store, in order"),
        (name = "search", description = "Finding memories, by word and by meaning"),
        (name = "knowledge", description = "Facts in time and entities, derived from memories"),
        (name = "policy", description = "The switches of a store"),
        (name = "grants", description = "Who may use a store"),
        (name = "principals", description = "Who can own stores, hold keys and be granted access"),
        (name = "chats", description = "Who is in a chat, and so reaches what its members share"),
        (name = "API keys", description = "What callers prove themselves with"),
        (name = "stats", description = "Numbers"),
        (name = "administration", description = "The data as a whole, for administrators"),
        (name = "console", description = "What the web console asks for beside everything else"),
        (name = "health", description = "For probes and scrapers"),
    ),
    security(("key" = []), ("key_header" = [])),
    modifiers(&Keys, &Refusals)
)]
struct Native;

/// How requests carry their key.
struct Keys;

impl Modify for Keys {
    fn modify(&self, openapi: &mut OpenApiDocument) {
        let components = openapi.components.get_or_insert_default();
        let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        let own_header = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("X-Api-Key")));
        components.add_security_scheme("key", bearer);
        components.add_security_scheme("key_header", own_header);
    }
}

/// What every native route may answer instead.
struct Refusals;

impl Modify for Refusals {
    fn modify(&self, openapi: &mut OpenApiDocument) {
        for (_, operation) in operations(openapi) {
            let responses = &mut operation.responses.responses;
            responses.insert("4XX".to_owned(), enveloped("Refused"));
            responses.insert("5XX".to_owned(), enveloped("Failed"));
        }
    }
}

/// An answer in the envelope that native routes refuse in.
fn enveloped(description: &str) -> RefOr<Response> {
    let envelope = Ref::from_schema_name(ErrorEnvelope::name());
    let content = ContentBuilder::new().schema(Some(envelope)).build();
    let response = ResponseBuilder::new().description(description);
    RefOr::T(response.content("application/json", content).build())
}

/// Every operation with its method.
fn operations(openapi: &mut OpenApiDocument) -> impl Iterator<Item = (HttpMethod, &mut Operation)> {
    openapi.paths.paths.values_mut().flat_map(|item| {
        let methods = [
            (HttpMethod::Get, &mut item.get),
            (HttpMethod::Post, &mut item.post),
            (HttpMethod::Put, &mut item.put),
            (HttpMethod::Patch, &mut item.patch),
            (HttpMethod::Delete, &mut item.delete),
        ];
        methods.into_iter().filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
    })
}

/// The whole document, ready to send.
pub(crate) fn document(doors: OpenApiDocument) -> Bytes {
    let mut document = Native::openapi();
    for (method, operation) in operations(&mut document) {
        // What can be asked for under two methods has one function and two names.
        if let (HttpMethod::Patch, Some(id)) = (method, &mut operation.operation_id) {
            id.push_str("_by_patch");
        }
    }
    debug_assert!(shared_names(&document, &doors).is_empty(), "two schemas of one name");
    document.merge(doors);
    for (_, operation) in operations(&mut document) {
        // A door that does not say how it refuses refuses as everything else does.
        let refused = operation.responses.responses.get_mut("4XX");
        let is_bare = |it: &RefOr<Response>| matches!(it, RefOr::T(it) if it.content.is_empty());
        if let Some(refused) = refused.filter(|refused| is_bare(refused)) {
            *refused = enveloped("Refused");
        }
        // Comments are wrapped; summaries are not.
        if let Some(summary) = &mut operation.summary {
            *summary = summary.replace('\n', " ");
        }
        for (status, response) in &mut operation.responses.responses {
            if let RefOr::T(response) = response
                && response.description.is_empty()
            {
                // The format insists on words where the shape says it all.
                let said = if status.starts_with('4') { "Refused" } else { "Done" };
                response.description = said.to_owned();
            }
        }
    }
    let text = document.to_json().expect("the document is made of strings");
    Bytes::from(text)
}

/// Names of schemas that both documents have: merging would silently keep one.
fn shared_names(ours: &OpenApiDocument, theirs: &OpenApiDocument) -> Vec<String> {
    let (Some(ours), Some(theirs)) = (&ours.components, &theirs.components) else {
        return Vec::new();
    };
    let shared = ours.schemas.keys().filter(|name| theirs.schemas.contains_key(*name));
    shared.cloned().collect()
}
