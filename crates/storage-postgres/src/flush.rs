//! Writing a draft: one statement for each kind of row, however many rows there are, and these made
//! into one where they do not build on each other, because what a statement costs most is the way
//! there and back. All are sent together with the commit and answered together, so that a whole group
//! of writes costs one wait.

use crate::client::uuid;
use crate::draft::{Desk, Draft, Place};
use crate::events::HeldLog;
use crate::fault::Result;
use crate::row::{actor_columns, int, key_of, micros, text};
use futures_util::future::{BoxFuture, try_join_all};
use loci_model::WorkspaceId;
use loci_model::attributes::Visibility;
use loci_storage::column::{Code, attributes_json, pack_ids};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Statement};
use uuid::Uuid;

type Column = Box<dyn ToSql + Sync + Send>;

/// A statement and its columns.
struct Part {
    sql: Cow<'static, str>,
    columns: Vec<Column>,
}

impl Part {
    /// One statement that does what several do, none of which sees what another one writes.
    fn joined(parts: Vec<Self>) -> Option<Self> {
        let (mut sql, mut columns) = (String::new(), Vec::new());
        let last = parts.len().checked_sub(1)?;
        for (at, part) in parts.into_iter().enumerate() {
            let own = renumbered(&part.sql, columns.len());
            let _ = match at {
                _ if last == 0 => write!(sql, "{own}"),
                0 => write!(sql, "with part_0 as ({own})"),
                at if at < last => write!(sql, ", part_{at} as ({own})"),
                _ => write!(sql, " {own}"),
            };
            columns.extend(part.columns);
        }
        Some(Self { sql: sql.into(), columns })
    }

    fn send<'a>(
        &'a self,
        client: &'a Client,
        statement: &'a Statement,
    ) -> BoxFuture<'a, std::result::Result<u64, Error>> {
        Box::pin(async move {
            let columns: Vec<&(dyn ToSql + Sync)> =
                self.columns.iter().map(|column| &**column as &(dyn ToSql + Sync)).collect();
            client.execute(statement, &columns).await
        })
    }
}

/// A statement whose parameters come behind so many others.
fn renumbered(sql: &str, others: usize) -> String {
    let mut shifted = String::with_capacity(sql.len() + 32);
    let mut pieces = sql.split('$');
    shifted.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        let number: usize = piece[..digits].parse().unwrap_or_default();
        let _ = write!(shifted, "${}{}", number + others, &piece[digits..]);
    }
    shifted
}

impl Draft<'_> {
    /// Writes what is not written yet, for questions that only the database can answer.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        let parts = self.parts(Vec::new());
        if parts.is_empty() {
            return Ok(());
        }
        self.send(parts, false).await?;
        self.has_flushed = true;
        for desk in self.desks.values_mut() {
            desk.written();
        }
        if let Some(log) = &mut self.log {
            log.added.clear();
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
        let mut parts = self.parts(extra);
        if let Some(workspace) = turned {
            let columns: Vec<Column> = vec![Box::new(uuid(workspace.to_bytes()))];
            let sql = include_str!("../queries/page/turn.sql").into();
            parts.push(Part { sql, columns });
        }
        self.send(parts, true).await
    }

    /// Sends parts in their order. The first error is the one that spoilt the rest.
    async fn send(&self, parts: Vec<Part>, commits: bool) -> Result<()> {
        let mut ready = Vec::with_capacity(parts.len());
        for part in parts {
            ready.push((self.tx.prepare(&part.sql).await?, part));
        }
        let client: &Client = self.tx.client();
        let mut sent: Vec<BoxFuture<'_, std::result::Result<u64, Error>>> =
            ready.iter().map(|(statement, part)| part.send(client, statement)).collect();
        if commits {
            sent.push(Box::pin(async { client.batch_execute("commit").await.map(|()| 0) }));
        }
        self.tx.in_time(try_join_all(sent)).await?;
        Ok(())
    }

    /// What is to be written: paths are given up before others take them, and content is there
    /// before it is copied.
    fn parts(&self, extra: Vec<Remembered>) -> Vec<Part> {
        let desks: Vec<&Desk> = self.desks.values().filter(|desk| desk.is_pending()).collect();
        let part = |sql: &'static str, columns: Option<Vec<Column>>| {
            columns.map(|columns| Part { sql: sql.into(), columns })
        };
        let independent = [
            part(include_str!("../queries/memory/insert.sql"), memories(&desks, false)),
            part(include_str!("../queries/memory/update.sql"), memories(&desks, true)),
            part(include_str!("../queries/word/hide.sql"), hidden(&desks)),
            part(include_str!("../queries/version/insert.sql"), versions(&desks)),
            part(include_str!("../queries/payload/insert.sql"), payloads(&desks)),
            part(include_str!("../queries/redaction/insert.sql"), redactions(&desks)),
            part(include_str!("../queries/idempotency/put.sql"), remembered(extra)),
            part(include_str!("../queries/store/count.sql"), counters(&desks)),
            part(include_str!("../queries/event/insert.sql"), events(self.log.as_ref())),
            part(include_str!("../queries/event/end.sql"), log_end(self.log.as_ref())),
        ];
        let ordered = [
            part(include_str!("../queries/memory/vacate.sql"), vacated(&desks)),
            Part::joined(independent.into_iter().flatten().collect()),
            part(include_str!("../queries/payload/copy.sql"), copies(&desks)),
        ];
        ordered.into_iter().flatten().collect()
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
        depths: i32 = i32::try_from(known.chain.depth).unwrap_or(i32::MAX),
        hashes: Option<Vec<u8>> = known.chain.hash.clone(),
    })
}

