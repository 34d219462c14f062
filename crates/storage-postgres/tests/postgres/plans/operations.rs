//! A write of one memory and a read of one page cost no more in a large store than in a small one.
//! PostgreSQL counts the buffers that each statement of a server reads (`pg_stat_statements`).

use super::{fill, owner};
use loci_model::query::{Direction, ListCursor, ListOrder, ListQuery, VersionQuery};
use loci_model::{At, Edit, MemoryId, PathPrefix, Timestamp, VersionId, View};
use loci_storage::{AsOf, Idempotency, Mutation};
use loci_storage_contract::fixture::{
    START, World, all_versions, append, batch, committed, idempotency, next_bits, path, put,
    remove, rename, update,
};
use loci_storage_postgres::{PostgresOptions, PostgresStorage};
use loci_test_kit::amount;
use loci_test_postgres::{Build, Database, Postgres, Settings};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::Client;

const PAGE: usize = 20;
/// The buffers that one run of a statement may read. The dearest, a page of texts of the past,
/// reads about 300; a scan of the store reads thousands.
const BUFFERS_MAX: i64 = 400;
/// The buffers that the check may read for each memory to find those that lie below another.
const NESTED_MAX: i64 = 8;
/// How long servers may take to end what they began.
const PATIENCE: Duration = Duration::from_secs(60);

/// What PostgreSQL counted of one statement.
#[derive(Debug)]
struct Cost {
    sql: String,
    /// Pages read by one run of it, from memory or from the disk.
    buffers: i64,
}

/// Counts what statements of servers read.
struct Meter(Client);

impl Meter {
    /// The statements that servers ran for some work, dearest first.
    async fn costs<T>(&self, work: impl Future<Output = T>) -> (T, Vec<Cost>) {
        self.quiet().await;
        self.0.execute("select pg_stat_statements_reset()", &[]).await.unwrap();
        let done = work.await;
        self.quiet().await;
        let sql = "select query, (shared_blks_hit + shared_blks_read) / calls
            from pg_stat_statements
            where userid = 'loci_app'::regrole and calls > 0
            order by 2 desc";
        let rows = self.0.query(sql, &[]).await.unwrap();
        let costs = rows.iter().map(|row| Cost { sql: row.get(0), buffers: row.get(1) });
        (done, costs.collect())
    }

    /// Waits until no transaction is open: PostgreSQL counts a statement when it ends, and the last
    /// one of a transaction may end with the transaction.
    async fn quiet(&self) {
        let sql = "select count(*)
            from pg_stat_activity
            where
                datname = current_database()
                and backend_type = 'client backend'
                and pid <> pg_backend_pid()
                and state <> 'idle'";
        let began = Instant::now();
        while self.0.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            assert!(began.elapsed() < PATIENCE, "a transaction stays open");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Does some work twice and checks the cost of the second time, when all plans are made.
    async fn is_cheap<T>(&self, what: &str, mut work: impl AsyncFnMut(u64) -> T) {
        work(0).await;
        let (_, costs) = self.costs(work(1)).await;
        let reads: i64 = costs.iter().map(|cost| cost.buffers).sum();
        assert!(reads > 0, "{what}: nothing was counted");
        let dearest = &costs[0];
        assert!(
            dearest.buffers <= BUFFERS_MAX,
            "{what} reads {} buffers by {}",
            dearest.buffers,
            dearest.sql
        );
    }
}

/// A world with a large store on a server of its own, which counts.
struct Large {
    world: World,
    meter: Meter,
    _database: Database,
    _server: Postgres,
}

impl Large {
    async fn new(build: Build) -> Self {
        let settings = Settings::default().with("shared_preload_libraries", "pg_stat_statements");
        let server = Postgres::start_with(build, &settings).unwrap();
        let database = Database::fresh(&server.url(), None).await.unwrap();
        let patience = Duration::from_secs(20);
        // One connection: what was planned for one run is planned for the next.
        let options =
            PostgresOptions { patience, pool_size: 1, ..PostgresOptions::new(database.url()) };
        let world = World::new(Arc::new(PostgresStorage::open(&options, 1).await.unwrap())).await;
        let client = owner(&database.url()).await;
        client.batch_execute("create extension pg_stat_statements").await.unwrap();
        fill(&client, &world, amount("cost_memories")).await;
        Self { world, meter: Meter(client), _database: database, _server: server }
    }

