//! `loci sync`: a directory and a store kept alike, for machines that cannot mount one. The rules are
//! those of the mount: a file that is closed becomes a version, what others write comes down, and a
//! lost race leaves both texts, the loser's beside under `name.conflict`.

mod carry;
mod folder;
mod journal;
mod local;
mod pass;
mod plan;
mod remote;
mod report;
mod scan;
mod state;

use super::client::Client;
use super::output::{Format, plain, say};
use super::port::{Acting, HttpPort, Selection, Wanted};
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use carry::failure;
use folder::{Folder, OWN_PREFIX};
use local::Locals;
use loci_model::{Access, MemoryPath};
use loci_mount::Port;
use pass::Pair;
use plan::Direction;
use remote::Remote;
use report::Report;
use state::State;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How often a single sync looks again when the store changes under its hands.
const PASSES_MAX: usize = 10;
/// How long the last pass of a sync that is asked to stop may take.
const LAST_PASS: Duration = Duration::from_secs(10);

#[derive(Debug, clap::Args)]
pub(crate) struct SyncArgs {
    /// The directory; made if it is not there
    dir: PathBuf,
    /// Store id, or a name only one store has; can be left out if the session has just one
    #[arg(long, value_name = "STORE", required_unless_present = "session")]
    store: Option<String>,
    /// Make both alike once, and end
    #[arg(long)]
    once: bool,
    /// Look at the directory every so many seconds; the store's changes come at once
    #[arg(long, value_name = "SECS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=30))]
    interval: u64,
    /// Act as this session, with the access that it has to the store
    #[arg(long, value_name = "SESN")]
    session: Option<String>,
    /// Only bring the store's memories here
    #[arg(long)]
    read_only: bool,
    /// Remove memories even if many files are missing, or all
    #[arg(long)]
    allow_deletes: bool,
}

/// Whether a path is that of our own state.
fn is_own(path: &MemoryPath) -> bool {
    path.as_str().split('/').any(|segment| segment.starts_with(OWN_PREFIX))
}

pub(super) async fn run(client: &Client, format: Format, args: &SyncArgs) -> Result<(), Failure> {
    let folder = Folder::open(&args.dir).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => {
            Failure::failed(format!("{} is kept in sync by another loci", args.dir.display()))
        }
        _ => Failure::io(format_args!("cannot use {}", args.dir.display()), &error),
    })?;
    let acting = Acting::start(client, args.session.as_deref(), "loci sync").await?;
    let done = synced(client, &acting, format, args, folder).await;
    acting.end().await;
    done
}

async fn synced(
    asking: &Client,
    acting: &Acting,
    format: Format,
    args: &SyncArgs,
    folder: Folder,
) -> Result<(), Failure> {
    let mut pair = pair(asking, acting, args, folder).await?;
    let mut report = Report::new(format == Format::Human);
    let done = match args.once {
        true => once(&mut pair, &mut report).await,
        false => {
            let signals = Signals::catch()?;
            follow(&mut pair, &mut report, args, signals).await
        }
    };
    format.show(&report.summary(), || report.line())?;
    done?;
    match report.held_back {
        0 => Ok(()),
        _ => Err(Failure::new(Exit::Conflict, "")),
    }
}

async fn pair(
    asking: &Client,
    acting: &Acting,
    args: &SyncArgs,
    folder: Folder,
) -> Result<Pair, Failure> {
    let selection = Selection {
        wanted: args
            .store
            .iter()
            .map(|named| Wanted { named: named.clone(), access: None })
            .collect(),
        session: args.session.clone(),
        is_read_only: args.read_only,
    };
    let mut chosen = selection.choose(asking, acting.client()).await?;
    let (1, Some(store)) = (chosen.stores.len(), chosen.stores.pop()) else {
        return Err(Failure::usage("the session has not just one store; name it with --store"));
    };
    chosen.stores.push(store.clone());
    let port: Arc<dyn Port> = Arc::new(HttpPort::new(acting.client(), selection, chosen, "sync"));
    scan::clean(&folder).map_err(|error| Failure::io("cannot read the directory", &error))?;
    let mut state = State::load(&folder, store.id)?;
    let remote = Remote::load(Arc::clone(&port), store.id).await;
    let remote = remote.map_err(|refusal| failure(&refusal))?;
    journal::replay(&folder, &remote.by_path(), &mut state)
        .map_err(|error| Failure::io("cannot read the journal of the sync", &error))?;
    Ok(Pair {
        folder,
        store: store.id,
        port,
        direction: match store.access {
            Access::ReadOnly => Direction::Down,
            Access::ReadWrite => Direction::Both,
        },
        allows_deletes: args.allow_deletes,
        looks_twice: !args.once,
        state,
        remote,
        locals: Locals::new(usize::try_from(store.content_bytes_max).unwrap_or(usize::MAX - 1)),
        missing: Default::default(),
    })
}

/// Passes until both sides are alike.
async fn once(pair: &mut Pair, report: &mut Report) -> Result<(), Failure> {
    for _ in 0..PASSES_MAX {
        report.is_unfinished = false;
        pair.pass(report).await?;
        if !report.is_unfinished {
            return Ok(());
        }
        pair.remote.refresh().await.map_err(|refusal| failure(&refusal))?;
    }
    Err(Failure::new(Exit::Conflict, "the store changes all the time; try again"))
}

/// Passes whenever something may have changed, until asked to stop, and once more then.
async fn follow(
    pair: &mut Pair,
    report: &mut Report,
    args: &SyncArgs,
    mut signals: Signals,
) -> Result<(), Failure> {
    let interval = Duration::from_secs(args.interval);
    let mut trouble = Trouble::default();
    loop {
        report.is_unfinished = false;
        let passed = async {
            pair.remote.refresh().await.map_err(|refusal| failure(&refusal))?;
            pair.pass(report).await
        };
        let passed = tokio::select! {
            passed = passed => passed,
            _ = signals.next() => break,
        };
        let is_away = trouble.note(passed)?;
        // A store that has no news keeps us waiting; one that is away does not.
        let wait = async {
            if is_away || report.is_unfinished {
                tokio::time::sleep(Duration::from_millis(500)).await;
            } else if pair.remote.wait(interval).await.is_err() {
                tokio::time::sleep(interval).await;
            }
        };
        tokio::select! {
            () = wait => {}
            _ = signals.next() => break,
        }
    }
    pair.looks_twice = false;
    match tokio::time::timeout(LAST_PASS, once(pair, report)).await {
        Ok(done) => done,
        Err(_) => {
            Err(Failure::failed("the last changes could not be brought to the store in time"))
        }
    }
}

/// A server that is away is told of once, and waited for.
#[derive(Default)]
struct Trouble {
    has_told: bool,
}

impl Trouble {
    fn note(&mut self, passed: Result<(), Failure>) -> Result<bool, Failure> {
        match passed {
            Ok(()) => {
                if std::mem::take(&mut self.has_told) {
                    say("the store answers again");
                }
                Ok(false)
            }
            Err(failure) if failure.may_pass => {
                if !std::mem::replace(&mut self.has_told, true) {
                    say(&format!("{}; trying again", plain(&failure.message)));
                }
                Ok(true)
            }
            Err(failure) => Err(failure),
        }
    }
}
