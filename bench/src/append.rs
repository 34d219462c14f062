//! What a text costs that grows: a mebibyte by appends of a kibibyte, by the storage engines
//! themselves. Linear is when the last appends take as long as the first, and when what is kept is
//! about what was appended. Beside it, the same text rewritten whole each time, which shares nothing:
//! what history costs where every version is kept whole.

use crate::fill::{memory_id, text, version_id};
use crate::measure::Plan;
use anyhow::{Context, ensure};
use loci_model::policy::{ReadPass, System};
use loci_model::{
    At, AttributesPatch, Cause, Content, Edit, EditOp, Expect, MemoryPath, OnSame, PrincipalId,
    Store, StoreId, StorePolicy, Timestamp, View, WorkspaceId, limit,
};
use loci_storage::tail::DEPTH_MAX;
use loci_storage::{Batch, Mutation, StampedEdit, Storage};
use loci_storage_postgres::{PostgresOptions, PostgresStorage};
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use loci_test_postgres::{Build, Database, Postgres, Settings};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

const PIECE_BYTES: usize = 1024;
const PIECES: usize = limit::CONTENT_BYTES_MAX / PIECE_BYTES;
/// Bytes of a line, for what a version costs beside its bytes.
const LINE_BYTES: usize = 100;
/// Reads of the whole text.
const READS: usize = 20;
/// How much longer the last appends may take than the first.
const SLOWDOWN_MOST: f64 = 1.5;

/// How a text is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By appends.
    Append,
    /// Whole each time, as a file is that somebody adds to.
    Put,
    /// Whole each time with another beginning, so that nothing can be shared.
    Rewrite,
}

/// What one way of writing came to on one engine.
pub(crate) struct AppendFigure {
    engine: &'static str,
    way: Way,
    piece_bytes: usize,
    /// Milliseconds of one append among the first tenth and the last.
    first_ms: f64,
    last_ms: f64,
    /// How much longer the last tenth took than the first, as the median of the rounds.
    slowdown: f64,
    /// By how much the database grew for each byte of the text.
    bytes_per_byte: f64,
    /// What it grew by for each version beside the bytes of the piece.
    version_bytes: f64,
    /// Milliseconds of reading the text where it is in the most pieces.
    read_ms: f64,
}

pub(crate) fn run(plan: &Plan, scratch: &Path) -> anyhow::Result<Vec<AppendFigure>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ways = [
        (Way::Append, PIECE_BYTES),
        (Way::Append, LINE_BYTES),
        (Way::Put, PIECE_BYTES),
        (Way::Rewrite, PIECE_BYTES),
    ];
    let mut figures = Vec::new();
    for (way, piece_bytes) in ways {
        println!("a text that grows, {} of {piece_bytes} bytes on SQLite", way.name());
        let mut rounds = Vec::new();
        for round in 0..plan.rounds {
            let directory = scratch.join(format!("append-{}-{piece_bytes}-{round}", way.name()));
            std::fs::create_dir(&directory)?;
            rounds.push(runtime.block_on(on_sqlite(&directory, way, piece_bytes))?);
            std::fs::remove_dir_all(&directory)?;
        }
        push(&mut figures, rounds)?;
    }
    let postgres = Postgres::start_with(Build::Floor, &Settings::durable())?;
    for (way, piece_bytes) in ways {
        println!("a text that grows, {} of {piece_bytes} bytes on PostgreSQL", way.name());
        let mut rounds = Vec::new();
        for _ in 0..plan.rounds {
            let database = Database::fresh_blocking(&postgres.url(), None)?;
            rounds.push(runtime.block_on(on_postgres(&database, way, piece_bytes))?);
        }
        push(&mut figures, rounds)?;
    }
    Ok(figures)
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Put => "put",
            Self::Rewrite => "rewrite",
        }
    }

    fn described(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Put => "put of the longer text",
            Self::Rewrite => "put of another text, nothing shared",
        }
    }
}

/// Keeps the round with the median slowdown.
fn push(figures: &mut Vec<AppendFigure>, mut rounds: Vec<AppendFigure>) -> anyhow::Result<()> {
    rounds.sort_by(|one, other| one.slowdown.total_cmp(&other.slowdown));
    let middle = rounds.len() / 2;
    let figure = rounds.into_iter().nth(middle).context("at least one round")?;
    println!("  the last tenth takes {:.2} of the first", figure.slowdown);
    figures.push(figure);
    Ok(())
}

