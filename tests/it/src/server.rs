//! One `loci serve` process: started on a free port, killed when dropped.
//!
//! A [`Setup`] outlives the process and can start it again on the same data directory or database,
//! which is what crash and upgrade tests are about. Everything the process printed is kept.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use tempfile::TempDir;

use crate::client::Client;

/// The admin key of servers started with [`Setup::new`].
pub const ADMIN_KEY: &str = "it-admin-key-3f1c9a7be2d84c06";

/// What the surroundings may say about a server, and a test must not depend on.
pub(crate) const OWN_VARIABLES: [&str; 8] = [
    "LOCI_ADMIN_KEY",
    "LOCI_DATA",
    "LOCI_DATABASE",
    "LOCI_DATABASE_TIMEOUT_MS",
    "LOCI_URL",
    "LOCI_KEY",
    "LOCI_KILROY_TOKEN",
    "LOCI_ALLOWED_HOSTS",
];

const START_TIMEOUT: Duration = Duration::from_secs(90);
const READY: &str = "loci listening on http://";

/// The built binary: `LOCI_BIN`, or `loci` beside the folder this test runs from.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("LOCI_BIN") {
        return PathBuf::from(path);
    }
    let test = std::env::current_exe().expect("a running program has a path");
    let profile = test.parent().and_then(Path::parent).expect("tests run from target/<p>/deps");
    let target = profile.parent().expect("a profile folder lies in the target folder");
    let places = [profile.join("loci"), target.join("debug/loci"), target.join("release/loci")];
    let found = places.into_iter().find(|path| path.is_file());
    found.expect("no loci binary: run `cargo build --package loci` first, or set LOCI_BIN")
}

/// How to start a server, and where it keeps its data.
#[derive(Debug)]
pub struct Setup {
    folder: TempDir,
    data: PathBuf,
    /// Instead of the data directory.
    database: Option<String>,
    admin_key: Option<String>,
    listen: String,
    has_config: bool,
    /// The soft and the hard limit of open files, if the test sets them.
    open_files: Option<(u32, u32)>,
    env: Vec<(String, String)>,
    printed: Arc<Mutex<String>>,
}

impl Setup {
    /// A fresh data directory and the usual admin key.
    pub fn new() -> Self {
        let folder = TempDir::with_prefix("loci-it-").expect("a temporary folder can be made");
        let data = folder.path().join("data");
        let admin_key = Some(ADMIN_KEY.to_owned());
        let listen = "127.0.0.1:0".to_owned();
        let (env, printed) = (Vec::new(), Arc::default());
        let (database, has_config, open_files) = (None, false, None);
        Self { folder, data, database, admin_key, listen, has_config, open_files, env, printed }
    }

    /// A PostgreSQL database instead of a data directory, by its URL.
    #[must_use]
    pub fn on_database(mut self, url: &str) -> Self {
        self.database = Some(url.to_owned());
        self
    }

    /// Another data directory, for example on a small file system.
    #[must_use]
    pub fn data_at(mut self, path: &Path) -> Self {
        self.data = path.to_owned();
        self
    }

    /// This admin key, or none so that the server has to make one.
    #[must_use]
    pub fn admin_key(mut self, key: Option<&str>) -> Self {
        self.admin_key = key.map(str::to_owned);
        self
    }

    /// Another address to listen on.
    #[must_use]
    pub fn listen(mut self, address: &str) -> Self {
        address.clone_into(&mut self.listen);
        self
    }

    /// A configuration file with this text.
    #[must_use]
    pub fn config(mut self, toml: &str) -> Self {
        std::fs::write(self.config_path(), toml).expect("the temporary folder can be written");
        self.has_config = true;
        self
    }

    /// These limits of open files, the soft and the hard one, instead of what this machine allows.
    #[must_use]
    pub fn open_files(mut self, soft: u32, hard: u32) -> Self {
        self.open_files = Some((soft, hard));
        self
    }

    /// One more environment variable for the server.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Where the configuration file is, if there is one.
    pub fn config_path(&self) -> PathBuf {
        self.folder.path().join("loci.toml")
    }

    /// The data directory.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// A folder for the test's own files, beside the data directory.
    pub fn scratch(&self) -> &Path {
        self.folder.path()
    }

    /// Everything every server of this setup printed, on both streams.
    pub fn printed(&self) -> String {
        self.printed.lock().expect("no reader panicked").clone()
    }

