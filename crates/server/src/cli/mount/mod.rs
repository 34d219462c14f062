//! `loci mount` and `loci umount`: memory stores as directories of this machine. The mount is a client
//! like any other: it reaches the memories in the way every command does, and is refused what its
//! caller may not do.

mod background;
mod ended;
mod umount;

pub(crate) use umount::{UmountArgs, run as umount};

use super::client::Client;
use super::output::{Format, plain, say};
use super::port::{Acting, HttpPort, Selection, Wanted};
use crate::config;
use crate::exit::Failure;
use crate::signals::Signals;
use ended::LastWord;
use loci_engine::seam::Seams;
use loci_model::time::Clock;
use loci_model::{Access, Timestamp};
use loci_mount::port::StoreSeen;
use loci_mount::{Mount, Options, Unsaved};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub(crate) struct MountArgs {
    /// Where; made if it is not there
    dir: PathBuf,
    /// Show this store, by id or name, with :ro for reading only; repeat for several [default: all]
    #[arg(long = "store", value_name = "STORE[:ro|:rw]")]
    stores: Vec<String>,
    /// Act as this session: its stores, its access, and its name on every version
    #[arg(long, value_name = "SESN")]
    session: Option<String>,
    /// Write nothing, whatever could be written
    #[arg(long)]
    read_only: bool,
    /// One store, without a directory of its own: its memories are at DIR
    #[arg(long)]
    flat: bool,
    /// Stay until SIGINT or SIGTERM; this is the default
    #[arg(long, conflicts_with = "background")]
    foreground: bool,
    /// Return when the mount is there, and serve it in the background
    #[arg(long)]
    background: bool,
    /// In the background, write messages to this file
    #[arg(long, value_name = "FILE", requires = "background")]
    log: Option<PathBuf>,
    /// Let the system unmount it should this process die; needs fusermount3
    #[arg(long)]
    auto_unmount: bool,
    /// Let other users of this machine use it: all of them can read what is mounted
    #[arg(long)]
    allow_other: bool,
    /// Closing a file that no store takes is no error; the file lives with the mount
    #[arg(long)]
    keep_refused: bool,
    /// This process is the one in the background.
    #[arg(long, hide = true)]
    detached: bool,
}

impl MountArgs {
    /// Whether another process shall do it.
    pub(super) fn starts_background(&self) -> bool {
        self.background && !self.detached
    }
}

/// Starts a mount in the background and returns when it is there.
pub(super) fn start_in_background(format: Format, args: &MountArgs) -> Result<(), Failure> {
    let said = background::start(args.log.as_deref())?;
    let shown: Value = serde_json::from_str(&said)
        .map_err(|_| Failure::failed("the process in the background said something strange"))?;
    format.show(&shown, || line(&shown))
}

/// Mounts, and serves until asked to stop.
pub(super) async fn run(client: &Client, format: Format, args: &MountArgs) -> Result<(), Failure> {
    if args.detached {
        background::leave()?;
    }
    let done = mounted(client, format, args).await;
    if let (true, Err(failure)) = (args.detached, &done) {
        background::tell_failure(failure);
    }
    done
}

async fn mounted(client: &Client, format: Format, args: &MountArgs) -> Result<(), Failure> {
    // Before the start, so that a signal during it is not lost.
    let mut signals = Signals::catch()?;
    let place = prepare(&args.dir)?;
    let acting = Acting::start(client, args.session.as_deref(), "loci mount").await?;
    let done = serve(client, &acting, format, args, &place, &mut signals).await;
    acting.end().await;
    done
}

/// The place in full, made if need be. A mount of ours that nobody serves any more is cleared when the
/// new one begins; one that lives is not covered.
fn prepare(dir: &Path) -> Result<PathBuf, Failure> {
    let cannot =
        |error| Failure::io(format_args!("cannot use {} as a mount point", dir.display()), &error);
    let place = match loci_mount::full(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            std::fs::create_dir_all(dir).map_err(cannot)?;
            loci_mount::full(dir).map_err(cannot)?
        }
        found => found.map_err(cannot)?,
    };
    let mounted = loci_mount::mounted().map_err(cannot)?;
    if std::fs::metadata(&place).is_ok() && mounted.iter().any(|one| one.directory == place) {
        return Err(Failure::failed(format!(
            "a store is mounted at {} already; `loci umount` ends that",
            place.display()
        )));
    }
    Ok(place)
}

