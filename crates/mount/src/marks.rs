//! What this machine remembers of files beyond what the server knows of memories: the number of a file
//! that was renamed, times and modes that somebody set. So a mount looks as the one before it did.
//!
//! One small file for each store, without paths or contents: an entry is found by the number that its
//! path gives. Times count only while the memory is the version they were seen with, those of a
//! directory while nothing newer is in it. Who loses the file loses nothing else.

use crate::access::State;
use crate::node::{Body, Ino, Looks, Node, ROOT, Times};
use crate::tree::Tree;
use crate::volume::Volume;
use foldhash::HashMap;
use loci_model::{StoreId, Timestamp, VersionId};
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The first line of such a file.
const HEADER: &str = "loci mount marks 1";
/// Bytes of it that are read: a line takes some 150.
const BYTES_MAX: u64 = 128 * 1024 * 1024;

/// How long nothing has to change before it is written while the mount lives.
const QUIET: Duration = Duration::from_secs(1);
/// How long it may stay unwritten if something changes all the time: to look at every file takes a
/// moment in which nobody gets an answer.
const LATE: Duration = Duration::from_secs(60);

/// What the times were seen with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A file as this version.
    Version(VersionId),
    /// A directory with nothing newer in it.
    Newest(Option<Timestamp>),
}

/// What is remembered of one file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) ino: Ino,
    pub(crate) looks: Looks,
    pub(crate) times: Times,
    pub(crate) seen: Seen,
}

/// By the numbers that the paths give.
pub(crate) type Marks = HashMap<Ino, Mark>;

/// Nanoseconds since 1970, before it if negative.
struct Nanos(SystemTime);

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => write!(f, "{}", since.as_nanos()),
            Err(before) => write!(f, "-{}", before.duration().as_nanos()),
        }
    }
}

impl FromStr for Nanos {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (is_before, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let nanos: u128 = digits.parse().map_err(drop)?;
        let secs = u64::try_from(nanos / 1_000_000_000).map_err(drop)?;
        let span = Duration::new(secs, (nanos % 1_000_000_000) as u32);
        let epoch = SystemTime::UNIX_EPOCH;
        let at = if is_before { epoch.checked_sub(span) } else { epoch.checked_add(span) };
        at.map(Self).ok_or(())
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ino, looks, times, seen } = self;
        write!(f, "{ino} {:o} {} {} ", looks.mode, looks.uid, looks.gid)?;
        write!(f, "{} {} ", Nanos(times.read), Nanos(times.written))?;
        let set = u8::from(times.is_written_set) | u8::from(times.is_read_set) << 1;
        write!(f, "{} {set} ", Nanos(times.changed))?;
        match seen {
            Seen::Version(version) => write!(f, "{version}"),
            Seen::Newest(Some(at)) => write!(f, "{}", at.as_micros()),
            Seen::Newest(None) => f.write_str("-"),
        }
    }
}

/// One line: whose it is, and the mark.
fn parse(line: &str) -> Option<(Ino, Mark)> {
    let mut words = line.split(' ');
    let key = words.next()?.parse().ok()?;
    let ino = words.next()?.parse().ok()?;
    let mode = u16::from_str_radix(words.next()?, 8).ok().filter(|mode| *mode <= 0o7777)?;
    let (uid, gid) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let mut time = || words.next()?.parse::<Nanos>().ok().map(|it| it.0);
    let (read, written, changed) = (time()?, time()?, time()?);
    // The second bit is newer than the format; whoever does not know it reads a time that moves.
    let set: u8 = words.next()?.parse().ok()?;
    let (is_written_set, is_read_set) = (set & 1 != 0, set & 2 != 0);
    let seen = match words.next()? {
        "-" => Seen::Newest(None),
        word => match word.parse() {
            Ok(micros) => Seen::Newest(Some(Timestamp::from_micros(micros))),
            Err(_) => Seen::Version(word.parse().ok()?),
        },
    };
    let times = Times { read, written, changed, is_written_set, is_read_set };
    let mark = Mark { ino, looks: Looks { mode, uid, gid }, times, seen };
    words.next().is_none().then_some((key, mark))
}

