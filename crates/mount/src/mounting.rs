//! Beginning and ending a mount: what the kernel is told, what runs beside, and how it is taken down
//! so that no dead mount stays behind.

use crate::follow;
use crate::glue::Glue;
use crate::history::History;
use crate::marks;
use crate::node::{Looks, ROOT};
use crate::port::{Port, Refusal, StoreSeen};
use crate::settle::Unsaved;
use crate::table;
use crate::tree::Tree;
use crate::volume::{Outdated, Volume};
use fuser::{BackgroundSession, Config, INodeNo, MountOption, Notifier, SessionACL};
use loci_model::Access;
use loci_model::time::Clock;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime};
use tokio::task::JoinHandle;

/// Bytes of contents to keep at hand.
const CACHE_BYTES: usize = 64 * 1024 * 1024;
/// How long the end of a mount may wait for the server.
const LAST_PATIENCE: Duration = Duration::from_secs(8);

/// How to mount.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where: an existing directory.
    pub directory: PathBuf,
    /// Whether the only store is the mount point itself, instead of a directory in it.
    pub is_flat: bool,
    /// Whether stores that can be read later appear, and those that cannot any more go; otherwise the
    /// directories stay those of the beginning.
    pub has_all_stores: bool,
    /// Whether users other than the one who mounts may look. Otherwise what is there is its own, also
    /// by the modes of files and directories.
    pub is_for_others: bool,
    /// Whether `fusermount3` unmounts when this process dies.
    pub is_auto_unmounted: bool,
    /// Whether closing a file whose content no store takes (not text, too large) is no error. The
    /// bytes stay with the mount, marked as unsaved, as they do otherwise.
    pub keeps_refused: bool,
    /// A directory to remember in what stores do not know of files: numbers, times and modes that were
    /// set. Without one they are as path and memory tell, after each time it is mounted.
    pub marks: Option<PathBuf>,
}

impl Options {
    /// The usual way to mount at a directory.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            is_flat: false,
            has_all_stores: false,
            is_for_others: false,
            is_auto_unmounted: false,
            keeps_refused: false,
            marks: None,
        }
    }
}

/// Why there is no mount.
#[derive(Debug)]
pub enum MountError {
    /// The kernel has no FUSE, or the device is not in this container.
    NoDevice,
    /// The device is there but this user may not open it.
    DeviceDenied,
    /// The server did not give its stores.
    Server(Refusal),
    /// There is nothing to show, or more than the way of mounting allows.
    Stores(String),
    /// The directory cannot be mounted on.
    Directory(PathBuf, io::Error),
}

impl fmt::Display for MountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice => f.write_str(
                "/dev/fuse is not there: load the kernel module fuse, or give the container the \
                 device; without FUSE a directory can be kept in step with loci sync",
            ),
            Self::DeviceDenied => f.write_str(
                "/dev/fuse may not be opened by this user: mount as root, or install fuse3 for its \
                 fusermount3; without FUSE a directory can be kept in step with loci sync",
            ),
            Self::Server(refusal) => write!(f, "{}", crate::errno::reason(refusal)),
            Self::Stores(why) => f.write_str(why),
            Self::Directory(directory, error) => {
                write!(f, "cannot mount at {}: {error}", directory.display())
            }
        }
    }
}

impl std::error::Error for MountError {}

