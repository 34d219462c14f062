//! One `loci mount` process: a store as a directory, unmounted when dropped.
//!
//! A test that ends early must not leave a mount behind, which would hang whoever cleans up: what
//! does not end on a signal is killed and the directory detached.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::command::Loci;

const PATIENCE: Duration = Duration::from_secs(90);
const TICK: Duration = Duration::from_millis(5);

/// A mount in the foreground of a process of its own.
#[derive(Debug)]
pub struct Mounted {
    child: Child,
    at: PathBuf,
    printed: Arc<Mutex<String>>,
}

impl Mounted {
    /// Mounts at a directory, which is made; waits until it is there.
    #[track_caller]
    pub fn start(loci: &Loci, at: &Path, options: &[&str]) -> Self {
        fs::create_dir_all(at).expect("a mount point can be made");
        let point = at.to_str().expect("temporary folders have plain names");
        let mut command = loci.command(&[&["mount", point, "--foreground"], options].concat());
        // What is remembered of files stays with the test.
        command.env("XDG_STATE_HOME", at.with_file_name("state"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let printed = Arc::default();
        keep(child.stdout.take().expect("stdout is a pipe"), Arc::clone(&printed));
        keep(child.stderr.take().expect("stderr is a pipe"), Arc::clone(&printed));
        let mut mounted = Self { child, at: at.to_owned(), printed };
        let began = Instant::now();
        while !is_mounted(at) {
            let ended = mounted.child.try_wait().expect("our own child can be waited for");
            assert!(ended.is_none(), "the mount ended with {ended:?}: {}", mounted.printed());
            assert!(began.elapsed() < PATIENCE, "not mounted: {}", mounted.printed());
            thread::sleep(TICK);
        }
        mounted
    }

    pub fn at(&self) -> &Path {
        &self.at
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What the process said so far.
    pub fn printed(&self) -> String {
        self.printed.lock().expect("no reader panicked").clone()
    }

    /// Ends it as an operator would, and insists that it went well.
    #[track_caller]
    pub fn stop(mut self) {
        let ended = self.end();
        assert!(ended.is_some_and(|status| status.success()), "{ended:?}: {}", self.printed());
        assert!(!is_mounted(&self.at), "still mounted");
    }

    /// Ends it as the machine would, in the middle of whatever it does; the place is dead then.
    pub fn kill(mut self) {
        self.child.kill().expect("our own child can be killed");
        self.child.wait().expect("our own child can be waited for");
    }

    /// SIGTERM, and how the process ended if it did in time.
    fn end(&mut self) -> Option<ExitStatus> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // Fails only when the process is gone already.
        let _ = kill_process(pid.expect("a child has a process id"), Signal::TERM);
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            thread::sleep(TICK);
        }
        None
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) && self.end().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        if is_mounted(&self.at) {
            let _ = Command::new("umount").arg("--lazy").arg(&self.at).status();
        }
    }
}

/// Whether something is mounted there, dead or alive.
fn is_mounted(at: &Path) -> bool {
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev());
    match (device(at), at.parent().map(device)) {
        (Ok(own), Some(Ok(above))) => own != above,
        // A mount whose process is gone cannot be asked anything.
        (Err(error), _) => error.kind() != std::io::ErrorKind::NotFound,
        _ => false,
    }
}

fn keep(stream: impl Read + Send + 'static, printed: Arc<Mutex<String>>) {
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut printed = printed.lock().expect("no reader panicked");
            printed.push_str(&line);
            printed.push('\n');
        }
    });
}
