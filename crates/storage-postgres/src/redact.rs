//! Taking content away: redaction of one version, erasure of a memory. The rows go in the
//! transaction that says so in the feed.

use crate::client::uuid;
use crate::commit::Stamp;
use crate::draft::Draft;
use crate::fault::{Result, not_found};
use crate::readings;
use crate::row::{self, VersionRow, actor_columns, int};
use loci_model::policy::ManagePass;
use loci_model::{Actor, Cause, MemoryId, StoreId, Timestamp, VersionId};
use loci_storage::{Receipt, StorageError, reason};
use uuid::Uuid;

impl Draft<'_> {
    pub(crate) async fn redact(&mut self, pass: &ManagePass, id: VersionId) -> Result<Receipt> {
        let store = pass.store();
        let found = self.version(store, id).await?.ok_or_else(|| not_found("memory version"))?;
        let (memory, seq) = (found.version.memory, found.version.seq);
        let live = self.memory(store, memory).await?.and_then(|known| known.live);
        if live.is_some_and(|row| row.head == seq) {
            return Err(StorageError::IsHead.into());
        }
        if found.version.redaction.is_some() {
            return Ok(Receipt::Redacted(Box::new(found.version)));
        }
        self.scrub(store, &[seq], pass.actor(), pass.now(), reason::REDACTED).await?;
        self.refresh_visibility(store, memory).await?;
        let found = self.version(store, id).await?.ok_or_else(|| not_found("memory version"))?;
        Ok(Receipt::Redacted(Box::new(found.version)))
    }

    pub(crate) async fn erase(
        &mut self,
        pass: &ManagePass,
        memory: MemoryId,
        version: VersionId,
    ) -> Result<Receipt> {
        let store = pass.store();
        let known = self.memory(store, memory).await?.ok_or_else(|| not_found("memory"))?;
        if known.live.is_some() {
            let cause = Cause::new(None, reason::ERASED);
            let desk = self.desk(store)?;
            let at = desk.next_at(pass.now());
            desk.remove(known, &Stamp { version, actor: pass.actor(), at, cause: &cause });
            self.flush().await?;
        }
        let ids = [uuid(store.to_bytes()), uuid(memory.to_bytes())];
        let doomed = self
            .tx
            .query(include_str!("../queries/version/unredacted.sql"), &[&ids[0], &ids[1]])
            .await?;
        let doomed: Vec<u64> =
            doomed.iter().map(|row| row::count(row, 0)).collect::<Result<_>>()?;
        self.scrub(store, &doomed, pass.actor(), pass.now(), reason::ERASED).await?;
        self.tx
            .execute(include_str!("../queries/memory/forget_erasure.sql"), &[&ids[0], &ids[1]])
            .await?;
        self.refresh_visibility(store, memory).await?;
        Ok(Receipt::Erased { memory, versions: doomed.len() as u64 })
    }

    /// A version of a store, whoever may see it.
    pub(crate) async fn version(
        &self,
        store: StoreId,
        id: VersionId,
    ) -> Result<Option<VersionRow>> {
        let sql = include_str!("../queries/version/by_id.sql");
        let (of, id) = (uuid(store.to_bytes()), uuid(id.to_bytes()));
        let row = self.tx.query_opt(sql, &[&of, &id]).await?;
        row.as_ref().map(|row| row::version(row, store)).transpose()
    }

    /// Takes everything from versions but the fact that they were, and tells the feed.
    async fn scrub(
        &mut self,
        store: StoreId,
        seqs: &[u64],
        actor: Actor,
        now: Timestamp,
        reason: &str,
    ) -> Result<()> {
        let desk = self.desk(store)?;
        let mut times = Vec::with_capacity(seqs.len());
        for seq in seqs {
            let at = desk.next_at(now);
            times.push(at);
            desk.append_redaction(*seq, actor, at, reason);
        }
        self.empty(store, seqs, actor, &times).await?;
        self.flush().await
    }

    /// Takes everything from versions but the fact that they were.
    pub(crate) async fn empty(
        &mut self,
        store: StoreId,
        seqs: &[u64],
        by: Actor,
        at: &[Timestamp],
    ) -> Result<()> {
        let store: Uuid = uuid(store.to_bytes());
        let seqs: Vec<i64> = seqs.iter().map(|seq| int(*seq)).collect();
        let times: Vec<i64> = at.iter().map(|at| at.as_micros()).collect();
        let (kind, actor) = actor_columns(by);
        let tx = self.tx;
        tx.execute(
            include_str!("../queries/version/redact.sql"),
            &[&store, &seqs, &times, &kind, &actor],
        )
        .await?;
        // What goes on from one of them gets its bytes. Several are all there is of a memory, so
        // nothing goes on from them.
        tx.execute(include_str!("../queries/payload/hand_on.sql"), &[&store, &seqs]).await?;
        tx.execute(include_str!("../queries/payload/delete.sql"), &[&store, &seqs]).await?;
        tx.execute(include_str!("../queries/vector/delete.sql"), &[&store, &seqs]).await?;
        readings::delete(tx, store, &seqs).await?;
        tx.execute(include_str!("../queries/word/forget_versions.sql"), &[&store, &seqs]).await?;
        Ok(())
    }

    /// Who may see the history of a removed memory is what its newest unredacted version says; when
    /// none is left there is nothing to hide.
    pub(crate) async fn refresh_visibility(
        &mut self,
        store: StoreId,
        memory: MemoryId,
    ) -> Result<()> {
        let sql = include_str!("../queries/memory/refresh_visibility.sql");
        let (of, id) = (uuid(store.to_bytes()), uuid(memory.to_bytes()));
        if let Some(row) = self.tx.query_opt(sql, &[&of, &id]).await? {
            let visibility = row::get(&row, 0)?;
            self.desk(store)?.set_visibility(memory, visibility);
        }
        Ok(())
    }
}
