//! Asks a server that was just started: first what loads its indexes, then question after question,
//! in every mode, block by block.

use super::cost::{Account, BLOCK_LEAST, Worker};
use super::meaning::Meanings;
use super::{Loading, MANY_STORES, Questions, StoreFigures};
use crate::child::Server;
use crate::load::{self, Client, request};
use crate::measure::Plan;
use crate::samples::Samples;
use anyhow::{Context, ensure};
use loci_model::StoreId;
use loci_search::embed::{Embedder, Purpose};
use std::path::Path;
use std::time::Instant;

const RESULTS: usize = 10;
/// Questions asked of each sort before anything is measured.
const WARM_UP: usize = 16;
/// Blocks are shorter than those of other measurements: there are many of them.
const BLOCK_SHARE: f64 = 0.5;
/// Room for the indexes of a million memories, and time to load them in one request.
const SETTINGS: &str = "[limits]\nrequest_timeout_seconds = 900\n\n[search]\nmemory_mb = 16384\n";

/// One layout of one size.
pub(super) struct Asking<'a> {
    pub(super) plan: &'a Plan,
    pub(super) memories: u64,
    pub(super) meanings: &'a Meanings,
    pub(super) questions: &'a Questions,
    /// Every store when there is none.
    pub(super) store: Option<StoreId>,
}

/// What each sort of question cost so far.
#[derive(Default)]
struct Accounts {
    lexical: Account,
    semantic: Account,
    embedding: Account,
    hybrid: Account,
}

impl Asking<'_> {
    /// Measures everything. Whatever is to be compared is done within each round too: it is told for
    /// how many seconds, and with which question to begin.
    pub(super) fn measure(
        &self,
        data: &Path,
        mut compare: impl FnMut(f64, usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<StoreFigures> {
        println!("  {}", if self.store.is_some() { "in one store" } else { "across stores" });
        let server = Server::loci_with(&self.plan.loci, data, SETTINGS)?;
        let loading = self.load(&server)?;
        let [lexical, semantic, hybrid] = ["lexical", "semantic", "hybrid"].map(|mode| {
            let texts = self.questions.texts.iter();
            texts.map(|text| self.question(text, mode)).collect::<Vec<_>>()
        });
        let mut client = Client::open(server.address)?;
        for request in [&lexical, &semantic, &hybrid].into_iter().flat_map(|some| &some[..WARM_UP])
        {
            client.exchange(request)?;
        }
        let mut to = Accounts::default();
        let (process, seconds) = (Worker::Other(server.id()), self.plan.seconds * BLOCK_SHARE);
        for round in 0..self.plan.rounds {
            let from = round * lexical.len() / self.plan.rounds;
            let nth = |n: usize| (from + n) % lexical.len();
            to.lexical.block(process, seconds, |n| client.exchange(&lexical[nth(n)]).map(drop))?;
            to.semantic
                .block(process, seconds, |n| client.exchange(&semantic[nth(n)]).map(drop))?;
            self.in_turn(&mut client, process, &hybrid, from, &mut to)?;
            compare(seconds, from)?;
        }
        Ok(StoreFigures {
            stores: if self.store.is_some() { 1 } else { MANY_STORES.min(self.memories) },
            embedding: to.embedding.cost()?,
            lexical: to.lexical.cost()?,
            semantic: to.semantic.cost()?,
            hybrid: to.hybrid.cost()?,
            loading,
        })
    }

    /// Embeds each question and asks it right after, so that both meet the machine in the same state.
    fn in_turn(
        &self,
        client: &mut Client,
        process: Worker,
        hybrid: &[Vec<u8>],
        from: usize,
        to: &mut Accounts,
    ) -> anyhow::Result<()> {
        let (mut embedding, mut searching) = (Samples::default(), Samples::default());
        let (own, other) = (Worker::Own.processor_seconds()?, process.processor_seconds()?);
        let (start, seconds) = (Instant::now(), 2.0 * BLOCK_SHARE * self.plan.seconds);
        while searching.len() < BLOCK_LEAST || start.elapsed().as_secs_f64() < seconds {
            let n = (from + searching.len()) % hybrid.len();
            let text = self.questions.texts[n].as_str();
            embedding.time(|| self.meanings.embedder.embed(&[text], Purpose::Query))?;
            searching.time(|| client.exchange(&hybrid[n]).map(drop))?;
        }
        to.embedding.add(embedding, Worker::Own.processor_seconds()? - own);
        to.hybrid.add(searching, process.processor_seconds()? - other);
        Ok(())
    }

    /// Asks for the first time, by word and then by meaning.
    fn load(&self, server: &Server) -> anyhow::Result<Loading> {
        let status = || load::once(server.address, &request("GET", "/v1/embedding", ""));
        status()?;
        let idle_bytes = server.resident_bytes()?;
        let by_word_seconds = self.first(server, "lexical")?;
        let by_meaning_seconds = self.first(server, "hybrid")?;
        let status: serde_json::Value = serde_json::from_str(&status()?)?;
        Ok(Loading {
            by_word_seconds,
            by_meaning_seconds,
            idle_bytes,
            loaded_bytes: server.resident_bytes()?,
            index_bytes: status["index_bytes"].as_u64().context("no index_bytes")?,
        })
    }

    fn first(&self, server: &Server, mode: &str) -> anyhow::Result<f64> {
        let start = Instant::now();
        let answer = load::once(server.address, &self.question(&self.questions.texts[0], mode))?;
        let seconds = start.elapsed().as_secs_f64();
        let answer: serde_json::Value = serde_json::from_str(&answer)?;
        let found = answer["data"].as_array().map_or(0, Vec::len);
        ensure!(found == RESULTS.min(self.memories as usize), "{mode} found {found}");
        let is_complete = mode == "lexical" || answer["is_complete"] == true;
        ensure!(is_complete, "the vectors that were put in are not all there");
        Ok(seconds)
    }

    fn question(&self, text: &str, mode: &str) -> Vec<u8> {
        let target = match self.store {
            Some(store) => format!("/v1/memory_stores/{store}/search"),
            None => "/v1/search".to_owned(),
        };
        let body = serde_json::json!({"query": text, "mode": mode, "limit": RESULTS});
        request("POST", &target, &body.to_string())
    }
}
