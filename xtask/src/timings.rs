//! Reads how long each test took from what the test runners print: `cargo test` with report times,
//! pytest with durations, and the spec reporter of Node.

use crate::tally::without_colour;

/// A test and its seconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Timing {
    pub(crate) test: String,
    pub(crate) secs: f64,
}

/// Every test whose time the output tells.
pub(crate) fn of(output: &str) -> Vec<Timing> {
    let timing = |line: &str| {
        let line = without_colour(line);
        let (test, secs) = cargo(&line).or_else(|| pytest(&line)).or_else(|| node(&line))?;
        Some(Timing { test: test.to_owned(), secs })
    };
    output.lines().filter_map(timing).collect()
}

/// `test cases::one ... ok <1.234s>`
fn cargo(line: &str) -> Option<(&str, f64)> {
    let (test, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let secs = rest.rsplit_once('<')?.1.strip_suffix("s>")?;
    Some((test, secs.parse().ok()?))
}

/// `1.23s call     test_stores.py::test_one`
fn pytest(line: &str) -> Option<(&str, f64)> {
    let (secs, rest) = line.trim().split_once("s call ")?;
    Some((rest.trim(), secs.parse().ok()?))
}

/// `✔ lists the stores (1234.5ms)`
fn node(line: &str) -> Option<(&str, f64)> {
    let rest = line.trim().strip_prefix('✔')?;
    let (test, millis) = rest.trim().rsplit_once(" (")?;
    Some((test, millis.strip_suffix("ms)")?.parse::<f64>().ok()? / 1000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, test: &str, secs: f64) {
        assert_eq!(of(line), [Timing { test: test.to_owned(), secs }], "{line}");
    }

    #[test]
    fn every_runner_tells_its_times() {
        check("test crash::kills ... ok <12.345s>", "crash::kills", 12.345);
        check("1.50s call     test_stores.py::test_one[x]", "test_stores.py::test_one[x]", 1.5);
        check("  \u{1b}[32m✔ lists the stores (250.0ms)\u{1b}[39m", "lists the stores", 0.25);
        assert_eq!(of("test one ... ok\n3 passed in 1s\n✔ no time"), []);
    }
}
