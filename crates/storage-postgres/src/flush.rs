//! Writing a draft: one statement for each kind of row, however many rows there are, all sent
//! together and answered together. With the commit behind them, a whole group of writes costs one
//! wait.

use crate::client::{Tx, uuid};
use crate::draft::{Desk, Draft, Place};
use crate::fault::Result;
use crate::row::{actor_columns, int, key_of, micros, text};
use futures_util::future::{BoxFuture, try_join_all};
use loci_model::WorkspaceId;
use loci_model::attributes::Visibility;
use loci_storage::column::{Code, attributes_json, pack_ids};
use std::collections::HashSet;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Statement};
use uuid::Uuid;

type Column = Box<dyn ToSql + Sync + Send>;

/// A statement and its columns, ready to go.
struct Part {
    statement: Statement,
    columns: Vec<Column>,
}

impl Part {
    fn send<'a>(&'a self, client: &'a Client) -> BoxFuture<'a, std::result::Result<u64, Error>> {
        Box::pin(async move {
            let columns: Vec<&(dyn ToSql + Sync)> =
                self.columns.iter().map(|column| &**column as &(dyn ToSql + Sync)).collect();
            client.execute(&self.statement, &columns).await
        })
    }
}

impl Draft<'_> {
    /// Writes what is not written yet, for questions that only the database can answer.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        let parts = self.parts().await?;
        if parts.is_empty() {
            return Ok(());
        }
        let client: &Client = self.tx.client();
        let sent = parts.iter().map(|part| part.send(client));
        self.tx.in_time(try_join_all(sent)).await?;
        self.has_flushed = true;
        for desk in self.desks.values_mut() {
            desk.written();
        }
        Ok(())
    }

    /// Writes what is not written yet and commits, in one round trip. An error before the commit
    /// means that nothing holds; without an answer to it, that is unknown.
    ///
    /// A workspace whose page is to be turned turns it last of all: who does so holds up everybody
    /// else who does, and waits for nobody any more.
    pub(crate) async fn finish(
        &mut self,
        extra: Vec<Remembered>,
        turned: Option<WorkspaceId>,
    ) -> Result<()> {
        let mut parts = self.parts().await?;
        if !extra.is_empty() {
            parts.push(remembered(self.tx, extra).await?);
        }
        if let Some(workspace) = turned {
            let statement = self.tx.prepare(include_str!("../queries/page/turn.sql")).await?;
            let columns: Vec<Column> = vec![Box::new(uuid(workspace.to_bytes()))];
            parts.push(Part { statement, columns });
        }
        let client: &Client = self.tx.client();
        let mut sent: Vec<BoxFuture<'_, std::result::Result<u64, Error>>> =
            parts.iter().map(|part| part.send(client)).collect();
        sent.push(Box::pin(async { client.batch_execute("commit").await.map(|()| 0) }));
        // In the order in which they were sent: the first error is the one that spoilt the rest.
        self.tx.in_time(try_join_all(sent)).await?;
        Ok(())
    }

    async fn parts(&self) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        let desks: Vec<&Desk> = self.desks.values().filter(|desk| desk.is_pending()).collect();
        if desks.is_empty() {
            return Ok(parts);
        }
        for (sql, columns) in [
            (include_str!("../queries/memory/vacate.sql"), vacated(&desks)),
            (include_str!("../queries/memory/insert.sql"), memories(&desks, false)),
            (include_str!("../queries/memory/update.sql"), memories(&desks, true)),
            (include_str!("../queries/version/insert.sql"), versions(&desks)),
            (include_str!("../queries/payload/insert.sql"), payloads(&desks)),
            (include_str!("../queries/payload/copy.sql"), copies(&desks)),
            (include_str!("../queries/redaction/insert.sql"), redactions(&desks)),
            (include_str!("../queries/store/count.sql"), counters(&desks)),
        ] {
            if let Some(columns) = columns {
                parts.push(Part { statement: self.tx.prepare(sql).await?, columns });
            }
        }
        Ok(parts)
    }
}

