//! Promise: access that is taken back, lowered or ended takes effect on a mount that runs, on its
//! caches and on files that are open, and so does access that is given; stores come and go with it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use loci_it::{Api, Client, Loci, Mounted, Server, Setup, budget};
use loci_test_mount::sealed_off;
use rustix::io::Errno;
use serde_json::{Value, json};

/// Everything here takes half a second, and two where something comes; the machine may be busy.
const SOON: Duration = Duration::from_secs(15);

/// A store, a principal that it is shared with, and their key.
struct Shared {
    api: Api,
    admin: Client,
    principal: Value,
    key: Value,
    server: Server,
    setup: Setup,
}

impl Shared {
    fn new() -> Self {
        let setup = Setup::new();
        let server = setup.start();
        let mut admin = server.client();
        let body = json!({"name": "ada", "kind": "agent"});
        let principal = admin.post("/v1/principals", &body).ok();
        let body = json!({"name": "k", "principal": principal["id"], "level": "readwrite"});
        let key = admin.post("/v1/api_keys", &body).ok();
        let mut api = Api::create(server.client(), "notes");
        for (name, content) in [sealed_off::FILE, sealed_off::INNER] {
            api.put(&format!("/{name}"), content);
        }
        let mut shared = Self { api, admin, principal, key, server, setup };
        shared.grant("readwrite");
        shared
    }

    /// Shares the store up to a level; gives the grant.
    fn grant(&mut self, level: &str) -> String {
        let body = json!({"grantee": self.principal["id"], "level": level});
        let grant = self.admin.post(&self.api.path("/grants"), &body).ok();
        grant["id"].as_str().expect("a grant has an id").to_owned()
    }

    /// What the principal mounts.
    fn mount(&self, options: &[&str]) -> Mounted {
        let secret = self.key["secret"].as_str().expect("a new key is told once");
        let loci = Loci::on_url(&self.server.url(), secret);
        Mounted::start(&loci, &self.setup.scratch().join("mount"), options)
    }

    fn mount_store(&self) -> Mounted {
        self.mount(&["--flat", "--store", &self.api.store])
    }
}

