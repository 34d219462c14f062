//! Sessions and the snapshots of the stores attached to them. Whoever changes a session holds its
//! row, so that two changes at once both count.

use crate::client::{Tx, uuid};
use crate::fault::{Result, not_found};
use crate::read::{EARLIEST, LATEST};
use crate::row::{
    coded, count, get, id, int, micros, opt_string, opt_time, string, taken, text, time,
};
use crate::stores::{labels, start_of};
use loci_model::query::{Direction, SessionQuery};
use loci_model::{
    Attachment, Page, PrincipalId, Session, SessionId, StoreId, Timestamp, WorkspaceId,
};
use loci_storage::column::{Code, labels_json};
use loci_storage::{Receipt, SessionChange};
use std::borrow::Cow;
use std::collections::HashMap;
use tokio_postgres::Row;
use uuid::Uuid;

fn read(row: &Row) -> Result<Session> {
    Ok(Session {
        id: SessionId::from_bytes(id(row, 0)?),
        workspace: WorkspaceId::from_bytes(id(row, 1)?),
        owner: PrincipalId::from_bytes(id(row, 2)?),
        title: opt_string(row, 3)?,
        metadata: labels(row, 4)?,
        agent_id: string(row, 5)?,
        agent_version: count(row, 6)?,
        details: string(row, 7)?,
        attachments: Vec::new(),
        created_at: time(row, 8)?,
        updated_at: time(row, 9)?,
        archived_at: opt_time(row, 10)?,
    })
}

/// Gives sessions their attachments, all in one statement.
async fn attach(tx: &Tx, sessions: &mut [Session]) -> Result<()> {
    if sessions.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = sessions.iter().map(|session| uuid(session.id.to_bytes())).collect();
    let mut attached: HashMap<Uuid, Vec<Attachment>> = HashMap::new();
    for row in tx.query(include_str!("../queries/attachment/list.sql"), &[&ids]).await? {
        attached.entry(get(&row, 0)?).or_default().push(Attachment {
            store: StoreId::from_bytes(id(&row, 1)?),
            access: coded(&row, 2)?,
            instructions: opt_string(&row, 3)?,
            name: string(&row, 4)?,
            description: string(&row, 5)?,
            mount_path: string(&row, 6)?,
        });
    }
    for (session, id) in sessions.iter_mut().zip(&ids) {
        session.attachments = attached.remove(id).unwrap_or_default();
    }
    Ok(())
}

pub(crate) async fn create(tx: &Tx, session: &Session) -> Result<Receipt> {
    let (id, workspace) = (uuid(session.id.to_bytes()), uuid(session.workspace.to_bytes()));
    let added = tx
        .execute(
            include_str!("../queries/session/insert.sql"),
            &[
                &id,
                &workspace,
                &uuid(session.owner.to_bytes()),
                &session.title.as_deref().map(text),
                &text(&labels_json(&session.metadata)),
                &text(&session.agent_id),
                &int(session.agent_version),
                &text(&session.details),
                &session.created_at.as_micros(),
                &session.updated_at.as_micros(),
                &micros(session.archived_at),
            ],
        )
        .await?;
    if added == 0 {
        return Err(taken("session"));
    }
    let attachments = &session.attachments;
    if !attachments.is_empty() {
        let stores: Vec<Uuid> = attachments.iter().map(|one| uuid(one.store.to_bytes())).collect();
        let access: Vec<i16> = attachments.iter().map(|one| one.access.code()).collect();
        let texts = |of: fn(&Attachment) -> &str| -> Vec<Cow<'_, str>> {
            attachments.iter().map(|one| text(of(one))).collect()
        };
        let instructions: Vec<Option<Cow<'_, str>>> =
            attachments.iter().map(|one| one.instructions.as_deref().map(text)).collect();
        tx.execute(
            include_str!("../queries/attachment/insert.sql"),
            &[
                &id,
                &workspace,
                &stores,
                &access,
                &instructions,
                &texts(|one| &one.name),
                &texts(|one| &one.description),
                &texts(|one| &one.mount_path),
            ],
        )
        .await?;
    }
    Ok(Receipt::Session(Box::new(session.clone())))
}

