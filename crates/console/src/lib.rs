//! The web console: a page that is part of the binary. It knows nothing of the server but the routes
//! that everybody can call; this crate only hands out its files.
//!
//! The files are built from `console/` and committed, so that building Loci takes no other tools;
//! `tests/assets.rs` fails when they are not what the sources give. None of them holds a secret, so
//! anybody may have them. They are kept packed and unpacked for those who cannot read them so.
#![warn(missing_docs)]

mod assets;

use assets::{ASSETS, INDEX};
use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::io::Read;

/// Nothing but our own files and our own server, no frames, no markup made from text.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
/// A name has a digest of the file in it, so what it names never changes.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const NEVER: HeaderValue = HeaderValue::from_static("no-store");

/// The patterns of the routes here, which the gate lets anybody ask for.
const ROUTES: [&str; 4] = ["/console", "/console/", "/console/assets/{name}", "/console/{*page}"];

/// A file as it is kept.
struct Packed {
    name: &'static str,
    media_type: &'static str,
    /// Unpacked.
    bytes: usize,
    packed: &'static [u8],
}

/// The page and its files.
pub fn router() -> Router {
    let [root, index, asset, page] = ROUTES;
    Router::new()
        .route(root, get(async || guarded(Redirect::permanent("/console/").into_response(), NEVER)))
        .route(index, get(show_page))
        .route(asset, get(show_asset))
        .route(page, get(show_page))
}

/// The page finds out by itself which part of it an address means.
async fn show_page(headers: HeaderMap) -> Response {
    show(INDEX, &headers, NEVER)
}

async fn show_asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    show(&name, &headers, FOR_EVER)
}

fn show(name: &str, headers: &HeaderMap, keep: HeaderValue) -> Response {
    let Some(file) = ASSETS.iter().find(|file| file.name == name) else {
        let missing = (StatusCode::NOT_FOUND, "no such file\n").into_response();
        return guarded(missing, NEVER);
    };
    let media_type = [(CONTENT_TYPE, file.media_type)];
    let response = if takes_brotli(headers) {
        let encoding = [(CONTENT_ENCODING, "br")];
        (media_type, encoding, Bytes::from_static(file.packed)).into_response()
    } else {
        (media_type, file.unpack()).into_response()
    };
    guarded(response, keep)
}

/// The headers that every answer has.
fn guarded(mut response: Response, keep: HeaderValue) -> Response {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, keep);
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Browsers say so on TLS and on this machine only.
fn takes_brotli(headers: &HeaderMap) -> bool {
    let offers = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    offers.flat_map(|offer| offer.split(',')).any(|offer| {
        let mut parts = offer.split(';').map(str::trim);
        let is_brotli = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("br"));
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map(str::parse::<f32>);
        is_brotli && weight.is_none_or(|weight| weight.is_ok_and(|weight| weight > 0.0))
    })
}

impl Packed {
    fn unpack(&self) -> Vec<u8> {
        let mut unpacked = Vec::with_capacity(self.bytes);
        let mut reading = brotli_decompressor::Decompressor::new(self.packed, self.packed.len());
        reading.read_to_end(&mut unpacked).expect("a test unpacks every file that is built in");
        unpacked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_says_so_gets_brotli() {
        let check = |offer: Option<&str>, expected: bool| {
            let mut headers = HeaderMap::new();
            if let Some(offer) = offer {
                headers.insert(ACCEPT_ENCODING, offer.parse().unwrap());
            }
            assert_eq!(takes_brotli(&headers), expected, "{offer:?}");
        };
        check(None, false);
        check(Some("gzip, deflate"), false);
        check(Some("gzip, deflate, br, zstd"), true);
        check(Some("BR;q=0.5"), true);
        check(Some("br;q=0"), false);
        check(Some("br;q=0.0, gzip"), false);
        check(Some("brotli"), false);
    }

    #[test]
    fn every_file_unpacks_to_its_size() {
        for file in ASSETS {
            assert_eq!(file.unpack().len(), file.bytes, "{}", file.name);
        }
    }
}
