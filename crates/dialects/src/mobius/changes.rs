//! The feed of an agent's memory: what happened to its entries, without what they say, oldest first.
//!
//! It is the store's feed in this door's words. An entry that another door moved to another key was
//! deleted under the one and created under the other, so one change may give two rows, and a cursor
//! may lie between them. What the reader may not see, redactions, and the entries of users where the
//! revision knows none, are passed over.

use super::call::{Answer, Call, Revision};
use super::cursor::FeedPosition;
use super::entry::Desk;
use super::error::{ErrorBody, Problem};
use super::partition::Label;
use super::place::Place;
use super::promotion::{PROMOTED, REVERTED};
use super::render::json;
use super::tools::REMEMBERED;
use axum::http::StatusCode;
use loci_engine::Purpose;
use loci_model::change::ChangeOp;
use loci_model::query::VersionQuery;
use loci_model::{Actor, Change, MemoryId, MemoryPath, View};
use serde::Serialize;
use std::collections::HashMap;
use utoipa::ToSchema;

/// Changes looked through for one page.
const SCAN_MAX: usize = 5000;
/// Changes of one read.
const STEP: usize = 200;

/// A page of the feed.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusChanges)]
pub(super) struct ChangesBody {
    items: Vec<ChangeBody>,
    /// Whether more can be had at once.
    has_more: bool,
    /// Where the feed goes on; always there.
    next_cursor: String,
}

/// One change of one entry.
#[derive(Serialize, ToSchema)]
#[schema(as = MobiusChange)]
pub(super) struct ChangeBody {
    id: String,
    agent_id: String,
    /// Whose entry; empty for everybody's. Only without projects in the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    memory_entry_id: String,
    memory_key: String,
    /// `created`, `updated` or `deleted`.
    operation: &'static str,
    /// The entry's version at that moment.
    version: u64,
    /// `remembered`, `api`, `soft_cap`, `promoted` or `promotion_reverted`.
    reason: &'static str,
    /// Who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    actor_id: Option<String>,
    created_at: String,
}

/// Reads the feed of an agent's memory from a cursor on, or from its beginning.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent}/memory/changes",
    tag = "mobius",
    summary = "What happened to an agent's entries",
    params(
        ("after" = Option<String>, Query, description = "`next_cursor` of the page before"),
        ("limit" = Option<u32>, Query, description = "1 to 100, otherwise 20"),
    ),
    responses(
        (status = 200, body = ChangesBody),
        (status = 410, description = "The cursor is of a history that is gone", body = ErrorBody<'_>),
        (status = "4XX", body = ErrorBody<'_>),
    )
)]
pub(super) async fn read(call: Call) -> Answer {
    let query = call.query();
    let limit = query.limit()?;
    let from = query.get("after")?.map(|text| FeedPosition::parse(&text));
    let from = match from {
        None => FeedPosition::default(),
        Some(parsed) => {
            parsed.ok_or_else(|| Problem::invalid("after is no cursor of this feed"))?
        }
    };
    let place = Place::of(&call, Purpose::Read).await?;
    if from.store.is_some() && from.store != place.store {
        return Err(Problem::cursor_expired());
    }
    let Some(desk) = place.desk(&call) else {
        let next_cursor = FeedPosition::default().show();
        let body = ChangesBody { items: Vec::new(), has_more: false, next_cursor };
        return Ok(json(StatusCode::OK, &body));
    };
    let from = FeedPosition { store: Some(desk.store), ..from };
    let mut reading = Reading { desk, agent_id: &place.agent_id, paths: HashMap::new() };
    Ok(json(StatusCode::OK, &reading.page(from, limit).await?))
}

/// A feed on its way to a page.
struct Reading<'a> {
    desk: Desk<'a>,
    agent_id: &'a str,
    /// Where the memories met so far were last.
    paths: HashMap<MemoryId, MemoryPath>,
}

