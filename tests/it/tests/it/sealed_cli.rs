//! Promise: the command line seals and opens without anybody's help, says clearly why something does
//! not open, and keeps secrets out of its messages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use loci_it::{ADMIN_KEY, Api, Loci, Setup};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const FAILURE: i32 = 1;
const USAGE: i32 = 2;
const CONFLICT: i32 = 4;
const DENIED: i32 = 5;

/// Sealed by an implementation of age that shares no code with ours, for an identity made by it.
const FOREIGN_IDENTITY: &str =
    "AGE-SECRET-KEY-15ZQ8ADR4SENWA5V4AHZXF8538TAHUYU30DVX08P5T4LQ6D38XFZQYVF9YX";
const FOREIGN: &str = "\
-----BEGIN AGE ENCRYPTED FILE-----
YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBxaStYaFNCakQ0dTRGM1Q1
TG4rM3lmMG56Qm1wRjFUeFNHdTMrNEFxcFVVCjhlZi9xWk02OFZEY1Z2UDEwUDBZ
aTlwaVBCWDZFbHI1cGp5Z3JFM2d5MkkKLS0tIGVlbzhDTWFONm16RGY4Ylc2dGti
b2l4b0dXTjlUSlNlMmpLV0VlYWJrSTAKN6cqI6Kfdb57oRjakP8WEkLxYzkkWI/X
AtmETKseo4GKCLEOHEdoWvFkqoKWKynqjabOnOILMa3v8A==
-----END AGE ENCRYPTED FILE-----
";
const FOREIGN_PLAIN: &[u8] = b"The ferry leaves at nine.\n";

/// An identity file and its recipient.
struct Key {
    file: String,
    recipient: String,
}

fn key(loci: &Loci, folder: &Path, name: &str) -> Key {
    let file = folder.join(name).to_str().unwrap().to_owned();
    let printed = loci.ok(&["seal", "keygen", "--output", &file]);
    let recipient = String::from_utf8(printed).unwrap().trim().to_owned();
    assert!(recipient.starts_with("age1"), "{recipient}");
    Key { file, recipient }
}

fn versions(loci: &Loci, path: &str) -> Vec<String> {
    let listed = loci.json(&["history", "notes", path]);
    let listed = listed["data"].as_array().unwrap();
    listed.iter().map(|version| version["id"].as_str().unwrap().to_owned()).collect()
}

