//! Taking away: one episode, one fact, or everything in the user's place. Episodes go by ordinary
//! removals, erased for good a day later; a fact goes by marking whatever says it.

use super::access::Access;
use loci_engine::knowledge::FactId;
use loci_engine::{Context, Engine, Error, Purpose};
use loci_model::query::{Direction, ListItem, ListOrder, ListQuery};
use loci_model::{At, Edit, Expect, MemoryId, StoreId, View, limit};
use uuid::Uuid;

/// Shown in the feed.
const REASON: &str = "qiforge";
/// Memories removed in one step.
const STEP: usize = 1000;
const _: () = assert!(STEP <= limit::TREE_EDITS_MAX, "a step is one batch");

/// Removes an episode of the user's, or of the oracle's for its owners; says whether it was there.
pub(super) async fn episode(engine: &Engine, access: &Access, id: Uuid) -> Result<bool, Error> {
    let memory = MemoryId::from_u128(id.as_u128());
    if let Some(store) = access.own(engine, Purpose::Change).await?
        && remove(engine, &access.context, store, memory).await?
    {
        return Ok(true);
    }
    if !access.is_owner() {
        return Ok(false);
    }
    let knowledge = access.knowledge_to_write(engine).await?;
    match knowledge.store(engine, Purpose::Change).await? {
        Some(store) => remove(engine, &knowledge.context, store, memory).await,
        None => Ok(false),
    }
}

async fn remove(
    engine: &Engine,
    context: &Context,
    store: StoreId,
    memory: MemoryId,
) -> Result<bool, Error> {
    let edit = Edit::remove(At::Id(memory), Expect::Present);
    match engine.commit_one(context, store, edit, REASON).await {
        Ok(_) => Ok(true),
        Err(Error::NotFound("memory")) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes everything in the user's place; says how much there was.
pub(super) async fn everything(engine: &Engine, access: &Access) -> Result<usize, Error> {
    let Some(store) = access.own(engine, Purpose::Change).await? else { return Ok(0) };
    // An idempotency key stands for one commit, and this may take many.
    let context = Context { idempotency: None, ..access.context.clone() };
    engine.require_write(&context, store).await?;
    let query = ListQuery {
        order: ListOrder::Created,
        direction: Direction::Ascending,
        ..ListQuery::everything(View::Basic, STEP)
    };
    let mut count = 0;
    loop {
        let page = engine.list(&context, store, &query).await?;
        let edits = page.items.into_iter().filter_map(|item| match item {
            ListItem::Memory(memory) => Some(Edit::remove(At::Id(memory.id), Expect::Present)),
            ListItem::Directory(_) => None,
        });
        let edits: Vec<Edit> = edits.collect();
        if edits.is_empty() {
            return Ok(count);
        }
        let removed = edits.len();
        match engine.commit_tree(&context, store, edits, REASON).await {
            Ok(_) => count += removed,
            // Somebody took one of them away meanwhile.
            Err(Error::NotFound("memory")) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Takes a fact away from what is known of the user, or of the oracle for its owners; says whether it
/// was there.
pub(super) async fn fact(engine: &Engine, access: &Access, id: FactId) -> Result<bool, Error> {
    if let Some(store) = access.own(engine, Purpose::Change).await?
        && dismiss(engine, &access.context, store, id).await?
    {
        return Ok(true);
    }
    if !access.is_owner() {
        return Ok(false);
    }
    let knowledge = access.knowledge_to_write(engine).await?;
    match knowledge.store(engine, Purpose::Change).await? {
        Some(store) => dismiss(engine, &knowledge.context, store, id).await,
        None => Ok(false),
    }
}

async fn dismiss(
    engine: &Engine,
    context: &Context,
    store: StoreId,
    id: FactId,
) -> Result<bool, Error> {
    // Who may not change what is there may not do it to what is not.
    engine.require_write(context, store).await?;
    match engine.dismiss_fact(context, store, id).await {
        Ok(()) => Ok(true),
        Err(Error::NotFound("fact")) => Ok(false),
        Err(error) => Err(error),
    }
}