fn reads(mut file: &File) -> io::Result<String> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// Waits for what has to come soon.
#[track_caller]
fn within(what: &str, holds: impl Fn() -> bool) {
    let (began, limit) = (Instant::now(), budget(SOON));
    while !holds() {
        assert!(began.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[track_caller]
fn refused<T>(result: io::Result<T>, wanted: Errno) {
    let found = result.err().and_then(|error| error.raw_os_error());
    assert_eq!(found, Some(wanted.raw_os_error()));
}

fn is_refused<T>(result: io::Result<T>, wanted: Errno) -> bool {
    result.is_err_and(|error| error.raw_os_error() == Some(wanted.raw_os_error()))
}

/// A file that is open and was read, in a mount that works.
fn open(at: &Path) -> File {
    let path = at.join(sealed_off::FILE.0);
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    assert_eq!(reads(&file).unwrap(), sealed_off::FILE.1);
    file
}

/// Nothing of the store can be had any more.
#[track_caller]
fn is_closed(at: &Path, open: &File) {
    let path = at.join(sealed_off::FILE.0);
    within("the open file to end", || is_refused(reads(open), Errno::ACCESS));
    within("names to end", || is_refused(fs::read(&path), Errno::ACCESS));
    within("listings to end", || is_refused(fs::read_dir(at), Errno::ACCESS));
    within("attributes to end", || is_refused(fs::metadata(&path), Errno::ACCESS));
    refused(fs::read_dir(at.join(".history")), Errno::ACCESS);
    refused(fs::write(at.join("new.md"), "x"), Errno::ACCESS);
    refused(fs::remove_file(&path), Errno::ACCESS);
    refused((&*open).write_all(b"x"), Errno::ACCESS);
    assert!(fs::metadata(at).is_ok(), "the directory that was asked for stays");
}

#[test]
fn a_key_that_is_revoked_ends_its_mount() {
    let mut shared = Shared::new();
    let mount = shared.mount_store();
    let file = open(mount.at());
    let key = shared.key["id"].as_str().unwrap();
    shared.admin.delete(&format!("/v1/api_keys/{key}")).ok();
    is_closed(mount.at(), &file);
    assert_eq!(shared.api.memories().len(), 2);
}

#[test]
fn a_grant_that_is_lowered_or_taken_back_counts_at_once() {
    let mut shared = Shared::new();
    let mount = shared.mount_store();
    let (file, path) = (open(mount.at()), mount.at().join(sealed_off::FILE.0));
    shared.grant("read");
    let is_read_only = || is_refused(OpenOptions::new().write(true).open(&path), Errno::ROFS);
    within("a lower level", is_read_only);
    refused((&file).write_all(b"x"), Errno::ROFS);
    let failures = sealed_off::failures(mount.at());
    assert!(failures.is_empty(), "{}", failures.join("\n"));

    let grant = shared.grant("readwrite");
    within("the level again", || !is_read_only());
    shared.admin.delete(&shared.api.path(&format!("/grants/{grant}"))).ok();
    is_closed(mount.at(), &file);

    shared.api.put("/meanwhile.md", "said in between");
    shared.grant("readwrite");
    within("access again", || fs::read(mount.at().join("meanwhile.md")).is_ok());
    assert_eq!(reads(&file).unwrap(), sealed_off::FILE.1);
    fs::write(&path, "written again").unwrap();
    let memory = shared.api.memories().into_iter().find(|it| it.path == "/file.md").unwrap();
    assert_eq!(shared.api.content(&memory.id), "written again");
    mount.stop();
}

fn session(shared: &mut Shared) -> (String, Loci) {
    let resource = json!({"type": "memory_store", "memory_store_id": shared.api.store,
        "access": "read_write"});
    let body = json!({"agent": "agent_1", "environment_id": "env_1", "resources": [resource]});
    let session = shared.admin.post("/v1/sessions", &body).ok();
    let id = session["id"].as_str().expect("a session has an id").to_owned();
    let body = json!({"name": "s", "session_id": id, "level": "readwrite", "audience": "model"});
    let key = shared.admin.post("/v1/api_keys", &body).ok();
    let secret = key["secret"].as_str().expect("a new key is told once");
    (id, Loci::on_url(&shared.server.url(), secret))
}

#[test]
fn a_session_that_is_archived_ends_its_mount() {
    let mut shared = Shared::new();
    let (session, loci) = session(&mut shared);
    let at = shared.setup.scratch().join("mount");
    let mount = Mounted::start(&loci, &at, &["--session", &session]);
    let root = mount.at().join("notes");
    let file = open(&root);
    shared.admin.call("POST", &format!("/v1/sessions/{session}/archive"), None).ok();
    is_closed(&root, &file);
}

#[test]
fn an_archived_store_is_read_only_in_a_session_that_begins_later() {
    let mut shared = Shared::new();
    let (session, loci) = session(&mut shared);
    shared.admin.call("POST", &shared.api.path("/archive"), None).ok();
    let at = shared.setup.scratch().join("mount");
    let mount = Mounted::start(&loci, &at, &["--session", &session]);
    let failures = sealed_off::failures(&mount.at().join("notes"));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[track_caller]
fn archive(shared: &mut Shared, mount: &Mounted) {
    let file = open(mount.at());
    fs::write(mount.at().join("more.md"), "text").unwrap();
    shared.admin.call("POST", &shared.api.path("/archive"), None).ok();
    // At once, before the mount can have heard of it.
    refused(fs::remove_file(mount.at().join("more.md")), Errno::ROFS);
    assert_eq!(shared.api.memories().len(), 3, "something was removed");
    let creates = || File::create(mount.at().join("new.md"));
    within("a read-only store", || is_refused(creates(), Errno::ROFS));
    refused((&file).write_all(b"x"), Errno::ROFS);
    refused(file.set_len(0), Errno::ROFS);
    refused(OpenOptions::new().append(true).open(mount.at().join("more.md")), Errno::ROFS);
    refused(fs::remove_file(mount.at().join("more.md")), Errno::ROFS);
    refused(fs::rename(mount.at().join("more.md"), mount.at().join("x.md")), Errno::ROFS);
    refused(fs::create_dir(mount.at().join("new")), Errno::ROFS);
    assert_eq!(reads(&file).unwrap(), sealed_off::FILE.1);
    assert_eq!(shared.api.memories().len(), 3);
}

#[test]
fn a_store_that_is_archived_is_read_only_at_once() {
    let mut shared = Shared::new();
    let mount = shared.mount_store();
    archive(&mut shared, &mount);
}

#[test]
fn the_same_on_a_data_directory() {
    let mut shared = Shared::new();
    let loci = Loci::on_data(shared.setup.data());
    let options = ["--flat", "--store", &shared.api.store];
    let mount = Mounted::start(&loci, &shared.setup.scratch().join("mount"), &options);
    archive(&mut shared, &mount);
}

#[test]
fn what_was_asked_for_as_read_only_stays_so() {
    let mut shared = Shared::new();
    shared.grant("read");
    let mount = shared.mount(&["--flat", "--store", &format!("{}:ro", shared.api.store)]);
    shared.grant("readwrite");
    // What comes by the feed after the level did shows that the level was heard, too.
    shared.api.put("/later.md", "x");
    within("news", || fs::read(mount.at().join("later.md")).is_ok());
    fs::metadata(mount.at()).unwrap();
    refused(fs::write(mount.at().join("new.md"), "x"), Errno::ROFS);
}

/// Stores that are made, shared and deleted while every store is mounted.
fn come_and_go(shared: &mut Shared, mount: &Mounted) {
    let at = |name: &str| mount.at().join(name);
    assert!(at("notes").is_dir());
    let mut made = Api::create(shared.server.client(), "Later");
    made.put("/file.md", "what came");
    let grant = json!({"grantee": shared.principal["id"], "level": "readwrite"});
    shared.admin.post(&made.path("/grants"), &grant).ok();
    let shows = |text: &str| fs::read_to_string(at("later/file.md")).is_ok_and(|it| it == text);
    within("a store that came", || shows("what came"));
    fs::write(at("later/file.md"), "written here").unwrap();
    let memory = made.memories().remove(0);
    assert_eq!(made.content(&memory.id), "written here");
    made.update(&memory.id, &json!({"content": "from outside"}));
    within("its feed", || shows("from outside"));

    let file = File::open(at("later/file.md")).unwrap();
    shared.admin.delete(&made.path("")).ok();
    within("a store that goes", || {
        let names = fs::read_dir(mount.at()).unwrap();
        names.map(|it| it.unwrap().file_name()).eq(["notes"])
    });
    within("what was open", || is_refused(reads(&file), Errno::ACCESS));
    assert!(fs::read(at("notes").join(sealed_off::FILE.0)).is_ok());
}

#[test]
fn stores_that_are_shared_later_appear_and_deleted_ones_go() {
    let mut shared = Shared::new();
    let mount = shared.mount(&[]);
    come_and_go(&mut shared, &mount);
    mount.stop();
}

#[test]
fn so_do_they_on_a_data_directory() {
    let mut shared = Shared::new();
    let loci = Loci::on_data(shared.setup.data());
    let mount = Mounted::start(&loci, &shared.setup.scratch().join("mount"), &[]);
    come_and_go(&mut shared, &mount);
    mount.stop();
}