/// Collects columns: `columns!(rows, |row| [a, b, c])` gives one vector for each.
macro_rules! columns {
    ($rows:expr, |$row:pat_param| { $($name:ident: $type:ty = $value:expr),+ $(,)? }) => {{
        $(let mut $name: Vec<$type> = Vec::new();)+
        let mut is_empty = true;
        for $row in $rows {
            is_empty = false;
            $($name.push($value);)+
        }
        (!is_empty).then(|| vec![$(Box::new($name) as Column),+])
    }};
}

fn store_id(desk: &Desk) -> Uuid {
    uuid(desk.row.store.id.to_bytes())
}

fn workspace_id(desk: &Desk) -> Uuid {
    uuid(desk.row.store.workspace.to_bytes())
}

/// Memories whose old path another one takes over: they give it up first.
fn vacated(desks: &[&Desk]) -> Option<Vec<Column>> {
    let mut rows = Vec::new();
    for desk in desks {
        let taken: HashSet<Place> = desk
            .changed()
            .filter_map(|(_, known)| {
                let row = known.live.as_ref()?;
                let place = (key_of(row.memory.partition), row.memory.path.as_str().to_owned());
                (known.written_path() != Some(&place)).then_some(place)
            })
            .collect();
        for (id, known) in desk.changed() {
            if known.written_path().is_some_and(|place| taken.contains(place)) {
                rows.push((store_id(desk), uuid(id.to_bytes())));
            }
        }
    }
    columns!(rows, |(store, memory)| { stores: Uuid = store, memories: Uuid = memory })
}

fn memories(desks: &[&Desk], are_written: bool) -> Option<Vec<Column>> {
    let rows = desks.iter().flat_map(|desk| {
        let changed = desk.changed().filter(|(_, known)| known.is_written() == are_written);
        changed.map(|(id, known)| (*desk, id, known, known.live.as_ref().map(|row| &row.memory)))
    });
    columns!(rows, |(desk, id, known, live)| {
        stores: Uuid = store_id(desk),
        memories: Uuid = uuid(id.to_bytes()),
        workspaces: Uuid = workspace_id(desk),
        partitions: Uuid = key_of(known.partition),
        owners: Uuid = uuid(known.owner.to_bytes()),
        paths: Option<String> = live.map(|memory| memory.path.as_str().to_owned()),
        kinds: Option<String> = live.and_then(|memory| memory.attributes.kind.clone()),
        sources: Option<String> = live.and_then(|memory| memory.attributes.source.clone()),
        scopes: Option<String> = live.and_then(|memory| memory.attributes.scope.clone()),
        visibilities: i16 = known.visibility,
        ends: Option<i64> = live.and_then(|memory| micros(memory.attributes.expires_at)),
        attributes: Option<String> = live.and_then(|memory| attributes_json(&memory.attributes)),
        heads: i64 = int(known.head.0),
        head_ids: Uuid = uuid(known.head.1.to_bytes()),
        operations: i16 = known.operation.code(),
        revisions: i64 = int(known.revision),
        digests: Option<Vec<u8>> = live.map(|memory| memory.digest.as_bytes().to_vec()),
        sizes: Option<i64> = live.map(|memory| int(memory.size_bytes)),
        are_sealed: bool = live.is_some_and(|memory| memory.is_sealed),
        created: i64 = known.created_at.as_micros(),
        updated: i64 = known.updated_at.as_micros(),
        erasures: Option<i64> = micros(known.erase_at),
        repeats: Option<Vec<u8>> =
            live.and_then(|memory| desk.repeat_digest(memory)).map(<[u8]>::to_vec),
    })
}

