//! Promise: a full disk loses nothing that was acknowledged, reads go on, and what must be
//! forgotten can still be forgotten. When space is back, so are writes, without a restart.
//!
//! Needs root: the disk is a 64 MB tmpfs mounted for the test.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use loci_it::{
    ADMIN_KEY, Api, Client, Dice, Loci, Needles, Server, Setup, error_type, hits_in_dir, sha256,
};
use serde_json::{Value, json};
use tempfile::TempDir;

const DISK: &str = "size=64m";
const FILLER_BYTES: usize = 16 << 20;

/// A small file system, unmounted when dropped.
pub(crate) struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    fn mount() -> Self {
        Self::sized(DISK)
    }

    /// Of another size, as an option of `mount`.
    pub(crate) fn sized(size: &str) -> Self {
        let folder = TempDir::with_prefix("loci-full-").unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", size, "loci-full"]).arg(folder.path());
        let mounted = mount.status().is_ok_and(|status| status.success());
        assert!(mounted, "this test mounts a tmpfs: run it as root (CAP_SYS_ADMIN)");
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, because a failed test may leave files open; the folder itself goes with TempDir.
        let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
    }
}

/// One acknowledged write.
struct Acknowledged {
    id: String,
    digest: String,
}

#[test]
fn a_full_disk_loses_nothing_and_still_forgets() {
    let mut dice = Dice::new("disk full");
    let disk = SmallDisk::mount();
    let filler = disk.path().join("filler");
    fs::write(&filler, vec![7; FILLER_BYTES]).unwrap();
    let setup = Setup::new().data_at(&disk.path().join("data"));
    let server = setup.start();
    let mut api = Api::create(server.client(), "full");

    // Two things that will have to be forgotten while the disk is full.
    let (erased, redacted) = (dice.letters(32), dice.letters(32));
    let to_erase = api.put("/erase-me", &format!("a secret {erased} here")).id;
    let to_redact = api.put("/redact-me", &format!("a secret {redacted} here"));
    api.update(&to_redact.id, &json!({"content": "nothing secret"}));
    assert!(!hits_in_dir(setup.data(), &Needles::of(&erased)).is_empty());

    let acknowledged = fill(&mut api, &mut dice, "/fill");
    assert!(acknowledged.len() > 20, "full after only {} writes", acknowledged.len());
    eprintln!("disk full after {} acknowledged writes", acknowledged.len());

    verify(&mut api, &acknowledged);
    assert_eq!(api.client.get("/healthz").status, 200, "alive while the disk is full");
    assert_eq!(api.client.get("/readyz").ok(), json!({"status": "ok", "disk_full": true}));

    let summary = api.client.get("/v1/agents/nobody-heard-of/memory");
    assert_eq!(summary.status, 200, "a read makes nobody on a full disk: {}", summary.text());

    let reply = api.erase(&to_erase);
    assert_eq!(reply.status, 200, "erase works on a full disk: {}", reply.text());
    let reply = api.redact(&to_redact.version);
    assert_eq!(reply.status, 200, "redact works on a full disk: {}", reply.text());
    for secret in [&erased, &redacted] {
        let hits = hits_in_dir(setup.data(), &Needles::of(secret));
        assert!(hits.is_empty(), "still there: {hits:?}");
    }
    verify(&mut api, &acknowledged);

    fs::remove_file(&filler).unwrap();
    let again = wait_until_writable(&mut api);
    verify(&mut api, &acknowledged);
    assert_eq!(api.content(&again), "there is room again");
    assert_eq!(api.client.get("/readyz").ok(), json!({"status": "ok", "disk_full": false}));

    server.stop();
    Loci::on_data(setup.data()).ok(&["check"]);
    let server = setup.start();
    let mut api = Api::open(server.client(), &api.store);
    verify(&mut api, &acknowledged);
    assert_eq!(api.get(&to_erase).status, 404);
}

