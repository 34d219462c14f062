//! Runs the `loci` command line and keeps what it answered.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use serde_json::Value;

use crate::server::{OWN_VARIABLES, binary};

/// A command that takes longer hangs.
const HANGS_AFTER: Duration = Duration::from_secs(600);

/// A way to call `loci`: against a data directory, a database or a server.
#[derive(Clone, Debug, Default)]
pub struct Loci {
    options: Vec<String>,
    env: Vec<(String, String)>,
}

/// How a call ended.
#[derive(Clone, Debug)]
pub struct Finished {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Loci {
    /// On a data directory, whoever holds it.
    pub fn on_data(data: &Path) -> Self {
        let data = data.to_str().expect("temporary folders have plain names").to_owned();
        Self { options: vec!["--data".to_owned(), data], env: Vec::new() }
    }

    /// On a database, by environment.
    pub fn on_database(url: &str) -> Self {
        let env = vec![("LOCI_DATABASE".to_owned(), url.to_owned())];
        Self { options: Vec::new(), env }
    }

    /// On a server, by options.
    pub fn on_url(url: &str, key: &str) -> Self {
        let options = ["--url", url, "--key", key].map(str::to_owned).to_vec();
        Self { options, env: Vec::new() }
    }

    /// On a server, by environment.
    pub fn on_env(url: &str, key: &str) -> Self {
        let env = [("LOCI_URL", url), ("LOCI_KEY", key)];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self { options: Vec::new(), env }
    }

    /// The same with one more environment variable.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs a command with nothing on its standard input.
    #[track_caller]
    pub fn run(&self, args: &[&str]) -> Finished {
        self.run_with_input(args, b"")
    }

    /// Runs a command and gives it these bytes to read.
    #[track_caller]
    pub fn run_with_input(&self, args: &[&str], input: &[u8]) -> Finished {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let mut stdin = child.stdin.take().expect("stdin is a pipe");
        let input = input.to_vec();
        let feed = thread::spawn(move || {
            // A command that does not read its input closes the pipe; that is its right.
            let _ = stdin.write_all(&input);
        });
        let pid = Pid::from_child(&child);
        let (ended, is_running) = mpsc::channel::<()>();
        let guard = thread::spawn(move || {
            let hangs = is_running.recv_timeout(HANGS_AFTER) == Err(RecvTimeoutError::Timeout);
            if hangs {
                let _ = kill_process(pid, Signal::KILL);
            }
            hangs
        });
        let output = child.wait_with_output().expect("our own child can be waited for");
        drop(ended);
        let hangs = guard.join().expect("waiting does not panic");
        assert!(!hangs, "{args:?} was not over after {HANGS_AFTER:?}");
        feed.join().expect("feeding does not panic");
        Finished {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        for name in OWN_VARIABLES {
            command.env_remove(name);
        }
        // What a mount remembers of files is not for the home of whoever runs the tests.
        command.env("XDG_STATE_HOME", std::env::temp_dir().join("loci-test-state"));
        command.args(args).args(&self.options).envs(self.env.iter().cloned());
        command
    }

    /// Runs a command as a person at a terminal does; its exit code and what the terminal got.
    pub fn run_on_terminal(&self, args: &[&str]) -> (Option<i32>, String) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).expect("the system has terminals");
        unlockpt(&ours).expect("a new terminal is ours");
        let name = ptsname(&ours, Vec::new()).expect("a terminal has a name");
        let name = name.into_string().expect("a terminal's name is plain");
        let theirs = File::options().read(true).write(true).open(name).expect("it can be opened");
        let twin = || Stdio::from(theirs.try_clone().expect("a file can be shared"));
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(twin()).stderr(twin());
        let mut child = command.spawn().expect("the binary can be started");
        // Once the child is gone nobody holds the other side, and reading ends.
        drop(command);
        drop(theirs);
        let mut shown = Vec::new();
        let mut ours = File::from(ours);
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = ours.read(&mut piece) {
            shown.extend_from_slice(&piece[..count]);
        }
        let ended = child.wait().expect("our own child can be waited for");
        (ended.code(), String::from_utf8_lossy(&shown).into_owned())
    }

    /// Runs a command that must succeed; its standard output.
    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> Vec<u8> {
        self.run(args).expect_code(0, args).stdout
    }

    /// Runs a command with `--json` that must succeed; its output as JSON.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let stdout = self.ok(&[args, &["--json"]].concat());
        serde_json::from_slice(&stdout).unwrap_or_else(|error| {
            panic!("{args:?} --json: {error}: {}", String::from_utf8_lossy(&stdout))
        })
    }
}

impl Finished {
    /// The same, if the exit code is the expected one.
    #[track_caller]
    #[must_use]
    pub fn expect_code(self, code: i32, args: &[&str]) -> Self {
        let out = String::from_utf8_lossy(&self.stdout);
        let (found, err) = (self.code, &self.stderr);
        assert_eq!(found, Some(code), "loci {}\n-- out\n{out}\n-- err\n{err}", args.join(" "));
        self
    }
}
