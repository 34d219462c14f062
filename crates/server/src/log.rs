//! Logs: structured, on standard error, JSON unless a person is watching. Only our own crates speak
//! below the warning level: a library's idea of a debug line may hold a header or a body.

mod json;
mod lines;

use crate::config;
use crate::exit::Failure;
use lines::Lines;
use loci_engine::seam::Seams;
use std::io::{self, IsTerminal};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Logging, for as long as this lives; its end sends the last lines.
pub(crate) struct Log(Lines);

impl Drop for Log {
    fn drop(&mut self) {
        self.0.send();
    }
}

/// Starts logging at the level of `LOCI_LOG`, or at the given one.
pub(crate) fn start(default: LevelFilter) -> Result<Log, Failure> {
    let level = match config::env("LOCI_LOG") {
        None => default,
        Some(name) => name.parse().map_err(|_| {
            Failure::usage("LOCI_LOG must be off, error, warn, info, debug or trace")
        })?,
    };
    let seams = Seams::real();
    let now = move || seams.now();
    let others = level.min(LevelFilter::WARN);
    let filter = Targets::new().with_default(others).with_target("loci", level);
    // What it cannot deliver to somebody who is gone is no news.
    let filter = filter.with_target("rmcp", LevelFilter::OFF);
    let waiting = Lines::start().map_err(|error| Failure::io("cannot start the log", &error))?;
    let lines = fmt::layer().with_writer(waiting.clone());
    let lines = match io::stderr().is_terminal() {
        true => lines.boxed(),
        false => lines.with_ansi(false).event_format(json::Json(now)).boxed(),
    };
    tracing_subscriber::registry().with(lines.with_filter(filter)).init();
    Ok(Log(waiting))
}