impl Reading<'_> {
    async fn page(&mut self, from: FeedPosition, limit: usize) -> Result<ChangesBody, Problem> {
        let (mut at, mut items, mut scanned) = (from, Vec::new(), 0);
        loop {
            let Desk { engine, context, store, .. } = self.desk;
            let page = engine.changes(context, store, at.seq, STEP).await?;
            if page.changes.is_empty() && scanned == 0 {
                self.require_known(from.seq).await?;
            }
            scanned += page.changes.len();
            for change in &page.changes {
                let rows = self.rows(change).await?;
                for row in rows.into_iter().skip(at.rows) {
                    if items.len() == limit {
                        return Ok(ChangesBody { items, has_more: true, next_cursor: at.show() });
                    }
                    items.push(row);
                    at.rows += 1;
                }
                at = FeedPosition { seq: change.seq, rows: 0, ..at };
            }
            if !page.has_more || scanned >= SCAN_MAX {
                let has_more = page.has_more;
                return Ok(ChangesBody { items, has_more, next_cursor: at.show() });
            }
        }
    }

    /// Refuses a position that the feed never reached: it was another history, before a copy of an
    /// older one was put in its place.
    async fn require_known(&self, seq: u64) -> Result<(), Problem> {
        let Some(before) = seq.checked_sub(1) else { return Ok(()) };
        let Desk { engine, context, store, .. } = self.desk;
        let last = engine.changes(context, store, before, 1).await?;
        if last.changes.is_empty() { Err(Problem::cursor_expired()) } else { Ok(()) }
    }

    /// The rows of a change: none, one or two.
    async fn rows(&mut self, change: &Change) -> Result<Vec<ChangeBody>, Problem> {
        let Some(path) = &change.path else { return Ok(Vec::new()) };
        let operation = match change.op {
            ChangeOp::Created => "created",
            ChangeOp::Modified => "updated",
            ChangeOp::Deleted => "deleted",
            ChangeOp::Redacted => return Ok(Vec::new()),
        };
        let before = match change.op {
            ChangeOp::Modified => self.path_before(change).await?,
            ChangeOp::Created | ChangeOp::Deleted | ChangeOp::Redacted => None,
        };
        self.paths.insert(change.memory, path.clone());
        let mut rows = Vec::new();
        match before.filter(|before| before != path) {
            None => rows.extend(self.row(change, path, operation, "")),
            Some(before) => {
                rows.extend(self.row(change, &before, "deleted", "_from"));
                rows.extend(self.row(change, path, "created", ""));
            }
        }
        Ok(rows)
    }

    /// Where a memory was before a change.
    async fn path_before(&self, change: &Change) -> Result<Option<MemoryPath>, Problem> {
        if let Some(path) = self.paths.get(&change.memory) {
            return Ok(Some(path.clone()));
        }
        let query = VersionQuery {
            memory: Some(change.memory),
            operation: None,
            actor: None,
            since: None,
            until: None,
            view: View::Basic,
            before_seq: Some(change.seq),
            limit: 1,
        };
        let Desk { engine, context, store, .. } = self.desk;
        let page = engine.versions(context, store, &query).await?;
        Ok(page.items.into_iter().next().and_then(|version| version.path))
    }

    fn row(
        &self,
        change: &Change,
        path: &MemoryPath,
        operation: &'static str,
        suffix: &str,
    ) -> Option<ChangeBody> {
        let label = Label::of(path);
        if !self.desk.shows(&label) {
            return None;
        }
        let has_users = self.desk.revision == Revision::B;
        let version = change.version.to_string();
        let bits = version.trim_start_matches(loci_model::VersionId::PREFIX);
        Some(ChangeBody {
            id: format!("chg_{bits}{suffix}"),
            agent_id: self.agent_id.to_owned(),
            user_id: has_users.then_some(label.user),
            memory_entry_id: change.memory.to_string(),
            memory_key: label.key,
            operation,
            version: change.revision,
            reason: reason(&change.reason, self.desk.revision),
            actor_id: actor_id(change.actor),
            created_at: change.at.to_string(),
        })
    }
}

/// Why something happened, in the words of a revision.
fn reason(reason: &str, revision: Revision) -> &'static str {
    match (reason, revision) {
        (REMEMBERED | "tool", _) => REMEMBERED,
        ("compacted", _) => "soft_cap",
        (PROMOTED, Revision::B) => PROMOTED,
        (REVERTED, Revision::B) => REVERTED,
        _ => "api",
    }
}

fn actor_id(actor: Actor) -> Option<String> {
    match actor {
        Actor::Session(id) => Some(id.to_string()),
        Actor::Key(id) => Some(id.to_string()),
        Actor::User(id) | Actor::Service(id) => Some(id.to_string()),
        Actor::System => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_revision_has_its_reasons() {
        for (stored, in_a, in_b) in [
            ("api", "api", "api"),
            ("robutler", "api", "api"),
            ("expired", "api", "api"),
            ("tool", "remembered", "remembered"),
            ("remembered", "remembered", "remembered"),
            ("compacted", "soft_cap", "soft_cap"),
            ("promoted", "api", "promoted"),
            ("promotion_reverted", "api", "promotion_reverted"),
        ] {
            assert_eq!(reason(stored, Revision::A), in_a);
            assert_eq!(reason(stored, Revision::B), in_b);
        }
    }
}
