//! `loci serve`: takes the place where memories are kept, makes what the configuration declares, listens, and stops
//! in order. Everything that can go wrong is found before a key is made or shown.

use crate::background;
use crate::config::{
    self, Config, LISTEN_DEFAULT, Qiforge, QiforgeSection, SECRET_CHARS_MIN, SearchConfig,
};
use crate::declare::declare;
use crate::exit::Failure;
use crate::extraction;
use crate::hand_over::Waiting;
use crate::held::Refusal;
use crate::holder::Kind;
use crate::open_files;
use crate::patience::{Patience, patiently};
use crate::place::Place;
use crate::signals::Signals;
use crate::summaries::ModelSummarizer;
use crate::wire::{self, Answering, Holding};
use loci_engine::{Context, Secret};
use loci_http::Listener;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What the command line said.
pub(crate) struct ServeRequest {
    pub(crate) listen: Option<String>,
    /// Where memories are kept, if a flag or the environment says so.
    pub(crate) place: Option<Place>,
    pub(crate) config: Option<PathBuf>,
    /// Whether the database is a replica, which is only read.
    pub(crate) is_replica: bool,
}

/// Runs the server until it is told to stop.
pub(crate) async fn serve(request: ServeRequest) -> Result<(), Failure> {
    let config = match &request.config {
        Some(path) => Config::load(path)?,
        None => Config::default(),
    };
    let place = match request.place {
        Some(place) => place,
        None => config.server.place()?.unwrap_or_else(Place::default_directory),
    };
    let kind = match request.is_replica || config.server.replica {
        false => Kind::Serve,
        true if matches!(place, Place::Database(_)) => Kind::Replica,
        true => {
            return Err(Failure::usage("a replica is one of a database: name it by --database"));
        }
    };
    let named = request.listen.or_else(|| config.server.listen.clone());
    let told = named.as_deref().unwrap_or(LISTEN_DEFAULT);
    let listen = resolve(told).await?;
    let admin_key = config::env("LOCI_ADMIN_KEY").map(Secret::given);
    check_admin_key(admin_key.as_ref())?;
    // Looked at once more when the port is known; what is wrong is found before anything is made.
    qiforge(&config, listen)?;
    let hosts = config.hosts(told, listen.ip())?;
    // Before the start, so that a signal during it is not lost.
    let mut signals = Signals::catch()?;

    let search = config.search.resolve()?;
    let tokens = config.tokens()?;
    let summaries = config.summaries.as_ref().map(|section| section.resolve()).transpose()?;
    let summarizer = summaries.map(ModelSummarizer::new).transpose()?;
    let extraction = config.extraction.as_ref().map(|section| section.resolve()).transpose()?;
    let reading = extraction.map(extraction::options).transpose()?;
    let mut holding = tokio::select! {
        taken = take(&place, kind, &search) => taken?,
        name = signals.next() => {
            tracing::info!(signal = name, "stopped before it had started");
            return Ok(());
        }
    };
    let mcp = config.mcp.options(config.issuer());
    holding = holding.sharing(&config, config.tools.options(), mcp, summarizer);
    if let Some(reading) = reading {
        holding = holding.reading(reading);
    }
    let started = tokio::select! {
        started = start(&holding, &place, &config, listen, admin_key.as_ref()) => started.map(Some),
        name = signals.next() => {
            tracing::info!(signal = name, "stopped before it listened");
            Ok(None)
        }
    };
    let (listener, shown_key) = match started {
        Ok(Some(started)) => started,
        Ok(None) => {
            holding.release().await;
            return Ok(());
        }
        Err(failure) => {
            holding.release().await;
            return Err(failure);
        }
    };
    holding.follow();
    let mut options = config.http_options(holding.scratch_dir());
    options.connections_max = open_files::connections(options.connections_max);
    options.tokens = tokens;
    options.hosts = Arc::new(hosts);
    let address =
        listener.local_addr().map_err(|error| Failure::io("cannot tell the address", &error))?;
    if let Some(door) = qiforge(&config, address)? {
        options.ucans = Some(door.ucans);
        holding = holding.welcoming(door.options, door.visitors);
    }
    let console = console_url(address);
    options.console_url = Some(console.clone());
    let answering = holding.answer(&options)?;
    let link = match &shown_key {
        Some(_) => first_link(&answering, &console).await,
        None => None,
    };
    announce(&listener, shown_key.as_ref(), link.as_deref())?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), data = %place, "started");

    let sweeping = (kind == Kind::Serve)
        .then(|| tokio::spawn(background::sweep(answering.engine().clone(), answering.stopping())));
    let compacting = (kind == Kind::Serve).then(|| {
        tokio::spawn(background::compact(answering.engine().clone(), answering.stopping()))
    });
    let reading = (kind == Kind::Serve).then(|| {
        let engine = answering.engine().clone();
        tokio::spawn(async move { engine.read_along().await })
    });
    let serving = tokio::spawn(wire::listen(
        Listener::Tcp(listener),
        answering.router(),
        options,
        answering.stopping(),
    ));
    let ended = run(&answering, signals, serving).await;
    // Each may be in the middle of a long store; whatever it did is committed.
    for working in [sweeping, compacting, reading].into_iter().flatten() {
        working.abort();
        let _ = working.await;
    }
    answering.release().await;
    tracing::info!("stopped");
    ended
}