async fn on_sqlite(directory: &Path, way: Way, piece_bytes: usize) -> anyhow::Result<AppendFigure> {
    let open = || SqliteStorage::open(directory, SqliteOptions::default());
    let size = || -> anyhow::Result<u64> {
        // What is in the log is in the file once it is closed.
        open()?.close();
        Ok(std::fs::metadata(directory.join("loci.db"))?.len())
    };
    let before = size()?;
    let storage = open()?;
    let written = write(&storage, way, piece_bytes).await?;
    storage.close();
    written.figure("SQLite", way, piece_bytes, size()? - before)
}

async fn on_postgres(
    database: &Database,
    way: Way,
    piece_bytes: usize,
) -> anyhow::Result<AppendFigure> {
    // Whoever rewrites a mebibyte waits for the disk; how long is what is measured.
    let patience = Duration::from_secs(60);
    let options = PostgresOptions { patience, ..PostgresOptions::new(database.url()) };
    let storage = PostgresStorage::open(&options, 1).await?;
    let (client, connection) =
        tokio_postgres::connect(&database.url(), tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    // What dead rows take is given back by PostgreSQL's own vacuum in time; only the rest counts.
    let size = async || -> anyhow::Result<u64> {
        for table in ["memory", "store"] {
            client.batch_execute(&format!("vacuum full loci.{table}")).await?;
        }
        let sql = "select sum(pg_total_relation_size(oid))::bigint from pg_class
            where relnamespace = 'loci'::regnamespace and relkind = 'r'";
        let bytes: i64 = client.query_one(sql, &[]).await?.try_get(0)?;
        Ok(bytes.unsigned_abs())
    };
    let before = size().await?;
    let written = write(&storage, way, piece_bytes).await?;
    let after = size().await?;
    written.figure("PostgreSQL", way, piece_bytes, after.saturating_sub(before))
}

/// How long everything took.
struct Written {
    bytes: usize,
    appends: Vec<Duration>,
    read: Duration,
}

impl Written {
    fn figure(
        self,
        engine: &'static str,
        way: Way,
        piece_bytes: usize,
        grown: u64,
    ) -> anyhow::Result<AppendFigure> {
        let tenth = self.appends.len() / 10;
        ensure!(tenth > 0, "too few appends");
        let mean_ms = |some: &[Duration]| {
            some.iter().sum::<Duration>().as_secs_f64() * 1e3 / some.len() as f64
        };
        let first_ms = mean_ms(&self.appends[..tenth]);
        let last_ms = mean_ms(&self.appends[self.appends.len() - tenth..]);
        let versions = self.appends.len() as f64;
        Ok(AppendFigure {
            engine,
            way,
            piece_bytes,
            first_ms,
            last_ms,
            slowdown: last_ms / first_ms,
            bytes_per_byte: grown as f64 / self.bytes as f64,
            version_bytes: (grown as f64 - self.bytes as f64) / versions,
            read_ms: self.read.as_secs_f64() * 1e3,
        })
    }
}

async fn write(storage: &dyn Storage, way: Way, piece_bytes: usize) -> anyhow::Result<Written> {
    let now = |n: u64| Timestamp::from_micros(1_700_000_000_000_000 + n.cast_signed());
    let workspace = WorkspaceId::from_u128(7);
    let owner = PrincipalId::from_u128(1);
    let policy = StorePolicy {
        content_bytes_max: limit::CONTENT_BYTES_MAX as u64,
        ..StorePolicy::default()
    };
    let store = Store {
        id: StoreId::from_u128(7),
        workspace,
        address: None,
        owner,
        name: "grows".into(),
        description: String::new(),
        metadata: BTreeMap::new(),
        policy,
        created_at: now(0),
        updated_at: now(0),
        archived_at: None,
    };
    let id = store.id;
    storage.write(Mutation::CreateWorkspace(workspace, now(0)), None).await?;
    storage.write(Mutation::CreateStore(store), None).await?;
    let path = MemoryPath::parse("/log")?;
    let mut whole = String::new();
    let mut appends = Vec::with_capacity(PIECES);
    let mut read = None;
    for n in 0..PIECES as u64 {
        let piece = piece(n, piece_bytes);
        let op = match way {
            Way::Append => EditOp::Append {
                text: piece.clone(),
                separator: loci_model::edit::Separator::default(),
                to: None,
                attributes: AttributesPatch::default(),
            },
            Way::Put | Way::Rewrite => {
                let mut text = format!("{whole}{piece}");
                if way == Way::Rewrite {
                    text.replace_range(..8, &format!("{n:08}"));
                }
                let content = Some(Content::Text(text));
                EditOp::Put { content, to: None, attributes: AttributesPatch::default() }
            }
        };
        whole.push_str(&piece);
        let at = At::Path(None, path.clone());
        let edit = Edit { at, expect: Expect::Anything, on_same: OnSame::Skip, op };
        let edit = StampedEdit { edit, new_memory: memory_id(n), version: version_id(n) };
        let batch = Batch { edits: vec![edit], cause: Cause::new(None, "api") };
        let pass = System::because("the benchmark writes").write(workspace, id, owner, now(n));
        let started = Instant::now();
        storage.write(Mutation::Commit(pass, batch), None).await?;
        appends.push(started.elapsed());
        if n == u64::from(DEPTH_MAX) {
            // In as many pieces as it ever is; one append later it is whole again.
            let pass = System::because("the benchmark reads").read(workspace, id, now(n));
            read = Some(read_all(storage, &pass, &path, &whole, way).await?);
        }
    }
    let read = read.context("too few appends")?;
    Ok(Written { bytes: whole.len(), appends, read })
}

/// How long reading the text takes, on average.
async fn read_all(
    storage: &dyn Storage,
    pass: &ReadPass,
    path: &MemoryPath,
    whole: &str,
    way: Way,
) -> anyhow::Result<Duration> {
    let started = Instant::now();
    for _ in 0..READS {
        let at = At::Path(None, path.clone());
        let read = storage.get(pass, &at, View::Full).await?.context("it is there")?;
        let content = read.content.context("with content")?;
        ensure!(content.bytes().len() == whole.len(), "some of it is missing");
        ensure!(way == Way::Rewrite || content.text() == Some(whole), "it is another");
    }
    Ok(started.elapsed() / READS as u32)
}

/// Words, as in a memory, of exactly so many bytes.
fn piece(n: u64, bytes: usize) -> String {
    let mut piece = String::new();
    let mut part = n * 1000;
    while piece.len() < bytes {
        piece.push_str(&text(part));
        part += 1;
    }
    piece.truncate(bytes);
    piece
}

/// The table.
pub(crate) fn table(figures: &[AppendFigure]) -> String {
    let mut table = String::from(
        "| on | written by | bytes each | first tenth ms | last tenth ms | last of first | database bytes per byte of text | beside the piece, bytes per version | whole text read ms |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for figure in figures {
        let target = match figure.way {
            Way::Append if figure.slowdown <= SLOWDOWN_MOST => " (≤ 1.5 met)",
            Way::Append => " (≤ 1.5 missed)",
            Way::Put | Way::Rewrite => "",
        };
        let _ = writeln!(
            table,
            "| {} | {} | {} | {:.2} | {:.2} | {:.2}{target} | {:.1} | {:.0} | {:.2} |",
            figure.engine,
            figure.way.described(),
            figure.piece_bytes,
            figure.first_ms,
            figure.last_ms,
            figure.slowdown,
            figure.bytes_per_byte,
            figure.version_bytes,
            figure.read_ms,
        );
    }
    table
}

/// Writes the page.
pub(crate) fn write_page(figures: &[AppendFigure], plan: &Plan, out: &Path) -> anyhow::Result<()> {
    let page = format!(
        "# Texts that grow\n\n\
         Made by `cargo xtask bench -- --only append`. One text is written in {PIECES} pieces, one durable write after the other, by the \
         storage engines themselves; with pieces of {PIECE_BYTES} bytes it has the most bytes a memory can have. Figures are of the round with the \
         median slowdown of {}; only ratios mean something on a shared machine. What the database grew by is everything: the text, {PIECES} \
         versions with their entries in the feed, and indexes.\n\n\
         An append is linear when the last tenth takes no longer than the first, and when the database grows by about what is \
         appended. The last line of each engine rewrites the beginning each time, so nothing can be shared and every version is whole: \
         what history costs without [sharing](../decisions/020-appended-versions-share-their-bytes.md). PostgreSQL compresses what it keeps whole, and \
         these words repeat. The text is read where it is in the most pieces, a thousand; an append later it is kept whole once more, which is most of what \
         the database grows by beside the pieces.\n\n{}",
        plan.rounds,
        table(figures),
    );
    std::fs::write(out.join("append.md"), page).context("cannot write the page")
}
