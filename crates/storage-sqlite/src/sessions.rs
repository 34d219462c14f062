//! Sessions and the snapshots of the stores attached to them.

use crate::fault::{Result, not_found};
use crate::read::{EARLIEST, LATEST};
use crate::row::{self, count, int, micros, opt_time, time};
use crate::stores::start_of;
use loci_model::query::{Direction, SessionQuery};
use loci_model::{
    Access, Attachment, Page, PrincipalId, Session, SessionId, StoreId, Timestamp, WorkspaceId,
};
use loci_storage::column::{Code, labels_json};
use loci_storage::{Receipt, SessionChange, StorageError};
use rusqlite::{Connection, OptionalExtension, Row, params};

fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: SessionId::from_bytes(row.get(0)?),
        workspace: WorkspaceId::from_bytes(row.get(1)?),
        owner: PrincipalId::from_bytes(row.get(2)?),
        title: row.get(3)?,
        metadata: row::labels(row, 4)?,
        agent_id: row.get(5)?,
        agent_version: count(row, 6)?,
        details: row.get(7)?,
        attachments: Vec::new(),
        created_at: time(row, 8)?,
        updated_at: time(row, 9)?,
        archived_at: opt_time(row, 10)?,
    })
}

fn attachments(conn: &Connection, session: SessionId) -> Result<Vec<Attachment>> {
    let mut statement = conn.prepare_cached(include_str!("../queries/attachment/list.sql"))?;
    let found = statement.query_map([session.to_bytes()], |row| {
        Ok(Attachment {
            store: StoreId::from_bytes(row.get(0)?),
            access: row::coded(row, 1)?,
            instructions: row.get(2)?,
            name: row.get(3)?,
            description: row.get(4)?,
            mount_path: row.get(5)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn create(conn: &Connection, session: &Session) -> Result<Receipt> {
    let known = conn
        .prepare_cached(include_str!("../queries/session/exists.sql"))?
        .exists([session.id.to_bytes()])?;
    if known {
        return Err(StorageError::Taken("session").into());
    }
    conn.prepare_cached(include_str!("../queries/session/insert.sql"))?.execute(params![
        session.id.to_bytes(),
        session.workspace.to_bytes(),
        session.owner.to_bytes(),
        session.title,
        labels_json(&session.metadata),
        session.agent_id,
        int(session.agent_version),
        session.details,
        session.created_at.as_micros(),
        session.updated_at.as_micros(),
        micros(session.archived_at),
    ])?;
    for (attachment, position) in session.attachments.iter().zip(0i64..) {
        conn.prepare_cached(include_str!("../queries/attachment/insert.sql"))?.execute(params![
            session.id.to_bytes(),
            position,
            attachment.store.to_bytes(),
            attachment.access.code(),
            attachment.instructions,
            attachment.name,
            attachment.description,
            attachment.mount_path,
        ])?;
    }
    Ok(Receipt::Session(Box::new(session.clone())))
}

pub(crate) fn load(
    conn: &Connection,
    workspace: WorkspaceId,
    id: SessionId,
) -> Result<Option<Session>> {
    let found = conn
        .prepare_cached(include_str!("../queries/session/by_id.sql"))?
        .query_row([id.to_bytes(), workspace.to_bytes()], read)
        .optional()?;
    let Some(mut session) = found else {
        return Ok(None);
    };
    session.attachments = attachments(conn, id)?;
    Ok(Some(session))
}

/// How a session of a workspace attaches a store.
pub(crate) fn access(
    conn: &Connection,
    workspace: WorkspaceId,
    session: SessionId,
    store: StoreId,
) -> Result<Option<Access>> {
    let found = conn
        .prepare_cached(include_str!("../queries/attachment/access.sql"))?
        .query_row(params![session.to_bytes(), store.to_bytes(), workspace.to_bytes()], |row| {
            row::coded(row, 0)
        });
    Ok(found.optional()?)
}

pub(crate) fn change(
    conn: &Connection,
    workspace: WorkspaceId,
    id: SessionId,
    change: &SessionChange,
    now: Timestamp,
) -> Result<Receipt> {
    let session = load(conn, workspace, id)?.ok_or_else(|| not_found("session"))?;
    let next = change.apply_to(&session, now)?;
    if next != session {
        conn.prepare_cached(include_str!("../queries/session/update.sql"))?.execute(params![
            id.to_bytes(),
            next.title,
            labels_json(&next.metadata),
            next.updated_at.as_micros(),
            micros(next.archived_at),
            next.details,
        ])?;
    }
    Ok(Receipt::Session(Box::new(next)))
}

/// Removes a session and the keys that were bound to it.
pub(crate) fn remove(conn: &Connection, workspace: WorkspaceId, id: SessionId) -> Result<Receipt> {
    if load(conn, workspace, id)?.is_none() {
        return Err(not_found("session"));
    }
    for sql in [
        include_str!("../queries/key/delete_of_session.sql"),
        include_str!("../queries/attachment/delete.sql"),
        include_str!("../queries/session/delete.sql"),
    ] {
        conn.prepare_cached(sql)?.execute([id.to_bytes()])?;
    }
    Ok(Receipt::SessionRemoved(id))
}

pub(crate) fn list(
    conn: &Connection,
    workspace: WorkspaceId,
    owner: Option<PrincipalId>,
    query: &SessionQuery,
) -> Result<Page<Session, (Timestamp, SessionId)>> {
    let created = &query.created;
    let (sql, start) = match created.direction {
        Direction::Ascending => (
            include_str!("../queries/session/list_ascending.sql"),
            (created.since.unwrap_or(EARLIEST), [0; 16]),
        ),
        Direction::Descending => (
            include_str!("../queries/session/list_descending.sql"),
            (created.until.unwrap_or(LATEST), [0xff; 16]),
        ),
    };
    let after = created.after.map(|(at, id)| (at, id.to_bytes()));
    let (at, id) = start_of(created.direction, start, after);
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params![
        workspace.to_bytes(),
        at.as_micros(),
        id,
        created.include_archived,
        owner.map(PrincipalId::to_bytes),
        query.agent_id,
        query.agent_version.map(int),
        query.store.map(StoreId::to_bytes),
    ])?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        let mut session = read(row)?;
        if created.since.is_some_and(|since| session.created_at < since)
            || created.until.is_some_and(|until| session.created_at > until)
        {
            break;
        }
        session.attachments = attachments(conn, session.id)?;
        sessions.push(session);
        if sessions.len() > created.limit {
            break;
        }
    }
    Ok(Page::cut(sessions, created.limit, |session| (session.created_at, session.id)))
}
