//! Takes a fact away although memories say it. What is known is derived, so there is no row to
//! delete: each memory that supports the fact is marked as not saying it, in its metadata. The mark
//! is a version like any other, moves and is exported with the memory, and goes with it.

use super::learned::{DISMISSED, dismissed, metadata};
use crate::{Context, Engine, Error, Result};
use loci_knowledge::graph::FactId;
use loci_model::policy;
use loci_model::{
    At, AttributesPatch, Edit, EditOp, Expect, Invalid, Memory, OnSame, Patch, StoreId, View, limit,
};
use serde_json::{Value, json};

impl Engine {
    /// Makes every memory that supports a fact no longer say it.
    pub async fn dismiss_fact(&self, context: &Context, store: StoreId, id: FactId) -> Result<()> {
        let facts = self.facts(context, store).await?;
        policy::write(&context.caller, &facts, self.seams.now())?;
        if facts.store.archived_at.is_some() {
            return Err(Error::Archived);
        }
        let mut turn = self.turn(store, "dismiss").await?;
        loop {
            let fact = self.known_fact(context, store, id).await?;
            let mut edits = Vec::with_capacity(fact.sources.len());
            for source in &fact.sources {
                let memory = self.get(context, store, &At::Id(*source), View::Basic).await?;
                edits.push(marked(&memory, fact.mark())?);
            }
            if edits.len() > limit::TREE_EDITS_MAX {
                let why = format!("{} memories say so; remove them instead", edits.len());
                return Err(Invalid::new("fact", why).into());
            }
            match self.commit_tree(context, store, edits, "dismiss").await {
                Ok(_) => return Ok(()),
                // Somebody changed or removed one of them meanwhile.
                Err(Error::ExpectFailed | Error::NotFound("memory")) => turn.again().await?,
                Err(error) => return Err(error),
            }
        }
    }
}

fn marked(memory: &Memory, mark: u64) -> Result<Edit> {
    let mut metadata = metadata(memory);
    if !metadata.is_object() {
        metadata = json!({});
    }
    let mut marks = dismissed(&metadata);
    marks.push(mark);
    let marks: Vec<String> = marks.into_iter().map(|mark| format!("{mark:016x}")).collect();
    metadata[DISMISSED] = Value::from(marks);
    let metadata = metadata.to_string();
    if metadata.len() > limit::MEMORY_METADATA_BYTES_MAX {
        let why = "too many facts were taken away from one memory; remove it instead";
        return Err(Invalid::new("fact", why).into());
    }
    let attributes = AttributesPatch { metadata: Patch::Set(Some(metadata)), ..Default::default() };
    Ok(Edit {
        at: At::Id(memory.id),
        expect: Expect::Revision(memory.revision),
        on_same: OnSame::Skip,
        op: EditOp::Put { content: None, to: None, attributes },
    })
}