fn tour(loci: &Loci, folder: &Path) {
    loci.ok(&["store", "create", "notes"]);
    let (ada, bob, eve) =
        (key(loci, folder, "ada"), key(loci, folder, "bob"), key(loci, folder, "eve"));
    let mode = fs::metadata(&ada.file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "an identity is for its owner alone");

    // For two readers, one by option and one by file; bytes that are no text.
    let team = folder.join("team.txt");
    fs::write(&team, format!("# bob\n{}\n", bob.recipient)).unwrap();
    let team = team.to_str().unwrap();
    let seal = ["--seal-to", &ada.recipient, "--seal-to-file", team];
    let put = [&["put", "notes", "/a"][..], &seal].concat();
    let _ = loci.run_with_input(&put, b"\xff\x00 first").expect_code(0, &put);
    for key in [&ada, &bob] {
        assert_eq!(loci.ok(&["get", "notes", "/a", "--open-with", &key.file]), b"\xff\x00 first");
    }
    let several = ["get", "notes", "/a", "--open-with", &eve.file, "--open-with", &bob.file];
    assert_eq!(loci.ok(&several), b"\xff\x00 first", "one that fits is enough");
    let args = ["get", "notes", "/a", "--open-with", &eve.file];
    let wrong = loci.run(&args).expect_code(DENIED, &args);
    assert!(
        wrong.stderr.contains("/a") && wrong.stderr.contains("--open-with"),
        "{}",
        wrong.stderr
    );
    assert!(wrong.stdout.is_empty());
    let args = ["get", "notes", "/a"];
    let closed = loci.run(&args).expect_code(FAILURE, &args);
    assert!(closed.stderr.contains("--open-with"), "names the option: {}", closed.stderr);
    assert!(closed.stdout.is_empty());

    let raw = loci.ok(&["get", "notes", "/a", "--sealed"]);
    assert!(raw.starts_with(b"age-encryption.org/v1\n"), "other tools know this format");
    let shown = loci.json(&["get", "notes", "/a", "--open-with", &ada.file]);
    assert_eq!(shown["content_base64"], "/wAgZmlyc3Q=", "{shown}");
    let shown = loci.json(&["get", "notes", "/a", "--sealed"]);
    assert_eq!(shown["content_size_bytes"], raw.len(), "{shown}");
    let listed = String::from_utf8(loci.ok(&["list", "notes"])).unwrap();
    assert!(listed.contains("/a"), "{listed}");

    // A new version for fewer readers, and back to the old one without opening it.
    let digest = shown["content_sha256"].as_str().unwrap();
    let args =
        ["put", "notes", "/a", "--text", "2", "--seal-to", &ada.recipient, "--if-digest", digest];
    loci.ok(&args);
    let _ = loci.run(&args).expect_code(CONFLICT, &args);
    assert_eq!(loci.ok(&["get", "notes", "/a", "--open-with", &ada.file]), b"2");
    assert_eq!(loci.json(&["get", "notes", "/a", "--open-with", &ada.file])["content"], "2");
    let args = ["get", "notes", "/a", "--open-with", &bob.file];
    let _ = loci.run(&args).expect_code(DENIED, &args);
    let ids = versions(loci, "/a");
    let [_, old] = &ids[..] else { panic!("{ids:?}") };
    let then = ["get", "notes", "/a", "--version", old, "--open-with", &bob.file];
    assert_eq!(loci.ok(&then), b"\xff\x00 first");
    loci.ok(&["restore", "notes", "/a", old]);
    assert_eq!(loci.ok(&["get", "notes", "/a", "--sealed"]), raw);

    // Text over it, and what was meant for sealed content says so then.
    loci.ok(&["put", "notes", "/a", "--text", "in the clear"]);
    assert_eq!(loci.ok(&["get", "notes", "/a"]), b"in the clear");
    for option in [&["--open-with", &ada.file][..], &["--sealed"]] {
        let args = [&["get", "notes", "/a"][..], option].concat();
        let plain = loci.run(&args).expect_code(FAILURE, &args);
        assert!(plain.stderr.contains("not sealed"), "{}", plain.stderr);
        assert!(plain.stdout.is_empty());
    }
    misuse(loci, &ada, folder);
}

fn misuse(loci: &Loci, ada: &Key, folder: &Path) {
    let identity = fs::read_to_string(&ada.file).unwrap();
    let secret = identity.lines().find(|line| line.starts_with("AGE-SECRET-KEY-")).unwrap();
    let missing = folder.join("missing");
    let missing = missing.to_str().unwrap();
    let empty = folder.join("empty");
    fs::write(&empty, "# nobody\n").unwrap();
    let empty = empty.to_str().unwrap();
    let put = ["put", "notes", "/x", "--text", "x"];
    let get = ["get", "notes", "/a"];
    for (args, code) in [
        ([&put[..], &["--seal-to", secret]].concat(), USAGE),
        ([&put[..], &["--seal-to", "age1nobody"]].concat(), USAGE),
        ([&put[..], &["--seal-to", ""]].concat(), USAGE),
        ([&put[..], &["--seal-to-file", &ada.file]].concat(), USAGE),
        ([&put[..], &["--seal-to-file", empty]].concat(), USAGE),
        ([&put[..], &["--seal-to-file", missing]].concat(), FAILURE),
        ([&put[..], &["--seal-to", &ada.recipient, "--passphrase-file", empty]].concat(), USAGE),
        ([&get[..], &["--open-with", empty]].concat(), USAGE),
        ([&get[..], &["--open-with", missing]].concat(), FAILURE),
        ([&get[..], &["--open-with", &ada.file, "--sealed"]].concat(), USAGE),
        (vec!["seal", "keygen", "--output", &ada.file], CONFLICT),
        (vec!["seal"], USAGE),
    ] {
        let ended = loci.run(&args).expect_code(code, &args);
        assert!(!ended.stderr.trim().is_empty(), "{args:?} fails without a word");
        assert!(!ended.stderr.contains(&secret[..40]), "a secret in a message: {}", ended.stderr);
        assert!(ended.stdout.is_empty(), "{args:?} prints to stdout");
    }
    assert_eq!(fs::read_to_string(&ada.file).unwrap(), identity, "a key is never written over");
    let args = ["get", "notes", "/x"];
    assert_ne!(loci.run(&args).code, Some(0), "what could not be sealed was written");
}