/// Writes until the server refuses for lack of space, and a little longer.
fn fill(api: &mut Api, dice: &mut Dice, folder: &str) -> Vec<Acknowledged> {
    let url = api.path("/memories");
    let mut acknowledged = Vec::new();
    let mut refusals = 0;
    for number in 0..5_000 {
        // Smaller and smaller, so that the last free pages are used up too.
        let length = if refusals == 0 { 90_000 } else { 2_000 };
        let content = dice.hex(length);
        let body = json!({"path": format!("{folder}/{number}"), "content": content});
        let reply = api.client.post(&url, &body);
        if reply.status == 200 {
            let id = reply.json()["id"].as_str().unwrap().to_owned();
            acknowledged.push(Acknowledged { id, digest: sha256(&content) });
        } else {
            assert_eq!(reply.status, 507, "{}", reply.text());
            assert_eq!(error_type(&reply).as_deref(), Some("api_error"), "{}", reply.text());
            refusals += 1;
        }
        if refusals >= 10 {
            return acknowledged;
        }
    }
    panic!("the disk never became full");
}

fn verify(api: &mut Api, acknowledged: &[Acknowledged]) {
    let listed = api.memories();
    for write in acknowledged {
        let content = api.content(&write.id);
        assert_eq!(sha256(&content), write.digest, "{}", write.id);
        assert!(listed.iter().any(|memory| memory.id == write.id), "{} not listed", write.id);
    }
}