pub(crate) async fn load(
    tx: &Tx,
    workspace: WorkspaceId,
    id: SessionId,
) -> Result<Option<Session>> {
    load_by(tx, include_str!("../queries/session/by_id.sql"), workspace, id).await
}

/// Takes the row of a session until the end of the transaction.
async fn lock(tx: &Tx, workspace: WorkspaceId, id: SessionId) -> Result<Session> {
    let found = load_by(tx, include_str!("../queries/session/lock.sql"), workspace, id).await?;
    found.ok_or_else(|| not_found("session"))
}

async fn load_by(
    tx: &Tx,
    sql: &str,
    workspace: WorkspaceId,
    id: SessionId,
) -> Result<Option<Session>> {
    let ids = [uuid(id.to_bytes()), uuid(workspace.to_bytes())];
    let Some(row) = tx.query_opt(sql, &[&ids[0], &ids[1]]).await? else {
        return Ok(None);
    };
    let mut found = [read(&row)?];
    attach(tx, &mut found).await?;
    let [session] = found;
    Ok(Some(session))
}

pub(crate) async fn change(
    tx: &Tx,
    workspace: WorkspaceId,
    id: SessionId,
    change: &SessionChange,
    now: Timestamp,
) -> Result<Receipt> {
    let session = lock(tx, workspace, id).await?;
    let next = change.apply_to(&session, now)?;
    if next != session {
        tx.execute(
            include_str!("../queries/session/update.sql"),
            &[
                &uuid(id.to_bytes()),
                &next.title.as_deref().map(text),
                &text(&labels_json(&next.metadata)),
                &next.updated_at.as_micros(),
                &micros(next.archived_at),
                &text(&next.details),
            ],
        )
        .await?;
    }
    Ok(Receipt::Session(Box::new(next)))
}

/// Removes a session and the keys that were bound to it.
pub(crate) async fn remove(tx: &Tx, workspace: WorkspaceId, id: SessionId) -> Result<Receipt> {
    lock(tx, workspace, id).await?;
    for sql in [
        include_str!("../queries/key/delete_of_session.sql"),
        include_str!("../queries/attachment/delete.sql"),
        include_str!("../queries/session/delete.sql"),
    ] {
        tx.execute(sql, &[&uuid(id.to_bytes())]).await?;
    }
    Ok(Receipt::SessionRemoved(id))
}

pub(crate) async fn list(
    tx: &Tx,
    workspace: WorkspaceId,
    owner: Option<PrincipalId>,
    query: &SessionQuery,
) -> Result<Page<Session, (Timestamp, SessionId)>> {
    let created = &query.created;
    let (since, until) = (created.since.unwrap_or(EARLIEST), created.until.unwrap_or(LATEST));
    let (sql, start) = match created.direction {
        Direction::Ascending => {
            (include_str!("../queries/session/list_ascending.sql"), (since, [0; 16]))
        }
        Direction::Descending => {
            (include_str!("../queries/session/list_descending.sql"), (until, [0xff; 16]))
        }
    };
    let after = created.after.map(|(at, id)| (at, id.to_bytes()));
    let (at, id) = start_of(created.direction, start, after);
    let rows = tx
        .query(
            sql,
            &[
                &uuid(workspace.to_bytes()),
                &at.as_micros(),
                &uuid(id),
                &since.as_micros(),
                &until.as_micros(),
                &created.include_archived,
                &owner.map(|owner| uuid(owner.to_bytes())),
                &query.agent_id.as_deref().map(text),
                &query.agent_version.map(int),
                &query.store.map(|store| uuid(store.to_bytes())),
                &int(created.limit as u64).saturating_add(1),
            ],
        )
        .await?;
    let mut sessions: Vec<Session> = rows.iter().map(read).collect::<Result<_>>()?;
    attach(tx, &mut sessions).await?;
    Ok(Page::cut(sessions, created.limit, |session| (session.created_at, session.id)))
}
