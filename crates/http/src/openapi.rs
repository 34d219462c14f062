//! The OpenAPI document: our routes and the doors', generated from the code that serves them.

use crate::routes::{
    admin, attributes, changes, dump, erase, grants, health, keys, principals, sessions_note, stats,
};
use crate::wire::ErrorEnvelope;
use bytes::Bytes;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

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
        attributes::change_by_patch,
        erase::erase,
        changes::list,
        stats::of_store,
        stats::of_all,
        keys::list,
        keys::create,
        keys::revoke,
        principals::list,
        principals::create,
        sessions_note::show,
        admin::check,
        admin::backup,
        dump::export,
        dump::import,
    ),
    components(schemas(ErrorEnvelope<'_>)),
    security(("key" = [])),
    modifiers(&Keys)
)]
struct Native;

/// How requests carry their key.
struct Keys;

impl Modify for Keys {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("key", bearer);
    }
}

/// The whole document, ready to send.
pub(crate) fn document(doors: utoipa::openapi::OpenApi) -> Bytes {
    let mut document = Native::openapi();
    document.merge(doors);
    let text = document.to_json().expect("the document is made of strings");
    Bytes::from(text)
}
