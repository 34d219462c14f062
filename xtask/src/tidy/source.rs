//! Rules for one Rust file: header, length, unfinished work, names, and where `Serialize` stands.
//!
//! A line scan, not a parser: simple enough to trust, strict enough to matter. The words it looks
//! for are assembled below so that this file does not accuse itself.

use std::path::Path;

const LINES_MAX: usize = 600;

/// Marks of work that was left for later.
const UNFINISHED: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("#[ign", "ore"),
];

/// Words that name no thing; a type called so has no single reason to exist.
const EMPTY_WORDS: [&str; 6] = ["Manager", "Helper", "Util", "Utils", "Service", "Handler"];

/// Code that speaks a wire format; elsewhere only a wire or dump module may.
const WIRE_FOLDERS: [&str; 6] =
    ["crates/http/", "crates/dialects/", "crates/server/", "xtask/", "tests/", "bench/"];
const WIRE_MODULES: [&str; 2] = ["wire", "dump"];

pub(super) fn breaches(path: &Path, text: &str) -> Vec<String> {
    let shown = path.display();
    let mut breaches = Vec::new();
    if !text.starts_with("//!") {
        breaches.push(format!("{shown}: does not start with a `//!` header"));
    }
    let lines = text.lines().count();
    if lines > LINES_MAX {
        breaches.push(format!("{shown}: {lines} lines, limit {LINES_MAX}"));
    }
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        if let Some(mark) = UNFINISHED.iter().find(|mark| line.contains(*mark)) {
            breaches.push(format!("{shown}:{number}: unfinished work (`{mark}`)"));
        }
        if let Some((name, word)) = declared_type(line).and_then(empty_word) {
            breaches.push(format!("{shown}:{number}: `{word}` in the type name `{name}`"));
        }
    }
    if !may_speak_wire(path) {
        let derives = derives_of(text, "Serialize");
        breaches.extend(derives.into_iter().map(|number| {
            format!("{shown}:{number}: derives Serialize outside a wire or dump module")
        }));
    }
    breaches
}

/// The name of the type a line declares, if it declares one. An indented `type` belongs to an
/// implementation, where a foreign trait chose the name.
fn declared_type(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    let keyword = words.next()?;
    let is_associated = keyword == "type" && line.starts_with(char::is_whitespace);
    if is_associated || !["struct", "enum", "trait", "type", "union"].contains(&keyword) {
        return None;
    }
    let name = words.next()?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    Some(&name[..end])
}

/// The empty word inside a type name. `ServiceAccount` is a noun of the Memory Stores contract.
fn empty_word(name: &str) -> Option<(&str, &str)> {
    let words = camel_words(name);
    let found = words.iter().enumerate().find(|(index, word)| {
        let is_account = **word == "Service" && words.get(index + 1) == Some(&"Account");
        EMPTY_WORDS.contains(word) && !is_account
    });
    found.map(|(_, word)| (name, *word))
}

fn camel_words(name: &str) -> Vec<&str> {
    let starts: Vec<usize> =
        name.char_indices().filter(|(_, c)| c.is_uppercase()).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([name.len()]);
    starts.iter().zip(ends).map(|(start, end)| &name[*start..end]).collect()
}

fn may_speak_wire(path: &Path) -> bool {
    let shown = path.to_string_lossy();
    let in_module = path
        .with_extension("")
        .components()
        .any(|part| WIRE_MODULES.iter().any(|module| part.as_os_str() == *module));
    in_module || WIRE_FOLDERS.iter().any(|folder| shown.starts_with(folder))
}

/// The lines on which a `#[derive(…)]`, possibly spread over several lines, starts and names `what`.
fn derives_of(text: &str, what: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("derive(") {
        let list = text[at..].split(')').next().unwrap_or_default();
        let names = list.trim_start_matches("derive(").split(',');
        if names.map(|name| name.trim().rsplit("::").next()).any(|name| name == Some(what)) {
            found.push(text[..at].lines().count());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &str) {
        let found = breaches(Path::new(path), text).join("\n");
        if expected.is_empty() {
            assert_eq!(found, "");
        } else {
            assert!(found.contains(expected), "expected {expected:?} in {found:?}");
        }
    }

    #[test]
    fn every_file_says_what_it_is() {
        check("crates/model/src/a.rs", "//! A thing.\nfn main() {}\n", "");
        check("crates/model/src/a.rs", "fn main() {}\n", "header");
    }

    #[test]
    fn files_stay_short() {
        let text = format!("//! Long.\n{}", "// x\n".repeat(LINES_MAX));
        check("crates/model/src/a.rs", &text, "601 lines");
    }

    #[test]
    fn unfinished_work_is_named() {
        for mark in UNFINISHED {
            check("crates/model/src/a.rs", &format!("//! A.\n// {mark}\n"), "a.rs:2: unfinished");
        }
    }

    #[test]
    fn empty_words_are_refused_in_type_names_only() {
        check("x/a.rs", "//! A.\npub(crate) struct KeyManager;\n", "`Manager`");
        check("x/a.rs", "//! A.\npub trait StoreService<T> {}\n", "`Service`");
        check("x/a.rs", "//! A.\nenum ServiceAccount {}\nstruct Handlers;\n", "");
        check("x/a.rs", "//! A.\ntype Service = u8;\n", "`Service`");
        check("x/a.rs", "//! A.\nimpl A for B {\n    type Service = u8;\n}\n", "");
        check("x/a.rs", "//! A.\nfn helper() {}\n// a struct HelperText in prose\n", "");
    }

    #[test]
    fn serialize_lives_in_wire_modules() {
        let text = "//! A.\n#[derive(\n    Debug,\n    serde::Serialize,\n)]\nstruct A;\n";
        check("crates/model/src/a.rs", text, "a.rs:2: derives");
        check("crates/model/src/wire.rs", text, "");
        check("crates/engine/src/dump/format.rs", text, "");
        check("crates/engine/src/dumper.rs", text, "derives");
        check("crates/http/src/a.rs", text, "");
        check("crates/model/src/a.rs", "//! A.\n#[derive(Deserialize)]\nstruct A;\n", "");
    }
}
