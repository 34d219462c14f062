//! What this server keeps in memory of keys and of what policy knows, and how it knows whether that
//! still counts.
//!
//! Whatever changes any of it turns the page of its workspace in the same transaction, on whatever
//! server, so an entry counts exactly while the page that it was read on is open. Every request asks
//! the database for that page once; requests that come together ask together, which makes it cheap
//! where it matters. So a key or grant that was revoked through one server opens nothing on another.

use crate::client::{Clients, uuid};
use crate::fault::Result as Asked;
use crate::row::{count, id};
use crate::{facts, keys, stores};
use loci_model::policy::Facts;
use loci_model::{Address, ApiKey, Caller, Principal, StoreId, WorkspaceId};
use loci_storage::known::{self, FactsKey, reach_key};
use loci_storage::request::{left_of, see_page, seen_page, took};
use loci_storage::{Result, StorageError};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

/// Requests that may wait for a page, and how many ask together.
const LINE_MAX: usize = 4096;
const TOGETHER_MAX: usize = 512;

pub(crate) struct Known {
    clients: Clients,
    kept: known::Known,
    line: mpsc::Sender<Question>,
    task: JoinHandle<()>,
}

/// Which page is open in a workspace?
struct Question {
    workspace: WorkspaceId,
    answer: oneshot::Sender<Result<u64>>,
}

impl Known {
    pub(crate) fn start(clients: &Clients) -> Self {
        let (line, questions) = mpsc::channel(LINE_MAX);
        let task = tokio::spawn(answer(clients.clone(), questions));
        Self { clients: clients.clone(), kept: known::Known::default(), line, task }
    }

    pub(crate) async fn key(&self, hash: &[u8; 32]) -> Result<Option<(ApiKey, Principal)>> {
        if let Some((read_on, known)) = self.kept.keys.last(hash)
            && self.page(known.0.workspace).await? == read_on
        {
            return Ok(Some(known));
        }
        let tx = self.clients.ask().await?;
        let found = keys::with_principal(&tx, hash).await;
        let Some((page, known)) = tx.end(found)? else { return Ok(None) };
        see_page(known.0.workspace, page);
        self.kept.keys.keep(page, *hash, known.clone());
        Ok(Some(known))
    }

    pub(crate) async fn facts(&self, of: FactsKey) -> Result<Option<Facts>> {
        let (workspace, store, principal, session) = of;
        // Before they are loaded: what is loaded while the page is turned belongs to the old one.
        let page = self.page(workspace).await?;
        if let Some(known) = self.kept.facts.held(page, &of) {
            return Ok(Some(known));
        }
        if self.kept.absent.held(page, &of).is_some() {
            return Ok(None);
        }
        let tx = self.clients.read_in_company(workspace).await?;
        let found = facts::of_store(&tx, workspace, store, principal, session).await;
        let found = tx.end(found)?;
        match &found {
            Some(facts) => self.kept.facts.keep(page, of, facts.clone()),
            None => self.kept.absent.keep(page, of, ()),
        }
        Ok(found)
    }

    /// The facts about every store of a caller.
    pub(crate) async fn reach(&self, caller: &Caller) -> Result<Arc<Vec<Facts>>> {
        let key = reach_key(caller);
        let page = self.page(caller.workspace).await?;
        if let Some(known) = self.kept.reaches.held(page, &key) {
            return Ok(known);
        }
        let tx = self.clients.read(caller.workspace).await?;
        let found = facts::all(&tx, caller).await;
        let known = Arc::new(tx.end(found)?);
        self.kept.reaches.keep(page, key, Arc::clone(&known));
        Ok(known)
    }

    /// The store at an address.
    pub(crate) async fn store_at(
        &self,
        workspace: WorkspaceId,
        address: &Address,
    ) -> Result<Option<StoreId>> {
        let key = (workspace, address.clone());
        let page = self.page(workspace).await?;
        if let Some(known) = self.kept.addresses.held(page, &key) {
            return Ok(Some(known));
        }
        let tx = self.clients.read_in_company(workspace).await?;
        let found = stores::at_address(&tx, workspace, address).await;
        let found = tx.end(found)?;
        if let Some(store) = found {
            self.kept.addresses.keep(page, key, store);
        }
        Ok(found)
    }

    /// The principal of a name.
    pub(crate) async fn named(
        &self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<Option<Principal>> {
        let key = (workspace, name.to_owned());
        let page = self.page(workspace).await?;
        if let Some(known) = self.kept.names.held(page, &key) {
            return Ok(Some(known));
        }
        let tx = self.clients.read_in_company(workspace).await?;
        let found = keys::principal_by_name(&tx, workspace, name).await;
        let found = tx.end(found)?;
        if let Some(principal) = &found {
            self.kept.names.keep(page, key, principal.clone());
        }
        Ok(found)
    }

    /// The page that is open in a workspace, or was at some moment since this request came.
    async fn page(&self, workspace: WorkspaceId) -> Result<u64> {
        if let Some(page) = seen_page(workspace) {
            return Ok(page);
        }
        let (answer, answered) = oneshot::channel();
        self.line.try_send(Question { workspace, answer }).map_err(|_| StorageError::Busy)?;
        let asked = Instant::now();
        let answer = timeout(left_of(self.clients.patience), answered).await;
        took(asked.elapsed());
        let unanswered = || StorageError::Unreachable("no answer in time".into());
        let page = answer.map_err(|_| unanswered())?.map_err(|_| unanswered())??;
        see_page(workspace, page);
        Ok(page)
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Answers questions, all that have come at once. A question is only put with those that came before
/// the database was asked, never after.
async fn answer(clients: Clients, mut questions: mpsc::Receiver<Question>) {
    let mut waiting = Vec::new();
    while questions.recv_many(&mut waiting, TOGETHER_MAX).await > 0 {
        waiting.retain(|question| !question.answer.is_closed());
        if waiting.is_empty() {
            continue;
        }
        let workspaces: BTreeSet<WorkspaceId> =
            waiting.iter().map(|question| question.workspace).collect();
        let found = open_pages(&clients, &workspaces).await.map_err(|fault| fault.for_all());
        for Question { workspace, answer } in waiting.drain(..) {
            // One that never turned a page is at its first.
            let page = match &found {
                Ok(pages) => Ok(pages.get(&workspace).copied().unwrap_or(0)),
                Err(error) => Err(error()),
            };
            // Who no longer waits needs no answer.
            let _ = answer.send(page);
        }
    }
}

async fn open_pages(
    clients: &Clients,
    workspaces: &BTreeSet<WorkspaceId>,
) -> Asked<HashMap<WorkspaceId, u64>> {
    let ids: Vec<Uuid> = workspaces.iter().map(|id| uuid(id.to_bytes())).collect();
    let tx = clients.ask().await?;
    let rows = tx.query(include_str!("../queries/page/open.sql"), &[&ids]).await?;
    tx.leave();
    rows.iter().map(|row| Ok((WorkspaceId::from_bytes(id(row, 0)?), count(row, 1)?))).collect()
}