#[test]
fn on_an_idle_data_directory() {
    let setup = Setup::new();
    tour(&Loci::on_data(setup.data()), setup.scratch());
}

#[test]
fn on_a_server() {
    let setup = Setup::new();
    let server = setup.start();
    tour(&Loci::on_url(&server.url(), ADMIN_KEY), setup.scratch());
    server.stop();
}

#[test]
fn a_passphrase_seals_and_opens() {
    let setup = Setup::new();
    let loci = Loci::on_data(setup.data());
    let file = |name: &str, text: &str| {
        let path = setup.scratch().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (right, wrong) = (file("right", "four words of ours\n"), file("wrong", "other words\n"));
    let put = ["put", "notes", "/a", "--create-store", "--text", "x", "--passphrase-file", &right];
    loci.ok(&put);
    assert_eq!(loci.ok(&["get", "notes", "/a", "--passphrase-file", &right]), b"x");
    let args = ["get", "notes", "/a", "--passphrase-file", &wrong];
    let denied = loci.run(&args).expect_code(DENIED, &args);
    assert!(denied.stderr.contains("passphrase"), "{}", denied.stderr);
    let ada = key(&loci, setup.scratch(), "ada");
    let args = ["get", "notes", "/a", "--open-with", &ada.file];
    let hint = loci.run(&args).expect_code(DENIED, &args);
    assert!(hint.stderr.contains("--passphrase-file"), "{}", hint.stderr);
}

#[test]
fn a_key_needs_no_memories_to_be_made() {
    let setup = Setup::new();
    let nowhere = Loci::on_data(&setup.scratch().join("nowhere"));
    let printed = String::from_utf8(nowhere.ok(&["seal", "keygen"])).unwrap();
    let lines: Vec<&str> = printed.lines().collect();
    assert!(
        lines[1].starts_with("# public key: age1"),
        "an identity file, as age-keygen writes it"
    );
    assert!(lines[2].starts_with("AGE-SECRET-KEY-1"));
    assert!(!setup.scratch().join("nowhere").exists());
    // Saved as it was printed, it opens what is sealed to it.
    let file = setup.scratch().join("saved");
    fs::write(&file, &printed).unwrap();
    let recipient = lines[1].trim_start_matches("# public key: ");
    let loci = Loci::on_data(setup.data());
    loci.ok(&["put", "notes", "/a", "--create-store", "--text", "x", "--seal-to", recipient]);
    assert_eq!(loci.ok(&["get", "notes", "/a", "--open-with", file.to_str().unwrap()]), b"x");
}

#[test]
fn what_others_sealed_is_opened_in_either_form() {
    let setup = Setup::new();
    let identity = setup.scratch().join("identity");
    fs::write(&identity, format!("{FOREIGN_IDENTITY}\n")).unwrap();
    let identity = identity.to_str().unwrap();
    let server = setup.start();
    let mut api = Api::create(server.client(), "notes");
    let url = api.path("/sealed");
    let body: String = FOREIGN.lines().filter(|line| !line.starts_with("-----")).collect();
    // Binary, armoured, and armoured by somebody who keeps it as plain text.
    for (path, base64) in [("/binary", body), ("/armoured", BASE64.encode(FOREIGN))] {
        api.client.post(&url, &json!({"path": path, "sealed_base64": base64})).ok();
    }
    api.put("/text", FOREIGN);
    let loci = Loci::on_data(setup.data());
    for path in ["/binary", "/armoured", "/text"] {
        let opened = loci.ok(&["get", "notes", path, "--open-with", identity]);
        assert_eq!(opened, FOREIGN_PLAIN, "{path}");
    }
    assert_eq!(loci.ok(&["get", "notes", "/armoured", "--sealed"]), FOREIGN.as_bytes());
    // Somebody else's format is told apart from a key that does not fit.
    api.client.post(&url, &json!({"path": "/other", "sealed_base64": "AAEC"})).ok();
    let args = ["get", "notes", "/other", "--open-with", identity];
    let foreign = loci.run(&args).expect_code(FAILURE, &args);
    assert!(foreign.stderr.contains("age") && foreign.stderr.contains("--sealed"));
    server.stop();
}