fn file_of(directory: &Path, store: StoreId) -> PathBuf {
    directory.join(store.to_string())
}

/// What is remembered of a store; nothing if that cannot be read.
pub(crate) fn load(directory: &Path, store: StoreId) -> Marks {
    let path = file_of(directory, store);
    let read = File::open(&path).and_then(|file| {
        let mut text = String::new();
        file.take(BYTES_MAX).read_to_string(&mut text)?;
        let mut lines = text.lines();
        let is_ours = lines.next() == Some(HEADER);
        let marks = is_ours.then(|| lines.map(parse).collect::<Option<Marks>>()).flatten();
        marks.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "is not what it should be"))
    });
    match read {
        Ok(marks) => marks,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Marks::default(),
        Err(error) => {
            let path = path.display();
            tracing::warn!(%path, %error, "numbers and times of files are not remembered");
            Marks::default()
        }
    }
}

/// Remembers this of a store, in place of what was. One at a time in this process: the end of a mount
/// may come while a quiet moment is being used.
pub(crate) fn save(directory: &Path, store: StoreId, marks: &Marks) -> io::Result<()> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let path = file_of(directory, store);
    // Another process may save at the same moment.
    let next = path.with_extension(std::process::id().to_string());
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(&next)?;
    let mut file = BufWriter::new(file);
    writeln!(file, "{HEADER}")?;
    for (key, mark) in marks {
        writeln!(file, "{key} {mark}")?;
    }
    file.into_inner()?;
    fs::rename(&next, &path)
}

impl Tree {
    /// Takes up what is remembered, before anything is shown.
    pub(crate) fn remember(&mut self, marks: Marks) {
        self.claimed.extend(marks.iter().filter(|(key, it)| it.ino != **key).map(|it| it.1.ino));
        self.marks.extend(marks);
    }

    /// When the newest memory below each directory was written.
    fn newest_below(&self) -> HashMap<Ino, Timestamp> {
        let mut newest: HashMap<Ino, Timestamp> = HashMap::default();
        for node in self.nodes.values().filter(|node| node.is_linked) {
            let Some(saved) = node.file().ok().and_then(|file| file.saved.as_ref()) else {
                continue;
            };
            let mut at = node.parent;
            while let Some(above) = self.nodes.get(&at) {
                let known = newest.entry(at).or_insert(saved.updated_at);
                *known = (*known).max(saved.updated_at);
                if above.parent == at {
                    break;
                }
                at = above.parent;
            }
        }
        newest
    }

    /// Gives a directory that comes while its store is loaded the looks that are remembered of it.
    pub(crate) fn restore_looks(&mut self, store: usize, ino: Ino) {
        if !self.is_loading(store) || self.marks.is_empty() {
            return;
        }
        let mark = self.marks.get(&self.key(ino)).copied();
        if let Some(mark) = mark.filter(|mark| matches!(mark.seen, Seen::Newest(_)))
            && let Ok(node) = self.get_mut(ino)
        {
            node.looks = mark.looks;
        }
    }

    /// Gives a file that comes while its store is loaded the looks and times that are remembered of it.
    pub(crate) fn restore_file(&mut self, store: usize, ino: Ino) {
        if !self.is_loading(store) || self.marks.is_empty() {
            return;
        }
        let mark = self.marks.get(&self.key(ino)).copied();
        let Some(Mark { looks, times, seen: Seen::Version(version), .. }) = mark else { return };
        let Ok(node) = self.get_mut(ino) else { return };
        node.looks = looks;
        let saved = node.file().ok().and_then(|file| file.saved.as_ref());
        if saved.is_some_and(|saved| saved.version == version) {
            node.times = times;
        }
    }

