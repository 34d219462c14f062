//! Runs one command to its end and keeps what it printed.
//!
//! A command that hangs is ended with everything it started, and counted as a failure. Commands that
//! run side by side must not mix their output, so it is printed as a whole or not at all.

use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use loci_test_kit::Tier;

/// The longest that one command may take: several times what the longest takes on two cores. The deep
/// tier does up to ten times as much.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);
const TIMEOUT_DEEP: Duration = Duration::from_secs(3 * 60 * 60);

/// What a command printed and how it ended.
pub(crate) struct Finished {
    /// The command line.
    pub(crate) command: String,
    /// Both of its outputs, in the order in which the lines came.
    pub(crate) output: String,
    /// Whether it ended with success.
    pub(crate) ok: bool,
}

/// Whether the output is shown while the command runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    Live,
    Nothing,
}

/// Runs a command and shows its output; an error if it does not end with success.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let finished = capture(command, Show::Live)?;
    if !finished.ok {
        bail!("{} failed", finished.command);
    }
    Ok(())
}

/// Runs a command in silence; an error with its output if it does not end with success.
pub(crate) fn run_quietly(command: &mut Command) -> Result<String> {
    let finished = capture(command, Show::Nothing)?;
    if !finished.ok {
        bail!("{} failed:\n{}", finished.command, finished.output);
    }
    Ok(finished.output)
}

/// Runs a command to its end, whatever that is.
pub(crate) fn capture(command: &mut Command, show: Show) -> Result<Finished> {
    capture_within(command, show, TIMEOUT)
}

/// Runs a suite of a tier to its end, in silence.
pub(crate) fn capture_suite(command: &mut Command, tier: Tier) -> Result<Finished> {
    let timeout = if tier == Tier::Deep { TIMEOUT_DEEP } else { TIMEOUT };
    capture_within(command, Show::Nothing, timeout)
}

fn capture_within(command: &mut Command, show: Show, timeout: Duration) -> Result<Finished> {
    let shown = shown(command);
    if show == Show::Live {
        println!("$ {shown}");
    }
    // A process group of its own can be ended whole. At a terminal, Ctrl-C has to reach it as well.
    if !std::io::stdin().is_terminal() {
        command.process_group(0);
    }
    let spawned =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => bail!("cannot run {shown}: {error}"),
    };
    let (send, receive) = mpsc::channel::<String>();
    for pipe in [child.stdout.take().map(boxed), child.stderr.take().map(boxed)] {
        let send = send.clone();
        pipe.map(|pipe| thread::spawn(move || pump(pipe, &send)));
    }
    drop(send);
    let mut output = String::new();
    let end = Instant::now() + timeout;
    loop {
        match receive.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                if show == Show::Live {
                    println!("{line}");
                }
                output.push_str(&line);
                output.push('\n');
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                output.push_str(&format!("{shown} still runs after {timeout:?} and is ended\n"));
                end_group(&mut child);
                return Ok(Finished { command: shown, output, ok: false });
            }
        }
    }
    let ok = child.wait()?.success();
    Ok(Finished { command: shown, output, ok })
}

fn boxed(pipe: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(pipe)
}

/// Ends a command and what it started. A process that the kernel does not let go is left behind.
fn end_group(child: &mut Child) {
    // All three fail only for processes that are gone already.
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
    let _ = child.kill();
    let _ = child.wait();
}

/// Sends every line until the pipe ends or nobody listens.
fn pump(pipe: Box<dyn Read + Send>, send: &mpsc::Sender<String>) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    while pipe.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if send.send(text).is_err() {
            return;
        }
        line.clear();
    }
}

fn shown(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_is_an_error_with_its_output() {
        let error = run_quietly(Command::new("sh").args(["-c", "echo why; exit 4"])).unwrap_err();
        assert!(error.to_string().contains("why"), "{error}");
        assert!(run(&mut Command::new("/nonexistent/program")).is_err());
    }

    #[test]
    fn a_hanging_command_is_ended_with_its_children() {
        let began = Instant::now();
        let mut hanging = Command::new("sh");
        hanging.args(["-c", "echo '3 passed in 0.1s'; sleep 60 & sleep 60"]);
        let timeout = Duration::from_secs(5);
        let finished = capture_within(&mut hanging, Show::Nothing, timeout).unwrap();
        assert!(!finished.ok && finished.output.starts_with("3 passed"), "{}", finished.output);
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}
