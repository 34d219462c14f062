//! Reads how many tests passed from what the test runners print.
//!
//! Three runners, three formats: `cargo test`, pytest and `node --test`. A runner that ends badly
//! without naming a failed test still counts as one failure, so a crash is never a zero.

/// What a suite counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    /// The sum of every summary line found in `output`.
    pub(crate) fn of(output: &str) -> Self {
        let mut sum = Self::default();
        for line in output.lines() {
            let line = without_colour(line);
            let found =
                cargo_line(&line).or_else(|| pytest_line(&line)).or_else(|| node_line(&line));
            if let Some(tally) = found {
                sum.add(tally);
            }
        }
        sum
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// `test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s`
fn cargo_line(line: &str) -> Option<Tally> {
    let rest = line.trim().strip_prefix("test result: ")?;
    let (_, counts) = rest.split_once(". ")?;
    Some(counted(counts.split(';')))
}

/// `==== 3 failed, 12 passed, 1 skipped in 4.05s ====`, or the same without the bars with `-q`.
fn pytest_line(line: &str) -> Option<Tally> {
    let line = line.trim().trim_matches('=').trim();
    let (counts, time) = line.rsplit_once(" in ")?;
    let time = time.split_whitespace().next()?.strip_suffix('s')?;
    time.parse::<f64>().ok()?;
    let well_formed = counts.split(',').all(|part| {
        let mut words = part.split_whitespace();
        words.next().is_some_and(|n| n.parse::<u64>().is_ok()) && words.next().is_some()
    });
    well_formed.then(|| counted(counts.split(',')))
}

/// `# pass 12` (TAP reporter) or `ℹ pass 12` (spec reporter), one count to a line.
fn node_line(line: &str) -> Option<Tally> {
    let line = line.trim_end();
    let rest = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?;
    let (word, count) = rest.split_once(' ')?;
    let count = count.parse().ok()?;
    match word {
        "pass" => Some(Tally { passed: count, ..Tally::default() }),
        "fail" | "cancelled" => Some(Tally { failed: count, ..Tally::default() }),
        "skipped" | "todo" => Some(Tally { skipped: count, ..Tally::default() }),
        _ => None,
    }
}

fn counted<'a>(parts: impl Iterator<Item = &'a str>) -> Tally {
    let mut tally = Tally::default();
    for part in parts {
        let mut words = part.split_whitespace();
        let (Some(count), Some(word)) = (words.next(), words.next()) else {
            continue;
        };
        let Ok(count) = count.parse::<u64>() else {
            continue;
        };
        match word {
            "passed" | "xpassed" => tally.passed += count,
            "failed" | "error" | "errors" => tally.failed += count,
            // Deselected is not skipped: a suite leaves out what its SDK release does not have.
            "ignored" | "skipped" | "xfailed" => tally.skipped += count,
            _ => {}
        }
    }
    tally
}

/// The line without terminal colour codes, which runners add when they think a person is looking.
pub(crate) fn without_colour(line: &str) -> String {
    let mut clean = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            clean.push(c);
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, passed: u64, failed: u64, skipped: u64) {
        assert_eq!(Tally::of(output), Tally { passed, failed, skipped });
    }

    #[test]
    fn cargo_summaries_add_up() {
        check(
            "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; \
             0 filtered out; finished in 0.00s\n\ntest result: FAILED. 5 passed; 1 failed; \
             3 ignored; 0 measured; 0 filtered out; finished in 1.00s",
            7,
            1,
            3,
        );
    }

    #[test]
    fn pytest_summaries_in_both_styles() {
        check("===== 1 failed, 12 passed, 2 skipped, 3 warnings in 4.05s =====", 12, 1, 2);
        check("3 passed, 9 deselected in 0.12s", 3, 0, 0);
        check("\u{1b}[32m\u{1b}[1m64 passed\u{1b}[0m in 61.20s (0:01:01)", 64, 0, 0);
        check("2 errors in 1.00s", 0, 2, 0);
    }

    #[test]
    fn node_summaries_in_both_reporters() {
        check("ℹ tests 4\nℹ pass 3\nℹ fail 1\nℹ skipped 0\nℹ duration_ms 12.5", 3, 1, 0);
        check("# tests 4\n# pass 4\n# fail 0\n# todo 1", 4, 0, 1);
    }

    #[test]
    fn ordinary_text_counts_nothing() {
        check("writes 3 files in 2s\n# heading 4\ntest result: unknown\nall done in time", 0, 0, 0);
    }
}
