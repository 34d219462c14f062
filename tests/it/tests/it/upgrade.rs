//! Promise: a data directory from a newer Loci is refused untouched, with a message that says so.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use loci_it::{Api, Loci, Setup};

/// Every file with its bytes.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.extend(contents(&entry.path()));
        } else if kind.is_file() {
            files.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    files
}

/// The one SQLite file of a data directory.
fn database(folder: &Path) -> PathBuf {
    let is_database = |bytes: &[u8]| bytes.starts_with(b"SQLite format 3\0");
    let mut found = contents(folder).into_iter().filter(|(_, bytes)| is_database(bytes));
    let (path, _) = found.next().expect("a stopped server leaves a database");
    assert!(found.next().is_none(), "one database only");
    path
}

fn filled() -> Setup {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "upgrade");
    api.put("/kept.md", "what a newer version wrote");
    server.stop();
    setup
}

#[test]
fn a_newer_data_directory_is_refused_untouched() {
    let setup = filled();
    let path = database(setup.data());
    let connection = rusqlite::Connection::open(&path).unwrap();
    let format: i64 = connection.query_row("pragma user_version", [], |row| row.get(0)).unwrap();
    assert!(format >= 1, "the format has a number");
    connection.pragma_update(None, "user_version", format + 1).unwrap();
    let _: (i64, i64, i64) = connection
        .query_row("pragma wal_checkpoint(truncate)", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    drop(connection);

    let before = contents(setup.data());
    let printed = setup.printed().len();
    let Err(status) = setup.try_start() else { panic!("opened data it cannot understand") };
    assert!(!status.success());
    let said = setup.printed()[printed..].to_lowercase();
    assert!(said.contains("newer"), "the message names the reason: {said}");
    let ended = Loci::on_data(setup.data()).run(&["store", "list"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.to_lowercase().contains("newer"), "{}", ended.stderr);

    let after = contents(setup.data());
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after), "files came or went");
    for (path, bytes) in &before {
        assert!(after[path] == *bytes, "{} was changed", path.display());
    }
}

#[test]
fn a_database_of_another_program_is_refused_untouched() {
    let setup = filled();
    let path = database(setup.data());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "application_id", 0x1234_5678).unwrap();
    connection.pragma_update(None, "journal_mode", "delete").unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    assert!(setup.try_start().is_err(), "opened somebody else's database");
    assert!(fs::read(&path).unwrap() == before, "the foreign file was changed");
}

#[test]
fn a_file_that_is_no_database_is_refused_untouched() {
    let setup = filled();
    let path = database(setup.data());
    let nonsense = b"not a database at all, just text\n".repeat(200);
    fs::write(&path, &nonsense).unwrap();
    assert!(setup.try_start().is_err(), "started on nonsense");
    assert!(fs::read(&path).unwrap() == nonsense, "the file was changed");
}
