//! Reading the version listing. All filters must hold together; an id that cannot be one of ours is
//! a filter that nothing matches.

use crate::anthropic::cursor::Cursor;
use crate::anthropic::error::Problem;
use crate::anthropic::query::{Query, refuse};
use crate::anthropic::render::SERVICE_ACCOUNT;
use loci_model::query::VersionQuery;
use loci_model::{Actor, KeyId, MemoryId, Operation, PrincipalId, SessionId, View};

/// Ids are made from the clock and dice; none is ever zero.
const NO_MEMORY: MemoryId = MemoryId::from_u128(0);
const NO_ACTOR: Actor = Actor::Key(KeyId::from_u128(0));

/// The listing a query asks for.
pub(super) fn listing(query: Query<'_>) -> Result<VersionQuery, Problem> {
    let view = query.view(View::Basic)?;
    let memory = query.get("memory_id")?;
    Ok(VersionQuery {
        memory: memory.map(|text| text.parse().unwrap_or(NO_MEMORY)),
        operation: operation(query)?,
        actor: actor(query)?,
        since: query.time("created_at[gte]")?,
        until: query.time("created_at[lte]")?,
        view,
        before_seq: Cursor::from_query(query, |cursor| match cursor {
            Cursor::Versions(seq) => Some(seq),
            _ => None,
        })?,
        limit: query.page_limit(view)?,
    })
}

fn operation(query: Query<'_>) -> Result<Option<Operation>, Problem> {
    match query.get("operation")?.as_deref() {
        None => Ok(None),
        Some("created") => Ok(Some(Operation::Created)),
        Some("modified") => Ok(Some(Operation::Modified)),
        Some("deleted") => Ok(Some(Operation::Deleted)),
        Some(_) => Err(refuse("operation", "expected created, modified or deleted")),
    }
}

/// The one author that satisfies every author filter: a version has one, so two filters together
/// match nothing.
fn actor(query: Query<'_>) -> Result<Option<Actor>, Problem> {
    let session = query.get("session_id")?.map(|text| {
        let id: Option<SessionId> = text.parse().ok();
        id.map(Actor::Session)
    });
    let key = query.get("api_key_id")?.map(|text| {
        let id: Option<KeyId> = text.parse().ok();
        id.map(Actor::Key)
    });
    let service = query.get("service_account_id")?.map(|text| {
        let id = PrincipalId::parse_with_prefix(SERVICE_ACCOUNT, &text);
        id.map(Actor::Service)
    });
    let mut given = [session, key, service].into_iter().flatten();
    Ok(match (given.next(), given.next()) {
        (None, _) => None,
        (Some(only), None) => Some(only.unwrap_or(NO_ACTOR)),
        (Some(_), Some(_)) => Some(NO_ACTOR),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn author_filters_come_down_to_one_author() {
        let key = KeyId::from_u128(7);
        let session = SessionId::from_u128(8);
        let service = PrincipalId::from_u128(9);
        let check = |raw: String, expect: Option<Actor>| {
            assert_eq!(listing(Query::new(&raw)).unwrap().actor, expect, "{raw}");
        };
        check(String::new(), None);
        check(format!("api_key_id={key}"), Some(Actor::Key(key)));
        check(format!("session_id={session}"), Some(Actor::Session(session)));
        let account = service.with_prefix("svac_");
        check(format!("service_account_id={account}"), Some(Actor::Service(service)));
        check(format!("api_key_id={key}&session_id={session}"), Some(NO_ACTOR));
        check("api_key_id=nonsense".into(), Some(NO_ACTOR));
        assert!(listing(Query::new("api_key_id=")).is_err());
    }

    #[test]
    fn operations_are_a_closed_set() {
        assert!(listing(Query::new("operation=created")).is_ok());
        assert!(listing(Query::new("operation=moved")).is_err());
    }
}
