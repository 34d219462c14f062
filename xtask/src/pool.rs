//! Runs independent jobs in a few lanes at once, the longest first.
//!
//! Most jobs wait most of the time: for a server to start, for an outage to be over. A job prints its
//! output when it failed, and one line when it passed.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::command::Finished;
use crate::report::{Entry, Report};
use crate::tally::Tally;
use crate::timings;

/// One job: a test runner that is ready to start.
pub(crate) struct Job<'a> {
    pub(crate) name: String,
    /// About how long the job takes in seconds; only the order depends on it.
    pub(crate) secs: u32,
    pub(crate) work: Box<dyn FnOnce() -> Result<Finished> + Send + 'a>,
}

/// Runs every job in so many lanes and adds the results to the report, in the order of their ends.
pub(crate) fn run(mut jobs: Vec<Job<'_>>, lanes: usize, report: &mut Report) {
    jobs.sort_by_key(|job| std::cmp::Reverse(job.secs));
    let queue = Mutex::new(VecDeque::from(jobs));
    let report = Mutex::new(report);
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().expect("no lane panics with the queue").pop_front();
                    let Some(job) = next else { break };
                    let start = Instant::now();
                    let (name, result) = (job.name, (job.work)());
                    let entry = judge(name, result, start.elapsed());
                    report.lock().expect("no lane panics with the report").add(entry);
                }
            });
        }
    });
}

/// The count of a test runner decides; a bad end without a failed test is a failure, and so is a run
/// without any test.
fn judge(name: String, result: Result<Finished>, took: Duration) -> Entry {
    let (mut tally, mut why, mut timings) = (Tally::default(), String::new(), Vec::new());
    match result {
        Ok(finished) => {
            tally = Tally::of(&finished.output);
            timings = timings::of(&finished.output);
            if !finished.ok && tally.failed == 0 {
                tally.failed = 1;
                why = format!("{} ended badly without naming a failed test", finished.command);
            } else if finished.ok && tally.passed == 0 {
                tally.failed += 1;
                why = format!("{} ran no tests", finished.command);
            }
            if tally.failed > 0 || tally.skipped > 0 {
                why = format!("{}\n{}{why}", finished.command, finished.output);
            }
        }
        Err(error) => {
            tally.failed = 1;
            why = format!("{error:#}");
        }
    }
    Entry { name, tally, ok: tally.failed == 0, took, why, timings }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(output: &str, ok: bool) -> Result<Finished> {
        Ok(Finished { command: "runner".into(), output: output.into(), ok })
    }

    #[track_caller]
    fn check(result: Result<Finished>, passed: u64, failed: u64) {
        let entry = judge("one".into(), result, Duration::ZERO);
        assert_eq!((entry.tally.passed, entry.tally.failed), (passed, failed), "{}", entry.why);
        assert_eq!((entry.ok, entry.why.is_empty()), (failed == 0, failed == 0));
    }

    #[test]
    fn a_runner_that_dies_or_runs_nothing_is_a_failure() {
        check(finished("3 passed in 0.1s", true), 3, 0);
        check(finished("3 passed in 0.1s", false), 3, 1);
        check(finished("2 failed, 3 passed in 0.1s", false), 3, 2);
        check(finished("", true), 0, 1);
        check(Err(anyhow::anyhow!("no server")), 0, 1);
    }

    #[test]
    fn lanes_run_every_job_and_report_each() {
        let job = |number: u32| Job {
            name: format!("job {number}"),
            secs: number,
            work: Box::new(|| finished("1 passed in 0.1s", true)),
        };
        let mut report = Report::new(false);
        run((0..7).map(job).collect(), 3, &mut report);
        assert_eq!(report.sum().passed, 7);
    }
}