async fn run(
    answering: &Answering,
    mut signals: Signals,
    mut serving: JoinHandle<()>,
) -> Result<(), Failure> {
    let ended = tokio::select! {
        name = signals.next() => {
            tracing::info!(signal = name, "stopping");
            answering.stop();
            serving.await
        }
        ended = &mut serving => ended,
    };
    answering.stop();
    ended.map_err(|error| Failure::failed(format!("the listener failed: {error}")))
}

/// Takes the place. A command that has a directory open is asked for it and waited for, another
/// server is not; a database that does not answer yet is waited for.
async fn take(place: &Place, kind: Kind, search: &SearchConfig) -> Result<Holding, Failure> {
    let mut patience = Patience::new();
    let mut waiting = None;
    loop {
        match (Holding::take(place, kind, search).await, place) {
            (Ok(holding), _) => return Ok(holding),
            (Err(Refusal::Held), Place::Directory(data)) => {
                waiting.get_or_insert_with(|| Waiting::new(data)).step().await?;
            }
            (Err(Refusal::Away(failure)), _) => patience.wait(failure).await?,
            (Err(refusal), _) => return Err(refusal.failure(place)),
        }
    }
}

/// Binds the address, then makes keys and declarations: an address that is taken, or one that must
/// not be opened, makes no key.
async fn start(
    holding: &Holding,
    place: &Place,
    config: &Config,
    listen: SocketAddr,
    admin_key: Option<&Secret>,
) -> Result<(TcpListener, Option<Secret>), Failure> {
    let engine = holding.engine();
    let is_replica = engine.is_replica();
    let declares_key = !config.keys.is_empty() || config.kilroy.key().is_some();
    let will_have_key = !is_replica && (admin_key.is_some() || declares_key);
    let workspace = holding.start().workspace;
    let has_key =
        will_have_key || patiently(place, async || Ok(engine.has_keys(workspace).await?)).await?;
    if !is_loopback(listen.ip()) && !has_key {
        return Err(Failure::failed(format!(
            "refusing to listen on {listen} without a key: set LOCI_ADMIN_KEY, declare a key in \
             the configuration, or start on 127.0.0.1 first"
        )));
    }
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| Failure::io(format_args!("cannot listen on {listen}"), &error))?;
    if is_replica {
        // Keys and declarations come from the primary like everything else.
        return Ok((listener, None));
    }
    // One for all tries: the key that a try made must be known to the one that shows it.
    let fresh = Secret::generate(engine.seams());
    let first = patiently(place, async || {
        // Servers that start together find what the first of them made.
        let work = engine.one_at_a_time(async {
            let first = engine.bootstrap_with(admin_key, &fresh).await?;
            declare(engine, holding.start(), config).await?;
            Ok::<_, Failure>(first)
        });
        work.await
    });
    Ok((listener, first.await?.admin_key))
}

/// Where a browser on this machine finds the console. A server that listens on every address is
/// found on this one.
fn console_url(listening: SocketAddr) -> String {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}/console/", SocketAddr::new(ip, listening.port()))
}

