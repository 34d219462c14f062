//! A mount in the background: the same program once more, in a session of its own, serving the mount.
//! Whoever started it waits until the mount is there, or hears why not, over a pipe. Nothing is said
//! through a file, so nothing can be left behind.

use super::super::output::plain;
use crate::exit::{Exit, Failure};
use rustix::process::setsid;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// What the process in the background says when the mount is there, and when it is not.
const READY: &str = "ready ";
const FAILED: &str = "failed ";

/// Starts the process and waits for it; what it says about the mount.
pub(super) fn start(log: Option<&Path>) -> Result<String, Failure> {
    let own =
        std::env::current_exe().map_err(|error| Failure::io("cannot find this program", &error))?;
    let log = match log {
        Some(path) => Stdio::from(open_log(path)?),
        None => Stdio::null(),
    };
    let mut command = Command::new(own);
    command.args(std::env::args_os().skip(1)).arg("--detached");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    let cannot = |error| Failure::io("cannot start in the background", &error);
    let mut child = command.spawn().map_err(cannot)?;
    let mut out = BufReader::new(child.stdout.take().expect("it was just piped"));
    let mut line = String::new();
    out.read_line(&mut line).map_err(cannot)?;
    if let Some(said) = line.strip_prefix(READY) {
        return Ok(said.trim().to_owned());
    }
    let ended = child.wait().map_err(cannot)?;
    let exit = match ended.code() {
        Some(2) => Exit::Usage,
        Some(3) => Exit::NotFound,
        Some(4) => Exit::Conflict,
        Some(5) => Exit::Denied,
        _ => Exit::Failure,
    };
    let why = match line.strip_prefix(FAILED) {
        Some(why) => why.trim().to_owned(),
        None => format!("the process in the background ended with {ended}"),
    };
    Err(Failure::new(exit, why))
}

/// Leaves the terminal and whoever started this process: what they are told to stop is not this.
pub(super) fn leave() -> Result<(), Failure> {
    // Fails only for the leader of a group, which a process just started is not.
    setsid().map_err(|error| Failure::io("cannot leave the terminal", &error.into()))?;
    Ok(())
}

/// Tells whoever waits that the mount is there. It is gone afterwards: this is the last that is
/// written to standard output.
pub(super) fn tell_ready(said: &str) -> Result<(), Failure> {
    say(&format!("{READY}{said}"))
}

/// Tells whoever waits why there is no mount.
pub(super) fn tell_failure(failure: &Failure) {
    // If nobody waits any more, the log has it.
    let _ = say(&format!("{FAILED}{}", plain(&failure.message.replace('\n', " "))));
}

fn say(line: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

fn open_log(path: &Path) -> Result<File, Failure> {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.map_err(|error| Failure::io(format_args!("cannot write to {}", path.display()), &error))
}
