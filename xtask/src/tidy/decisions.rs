//! Decision pages are `NNN-title.md`, numbered 001, 002, … without gaps or doubles, so that a
//! number in a comment always finds its page.

use std::path::Path;
use std::{fs, io};

pub(super) fn breaches(folder: &Path) -> io::Result<Vec<String>> {
    if !folder.is_dir() {
        return Ok(vec![format!("{} is missing", folder.display())]);
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(judge(&names))
}

fn judge(sorted_names: &[String]) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut expected = 1;
    for name in sorted_names.iter().filter(|name| *name != "README.md") {
        let number = name
            .split_once('-')
            .filter(|(digits, _)| digits.len() >= 3 && name.ends_with(".md"))
            .and_then(|(digits, _)| digits.parse::<u32>().ok());
        match number {
            None => breaches.push(format!("docs/decisions/{name}: not named NNN-title.md")),
            Some(number) => {
                if number != expected {
                    breaches.push(format!("docs/decisions/{name}: expected number {expected:03}"));
                }
                expected = number + 1;
            }
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], breaches: usize) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(judge(&names).len(), breaches, "{names:?}");
    }

    #[test]
    fn numbers_run_without_gaps() {
        check(&["001-a.md", "002-b.md", "README.md"], 0);
        check(&["001-a.md", "003-c.md"], 1);
        check(&["001-a.md", "001-b.md", "002-c.md"], 1);
        check(&["notes.md"], 1);
        check(&[], 0);
    }
}
