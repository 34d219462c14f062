//! Edits of single memories, many to a transaction: they are most of all writes, and what they wait
//! for is the disk, which syncs once for all of them.
//!
//! An edit of this kind is decided before it changes anything, so a refusal leaves nothing behind
//! and the others of its group are not concerned.

use crate::apply::{remember, tenant};
use crate::client::Clients;
use crate::commit::{built_upon, want};
use crate::draft::{Draft, Wanted};
use crate::fault::{Fault, Result};
use crate::idempotency;
use crate::writer::Job;
use loci_model::policy::WritePass;
use loci_storage::{Applied, Batch, Mutation};
use std::collections::{BTreeSet, HashSet};

/// The pass and batch of a mutation that may share its transaction.
pub(crate) fn sharable(mutation: &Mutation) -> Option<(&WritePass, &Batch)> {
    match mutation {
        Mutation::Commit(pass, batch) if batch.edits.len() == 1 => Some((pass, batch)),
        _ => None,
    }
}

/// Applies jobs of one tenant that may share a transaction. An error means that nothing of it
/// holds, or that it is unknown whether it does.
pub(crate) async fn together(
    clients: &Clients,
    jobs: &[Job],
) -> Result<Vec<loci_storage::Result<Applied>>> {
    let edits: Vec<_> = jobs.iter().filter_map(|job| sharable(&job.mutation)).collect();
    assert_eq!(edits.len(), jobs.len(), "only what may share a transaction is put into one");
    let mut stores = BTreeSet::new();
    let mut wanted = Wanted::default();
    for (pass, batch) in &edits {
        stores.insert(pass.store());
        want(&mut wanted, pass.store(), batch);
    }
    let tx = clients.write(tenant(&jobs[0].mutation), clients.patience).await?;
    let mut draft = Draft::new(&tx);
    draft.take(&stores, &wanted).await?;
    let keys: Vec<_> = jobs.iter().filter_map(|job| job.idempotency.as_ref()).collect();
    // After the lock: a retry on another server waits there, and then finds what the first one did.
    let used: HashSet<(u128, String)> = idempotency::used(&tx, &keys).await?;
    let mut contents = BTreeSet::new();
    for (pass, batch) in &edits {
        built_upon(&mut draft, pass.store(), batch, &mut contents).await?;
    }
    draft.read_contents(&contents).await?;
    let mut answers = Vec::with_capacity(jobs.len());
    let mut extra = Vec::new();
    for (job, (pass, batch)) in jobs.iter().zip(edits) {
        let key = job.idempotency.as_ref();
        if let Some(key) = key.filter(|key| used.contains(&(key.scope, key.key.clone()))) {
            let told = idempotency::recall(&tx, key).await;
            answers.push(answer(told.map(|receipt| {
                let receipt = receipt.expect("the key was just seen");
                Applied { receipt, is_replay: true }
            }))?);
            continue;
        }
        let committed = draft.commit(pass, batch).await;
        answers.push(answer(committed.map(|receipt| {
            extra.extend(key.map(|key| remember(key, &receipt)));
            Applied { receipt, is_replay: false }
        }))?);
    }
    let is_changed = !extra.is_empty() || draft.desks.values().any(|desk| desk.is_pending());
    if is_changed || draft.has_flushed {
        draft.finish(extra, None).await?;
        tx.committed();
    } else {
        drop(draft);
        tx.leave();
    }
    Ok(answers)
}

/// A refusal is an answer; everything else spoils the transaction.
fn answer(result: Result<Applied>) -> Result<loci_storage::Result<Applied>> {
    match result {
        Ok(applied) => Ok(Ok(applied)),
        Err(Fault::Refused(refusal)) => Ok(Err(refusal)),
        Err(fault) => Err(fault),
    }
}