    fn command(&self) -> Command {
        let mut command = match self.open_files {
            None => Command::new(binary()),
            Some((soft, hard)) => {
                let limits =
                    format!("ulimit -Sn {soft} && ulimit -Hn {hard} && exec \"$0\" \"$@\"");
                let mut shell = Command::new("sh");
                shell.args(["-c", &limits]).arg(binary());
                shell
            }
        };
        command.args(["serve", "--listen", &self.listen]);
        for name in OWN_VARIABLES {
            command.env_remove(name);
        }
        match &self.database {
            // A command line can be seen by everybody.
            Some(url) => command.env("LOCI_DATABASE", url),
            None => command.arg("--data").arg(&self.data),
        };
        if self.has_config {
            command.arg("--config").arg(self.config_path());
        }
        if let Some(key) = &self.admin_key {
            command.env("LOCI_ADMIN_KEY", key);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the server and waits until it listens.
    #[track_caller]
    pub fn start(&self) -> Server {
        match self.try_start() {
            Ok(server) => server,
            Err(status) => panic!("the server ended with {status}:\n{}", self.printed()),
        }
    }

    /// Starts the server; an error if it exits instead of listening.
    #[track_caller]
    pub fn try_start(&self) -> Result<Server, ExitStatus> {
        allow_many_connections();
        let began = Instant::now();
        let mut child = self.command().spawn().expect("the binary can be started");
        let (send, receive) = mpsc::channel();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let stderr = child.stderr.take().expect("stderr is a pipe");
        keep(stdout, Arc::clone(&self.printed), Some(send));
        let saying = keep(stderr, Arc::clone(&self.printed), None);
        match receive.recv_timeout(START_TIMEOUT) {
            Ok(line) => {
                let url = line.strip_prefix(READY).expect("only such lines are sent");
                let addr = url.trim().parse().expect("the line names an address and port");
                let key = self.admin_key.clone();
                Ok(Server { child, addr, key, ready_after: began.elapsed() })
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let ended = child.wait().expect("our own child can be waited for");
                // Its last words may still be on their way to us.
                saying.join().expect("no reader panicked");
                Err(ended)
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let ended = child.kill().and_then(|()| child.wait());
                panic!("no `{READY}…` in {START_TIMEOUT:?} ({ended:?}):\n{}", self.printed());
            }
        }
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self::new()
    }
}

/// Lifts the soft limit of open files to the hard one, for us: a test that opens a thousand connections
/// must not fail on a machine that allows 1,024 files by default. The server does so by itself.
fn allow_many_connections() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let lifted = Rlimit { current: maximum, maximum };
    setrlimit(Resource::Nofile, lifted).expect("the soft limit may be raised to the hard one");
}

/// Copies a stream into the kept text; lines that say where the server listens are also sent.
fn keep(
    stream: impl Read + Send + 'static,
    printed: Arc<Mutex<String>>,
    ready: Option<mpsc::Sender<String>>,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&line).into_owned();
            printed.lock().expect("no reader panicked").push_str(&text);
            if let Some(send) = ready.as_ref().filter(|_| text.starts_with(READY)) {
                // The start may have timed out already; then nobody waits for the line.
                let _ = send.send(text);
            }
            line.clear();
        }
    })
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    child: Child,
    addr: SocketAddr,
    key: Option<String>,
    ready_after: Duration,
}

impl Server {
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// How long the server took from the start of the process to its ready line.
    pub fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// A client with the admin key.
    pub fn client(&self) -> Client {
        Client::new(self.addr, self.key.as_deref())
    }

    /// A client with another key, or none.
    pub fn client_as(&self, key: Option<&str>) -> Client {
        Client::new(self.addr, key)
    }

    /// Sends a signal to the process.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a child has a process id"), signal).expect("the child is ours");
    }

    /// SIGKILL, as a power cut would look to the process; returns when it is gone.
    pub fn kill(mut self) {
        self.child.kill().expect("the child is ours");
        self.child.wait().expect("our own child can be waited for");
    }

    /// SIGTERM; the exit status and how long the process took to end.
    #[track_caller]
    pub fn terminate(mut self) -> (ExitStatus, Duration) {
        let began = Instant::now();
        self.signal(Signal::TERM);
        while began.elapsed() < START_TIMEOUT {
            if let Some(status) = self.child.try_wait().expect("our own child can be waited for") {
                return (status, began.elapsed());
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("the server still runs {START_TIMEOUT:?} after SIGTERM");
    }

    /// Ends the server as an operator would, and insists that it went well.
    #[track_caller]
    pub fn stop(self) {
        let (status, took) = self.terminate();
        assert!(status.success(), "the server ended with {status} after {took:?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails only when the process is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