fn versions(desks: &[&Desk]) -> Option<Vec<Column>> {
    let rows = desks.iter().flat_map(|desk| desk.pending.versions.iter().map(|new| (*desk, new)));
    columns!(rows, |(desk, (version, is_sealed))| {
        stores: Uuid = store_id(desk),
        seqs: i64 = int(version.seq),
        workspaces: Uuid = workspace_id(desk),
        ids: Uuid = uuid(version.id.to_bytes()),
        memories: Uuid = uuid(version.memory.to_bytes()),
        revisions: i64 = int(version.revision),
        operations: i16 = version.operation.code(),
        paths: Option<String> = version.path.as_ref().map(|path| path.as_str().to_owned()),
        attributes: Option<String> = version.attributes.as_ref().and_then(attributes_json),
        visibilities: i16 = version
            .attributes
            .as_ref()
            .map_or(Visibility::Context, |attributes| attributes.visibility)
            .code(),
        digests: Option<Vec<u8>> = version.digest.map(|digest| digest.as_bytes().to_vec()),
        sizes: Option<i64> = version.size_bytes.map(int),
        are_sealed: bool = *is_sealed,
        actor_kinds: i16 = actor_columns(version.actor).0,
        actor_ids: Option<Uuid> = actor_columns(version.actor).1,
        created: i64 = version.created_at.as_micros(),
        requests: Option<String> =
            version.cause.request.as_deref().map(|request| text(request).into_owned()),
        reasons: String = text(&version.cause.reason).into_owned(),
        sources: Option<Vec<u8>> = {
            let ids = &version.cause.derived_from;
            (!ids.is_empty())
                .then(|| pack_ids(ids.iter().map(|id| id.to_bytes())))
        },
        redacted: Option<i64> = micros(version.redaction.map(|redaction| redaction.at)),
        redactor_kinds: Option<i16> =
            version.redaction.map(|redaction| actor_columns(redaction.by).0),
        redactor_ids: Option<Uuid> =
            version.redaction.and_then(|redaction| actor_columns(redaction.by).1),
    })
}

fn payloads(desks: &[&Desk]) -> Option<Vec<Column>> {
    let rows = desks.iter().flat_map(|desk| desk.pending.payloads.iter().map(|new| (*desk, new)));
    columns!(rows, |(desk, (seq, content))| {
        stores: Uuid = store_id(desk),
        seqs: i64 = int(*seq),
        workspaces: Uuid = workspace_id(desk),
        contents: Vec<u8> = content.bytes().to_vec(),
    })
}

fn copies(desks: &[&Desk]) -> Option<Vec<Column>> {
    let rows = desks.iter().flat_map(|desk| desk.pending.copies.iter().map(|new| (*desk, new)));
    columns!(rows, |(desk, (from, to))| {
        stores: Uuid = store_id(desk),
        sources: i64 = int(*from),
        copies: i64 = int(*to),
    })
}

fn redactions(desks: &[&Desk]) -> Option<Vec<Column>> {
    let rows = desks.iter().flat_map(|desk| desk.pending.redactions.iter().map(|new| (*desk, new)));
    columns!(rows, |(desk, new)| {
        stores: Uuid = store_id(desk),
        seqs: i64 = int(new.seq),
        workspaces: Uuid = workspace_id(desk),
        versions: i64 = int(new.version_seq),
        actor_kinds: i16 = actor_columns(new.actor).0,
        actor_ids: Option<Uuid> = actor_columns(new.actor).1,
        times: i64 = new.at.as_micros(),
        reasons: String = text(&new.reason).into_owned(),
    })
}

fn counters(desks: &[&Desk]) -> Option<Vec<Column>> {
    let rows = desks.iter().filter(|desk| desk.is_counted);
    columns!(rows, |desk| {
        stores: Uuid = store_id(desk),
        seqs: i64 = int(desk.row.seq),
        times: Option<i64> = micros(desk.row.last_at),
        memories: i64 = int(desk.row.memory_count),
        bytes: i64 = int(desk.row.content_bytes),
        versions: i64 = int(desk.row.version_count),
    })
}

/// What a request with an idempotency key did.
pub(crate) struct Remembered {
    pub(crate) workspace: Uuid,
    pub(crate) scope: Uuid,
    pub(crate) key: String,
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) kind: i16,
    pub(crate) refs: Vec<u8>,
    pub(crate) at: i64,
}

async fn remembered(tx: &Tx, rows: Vec<Remembered>) -> Result<Part> {
    let columns = columns!(rows, |row| {
        workspaces: Uuid = row.workspace,
        scopes: Uuid = row.scope,
        keys: String = text(&row.key).into_owned(),
        fingerprints: Vec<u8> = row.fingerprint,
        kinds: i16 = row.kind,
        refs: Vec<u8> = row.refs,
        times: i64 = row.at,
    });
    let statement = tx.prepare(include_str!("../queries/idempotency/put.sql")).await?;
    Ok(Part { statement, columns: columns.unwrap_or_default() })
}
