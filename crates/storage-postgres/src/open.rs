//! Opening a database: the look at what is there, the schema, and the pool of connections.
//!
//! A database of a newer Loci, or a server that is too old, is refused before anything is touched.
//! Every connection of the pool works as the role `loci_app`, and durability is not a setting: a
//! server that is told to acknowledge before it has written is told otherwise here.

use crate::address::Address;
use crate::client::Clients;
use crate::migrate;
use crate::tls;
use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use std::fmt;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long the first connection may take, and each question asked before the schema is changed.
pub(crate) const OPENING_MAX: Duration = Duration::from_secs(10);

/// What can be tuned. None of it changes what is promised.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database`.
    pub url: String,
    /// Connections at most.
    pub pool_size: usize,
    /// How long a caller is kept waiting before it is told that the database does not answer.
    pub patience: Duration,
    /// Reads a streaming standby, and takes no writes.
    pub is_replica: bool,
}

impl PostgresOptions {
    /// The usual settings for a database.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            pool_size: 16,
            patience: Duration::from_millis(1500),
            is_replica: false,
        }
    }
}

/// The URL holds a password.
impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("pool_size", &self.pool_size)
            .field("patience", &self.patience)
            .field("is_replica", &self.is_replica)
            .finish_non_exhaustive()
    }
}

/// Why a database could not be opened. None of it repeats a password.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL cannot be understood.
    #[error("cannot use this database URL: {0}")]
    Url(String),
    /// It was written by a newer Loci; nothing in it was touched.
    #[error("the database has format {found}, this version knows up to {known}")]
    NewerFormat {
        /// The format found.
        found: u32,
        /// The newest format known here.
        known: u32,
    },
    /// The server is older than the oldest that is supported.
    #[error("PostgreSQL {found} is too old, 15 is the oldest that works")]
    OldServer {
        /// Its version.
        found: String,
    },
    /// The database cannot hold every text.
    #[error("the database has the encoding {found}, it must have UTF8")]
    Encoding {
        /// Its encoding.
        found: String,
    },
    /// It follows another server and takes no writes, which were not ruled out.
    #[error(
        "the database is a standby and takes no writes; use the primary, or serve with --replica"
    )]
    Standby,
    /// The user may not do what is needed, and this is what lets it.
    #[error("{0}")]
    NotAllowed(String),
    /// Nobody answers, or not in time.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// The database refused, or failed.
    #[error("cannot open the database: {0}")]
    Io(String),
}

impl From<tokio_postgres::Error> for OpenError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(said) = error.as_db_error() else {
            return Self::Unreachable(with_causes(&error));
        };
        let told = format!("{} ({})", said.message(), said.code().code());
        let is_away = [
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::TOO_MANY_CONNECTIONS,
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
        ];
        if is_away.contains(said.code()) { Self::Unreachable(told) } else { Self::Io(told) }
    }
}

/// An error with what caused it, as far as it does not say so itself.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let why = error.to_string();
        if !told.contains(&why) {
            told.push_str(": ");
            told.push_str(&why);
        }
        cause = error.source();
    }
    told
}

/// The way to a database, for the pool and for connections beside it.
pub(crate) struct Opened {
    pub(crate) clients: Clients,
    pub(crate) address: Address,
    pub(crate) connector: MakeRustlsConnect,
}

/// Opens a database, making what is missing in it.
pub(crate) async fn open(options: &PostgresOptions) -> Result<Opened, OpenError> {
    let address = Address::parse(&options.url, options.patience)?;
    let connector = tls::connector(&address.trust)?;
    let lone = Lone::connect(&address, &connector).await?;
    match options.is_replica {
        true => migrate::require(&lone.client).await?,
        false if is_standby(&lone.client).await? => return Err(OpenError::Standby),
        false => migrate::run(&lone.client).await?,
    }
    enable_vector(&lone.client).await;
    let setup = setup(&lone.client, options.patience).await?;
    lone.end().await;
    let config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(address.config.clone(), connector.clone(), config);
    let pool = Pool::builder(manager)
        .max_size(options.pool_size.max(1))
        .wait_timeout(Some(options.patience))
        .create_timeout(Some(options.patience))
        .recycle_timeout(Some(options.patience))
        .runtime(Runtime::Tokio1)
        .post_create(Hook::async_fn(move |client, _| {
            let setup = setup.clone();
            Box::pin(async move { client.batch_execute(&setup).await.map_err(HookError::Backend) })
        }))
        .build()
        .map_err(|error| OpenError::Io(error.to_string()))?;
    let clients = Clients::new(pool, options.patience);
    first(&clients).await?;
    Ok(Opened { clients, address, connector })
}