/// A running mount. Dropping it unmounts without waiting; [`Mount::stop`] is the orderly way.
pub struct Mount {
    volume: Arc<Volume>,
    session: Option<BackgroundSession>,
    beside: Vec<JoinHandle<()>>,
    directory: PathBuf,
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mount").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl Mount {
    /// Mounts the stores; what is more than a page of each is loaded behind the mount. Has to be called within a runtime of several threads, which
    /// has to live as long as the mount.
    pub async fn start(
        options: Options,
        port: Arc<dyn Port>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, MountError> {
        let directory = table::prepare(&options.directory)
            .map_err(|error| MountError::Directory(options.directory.clone(), error))?;
        check_device()?;
        let stores = port.stores().await.map_err(MountError::Server)?;
        check_stores(&stores, options.is_flat)?;
        // A store that is read-only now may be writable later, unless the mount is to write nothing.
        let is_read_only = stores.iter().all(|seen| seen.most == Access::ReadOnly);
        let looks = Looks {
            mode: if options.is_for_others { 0o644 } else { 0o600 },
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        };
        let now = crate::node::moment(clock.now());
        let mut tree = Tree::new(stores, options.is_flat, looks, SystemTime::UNIX_EPOCH);
        let mut feeds = Vec::with_capacity(tree.places.len());
        for at in 0..tree.places.len() {
            let store = tree.places[at].seen.id;
            if let Some(directory) = &options.marks {
                tree.remember(marks::load(directory, store));
            }
            let first = follow::first(port.as_ref(), store).await;
            let (page, rest) = first.map_err(MountError::Server)?;
            let last = page.entries.last().map(|(entry, _)| entry.path.as_str().to_owned());
            page.entries.into_iter().for_each(|(entry, _)| drop(tree.hear(at, entry)));
            feeds.push((page.last_seq, rest.is_some().then(|| last.unwrap_or_default()), rest));
        }
        // Directories are as new as what is in them; empty ones are new.
        let roots: Vec<_> = tree.places.iter().map(|place| place.root).chain([ROOT]).collect();
        for root in roots {
            if let Some(node) = tree.nodes.get_mut(&root)
                && node.times.written == SystemTime::UNIX_EPOCH
            {
                node.touch(now);
            }
        }
        tree.restore(None);
        for (at, (_, reached, _)) in feeds.iter_mut().enumerate() {
            if let Some(reached) = reached.take() {
                tree.begin_loading(at, reached, now);
            }
        }
        let (outdated, heard) = channel();
        let history = History::new(looks, now);
        let volume = Arc::new(Volume::new(
            port,
            clock,
            tokio::runtime::Handle::current(),
            tree,
            CACHE_BYTES,
            options.keeps_refused,
            options.marks.clone(),
            history,
            outdated,
        ));
        let session = fuser::spawn_mount(
            Glue(Arc::clone(&volume)),
            &directory,
            &config(&options, is_read_only),
        )
        .map_err(|error| MountError::Directory(directory.clone(), error))?;
        let notifier = session.notifier();
        std::thread::Builder::new()
            .name("loci-outdated".into())
            .spawn(move || tell(&heard, &notifier))
            .map_err(|error| MountError::Directory(directory.clone(), error))?;
        let mut beside = vec![
            volume.spawn(Arc::clone(&volume).keep_settling()),
            volume.spawn(Arc::clone(&volume).keep_remembering()),
        ];
        for (at, (from, _, rest)) in feeds.into_iter().enumerate() {
            if let Some(rest) = rest {
                beside.push(volume.spawn(Arc::clone(&volume).load_behind(at, rest)));
            }
            beside.push(volume.spawn(Arc::clone(&volume).follow(at, 0, from)));
        }
        if options.has_all_stores {
            beside.push(volume.spawn(Arc::clone(&volume).keep_choosing()));
        }
        Ok(Self { volume, session: Some(session), beside, directory })
    }

    /// Where it is mounted.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What is not saved now.
    pub fn unsaved(&self) -> Vec<Unsaved> {
        self.volume.unsaved()
    }

    /// Waits until somebody unmounts it from outside.
    pub async fn ended(&self) {
        let is_going = || self.session.as_ref().is_some_and(|it| !it.guard.is_finished());
        while is_going() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Saves what waits, unmounts, and says what could not be saved and is gone now. Files that are
    /// still open somewhere do not keep it from ending: they are saved as they are, and what is
    /// written to them afterwards is refused.
    pub async fn stop(mut self) -> Vec<Unsaved> {
        let until = tokio::time::Instant::now() + LAST_PATIENCE;
        // While programs can still see what becomes of it.
        let settled = tokio::time::timeout_at(until, self.volume.settle_all()).await;
        if let Some(session) = self.session.take() {
            let directory = self.directory.clone();
            let unmounted = tokio::task::spawn_blocking(move || session.umount_and_join()).await;
            if !matches!(unmounted, Ok(Ok(()))) {
                // Busy: it goes when the last one who uses it does.
                let detached = table::detach(&directory);
                if let Err(error) = detached {
                    tracing::warn!(directory = %directory.display(), %error, "cannot unmount");
                }
            }
        }
        self.volume.end();
        // And what was written until then.
        let last = tokio::time::timeout_at(until, self.volume.settle_all()).await;
        if settled.is_err() || last.is_err() {
            tracing::warn!("the server did not take what was still to be saved");
        }
        for task in &self.beside {
            task.abort();
        }
        let volume = Arc::clone(&self.volume);
        // What it could not write down it has said.
        let _ = tokio::task::spawn_blocking(move || volume.keep_marks()).await;
        let unsaved = self.volume.unsaved();
        for one in &unsaved {
            tracing::warn!(path = one.path, why = one.why, "was never saved and is gone");
        }
        unsaved
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        for task in &self.beside {
            task.abort();
        }
        if self.session.take().is_some() {
            // Whatever it says: there is nobody left to tell.
            let _ = table::detach(&self.directory);
        }
    }
}

fn check_device() -> Result<(), MountError> {
    match std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse") {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(MountError::DeviceDenied)
        }
        Err(_) => Err(MountError::NoDevice),
    }
}

