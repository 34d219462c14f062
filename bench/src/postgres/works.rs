//! The requests that are sent: small memories into one store that everybody shares or into a store for
//! each client, reads of single memories, searches.

use crate::fill;
use crate::load::{self, request};
use crate::measure;
use crate::search::corpus::Corpus;
use std::net::SocketAddr;

/// Bytes of a small memory.
pub(crate) const CONTENT_BYTES: usize = 200;
const GET_CLIENTS: usize = 64;
const SEARCH_CLIENTS: usize = 8;
/// Memories that single reads choose from.
const READ_MEMORIES: u64 = 1_000;
const QUERIES: u64 = 256;
const RESULTS: usize = 10;

/// Where writers write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stores {
    /// All of them to one store, so that they meet at its row.
    Shared,
    /// Each to one of its own.
    Each,
}

impl Stores {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Shared => "one store for all",
            Self::Each => "a store for each",
        }
    }

    fn count(self, clients: usize) -> usize {
        match self {
            Self::Shared => 1,
            Self::Each => clients,
        }
    }
}

/// One piece of work.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    Create {
        clients: usize,
        stores: Stores,
    },
    Get,
    /// By servers that hold the store's index in memory, as they do with all but the largest.
    Search(&'static str),
    /// By servers that let PostgreSQL pick the candidates, as they do with the largest.
    SearchInPlace(&'static str),
}

impl Work {
    pub(crate) fn name(self) -> String {
        let clients = self.clients();
        match self {
            Self::Create { stores, .. } => format!("create, {clients} clients, {}", stores.name()),
            Self::Get => format!("get, {clients} clients"),
            Self::Search(mode) => format!("{mode} search, {clients} clients"),
            Self::SearchInPlace(mode) => format!("{mode} search in place, {clients} clients"),
        }
    }

    pub(crate) fn clients(self) -> usize {
        match self {
            Self::Create { clients, .. } => clients,
            Self::Get => GET_CLIENTS,
            Self::Search(_) | Self::SearchInPlace(_) => SEARCH_CLIENTS,
        }
    }

    pub(crate) fn is_search(self) -> bool {
        matches!(self, Self::Search(_) | Self::SearchInPlace(_))
    }

    pub(crate) fn is_write(self) -> bool {
        matches!(self, Self::Create { .. })
    }
}

/// Makes the stores for so many clients.
pub(crate) fn make_stores(
    address: SocketAddr,
    stores: Stores,
    clients: usize,
) -> anyhow::Result<Vec<String>> {
    let make = request("POST", "/v1/memory_stores", r#"{"name":"bench"}"#);
    let mut client = load::Client::open(address)?;
    (0..stores.count(clients)).map(|_| measure::id_of(&client.exchange(&make)?)).collect()
}

/// Creates, by each client in its store.
pub(crate) fn creates(stores: &[String], run: &str) -> impl Fn(usize, u64) -> Vec<u8> + 'static {
    let run = run.to_owned();
    let targets: Vec<String> =
        stores.iter().map(|store| format!("/v1/memory_stores/{store}/memories")).collect();
    move |client, n| {
        let text = fill::text(client as u64 * 1_000_003 + n);
        let text = &text[..CONTENT_BYTES];
        let body = format!(r#"{{"path":"/bench/{run}/{client}/{n}","content":"{text}"}}"#);
        request("POST", &targets[client % targets.len()], &body)
    }
}

/// A store with some memories, and their ids.
#[derive(Clone)]
pub(crate) struct Readable {
    store: String,
    memories: Vec<String>,
}

impl Readable {
    pub(crate) fn make(address: SocketAddr) -> anyhow::Result<Self> {
        let store = make_stores(address, Stores::Shared, 1)?.remove(0);
        let create = creates(std::slice::from_ref(&store), "read");
        let mut client = load::Client::open(address)?;
        let memories = (0..READ_MEMORIES)
            .map(|n| measure::id_of(&client.exchange(&create(0, n))?))
            .collect::<anyhow::Result<_>>()?;
        Ok(Self { store, memories })
    }

    pub(crate) fn gets(&self) -> impl Fn(usize, u64) -> Vec<u8> + 'static {
        measure::gets(&self.store, &self.memories)
    }
}

/// Searches in one store, question after question.
pub(crate) fn searches(
    store: &str,
    corpus: &Corpus,
    mode: &str,
) -> impl Fn(usize, u64) -> Vec<u8> + 'static {
    let target = format!("/v1/memory_stores/{store}/search");
    let asked: Vec<Vec<u8>> = (0..QUERIES)
        .map(|n| {
            let body =
                serde_json::json!({"query": corpus.query(n), "mode": mode, "limit": RESULTS});
            request("POST", &target, &body.to_string())
        })
        .collect();
    move |client, n| asked[(client * 31 + n as usize) % asked.len()].clone()
}