async fn is_standby(client: &Client) -> Result<bool, OpenError> {
    let asked = timeout(OPENING_MAX, client.query_one("select pg_is_in_recovery()", &[])).await;
    let row = asked.map_err(|_| OpenError::Unreachable("no answer in time".into()))??;
    Ok(row.try_get(0)?)
}

/// Takes a connection as every later one is taken, so that what does not work shows at the start.
async fn first(clients: &Clients) -> Result<(), OpenError> {
    use deadpool_postgres::PoolError;
    match clients.pool.get().await {
        Ok(_) => Ok(()),
        Err(PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error))) => {
            Err(error.into())
        }
        Err(other) => Err(OpenError::Unreachable(other.to_string())),
    }
}

/// What a new connection is told before its first transaction. Every statement is written for an
/// index, whatever its parameters are, so it is planned once for each connection and not for each
/// execution, which would take longer than most of them. A plan that was made while a table was
/// nearly empty would go on reading it whole when it is not, were it not told to use the index.
async fn setup(client: &Client, patience: Duration) -> Result<String, OpenError> {
    // Two thirds, so that a lock that is not to be had is told as such, and not as silence.
    let (lock_millis, millis) = (patience.as_millis() * 2 / 3, patience.as_millis());
    let schemas = match vector_schema(client).await? {
        Some(schema) => format!("loci, {schema}, pg_temp"),
        None => "loci, pg_temp".into(),
    };
    Ok(format!(
        "set role {role};
        set search_path to {schemas};
        set client_min_messages to warning;
        set lock_timeout to {lock_millis};
        set statement_timeout to {millis};
        set idle_in_transaction_session_timeout to '10s';
        set row_security to on;
        set jit to off;
        set plan_cache_mode to force_generic_plan;
        set enable_seqscan to off;
        set enable_hashjoin to off;
        set enable_mergejoin to off;
        select set_config('synchronous_commit', 'on', false)
        where current_setting('synchronous_commit') in ('off', 'local')",
        role = migrate::ROLE,
    ))
}

/// Switches pgvector on where the server has it and the user may. Without it everything works, only
/// large stores are searched in memory then.
async fn enable_vector(client: &Client) {
    // By name: our own schema, which has a table of that name, may be the first of the user's path.
    const ENABLE: &str = "create extension if not exists vector schema public";
    let sql = include_str!("../queries/vector/is_waiting.sql");
    let is_waiting = client.query_one(sql, &[]).await.and_then(|row| row.try_get::<_, bool>(0));
    if matches!(is_waiting, Ok(true)) {
        let enabled = client.batch_execute(ENABLE).await;
        if let Err(error) = enabled {
            tracing::info!(%error, "pgvector is there but cannot be switched on");
        }
    }
}

/// The schema that pgvector's types are in, quoted, where the extension exists.
async fn vector_schema(client: &Client) -> Result<Option<String>, OpenError> {
    let sql = include_str!("../queries/vector/schema.sql");
    let found = client.query_opt(sql, &[]).await?;
    Ok(found.map(|row| row.try_get(0)).transpose()?)
}

/// One connection outside the pool.
pub(crate) struct Lone {
    pub(crate) client: Client,
    link: JoinHandle<()>,
}

impl Lone {
    pub(crate) async fn connect(
        address: &Address,
        tls: &MakeRustlsConnect,
    ) -> Result<Self, OpenError> {
        let connecting = timeout(OPENING_MAX, address.config.connect(tls.clone())).await;
        let late = |_| OpenError::Unreachable("no answer in time".into());
        let (client, connection) = connecting.map_err(late)??;
        let link = tokio::spawn(async move {
            // Whoever asks something learns that the connection broke.
            let _ = connection.await;
        });
        Ok(Self { client, link })
    }

    /// Says goodbye, so that the server does not count one connection more than there are.
    pub(crate) async fn end(self) {
        let Self { client, link } = self;
        drop(client);
        let _ = timeout(OPENING_MAX, link).await;
    }
}