    /// Gives the directories of a store that is loaded now the times that are remembered of them,
    /// unless they were changed here since.
    pub(crate) fn restore_directories(&mut self, store: usize, since: SystemTime) {
        if self.marks.is_empty() {
            return;
        }
        let newest = self.newest_below();
        let is_wanted = |node: &&Node| {
            let is_whole = node.store == store && !self.is_above_stores(node.ino);
            is_whole && node.is_directory() && node.times.changed < since
        };
        let known: Vec<Ino> = self.nodes.values().filter(is_wanted).map(|node| node.ino).collect();
        for ino in known {
            let Some(mark) = self.marks.get(&self.key(ino)).copied() else { continue };
            if mark.seen == Seen::Newest(newest.get(&ino).copied())
                && let Ok(node) = self.get_mut(ino)
            {
                node.times = mark.times;
            }
        }
    }

    /// Gives everything that was loaded, of one store or of all, the looks and times that are remembered of it.
    pub(crate) fn restore(&mut self, only: Option<usize>) {
        if self.marks.is_empty() {
            return;
        }
        let newest = self.newest_below();
        let is_wanted = |node: &&Node| {
            !self.is_above_stores(node.ino) && only.is_none_or(|only| node.store == only)
        };
        let known: Vec<Ino> = self.nodes.values().filter(is_wanted).map(|node| node.ino).collect();
        for ino in known {
            let Some(mark) = self.marks.get(&self.key(ino)).copied() else { continue };
            let Ok(node) = self.get_mut(ino) else { continue };
            let is_seen = match (&node.body, mark.seen) {
                (Body::File(file), Seen::Version(version)) => {
                    file.saved.as_ref().is_some_and(|saved| saved.version == version)
                }
                (Body::Directory(_), Seen::Newest(at)) => newest.get(&ino).copied() == at,
                // Another sort of thing has the path now.
                (Body::File(_), Seen::Newest(_)) | (Body::Directory(_), Seen::Version(_)) => {
                    continue;
                }
            };
            node.looks = mark.looks;
            if is_seen {
                node.times = mark.times;
            }
        }
        // The root above several stores is as new as the newest of them.
        let roots = self.places.iter().filter_map(|place| self.nodes.get(&place.root));
        let times = roots.map(|node| node.times).max_by_key(|times| times.written);
        if let Some(times) = times.filter(|_| self.is_above_stores(ROOT))
            && let Ok(root) = self.get_mut(ROOT)
        {
            root.times = times;
        }
    }

    /// What is to be remembered of a store: whatever path and memory do not tell, and what another
    /// mount remembered meanwhile of what is plain here.
    fn marks_of(&self, store: usize, others: &Marks) -> Marks {
        let newest = self.newest_below();
        let mut marks = Marks::default();
        for node in self.nodes.values().filter(|node| node.is_linked && node.store == store) {
            if self.is_above_stores(node.ino) {
                continue;
            }
            let key = self.key(node.ino);
            // A root has no number that could be another's.
            let ino = if self.places[store].root == node.ino { key } else { node.ino };
            let (seen, plain) = match &node.body {
                Body::Directory(_) => (Seen::Newest(newest.get(&node.ino).copied()), None),
                Body::File(file) => match &file.saved {
                    Some(saved) if !file.is_dirty && !file.is_parked => {
                        let times = Times::all(crate::node::moment(saved.updated_at));
                        (Seen::Version(saved.version), Some((key, self.plain_looks(), times)))
                    }
                    Some(_) | None => continue,
                },
            };
            let mark = Mark { ino, looks: node.looks, times: node.times, seen };
            if plain != Some((ino, node.looks, node.times)) {
                marks.insert(key, mark);
            } else if let Some(other) = others.get(&key).filter(|other| other.seen == seen) {
                marks.insert(key, *other);
            }
        }
        marks
    }
}