/// Memories that not everyone may find: whose words were written while more could is not counted by
/// them any more.
fn hidden(desks: &[&Desk]) -> Option<Vec<Column>> {
    let rows = desks.iter().flat_map(|desk| {
        let changed =
            desk.changed().filter(|(_, known)| known.is_written() && known.visibility > 0);
        changed.map(|(id, known)| (store_id(desk), uuid(id.to_bytes()), known.visibility))
    });
    columns!(rows, |(store, memory, visibility)| {
        stores: Uuid = store,
        memories: Uuid = memory,
        visibilities: i16 = visibility,
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
    columns!(rows, |(desk, new)| {
        stores: Uuid = store_id(desk),
        seqs: i64 = int(new.seq),
        workspaces: Uuid = workspace_id(desk),
        contents: Vec<u8> = new.bytes.clone(),
        bases: Option<i64> = new.base.map(int),
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

fn events(log: Option<&HeldLog>) -> Option<Vec<Column>> {
    let optional = |value: &Option<String>| value.as_deref().map(|value| text(value).into_owned());
    columns!(log.into_iter().flat_map(|log| &log.added), |event| {
        workspaces: Uuid = uuid(event.workspace.to_bytes()),
        seqs: i64 = int(event.seq),
        times: i64 = event.at.as_micros(),
        actor_kinds: i16 = actor_columns(event.actor).0,
        actor_ids: Option<Uuid> = actor_columns(event.actor).1,
        principals: Uuid = uuid(event.principal.to_bytes()),
        kinds: String = text(&event.kind).into_owned(),
        stores: Option<Uuid> = event.store.map(|store| uuid(store.to_bytes())),
        subjects: Option<String> = optional(&event.subject),
        details: Option<String> = optional(&event.detail),
        hashes: Vec<u8> = event.hash.to_vec(),
    })
}

fn log_end(log: Option<&HeldLog>) -> Option<Vec<Column>> {
    let log = log.filter(|log| !log.added.is_empty())?;
    Some(vec![
        Box::new(uuid(log.workspace.to_bytes())),
        Box::new(int(log.end.seq)),
        Box::new(log.end.hash.to_vec()),
    ])
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

fn remembered(rows: Vec<Remembered>) -> Option<Vec<Column>> {
    columns!(rows, |row| {
        workspaces: Uuid = row.workspace,
        scopes: Uuid = row.scope,
        keys: String = text(&row.key).into_owned(),
        fingerprints: Vec<u8> = row.fingerprint,
        kinds: i16 = row.kind,
        refs: Vec<u8> = row.refs,
        times: i64 = row.at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_come_behind_those_of_others() {
        assert_eq!(renumbered("a $1::text[], $12 b $2", 3), "a $4::text[], $15 b $5");
        assert_eq!(renumbered("no parameters", 3), "no parameters");
    }

    #[test]
    fn several_statements_become_one() {
        let part = |sql: &'static str| Part { sql: sql.into(), columns: vec![Box::new(1)] };
        assert!(Part::joined(vec![]).is_none());
        assert_eq!(Part::joined(vec![part("x $1")]).unwrap().sql, "x $1");
        let all = Part::joined(vec![part("x $1"), part("y $1"), part("z $1")]).unwrap();
        assert_eq!(all.sql, "with part_0 as (x $1), part_1 as (y $2) z $3");
        assert_eq!(all.columns.len(), 3);
    }
}
