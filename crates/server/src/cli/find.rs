//! Finds what people name: a store by its name, a memory by its path, all pages of a list.

use super::client::{Client, Refused};
use super::output::text;
use crate::exit::Failure;
use hyper::StatusCode;
use loci_model::MemoryPath;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::ops::ControlFlow;

/// What an id may hold stays readable; everything else is escaped.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const PAGE: u32 = 100;

/// One segment of a URL's path, or one value of its query.
pub(crate) fn encode(text: &str) -> String {
    match text {
        // These two would be taken for directions.
        "." | ".." => text.replace('.', "%2E"),
        _ => utf8_percent_encode(text, UNRESERVED).to_string(),
    }
}

/// The URL of a store.
pub(crate) fn store_url(id: &str) -> String {
    format!("/v1/memory_stores/{}", encode(id))
}

/// Walks a paged list until its end, or until `each` has seen enough.
pub(crate) async fn each(
    client: &Client,
    url: &str,
    query: &[(&str, &str)],
    mut visit: impl FnMut(&Value) -> Result<ControlFlow<()>, Failure>,
) -> Result<(), Failure> {
    let mut next: Option<String> = None;
    loop {
        let mut target = format!("{url}?limit={PAGE}");
        for (name, value) in query {
            target.push_str(&format!("&{name}={}", encode(value)));
        }
        if let Some(page) = &next {
            target.push_str(&format!("&page={}", encode(page)));
        }
        let page = client.get(&target).await?;
        for item in page["data"].as_array().into_iter().flatten() {
            if visit(item)?.is_break() {
                return Ok(());
            }
        }
        match page["next_page"].as_str() {
            Some(page) => next = Some(page.to_owned()),
            None => return Ok(()),
        }
    }
}

/// The id of a store given by id or name; `None` if no store has the name.
pub(crate) async fn find_store(client: &Client, named: &str) -> Result<Option<String>, Failure> {
    if named.starts_with("memstore_") {
        return Ok(Some(named.to_owned()));
    }
    let (mut live, mut archived) = (Vec::new(), Vec::new());
    each(client, "/v1/memory_stores", &[("include_archived", "true")], |store| {
        if text(store, "name") == named {
            let is_archived = !store["archived_at"].is_null();
            let found = if is_archived { &mut archived } else { &mut live };
            found.push(text(store, "id").to_owned());
        }
        Ok(ControlFlow::Continue(()))
    })
    .await?;
    let mut found = if live.is_empty() { archived } else { live };
    match found.len() {
        0 | 1 => Ok(found.pop()),
        count => Err(Failure::usage(format!(
            "{count} stores are called {named:?}; give one of their ids: {}",
            found.join(", ")
        ))),
    }
}

/// The id of a store that must be there.
pub(crate) async fn store(client: &Client, named: &str) -> Result<String, Failure> {
    let found = find_store(client, named).await?;
    found.ok_or_else(|| Failure::not_found(format!("memory store {named:?} not found")))
}

/// A path that keeps the rules.
pub(crate) fn path(text: &str) -> Result<MemoryPath, Failure> {
    MemoryPath::parse(text).map_err(|invalid| Failure::failed(invalid.to_string()))
}

/// How much of a memory is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extent {
    WithContent,
    WithoutContent,
}

/// The live memory at a path.
pub(crate) async fn find_memory(
    client: &Client,
    store: &str,
    path: &MemoryPath,
    extent: Extent,
) -> Result<Option<Value>, Failure> {
    let view = match extent {
        Extent::WithContent => "full",
        Extent::WithoutContent => "basic",
    };
    let (store, path) = (store_url(store), encode(path.as_str()));
    match client.get(&format!("{store}/memory_by_path?view={view}&path={path}")).await {
        Ok(memory) => Ok(Some(memory)),
        Err(refused) if refused.is(StatusCode::NOT_FOUND) => {
            // Perhaps it is the store that is not there, which is another matter.
            client.get(&store).await?;
            Ok(None)
        }
        Err(refused) => Err(refused.into()),
    }
}

/// One version, with its content.
pub(crate) async fn version(client: &Client, store: &str, id: &str) -> Result<Value, Refused> {
    client.get(&format!("{}/memory_versions/{}", store_url(store), encode(id))).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_a_url() {
        assert_eq!(encode("memstore_01ab"), "memstore_01ab");
        assert_eq!(encode("a/b?c&d é"), "a%2Fb%3Fc%26d%20%C3%A9");
        assert_eq!(encode(".."), "%2E%2E");
    }
}