impl Volume {
    /// Writes down what is to be remembered, if anything has changed since the last time. Reads and
    /// writes files: not for a thread that others wait for.
    pub(crate) fn keep_marks(&self) {
        let Some(directory) = &self.marks else { return };
        let changes = self.tree().changes;
        if self.changes_kept.swap(changes, Ordering::Relaxed) == changes {
            return;
        }
        let count = self.tree().places.len();
        for at in 0..count {
            let store = self.stores[at];
            let others = load(directory, store);
            let marks = {
                let tree = self.tree();
                // Of what is not here, or not yet, others remember.
                if tree.places[at].state == State::Gone || tree.is_loading(at) {
                    continue;
                }
                tree.marks_of(at, &others)
            };
            if marks == others {
                continue;
            }
            if let Err(error) = save(directory, store, &marks) {
                let directory = directory.display();
                tracing::warn!(%directory, %error, "numbers and times of files are not remembered");
            }
        }
    }

    /// Writes it down in quiet moments, for as long as the mount lives: it may be killed, or unmounted
    /// and mounted again before this process has noticed.
    pub(crate) async fn keep_remembering(self: Arc<Self>) {
        let (mut seen, mut kept) = (self.tree().changes, Instant::now());
        loop {
            tokio::time::sleep(QUIET).await;
            let changes = self.tree().changes;
            let is_quiet = std::mem::replace(&mut seen, changes) == changes;
            if !is_quiet && kept.elapsed() < LATE {
                continue;
            }
            kept = Instant::now();
            let volume = Arc::clone(&self);
            if tokio::task::spawn_blocking(move || volume.keep_marks()).await.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(seen: Seen, written: SystemTime) -> Mark {
        let times = Times { written, is_written_set: true, ..Times::all(SystemTime::UNIX_EPOCH) };
        Mark { ino: 77, looks: Looks { mode: 0o1755, uid: 5, gid: 6 }, times, seen }
    }

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("not/there/yet");
        let store = StoreId::from_u128(1);
        assert!(load(&below, store).is_empty());
        let early = SystemTime::UNIX_EPOCH - Duration::new(5, 7);
        let late = SystemTime::UNIX_EPOCH + Duration::new(9_000_000_000, 999_999_999);
        let marks = Marks::from_iter([
            (1, mark(Seen::Version(VersionId::from_u128(9)), early)),
            (2, mark(Seen::Newest(Some(Timestamp::from_micros(-3))), late)),
            (u64::MAX, mark(Seen::Newest(None), SystemTime::UNIX_EPOCH)),
        ]);
        save(&below, store, &marks).unwrap();
        assert_eq!(load(&below, store), marks);
        assert!(load(&below, StoreId::from_u128(2)).is_empty());
        assert_eq!(fs::read_dir(&below).unwrap().count(), 1);
    }

    #[test]
    fn whoever_saves_at_the_same_moment_leaves_a_whole_file() {
        let directory = tempfile::tempdir().unwrap();
        let store = StoreId::from_u128(1);
        let marks = |count: u64| {
            let mark = mark(Seen::Newest(None), SystemTime::UNIX_EPOCH);
            Marks::from_iter((0..count).map(|key| (key, mark)))
        };
        std::thread::scope(|scope| {
            for writer in 1..=4 {
                let at = directory.path();
                scope.spawn(move || {
                    for turn in 0..20 {
                        save(at, store, &marks(writer * 500 + turn)).unwrap();
                        assert!(load(at, store).len() >= 500);
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_not_ours_is_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let store = StoreId::from_u128(1);
        let good = format!("1 {}", mark(Seen::Newest(None), SystemTime::UNIX_EPOCH));
        assert!(parse(&good).is_some());
        for text in
            ["", "other", &good, &format!("{HEADER}\n{good} more"), &format!("{HEADER}\n1 2 3")]
        {
            fs::write(file_of(directory.path(), store), text).unwrap();
            assert!(load(directory.path(), store).is_empty(), "{text}");
        }
        fs::write(file_of(directory.path(), store), format!("{HEADER}\n{good}\n")).unwrap();
        assert_eq!(load(directory.path(), store).len(), 1);
    }
}