/// The server may look at free space now and then rather than on each write.
fn wait_until_writable(api: &mut Api) -> String {
    let url = api.path("/memories");
    let began = Instant::now();
    loop {
        let body = json!({"path": "/again", "content": "there is room again"});
        let reply = api.client.post(&url, &body);
        if reply.status == 200 {
            return reply.json()["id"].as_str().unwrap().to_owned();
        }
        assert_eq!(reply.status, 507, "{}", reply.text());
        assert!(began.elapsed() < Duration::from_secs(60), "still full: {}", reply.text());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Many writers meet the end of the disk in one group; then the process dies there.
#[test]
fn a_crash_on_a_full_disk_loses_nothing_either() {
    let mut dice = Dice::new("crash full");
    let disk = SmallDisk::mount();
    let filler = disk.path().join("filler");
    fs::write(&filler, vec![7; 2 * FILLER_BYTES]).unwrap();
    let setup = Setup::new().data_at(&disk.path().join("data"));
    let server = setup.start();
    let store = Api::create(server.client(), "full").store;
    let writers: Vec<_> = (0..8)
        .map(|number| {
            let mut api = Api::open(server.client(), &store);
            let mut dice = dice.split();
            std::thread::spawn(move || fill(&mut api, &mut dice, &format!("/w{number}")))
        })
        .collect();
    let acknowledged: Vec<_> =
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
    assert!(acknowledged.len() > 20, "full after only {} writes", acknowledged.len());
    server.kill();

    // Starting needs no room that is not there, and reading none at all.
    let server = setup.start();
    let mut api = Api::open(server.client(), &store);
    verify(&mut api, &acknowledged);
    assert_eq!(api.memories().len(), acknowledged.len(), "stored without a promise");
    api.delete(&acknowledged[0].id);
    let reply = api.erase(&acknowledged[1].id);
    assert_eq!(reply.status, 200, "erase works on a full disk: {}", reply.text());

    fs::remove_file(&filler).unwrap();
    wait_until_writable(&mut api);
    verify(&mut api, &acknowledged[2..]);
    server.stop();
    Loci::on_data(setup.data()).ok(&["check"]);
}

#[test]
fn a_backup_that_does_not_fit_fails_cleanly() {
    let disk = SmallDisk::mount();
    let mut dice = Dice::new("backup full");
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "backup");
    for number in 0..20 {
        api.put(&format!("/{number}"), &dice.hex(90_000));
    }
    fs::write(disk.path().join("filler"), vec![7; 63 << 20]).unwrap();
    let target = disk.path().join("backup.db");
    let ended = Loci::on_data(setup.data()).run(&["backup", target.to_str().unwrap()]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(!target.exists(), "half a backup must not look like one");
    assert_eq!(api.memories().len(), 20);
    server.stop();
}

/// What is taken back while the disk is full, and how to see that it is gone.
struct Access {
    what: &'static str,
    client: Client,
    /// What the access opens.
    opened: String,
    /// How it is taken back.
    method: &'static str,
    url: String,
    body: Option<Value>,
}

impl Access {
    fn is_open(&mut self) -> bool {
        self.client.get(&self.opened).status == 200
    }
}

/// Whoever can fill the disk must not be able to stay because of that.
#[test]
fn access_is_taken_back_on_a_full_disk() {
    let mut dice = Dice::new("access on a full disk");
    let disk = SmallDisk::mount();
    let filler = disk.path().join("filler");
    fs::write(&filler, vec![7; 2 * FILLER_BYTES]).unwrap();
    let setup = Setup::new().data_at(&disk.path().join("data"));
    let server = setup.start();
    let mut api = Api::create(server.client(), "full");
    let mut all = accesses(&server, &mut api);
    for access in &mut all {
        assert!(access.is_open(), "{} opens nothing to begin with", access.what);
    }
    for (number, access) in all.iter_mut().enumerate() {
        fill(&mut api, &mut dice, &format!("/fill{number}"));
        let reply = api.client.call(access.method, &access.url, access.body.as_ref());
        assert_eq!(reply.status, 200, "{} on a full disk: {}", access.what, reply.text());
        assert!(!access.is_open(), "{} was taken back and still opens", access.what);
        assert_eq!(api.client.get("/readyz").ok()["disk_full"], true);
    }

    server.kill();
    let server = setup.start();
    for access in &mut all {
        access.client = access.client.at(server.addr());
        assert!(!access.is_open(), "{} opens again after a crash", access.what);
    }
    fs::remove_file(&filler).unwrap();
    wait_until_writable(&mut Api::open(server.client(), &api.store));
    server.stop();
    Loci::on_data(setup.data()).ok(&["check"]);
}

/// One of each: a key, a grant, memory that is on, membership of a chat, sessions, a console.
fn accesses(server: &Server, api: &mut Api) -> Vec<Access> {
    let whoami = "/v1/whoami".to_owned();
    let memories = api.path("/memories");
    let mut all = Vec::new();
    let mut add = |what, client, opened: &str, (method, url): (&'static str, String), body| {
        all.push(Access { what, client, opened: opened.to_owned(), method, url, body });
    };

    let (stolen, id) = key_of(server, "thief");
    add("a key", stolen, &whoami, ("DELETE", format!("/v1/api_keys/{id}")), None);

    let (made, session) = made_in_the_console(server);
    let revoke = ("DELETE", format!("/v1/api_keys/{session}"));
    add("a key of a console session", made, &whoami, revoke, None);

    let (guest, _) = key_of(server, "guest");
    let granted =
        api.client.post(&api.path("/grants"), &json!({"grantee": "guest", "level": "read"}));
    let granted = granted.ok()["id"].as_str().unwrap().to_owned();
    let revoke = ("DELETE", api.path(&format!("/grants/{granted}")));
    add("a grant", guest, &memories, revoke, None);

    let (agent, _) = key_of(server, "agent");
    api.client.post(&api.path("/grants"), &json!({"grantee": "agent", "level": "read"})).ok();
    let switch = ("POST", "/v1/principals/agent/memory".to_owned());
    add("memory that is on", agent, &memories, switch, Some(json!({"enabled": false})));

    let (mut member, _) = key_of(server, "member");
    api.client.call("PUT", "/v1/chats/room/members/member", None).ok();
    let home = home_of_chat(&mut member);
    let leave = ("DELETE", "/v1/chats/room/members/member".to_owned());
    add("membership", member, &format!("/v1/memory_stores/{home}/memories"), leave, None);

    for (what, method, rest) in
        [("an archived session", "POST", "/archive"), ("a removed session", "DELETE", "")]
    {
        let resource = json!({
            "type": "memory_store", "memory_store_id": api.store, "access": "read_only",
        });
        let wanted = json!({
            "agent": "agent_1", "environment_id": "env_1", "resources": [resource],
        });
        let session =
            api.client.post("/v1/sessions", &wanted).ok()["id"].as_str().unwrap().to_owned();
        let key = json!({"name": what, "session_id": session});
        let made = api.client.post("/v1/api_keys", &key).ok();
        let client = server.client_as(made["secret"].as_str());
        add(what, client, &memories, (method, format!("/v1/sessions/{session}{rest}")), None);
    }
    all
}

/// A key that was made in the console, and its session.
fn made_in_the_console(server: &Server) -> (Client, String) {
    let mut browser = server.client_as(None);
    let page = [("x-loci-console", "1")];
    let login = json!({"key": ADMIN_KEY});
    let entered = browser.call_with("POST", "/console/login", Some(&login), &page);
    let cookie = entered.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let page = [page[0], ("cookie", &cookie)];
    let made = browser.call_with("POST", "/v1/api_keys", Some(&json!({"name": "made"})), &page);
    let made = made.ok();
    let session = made["console_session"].as_str().unwrap().to_owned();
    (server.client_as(made["secret"].as_str()), session)
}

/// A new agent and a key of its own.
fn key_of(server: &Server, name: &str) -> (Client, String) {
    let mut admin = server.client();
    admin.post("/v1/principals", &json!({ "name": name })).ok();
    let key = json!({"name": format!("key of {name}"), "principal": name});
    let made = admin.post("/v1/api_keys", &key).ok();
    (server.client_as(made["secret"].as_str()), made["id"].as_str().unwrap().to_owned())
}

/// The store of the chat, which is made with the first thing a member writes there.
fn home_of_chat(member: &mut Client) -> String {
    let input = json!({"command": "create", "scope": "chat", "chatId": "room", "key": "k",
        "content": "x"});
    member.post("/v1/tools/memory", &input).ok();
    let stores = member.get("/v1/memory_stores").ok();
    let mut stores = stores["data"].as_array().unwrap().iter();
    let home = stores.find(|store| store["name"] == "home of room").expect("it was made");
    home["id"].as_str().unwrap().to_owned()
}

/// A key that was made in the console ends with the session, and signing out needs no room.
#[test]
fn signing_out_on_a_full_disk_ends_the_keys_that_the_session_made() {
    let mut dice = Dice::new("signing out on a full disk");
    let disk = SmallDisk::mount();
    fs::write(disk.path().join("filler"), vec![7; 2 * FILLER_BYTES]).unwrap();
    let setup = Setup::new().data_at(&disk.path().join("data"));
    let server = setup.start();
    let mut api = Api::create(server.client(), "full");
    let mut browser = server.client_as(None);
    let origin = server.url();
    let page =
        [("origin", origin.as_str()), ("sec-fetch-site", "same-origin"), ("x-loci-console", "1")];
    let login =
        browser.call_with("POST", "/console/login", Some(&json!({"key": ADMIN_KEY})), &page);
    assert_eq!(login.status, 200, "{}", login.text());
    let cookie = login.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let signed_in = [&page[..], &[("cookie", cookie.as_str())]].concat();
    let made = json!({"name": "made in the console"});
    let made = browser.call_with("POST", "/v1/api_keys", Some(&made), &signed_in).ok();
    let mut key = server.client_as(made["secret"].as_str());
    assert_eq!(key.get("/v1/whoami").status, 200);

    fill(&mut api, &mut dice, "/fill");
    assert_eq!(api.client.get("/readyz").ok()["disk_full"], true);
    let out = browser.call_with("POST", "/console/logout", None, &signed_in);
    assert_eq!(out.status, 204, "{}", out.text());
    assert_eq!(key.get("/v1/whoami").status, 401, "its session is over");
    let shown = browser.call_with("GET", "/console/session", None, &signed_in);
    assert_eq!(shown.status, 401, "{}", shown.text());
    server.kill();
    let server = setup.start();
    assert_eq!(key.at(server.addr()).get("/v1/whoami").status, 401, "it opens again after a crash");
    server.stop();
}
