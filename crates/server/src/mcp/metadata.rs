//! How a client that was refused learns what to do: the challenge, and the document it points to
//! (RFC 9728). Both name the server as the client sees it: by the public URL if the operator gave one,
//! otherwise by the host that the request is for.

use super::{McpOptions, PATH};
use axum::http::uri::Authority;
use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HOST, HeaderValue};
use serde_json::{Value, json};

/// Where the document is; RFC 9728 also puts the resource's path behind it.
pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";

/// The document.
pub(super) fn document(options: &McpOptions, headers: &HeaderMap) -> Value {
    let mut document = json!({
        "resource": format!("{}{PATH}", base(options, headers)),
        "bearer_methods_supported": ["header"],
        "resource_name": "Loci",
    });
    if let Some(issuer) = &options.issuer {
        document["authorization_servers"] = json!([issuer]);
    }
    document
}

/// What a refused client is told in `WWW-Authenticate`.
pub(super) fn challenge(options: &McpOptions, headers: &HeaderMap) -> HeaderValue {
    let error = match headers.contains_key(AUTHORIZATION) {
        true => "error=\"invalid_token\", ",
        false => "",
    };
    let at = format!("{}{METADATA}", base(options, headers));
    let text = format!("Bearer {error}resource_metadata=\"{at}\"");
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
}

fn base(options: &McpOptions, headers: &HeaderMap) -> String {
    if let Some(url) = &options.public_url {
        return url.clone();
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    // Only what is a host goes into what we say.
    let host = host.and_then(|host| host.parse::<Authority>().ok());
    let host = host.filter(|host| !host.as_str().contains(['@', '"', '\\']));
    format!("http://{}", host.as_ref().map_or("localhost", Authority::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))])
    }

    #[test]
    fn the_server_is_named_as_its_client_sees_it() {
        let plain = McpOptions::default();
        let document = document(&plain, &headers("127.0.0.1:8700"));
        assert_eq!(document["resource"], "http://127.0.0.1:8700/mcp");
        assert!(document["authorization_servers"].is_null());
        let public = McpOptions {
            public_url: Some("https://memory.example.org".to_owned()),
            issuer: Some("https://id.example.org".to_owned()),
            ..plain.clone()
        };
        let document = super::document(&public, &headers("127.0.0.1:8700"));
        assert_eq!(document["resource"], "https://memory.example.org/mcp");
        assert_eq!(document["authorization_servers"], json!(["https://id.example.org"]));
        let odd = challenge(&plain, &headers("a\"b"));
        assert_eq!(
            odd,
            "Bearer resource_metadata=\"http://localhost/.well-known/oauth-protected-resource\""
        );
    }
}