    /// The id of a memory, by its number.
    async fn memory(&self, number: u64) -> MemoryId {
        self.world.get(&place(number)).await.unwrap().id
    }
}

/// The path of a memory, by its number.
fn place(number: u64) -> String {
    format!("/directory {}/file {number}", number % 1000)
}

/// An idempotency key, of one of the callers that the store was filled for.
fn request(world: &World, key: &str) -> Idempotency {
    idempotency(world.workspace, 7, key, 1, world.now())
}

/// One edit under an idempotency key of its own, as clients send it.
async fn keyed(world: &World, edit: Edit) {
    let key = request(world, &next_bits().to_string());
    let commit = Mutation::Commit(world.write_pass(), batch(vec![edit]));
    let applied = world.storage.write(commit, Some(key)).await.unwrap();
    assert!(!applied.is_replay && committed(applied.receipt).len() == 1);
    world.move_clock(1);
}

async fn writes(large: &Large) {
    let Large { world, meter, .. } = large;
    let ids = [large.memory(70_000).await, large.memory(70_001).await];
    meter.is_cheap("create", async |n| keyed(world, put(&format!("/new/{n}"), "new")).await).await;
    let deep = async |n| keyed(world, put(&format!("/directory 7/deep/er/{n}"), "new")).await;
    meter.is_cheap("create among others", deep).await;
    meter
        .is_cheap("update by path", async |n| keyed(world, put(&place(500 + n), "other")).await)
        .await;
    let by_id = async |n| keyed(world, update(ids[n as usize], "other")).await;
    meter.is_cheap("update by id", by_id).await;
    let renamed = async |n| {
        keyed(world, rename(ids[n as usize], &format!("/moved/{n}"))).await;
    };
    meter.is_cheap("rename", renamed).await;
    let below_itself = async |n| {
        keyed(world, rename(ids[n as usize], &format!("/moved/{n}/below"))).await;
    };
    meter.is_cheap("rename below itself", below_itself).await;
    let added = async |n| keyed(world, append(&place(600 + n), "more")).await;
    meter.is_cheap("append", added).await;
    let begun = async |n| keyed(world, append(&format!("/log/{n}"), "first")).await;
    meter.is_cheap("append to nothing", begun).await;
    let removed = async |n| keyed(world, remove(&place(800 + n))).await;
    meter.is_cheap("remove", removed).await;
    let redacted = async |n| {
        let version = world.put(&place(900 + n), "new").await.head;
        world.put(&place(900 + n), "newer").await;
        world.write(Mutation::Redact(world.manage_pass(), version)).await.unwrap();
    };
    meter.is_cheap("redact", redacted).await;
    // A request that is repeated is looked up among all that are remembered.
    let again = async |n: u64| {
        let edit = put(&format!("/again/{n}"), "once");
        let key = request(world, &format!("again {n}"));
        let commit = Mutation::Commit(world.write_pass(), batch(vec![edit]));
        for is_replay in [false, true] {
            let applied = world.storage.write(commit.clone(), Some(key.clone())).await.unwrap();
            assert_eq!(applied.is_replay, is_replay);
        }
    };
    meter.is_cheap("repeat a request", again).await;
}

async fn reads(large: &Large) {
    let Large { world, meter, .. } = large;
    let (storage, pass, search) = (&world.storage, &world.read_pass(), &world.search_pass());
    let (id, store) = (large.memory(50_000).await, world.store);
    meter.is_cheap("get by path", async |n| world.get(&place(4000 + n)).await.unwrap()).await;
    let by_id = async |_| storage.get(pass, &At::Id(id), View::Full).await.unwrap().unwrap();
    meter.is_cheap("get by id", by_id).await;
    let newest = async |_| storage.newest(pass, &path(&place(9)), View::Full).await.unwrap();
    meter.is_cheap("the newest at a path", newest).await;
    let found = async |_| storage.found(search, &[(store, id)], View::Full).await.unwrap();
    meter.is_cheap("found", found).await;
    let changes = async |_| storage.changes(pass, 60_000, PAGE).await.unwrap();
    meter.is_cheap("changes", changes).await;
    let texts = async |_| storage.texts(search, store, 0, PAGE).await.unwrap();
    meter.is_cheap("texts", texts).await;
    let changed = async |_| storage.changed_texts(search, store, 60_000, PAGE).await.unwrap();
    meter.is_cheap("changed texts", changed).await;
    let moment = Timestamp::from_micros(START + 60_000);
    for at in [AsOf::Time(moment), AsOf::Seq(60_000)] {
        let past = async |_| storage.texts_at(pass, at, 0, PAGE).await.unwrap();
        meter.is_cheap(&format!("texts {at:?}"), past).await;
    }
}

async fn lists(large: &Large) {
    let Large { world, meter, .. } = large;
    let id = large.memory(50_000).await;
    let time = ListCursor::Time(Timestamp::from_micros(START + 50_000), id);
    let memory = ListCursor::Memory(path(&place(50_000)), id);
    for (order, middle) in
        [(ListOrder::Path, memory), (ListOrder::Created, time.clone()), (ListOrder::Updated, time)]
    {
        for direction in [Direction::Ascending, Direction::Descending] {
            for after in [None, Some(middle.clone())] {
                let what = format!("list {order:?} {direction:?} after {after:?}");
                let everything = ListQuery::everything(View::Full, PAGE);
                let query = ListQuery { order, direction, after, ..everything };
                meter.is_cheap(&what, async |_| world.list(&query).await).await;
            }
        }
    }
    let prefix = PathPrefix::parse("/directory 5/").unwrap();
    let query = ListQuery { prefix, ..ListQuery::everything(View::Full, PAGE) };
    meter.is_cheap("list a directory", async |_| world.list(&query).await).await;
    let everything = ListQuery::everything(View::Basic, PAGE);
    let query = ListQuery { fold_depth: Some(1), ..everything };
    meter.is_cheap("list directories", async |_| world.list(&query).await).await;
}

async fn versions(large: &Large) {
    let Large { world, meter, .. } = large;
    let (storage, pass) = (&world.storage, &world.read_pass());
    let memory = large.memory(50_000).await;
    let head: VersionId = world.get(&place(50_000)).await.unwrap().head;
    let one = async |_| storage.version(pass, head, View::Full).await.unwrap().unwrap();
    meter.is_cheap("version", one).await;
    let all = VersionQuery { limit: PAGE, ..all_versions() };
    let moment = Some(Timestamp::from_micros(START + 50_000));
    for (what, query) in [
        ("versions", all.clone()),
        ("versions before a number", VersionQuery { before_seq: Some(40_000), ..all.clone() }),
        ("versions of a memory", VersionQuery { memory: Some(memory), ..all.clone() }),
        ("versions since", VersionQuery { since: moment, ..all.clone() }),
        ("versions until", VersionQuery { until: moment, ..all }),
    ] {
        let asked = async |_| storage.versions(pass, &query).await.unwrap();
        meter.is_cheap(what, asked).await;
    }
}

async fn costs_no_more_than_a_small_one(build: Build) {
    let large = Large::new(build).await;
    let Large { world, meter, .. } = &large;
    writes(&large).await;
    reads(&large).await;
    lists(&large).await;
    versions(&large).await;
    // A statement that reads the whole store by design shows that the meter counts.
    let pass = world.read_pass();
    let (tally, costs) = meter.costs(world.storage.tally(&pass, None)).await;
    tally.unwrap();
    assert!(costs[0].buffers > 2 * BUFFERS_MAX, "{costs:?}");
    let (report, costs) = meter.costs(world.storage.check()).await;
    assert_eq!(report.unwrap().problems, [""; 0]);
    let nested = costs.iter().find(|cost| cost.sql.contains("below.memory_id")).unwrap();
    let memories = amount("cost_memories") as i64;
    assert!(nested.buffers > memories, "{nested:?}");
    assert!(nested.buffers < NESTED_MAX * memories, "{nested:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_store_costs_no_more_than_a_small_one() {
    costs_no_more_than_a_small_one(Build::Floor).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_store_costs_no_more_than_a_small_one_on_the_current_build() {
    costs_no_more_than_a_small_one(Build::Current).await;
}
