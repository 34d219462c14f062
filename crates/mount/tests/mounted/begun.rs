//! A mount for a test: two stores in memory, the first of which may be written, taken down when the
//! test is over.

use loci_model::time::Clock;
use loci_model::{Access, Timestamp};
use loci_mount::{Mount, Options, Unsaved};
use loci_mount_memory::MemoryPort;
use loci_test_kit::budget;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// How long to wait for what has to come, where times do not count.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The machine's clock.
pub(crate) struct Now;

impl Clock for Now {
    #[expect(clippy::disallowed_methods, reason = "a test has no other clock")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap())
    }
}

/// A mount that is running.
pub(crate) struct Begun {
    pub(crate) port: Arc<MemoryPort>,
    runtime: Runtime,
    mount: Option<Mount>,
    directory: TempDir,
    marks: TempDir,
}

impl Begun {
    pub(crate) fn new() -> Self {
        Self::with(&[("notes", Access::ReadWrite), ("fixed", Access::ReadOnly)], |_| ())
    }

    pub(crate) fn with(stores: &[(&str, Access)], adjust: impl Fn(&mut Options)) -> Self {
        let port = Arc::new(MemoryPort::new(Arc::new(Now), stores));
        Self::over(port, adjust)
    }

    pub(crate) fn over(port: Arc<MemoryPort>, adjust: impl Fn(&mut Options)) -> Self {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
        let (directory, marks) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut begun = Self { port, runtime, mount: None, directory, marks };
        begun.begin(adjust);
        begun
    }

    fn begin(&mut self, adjust: impl Fn(&mut Options)) {
        let mut options = Options::new(self.directory.path());
        options.marks = Some(self.marks.path().to_owned());
        adjust(&mut options);
        let start = Mount::start(options, self.port.clone(), Arc::new(Now));
        self.mount = Some(self.runtime.block_on(start).unwrap());
    }

    /// Unmounts and mounts again; gives what was not saved.
    pub(crate) fn again(&mut self) -> Vec<Unsaved> {
        let unsaved = self.end();
        self.begin(|_| ());
        unsaved
    }

    pub(crate) fn end(&mut self) -> Vec<Unsaved> {
        match self.mount.take() {
            Some(mount) => self.runtime.block_on(mount.stop()),
            None => Vec::new(),
        }
    }

    /// What is not saved now.
    pub(crate) fn unsaved(&self) -> Vec<Unsaved> {
        self.mount.as_ref().map_or(Vec::new(), Mount::unsaved)
    }

    /// Waits until the mount has heard of everything that was written to the first store.
    pub(crate) fn hear(&self) {
        within(PATIENCE, "hearing of it", || self.port.is_followed(0));
    }

    /// The mount point.
    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    /// A path in the store that may be written.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join("notes").join(path)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.end();
    }
}

/// Waits until something holds; fails if it does not within its time.
pub(crate) fn within(limit: Duration, what: &str, holds: impl Fn() -> bool) {
    let (begun, limit) = (Instant::now(), budget(limit));
    while !holds() {
        assert!(begun.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The error number of something that has to fail.
pub(crate) fn code<T: std::fmt::Debug>(result: std::io::Result<T>) -> i32 {
    result.unwrap_err().raw_os_error().unwrap()
}

/// A script in the store's directory, not waited for; what it prints can be asked for.
pub(crate) fn try_shell(begun: &Begun, script: &str) -> Child {
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", script]).current_dir(begun.at(""));
    command.env("LC_ALL", "C").env("HOME", begun.root().parent().unwrap());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Runs a script in the store's directory, which must succeed; what it printed.
pub(crate) fn shell(begun: &Begun, script: &str) -> String {
    let output = try_shell(begun, script).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{script}\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// An extended attribute.
pub(crate) fn attribute(path: &Path, name: &str) -> Option<String> {
    let mut value = [0; 300];
    let length = rustix::fs::getxattr(path, name, &mut value[..]).ok()?;
    Some(String::from_utf8_lossy(&value[..length]).into_owned())
}