/// The link that whoever starts a server for the first time looks at it with.
async fn first_link(answering: &Answering, console: &str) -> Option<String> {
    let engine = answering.engine();
    let request = engine.seams().request_id(engine.seams().now());
    let caller = answering.operator().0;
    let context = Context { caller, request, idempotency: None };
    match engine.console_link(&context).await {
        Ok((secret, _)) => Some(format!("{console}#once={}", secret.reveal())),
        Err(error) => {
            tracing::warn!(%error, "there is no link to the console; loci console makes one");
            None
        }
    }
}

fn announce(
    listener: &TcpListener,
    shown_key: Option<&Secret>,
    link: Option<&str>,
) -> Result<(), Failure> {
    let address =
        listener.local_addr().map_err(|error| Failure::io("cannot tell the address", &error))?;
    let mut stdout = std::io::stdout().lock();
    if let Some(secret) = shown_key {
        writeln!(stdout, "admin key (shown once): {}", secret.reveal())?;
    }
    if let Some(link) = link {
        writeln!(stdout, "console (works once, for 10 minutes): {link}")?;
    }
    writeln!(stdout, "loci listening on http://{address}")?;
    stdout.flush()?;
    Ok(())
}

/// The door of QiForge's oracles, unless it stays closed.
fn qiforge(config: &Config, listen: SocketAddr) -> Result<Option<Qiforge>, Failure> {
    QiforgeSection::resolve(config.qiforge.as_ref(), listen)
}

fn check_admin_key(key: Option<&Secret>) -> Result<(), Failure> {
    let Some(key) = key else { return Ok(()) };
    config::check_presentable(key.reveal())
        .map_err(|why| Failure::failed(format!("LOCI_ADMIN_KEY {why}")))?;
    match key.reveal().chars().count() >= SECRET_CHARS_MIN {
        true => Ok(()),
        false => Err(Failure::failed(format!(
            "LOCI_ADMIN_KEY must have at least {SECRET_CHARS_MIN} characters, so that nobody guesses \
             it"
        ))),
    }
}

/// The address to listen on; a name stands for the first address it has.
pub(crate) async fn resolve(listen: &str) -> Result<SocketAddr, Failure> {
    let wrong = || Failure::usage(format!("{listen:?} is not an address and port"));
    let mut found = tokio::net::lookup_host(listen).await.map_err(|_| wrong())?;
    found.next().ok_or_else(wrong)
}

fn is_loopback(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => {
            ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn addresses_are_told_from_nonsense() {
        assert_eq!(resolve("127.0.0.1:0").await.unwrap().port(), 0);
        assert!(is_loopback(resolve("[::1]:1").await.unwrap().ip()));
        assert!(!is_loopback(resolve("0.0.0.0:1").await.unwrap().ip()));
        assert!(is_loopback("::ffff:127.0.0.1".parse().unwrap()));
        for bad in ["", "8700", "127.0.0.1", "127.0.0.1:99999"] {
            assert!(resolve(bad).await.is_err(), "{bad}");
        }
    }

    #[test]
    fn a_browser_on_this_machine_finds_the_console() {
        let url = |address: &str| console_url(address.parse().unwrap());
        assert_eq!(url("127.0.0.1:8700"), "http://127.0.0.1:8700/console/");
        assert_eq!(url("0.0.0.0:80"), "http://127.0.0.1:80/console/");
        assert_eq!(url("[::]:80"), "http://[::1]:80/console/");
        assert_eq!(url("10.0.0.7:80"), "http://10.0.0.7:80/console/");
    }

    #[test]
    fn an_admin_key_that_can_be_guessed_is_refused() {
        let failure = check_admin_key(Some(&Secret::given("a-short-one"))).unwrap_err();
        assert!(!failure.message.contains("a-short-one") && failure.message.contains("16"));
        assert!(check_admin_key(Some(&Secret::given("a".repeat(16)))).is_ok());
        assert!(check_admin_key(Some(&Secret::given("a line of its own\n"))).is_err());
        assert!(check_admin_key(None).is_ok());
    }
}