/// Serves the mount until its end, however it comes.
async fn serve(
    asking: &Client,
    acting: &Acting,
    format: Format,
    args: &MountArgs,
    place: &Path,
    signals: &mut Signals,
) -> Result<(), Failure> {
    let (mount, shown) = tokio::select! {
        begun = begin(asking, acting, args, place) => begun?,
        _ = signals.next() => return Ok(()),
    };
    match args.detached {
        true => background::tell_ready(&shown.to_string())?,
        false => format.show(&shown, || line(&shown))?,
    }
    tokio::select! {
        _ = signals.next() => {}
        () = mount.ended() => {}
    }
    let unsaved = mount.stop().await;
    if let Some(Err(error)) = LastWord::own().map(|word| word.leave(&unsaved)) {
        tracing::warn!(%error, "cannot leave word of what was not saved");
    }
    for Unsaved { path, why } in &unsaved {
        say(&lost(path, why));
    }
    all_saved(unsaved.len())
}

/// What is said of a file that is gone.
fn lost(path: &str, why: &str) -> String {
    format!("{} was never saved and is gone: {}", plain(path), plain(why))
}

fn all_saved(unsaved: usize) -> Result<(), Failure> {
    match unsaved {
        0 => Ok(()),
        1 => Err(Failure::failed("1 file could not be saved")),
        count => Err(Failure::failed(format!("{count} files could not be saved"))),
    }
}

async fn begin(
    asking: &Client,
    acting: &Acting,
    args: &MountArgs,
    place: &Path,
) -> Result<(Mount, Value), Failure> {
    let selection = Selection {
        wanted: args.stores.iter().map(|given| Wanted::parse(given)).collect(),
        session: args.session.clone(),
        is_read_only: args.read_only,
    };
    let chosen = selection.choose(asking, acting.client()).await?;
    if args.flat && chosen.stores.len() != 1 {
        let count = chosen.stores.len();
        return Err(Failure::usage(format!("--flat shows one store, and there are {count}")));
    }
    let shown = describe(place, &chosen.stores, args.flat);
    let mut options = Options::new(place);
    options.has_all_stores = selection.is_every_store() && !args.flat;
    let port = Arc::new(HttpPort::new(acting.client(), selection, chosen, "mount"));
    options.is_flat = args.flat;
    options.is_for_others = args.allow_other;
    options.is_auto_unmounted = args.auto_unmount;
    options.keeps_refused = args.keep_refused;
    options.marks = config::state_dir().map(|state| state.join("mounts"));
    let mount = Mount::start(options, port, Arc::new(RealClock(Seams::real()))).await;
    let mount = mount.map_err(|error| Failure::failed(error.to_string()))?;
    Ok((mount, shown))
}

/// The machine's clock, for the mount.
struct RealClock(Seams);

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

fn describe(place: &Path, stores: &[StoreSeen], is_flat: bool) -> Value {
    let one = |store: &StoreSeen| {
        json!({
            "memory_store_id": store.id.to_string(),
            "name": store.name,
            "access": match store.access {
                Access::ReadOnly => "read_only",
                Access::ReadWrite => "read_write",
            },
            "directory": if is_flat { place.to_owned() } else { place.join(&store.slug) },
        })
    };
    let stores: Vec<_> = stores.iter().map(one).collect();
    json!({
        "type": "mount", "directory": place, "pid": std::process::id(), "stores": stores,
    })
}

fn line(shown: &Value) -> String {
    let stores = shown["stores"].as_array().map_or(0, Vec::len);
    let place = shown["directory"].as_str().unwrap_or_default();
    let many = if stores == 1 { "store" } else { "stores" };
    format!("loci mounted {stores} {many} at {place}")
}
