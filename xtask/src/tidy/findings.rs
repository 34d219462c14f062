//! The page of findings names a test for each change. The names and files in its column of tests exist,
//! so that the page stays true when a test is renamed or removed.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/reference/findings.md";

pub(super) fn breaches(root: &Path, sources: &[PathBuf]) -> io::Result<Vec<String>> {
    let mut tests = BTreeSet::new();
    for path in sources {
        tests.extend(functions(&fs::read_to_string(path)?));
    }
    let page = fs::read_to_string(root.join(PAGE))?;
    Ok(judge(&page, |name| tests.contains(name), |file| root.join(file).is_file()))
}

/// The functions that a source defines.
fn functions(source: &str) -> impl Iterator<Item = String> {
    let after = source.split("fn ").skip(1);
    let names = after.map(|rest| {
        rest.chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '_').collect()
    });
    names.filter(|name: &String| !name.is_empty())
}

fn judge(
    page: &str,
    is_test: impl Fn(&str) -> bool,
    is_file: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut breaches = Vec::new();
    for (number, line) in page.lines().enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, finding, change, tests, _] = cells[..] else { continue };
        if !finding.starts_with("**") {
            continue;
        }
        let at = format!("{PAGE}:{}", number + 1);
        let named = tests.split('`').skip(1).step_by(2);
        for name in named.clone() {
            let is_there = if name.contains('/') { is_file(name) } else { is_test(name) };
            if !is_there {
                breaches.push(format!("{at}: {name} is no test"));
            }
        }
        if change.is_empty() || (named.count() == 0 && tests != "–") {
            breaches
                .push(format!("{at}: a finding has a change or a reason, and a test or a dash"));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(page: &str, breaches: usize) {
        let judged = judge(page, |name| name == "it_holds", |file| file == "tests/a.http");
        assert_eq!(judged.len(), breaches, "{page}: {judged:?}");
    }

    #[test]
    fn what_a_page_names_is_there() {
        check("| finding | change | tests |\n|---|---|---|\n", 0);
        check("| **A1** it broke | mended | `it_holds`, `tests/a.http` |", 0);
        check("| **A1** it broke | stays: `else` says so | – |", 0);
        check("| **A1** it broke | mended | `it_does_not` |", 1);
        check("| **A1** it broke | mended | `tests/b.http`, `gone` |", 2);
        check("| **A1** it broke | mended | |", 1);
        check("| **A1** it broke | | – |", 1);
    }

    #[test]
    fn functions_are_found_by_name() {
        let source = "async fn one() {}\nfn two<T>() {}\nlet asks: fn (usize) = two;";
        assert_eq!(functions(source).collect::<Vec<_>>(), ["one", "two"]);
    }
}
