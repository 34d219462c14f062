//! A `loci` command that stays: started in the foreground, spoken to by signals, killed when dropped.

use crate::command::Loci;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take that a test waits for.
const PATIENCE: Duration = Duration::from_secs(90);

/// A command that runs.
#[derive(Debug)]
pub struct Running {
    child: Child,
    printed: Arc<Mutex<String>>,
}

impl Running {
    /// Starts a command; everything it prints is kept.
    pub fn start(loci: &Loci, args: &[&str]) -> Self {
        let mut command = loci.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let printed: Arc<Mutex<String>> = Arc::default();
        keep(child.stdout.take().expect("stdout is a pipe"), Arc::clone(&printed));
        keep(child.stderr.take().expect("stderr is a pipe"), Arc::clone(&printed));
        Self { child, printed }
    }

    /// Everything it printed so far.
    pub fn printed(&self) -> String {
        self.printed.lock().expect("no reader panicked").clone()
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has printed this.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        eventually(&format!("{text:?} in what it prints"), || self.printed().contains(text));
    }

    /// Asks it to end.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("process ids are small"));
        kill_process(pid.expect("a child has a process id"), signal).expect("the child is ours");
    }

    /// SIGTERM, and how it ended.
    #[track_caller]
    pub fn terminate(mut self) -> (ExitStatus, String) {
        self.signal(Signal::TERM);
        let status = self.wait();
        (status, self.printed())
    }

    /// Waits for its end.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().expect("our own child can be waited for") {
                return status;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("still running after {PATIENCE:?}:\n{}", self.printed());
    }

    /// SIGKILL, as a power cut would look to it; answers whether the command was still running.
    pub fn kill(mut self) -> bool {
        self.child.kill().expect("the child is ours");
        let ended = self.child.wait().expect("our own child can be waited for");
        ended.signal().is_some()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only when the process is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
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

/// Waits until something holds.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