fn check_stores(stores: &[StoreSeen], is_flat: bool) -> Result<(), MountError> {
    if stores.is_empty() {
        return Err(MountError::Stores("there is no store to mount".into()));
    }
    if is_flat && stores.len() > 1 {
        let why = format!("{} stores cannot share one directory, only one can", stores.len());
        return Err(MountError::Stores(why));
    }
    for (at, seen) in stores.iter().enumerate() {
        if stores[..at].iter().any(|other| other.slug == seen.slug) {
            return Err(MountError::Stores(format!("two stores have the directory {}", seen.slug)));
        }
    }
    Ok(())
}

fn config(options: &Options, is_read_only: bool) -> Config {
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName(table::own_source()),
        MountOption::Subtype(table::SOURCE.into()),
        MountOption::DefaultPermissions,
        MountOption::NoAtime,
        MountOption::NoSuid,
        MountOption::NoDev,
        if is_read_only { MountOption::RO } else { MountOption::RW },
    ];
    if options.is_auto_unmounted {
        config.mount_options.push(MountOption::AutoUnmount);
    }
    config.acl = match (options.is_for_others, options.is_auto_unmounted) {
        (true, _) => SessionACL::All,
        // `fusermount3` unmounts as root, and needs to get in.
        (false, true) => SessionACL::RootAndOwner,
        (false, false) => SessionACL::Owner,
    };
    let threads = std::thread::available_parallelism().map_or(2, |it| it.get().clamp(2, 4));
    config.n_threads = Some(threads);
    config.clone_fd = true;
    config
}

/// Tells the kernel what is outdated. A thread of its own: the kernel may be waiting for an answer
/// to something else before it listens.
fn tell(heard: &Receiver<Outdated>, notifier: &Notifier) {
    for what in heard {
        let told = match what {
            Outdated::Node(ino) => notifier.inval_inode(INodeNo(ino), 0, 0),
            Outdated::Attributes(ino) => notifier.inval_inode(INodeNo(ino), -1, 0),
            Outdated::Name(parent, name) => {
                notifier.inval_entry(INodeNo(parent), OsStr::new(&*name))
            }
        };
        if let Err(error) = told {
            tracing::debug!(%error, "the kernel did not take it");
        }
    }
}
