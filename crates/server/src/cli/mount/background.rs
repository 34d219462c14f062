//! A mount in the background: the same program once more, in a session of its own, serving the mount.
//! Whoever started it waits until the mount is there, or hears why not. Nothing is said through a file,
//! so nothing can be left behind.

use crate::exit::{Exit, Failure};
use rustix::process::setsid;
use rustix::stdio::{dup2_stderr, dup2_stdout};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// What the process in the background says when the mount is there.
const READY: &str = "ready";
/// Bytes of what it says when it is not.
const WHY_MAX: u64 = 4096;

/// Starts the process and waits for it; the line it says about the mount.
pub(super) fn start() -> Result<String, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::io("cannot find this program", &error))?;
    let mut command = Command::new(own);
    command.args(std::env::args_os().skip(1)).arg("--detached");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let cannot = |error| Failure::io("cannot start in the background", &error);
    let mut child = command.spawn().map_err(cannot)?;
    let mut out = BufReader::new(child.stdout.take().expect("it was just piped"));
    let mut line = String::new();
    out.read_line(&mut line).map_err(cannot)?;
    if let Some(said) = line.strip_prefix(READY) {
        return Ok(said.trim().to_owned());
    }
    let mut why = String::new();
    let stderr = child.stderr.take().expect("it was just piped");
    let _ = stderr.take(WHY_MAX).read_to_string(&mut why);
    let ended = child.wait().map_err(cannot)?;
    let why = why.trim().trim_start_matches("loci: ").replace('\n', " ");
    let exit = match ended.code() {
        Some(2) => Exit::Usage,
        Some(3) => Exit::NotFound,
        Some(4) => Exit::Conflict,
        Some(5) => Exit::Denied,
        _ => Exit::Failure,
    };
    Err(Failure::new(exit, if why.is_empty() { format!("it ended with {ended}") } else { why }))
}

/// Leaves the terminal and whoever started this process: what they are told to stop is not this.
pub(super) fn leave() -> Result<(), Failure> {
    // Fails only for the leader of a group, which a process just started is not.
    setsid().map_err(|error| Failure::io("cannot leave the terminal", &error.into()))?;
    Ok(())
}

/// Tells whoever waits that the mount is there, and from now on writes to the log, or nowhere.
pub(super) fn tell_ready(line: &str, log: Option<&Path>) -> Result<(), Failure> {
    let log = match log {
        Some(path) => open_log(path)?,
        None => open_log(Path::new("/dev/null"))?,
    };
    let cannot = |error: rustix::io::Errno| Failure::io("cannot change the output", &error.into());
    let mut out = std::io::stdout().lock();
    writeln!(out, "{READY} {line}")?;
    out.flush()?;
    dup2_stdout(&log).map_err(cannot)?;
    dup2_stderr(&log).map_err(cannot)
}

fn open_log(path: &Path) -> Result<File, Failure> {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.map_err(|error| Failure::io(format_args!("cannot write to {}", path.display()), &error))
}
