//! Runs one named step, streams what it prints, and remembers how it ended.
//!
//! A [`Report`] collects the steps of one command. The command fails if any step did; a failed
//! step never hides the ones after it, and one that hangs is ended and named rather than waited for.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::tally::Tally;

/// How a step without a test runner inside reports itself.
pub(crate) type Verdict = Result<Tally>;

/// The longest that one command may take: several times what the longest takes on two cores.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

struct Entry {
    name: String,
    tally: Tally,
    ok: bool,
    took: Duration,
}

/// Whether this is a run of CI.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// The steps of one `cargo xtask` command, in order.
pub(crate) struct Report {
    entries: Vec<Entry>,
    skips_allowed: bool,
}

impl Report {
    /// With `CI=true` a skipped test is a failed one: CI must see everything run.
    pub(crate) fn new() -> Self {
        Self { entries: Vec::new(), skips_allowed: !is_ci() }
    }

    /// Runs `work` as the step `name`; true if it went well.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Verdict) -> bool {
        println!("\n── {name}");
        let start = Instant::now();
        let (mut tally, mut ok) = match work() {
            Ok(tally) => (tally, tally.failed == 0),
            Err(error) => {
                println!("{name}: {error:#}");
                (Tally { failed: 1, ..Tally::default() }, false)
            }
        };
        if tally.skipped > 0 && !self.skips_allowed {
            println!("{name}: {} tests were skipped, which CI does not allow", tally.skipped);
            tally.failed += tally.skipped;
            ok = false;
        }
        let took = start.elapsed();
        println!("── {name}: {} in {:.1} s", if ok { "ok" } else { "FAILED" }, took.as_secs_f64());
        self.entries.push(Entry { name: name.to_owned(), tally, ok, took });
        ok
    }

    /// Prints the table and the one line that sums it up; an error if anything failed.
    pub(crate) fn finish(self) -> Result<()> {
        print!("\n{}", self.table());
        let failed = self.entries.iter().filter(|entry| !entry.ok).count();
        if failed > 0 {
            bail!("{failed} of {} steps failed", self.entries.len());
        }
        Ok(())
    }

    fn table(&self) -> String {
        let width = self.entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
        let mut sum = Tally::default();
        let mut text = String::new();
        writeln!(text, "{:width$}  result  passed  failed  skipped    time", "step")
            .expect("writing to a string cannot fail");
        for entry in &self.entries {
            sum.add(entry.tally);
            writeln!(
                text,
                "{:width$}  {:6}  {:>6}  {:>6}  {:>7}  {:>4.0} s",
                entry.name,
                if entry.ok { "ok" } else { "FAILED" },
                entry.tally.passed,
                entry.tally.failed,
                entry.tally.skipped,
                entry.took.as_secs_f64(),
            )
            .expect("writing to a string cannot fail");
        }
        writeln!(text, "\n{} passed, {} failed", sum.passed, sum.failed)
            .expect("writing to a string cannot fail");
        text
    }
}

/// Runs a command, printing its output as it comes; an error if it does not exit with success.
pub(crate) fn run(command: &mut Command) -> Verdict {
    let (tally, ok) = stream(command, PATIENCE)?;
    if !ok {
        bail!("{} failed", shown(command));
    }
    Ok(tally)
}

/// Runs a test runner: its own count decides, and a bad exit without a failed test is a failure.
pub(crate) fn run_tests(command: &mut Command) -> Verdict {
    let (mut tally, ok) = stream(command, PATIENCE)?;
    if !ok && tally.failed == 0 {
        println!("{} ended badly without naming a failed test", shown(command));
        tally.failed = 1;
    }
    if ok && tally.passed == 0 {
        bail!("{} ran no tests", shown(command));
    }
    Ok(tally)
}

fn stream(command: &mut Command, patience: Duration) -> Result<(Tally, bool)> {
    println!("$ {}", shown(command));
    // A group of its own can be ended whole. At a terminal, Ctrl-C has to reach it as well.
    if !std::io::stdin().is_terminal() {
        command.process_group(0);
    }
    let spawned =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => bail!("cannot run {}: {error}", shown(command)),
    };
    let (send, receive) = mpsc::channel::<String>();
    for pipe in [child.stdout.take().map(boxed), child.stderr.take().map(boxed)] {
        let send = send.clone();
        pipe.map(|pipe| thread::spawn(move || pump(pipe, &send)));
    }
    drop(send);
    let mut output = String::new();
    let end = Instant::now() + patience;
    loop {
        match receive.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                println!("{line}");
                output.push_str(&line);
                output.push('\n');
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                println!("{} still runs after {patience:?} and is ended", shown(command));
                end_group(&mut child);
                let mut tally = Tally::of(&output);
                tally.failed += 1;
                return Ok((tally, false));
            }
        }
    }
    Ok((Tally::of(&output), child.wait()?.success()))
}

fn boxed(pipe: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(pipe)
}

/// Ends a command and what it started. A process that the kernel does not let go is left behind.
fn end_group(child: &mut Child) {
    // Both fail only for what is gone already.
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
    fn the_sum_line_stands_alone_and_counts_broken_steps() {
        let mut report = Report { entries: Vec::new(), skips_allowed: true };
        assert!(report.step("good", || Ok(Tally { passed: 4, failed: 0, skipped: 1 })));
        assert!(!report.step("bad", || Ok(Tally { passed: 2, failed: 3, skipped: 0 })));
        assert!(!report.step("broken", || bail!("did not build")));
        assert_eq!(report.table().lines().last(), Some("6 passed, 4 failed"));
        assert!(report.finish().is_err());
    }

    #[test]
    fn skips_fail_where_they_are_not_allowed() {
        let mut report = Report { entries: Vec::new(), skips_allowed: false };
        assert!(!report.step("partly", || Ok(Tally { passed: 4, failed: 0, skipped: 1 })));
    }

    #[test]
    fn a_runner_that_dies_or_runs_nothing_is_a_failure() {
        let tally = run_tests(Command::new("sh").args(["-c", "echo '3 passed in 0.1s'; exit 4"]));
        assert_eq!(tally.unwrap(), Tally { passed: 3, failed: 1, skipped: 0 });
        assert!(run_tests(Command::new("sh").args(["-c", "exit 0"])).is_err());
        assert!(run(&mut Command::new("/nonexistent/program")).is_err());
    }

    #[test]
    fn what_hangs_is_ended_and_counted() {
        let began = Instant::now();
        let mut hanging = Command::new("sh");
        hanging.args(["-c", "echo '3 passed in 0.1s'; sleep 60 & sleep 60"]);
        let (tally, ok) = stream(&mut hanging, Duration::from_millis(300)).unwrap();
        assert_eq!((tally, ok), (Tally { passed: 3, failed: 1, skipped: 0 }, false));
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}
