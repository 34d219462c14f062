//! How far a move is, on standard error: a line that counts where somebody is watching, else a line
//! now and then, so that a log of hours of work shows that it goes on.

use loci_engine::transfer::{Progress, Step};
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const EVERY_WATCHED: Duration = Duration::from_millis(200);
const EVERY_LOGGED: Duration = Duration::from_secs(10);

/// What was shown last.
pub(super) struct Shown {
    is_watched: bool,
    last: Mutex<Option<Last>>,
}

#[derive(Clone, Copy)]
struct Last {
    step: Step,
    began: Instant,
    at: Instant,
}

impl Default for Shown {
    fn default() -> Self {
        Self { is_watched: io::stderr().is_terminal(), last: Mutex::new(None) }
    }
}

impl Shown {
    /// Shows how far it is, if it is time to.
    pub(super) fn say(&self, progress: Progress) {
        let now = Instant::now();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let began = match *last {
            Some(last) if last.step == progress.step => last.began,
            _ => now,
        };
        let every = if self.is_watched { EVERY_WATCHED } else { EVERY_LOGGED };
        let is_new = last.is_none_or(|last| last.step != progress.step);
        if is_new || last.is_some_and(|last| now - last.at >= every) {
            let line = line(progress, now - began);
            match self.is_watched {
                true => eprint!("\r{line}\x1b[K"),
                false => eprintln!("{line}"),
            }
            *last = Some(Last { step: progress.step, began, at: now });
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if self.is_watched {
            eprint!("\r\x1b[K");
        }
    }
}

fn line(Progress { step, done, total }: Progress, took: Duration) -> String {
    let what = match step {
        Step::Moving => "moving",
        Step::Verifying => "verifying",
    };
    let percent = (done * 100).checked_div(total).unwrap_or(100);
    let rate = match took.as_secs() {
        0 => String::new(),
        secs => format!(", {} a second", done / secs),
    };
    format!("{what}: {done} of {total} changes, {percent} %{rate}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_and_how_fast() {
        let progress = |done, total| Progress { step: Step::Moving, done, total };
        let secs = Duration::from_secs;
        assert_eq!(line(progress(0, 0), secs(0)), "moving: 0 of 0 changes, 100 %");
        assert_eq!(
            line(progress(50, 200), secs(5)),
            "moving: 50 of 200 changes, 25 %, 10 a second"
        );
    }
}
