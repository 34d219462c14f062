//! The OpenAPI document: it lists every native route, says how each refuses, and every route it lists
//! is closed to strangers.

use crate::common::Server;
use axum::body::Body;
use http::Request;

#[tokio::test]
async fn the_document_lists_every_native_route() {
    let server = Server::new().await;
    let request = Request::get("/openapi.json").body(Body::empty()).unwrap();
    let document = server.send(request).await.ok();
    let paths = document["paths"].as_object().unwrap();
    let store = "/v1/memory_stores/{memory_store_id}";
    for (path, methods) in [
        ("/healthz".to_owned(), &["get"][..]),
        ("/readyz".into(), &["get"]),
        ("/metrics".into(), &["get"]),
        ("/openapi.json".into(), &["get"]),
        (format!("{store}/grants"), &["get", "post"]),
        (format!("{store}/grants/{{grant_id}}"), &["delete"]),
        (format!("{store}/memories/{{memory_id}}/attributes"), &["get", "post", "patch"]),
        (format!("{store}/memories/{{memory_id}}/erase"), &["post"]),
        (format!("{store}/sealed"), &["post"]),
        (format!("{store}/memories/{{memory_id}}/sealed"), &["get"]),
        ("/v1/whoami".into(), &["get"]),
        (format!("{store}/entries"), &["get"]),
        (format!("{store}/entries/{{memory_id}}"), &["get"]),
        (format!("{store}/edits"), &["post"]),
        (format!("{store}/history"), &["get"]),
        (format!("{store}/hygiene"), &["get"]),
        (format!("{store}/redactions"), &["post"]),
        (format!("{store}/revert"), &["post"]),
        (format!("{store}/access"), &["get"]),
        ("/console/login".into(), &["post"]),
        ("/console/session".into(), &["get"]),
        ("/console/links".into(), &["post"]),
        ("/console/events".into(), &["get"]),
        ("/console/stores".into(), &["get"]),
        ("/console/series".into(), &["get"]),
        ("/console/names".into(), &["get"]),
        (format!("{store}/changes"), &["get"]),
        (format!("{store}/search"), &["post"]),
        ("/v1/search".into(), &["post"]),
        (format!("{store}/duplicates"), &["get"]),
        (format!("{store}/policy"), &["get", "post"]),
        (format!("{store}/compact"), &["post"]),
        (format!("{store}/memories/{{memory_id}}/undo_compaction"), &["post"]),
        (format!("{store}/brief"), &["get"]),
        (format!("{store}/documents"), &["post"]),
        (format!("{store}/facts"), &["get"]),
        (format!("{store}/entities"), &["get"]),
        ("/v1/knowledge".into(), &["post"]),
        ("/v1/context".into(), &["get"]),
        (format!("{store}/stats"), &["get"]),
        ("/v1/stats".into(), &["get"]),
        ("/v1/api_keys".into(), &["get", "post"]),
        ("/v1/api_keys/{api_key_id}".into(), &["delete"]),
        ("/v1/principals".into(), &["get", "post"]),
        ("/v1/principals/{principal}/memory".into(), &["get", "post"]),
        ("/v1/chats".into(), &["get"]),
        ("/v1/chats/{chat}".into(), &["get"]),
        ("/v1/chats/{chat}/members/{member}".into(), &["put", "delete"]),
        ("/v1/events".into(), &["get"]),
        ("/v1/sessions/{session_id}/note".into(), &["get"]),
        ("/v1/check".into(), &["post"]),
        ("/v1/embedding".into(), &["get"]),
        ("/v1/embedding/reembed".into(), &["post"]),
        ("/v1/extraction".into(), &["get"]),
        ("/v1/extraction/forget".into(), &["post"]),
        ("/v1/backup".into(), &["get"]),
        ("/v1/export".into(), &["get"]),
        ("/v1/import".into(), &["post"]),
    ] {
        for method in methods {
            let route = &paths[&path][method];
            assert!(route["responses"]["200"].is_object(), "{method} {path}");
            assert!(route["responses"]["4XX"]["content"].is_object(), "{method} {path}");
        }
    }
    assert!(paths["/console/logout"]["post"]["responses"]["204"].is_object());
    assert_eq!(paths.len(), 60);
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for (name, schema) in schemas {
        for (field, described) in schema["properties"].as_object().into_iter().flatten() {
            let text = described.to_string();
            assert!(text.contains("description"), "{name}.{field} is not described");
        }
    }
}

#[tokio::test]
async fn without_a_key_every_route_but_the_probes_is_closed() {
    let server = Server::new().await;
    let request = Request::get("/openapi.json").body(Body::empty()).unwrap();
    let document = server.send(request).await.ok();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, _) in item.as_object().unwrap() {
            let uri = path.replace(['{', '}'], "");
            let request = Request::builder().method(method.to_uppercase().as_str()).uri(&uri);
            let reply = server.send(request.body(Body::from("{}")).unwrap()).await;
            match path.as_str() {
                "/healthz" | "/readyz" | "/openapi.json" => assert_eq!(reply.status, 200, "{path}"),
                // Its own page alone may ask, and what it shows is looked at afterwards.
                "/console/login" => drop(reply.refused(403, "permission_error")),
                _ => drop(reply.refused(401, "authentication_error")),
            }
        }
    }
}
