//! The cast: every sort of caller, every sort of store, and memories in every state. Made once over
//! HTTP, the way an operator would make it.

use crate::sharing_tokens::{SECRET, claims, hs256};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use loci_it::{Api, Client, Server};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Who {
    Admin,
    Owner,
    OwnersReadKey,
    OwnersSearchKey,
    OwnersModel,
    Searcher,
    Reader,
    Writer,
    /// Had a grant until a moment ago.
    Lapsed,
    Member,
    /// Was a member until a moment ago.
    Left,
    Companion,
    /// A user who is in a chat with the user.
    FellowUser,
    /// May write, but all memory is switched off for it.
    SwitchedOff,
    SessionReading,
    SessionWriting,
    Stranger,
    /// The writer, by a token that an issuer signed.
    WritersToken,
    /// The companion, likewise.
    CompanionsToken,
    /// The owner, by a key that was made in the console.
    OwnersConsoleKey,
    /// Without a credential.
    Nobody,
}

impl Who {
    pub(super) const ALL: [Self; 21] = [
        Self::Admin,
        Self::Owner,
        Self::OwnersReadKey,
        Self::OwnersSearchKey,
        Self::OwnersModel,
        Self::Searcher,
        Self::Reader,
        Self::Writer,
        Self::Lapsed,
        Self::Member,
        Self::Left,
        Self::Companion,
        Self::FellowUser,
        Self::SwitchedOff,
        Self::SessionReading,
        Self::SessionWriting,
        Self::Stranger,
        Self::WritersToken,
        Self::CompanionsToken,
        Self::OwnersConsoleKey,
        Self::Nobody,
    ];

    /// Whose rights these are: another credential of the same principal gives the same.
    pub(super) fn base(self) -> Self {
        match self {
            Self::WritersToken => Self::Writer,
            Self::CompanionsToken => Self::Companion,
            Self::OwnersConsoleKey => Self::Owner,
            other => other,
        }
    }
}

/// Whose the store is, and in which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// An agent's home.
    Home,
    /// The same, archived.
    Archived,
    /// The same, and everyone may read it.
    Open,
    /// A chat's.
    Chat,
    /// A user's.
    User,
}

impl Kind {
    pub(super) const ALL: [Self; 5] =
        [Self::Home, Self::Archived, Self::Open, Self::Chat, Self::User];

    /// By which name the door with names knows it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Home => "owner-of-home",
            Self::Archived => "owner-of-archived",
            Self::Open => "owner-of-open",
            Self::Chat => "the-chat",
            Self::User => "the-user",
        }
    }
}

/// What is the matter with a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    Plain,
    Internal,
    Sealed,
    Expired,
    /// Written by a guest.
    Others,
    /// Likewise, and hidden.
    HiddenByGuest,
}

impl State {
    pub(super) const ALL: [Self; 6] = [
        Self::Plain,
        Self::Internal,
        Self::Sealed,
        Self::Expired,
        Self::Others,
        Self::HiddenByGuest,
    ];
}

/// One memory for one question, so that no answer disturbs another.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) store: String,
    /// The store's foreign name.
    pub(super) whose: &'static str,
    pub(super) key: String,
    pub(super) memory: String,
    pub(super) version: String,
    /// Somebody nobody has shared anything with.
    pub(super) grantee: String,
}

pub(super) struct World {
    addr: SocketAddr,
    pub(super) admin: Client,
    keys: HashMap<(Who, Kind), String>,
    stores: HashMap<Kind, String>,
    memories: HashMap<(Kind, String), (String, String)>,
}

/// Whether a guest writes this memory.
fn is_guests(key: &str) -> bool {
    key.contains("Others") || key.contains("HiddenByGuest")
}

impl World {
    /// `questions` gives the keys of the memories that a kind of store is asked about.
    pub(super) fn new(server: &Server, questions: &(dyn Fn(Kind) -> Vec<String> + Sync)) -> Self {
        let mut world = Self {
            addr: server.addr(),
            admin: server.client(),
            keys: HashMap::new(),
            stores: HashMap::new(),
            memories: HashMap::new(),
        };
        world.people();
        world.groups();
        // The stores are filled at the same time, each by its own author.
        std::thread::scope(|scope| {
            for kind in Kind::ALL {
                let world = &world;
                scope.spawn(move || world.fill(kind, &questions(kind)));
            }
        });
        Kind::ALL.into_iter().for_each(|kind| world.find(kind));
        world.share();
        world.sessions();
        world.end(questions);
        world
    }

    /// A caller's own client for a store of this kind; `None` where there is no such caller.
    pub(super) fn client(&self, who: Who, kind: Kind) -> Option<Client> {
        if who == Who::Nobody {
            return Some(Client::new(self.addr, None));
        }
        self.keys.get(&(who, kind)).map(|key| Client::new(self.addr, Some(key)))
    }

    pub(super) fn target(&self, kind: Kind, key: &str) -> Target {
        let (memory, version) = self.memories[&(kind, key.to_owned())].clone();
        Target {
            store: self.stores[&kind].clone(),
            whose: kind.name(),
            key: key.to_owned(),
            memory,
            version,
            grantee: format!("friend-{key}"),
        }
    }

    /// A memory of a store that is not there any more.
    pub(super) fn gone(&mut self) -> Target {
        let mut api = Api::create(self.client(Who::Admin, Kind::Home).unwrap(), "gone");
        let memory = api.put("/gone", "tea");
        let url = api.path("");
        api.client.delete(&url).ok();
        Target {
            store: api.store,
            whose: "",
            key: "gone".to_owned(),
            memory: memory.id,
            version: memory.version,
            grantee: "friend-share-Admin-Plain".to_owned(),
        }
    }

    fn principal(&mut self, name: &str, kind: &str) {
        self.admin.post("/v1/principals", &json!({"name": name, "kind": kind})).ok();
    }

    fn key(&mut self, wanted: &Value) -> String {
        let made = self.admin.post("/v1/api_keys", wanted).ok();
        made["secret"].as_str().unwrap().to_owned()
    }

    fn people(&mut self) {
        for kind in [Kind::Home, Kind::Archived, Kind::Open, Kind::User] {
            let name = kind.name();
            self.principal(name, if kind == Kind::User { "user" } else { "agent" });
            for (who, level, audience) in [
                (Who::Owner, "full", "host"),
                (Who::OwnersReadKey, "read", "host"),
                (Who::OwnersSearchKey, "search", "host"),
                (Who::OwnersModel, "full", "model"),
            ] {
                let key = self.key(&json!({
                    "name": format!("{name} {who:?}"), "principal": name, "level": level,
                    "audience": audience,
                }));
                self.keys.insert((who, kind), key);
            }
            let key = self.key_of_the_console(&self.keys[&(Who::Owner, kind)]);
            self.keys.insert((Who::OwnersConsoleKey, kind), key);
        }
        for who in [
            Who::Searcher,
            Who::Reader,
            Who::Writer,
            Who::Lapsed,
            Who::Member,
            Who::Left,
            Who::Companion,
            Who::FellowUser,
            Who::SwitchedOff,
            Who::Stranger,
        ] {
            let name = format!("{who:?}");
            self.principal(&name, if who == Who::FellowUser { "user" } else { "agent" });
            let key = self.key(&json!({"name": name, "principal": name}));
            for kind in Kind::ALL {
                self.keys.insert((who, kind), key.clone());
            }
        }
        for who in Who::ALL {
            self.principal(&format!("friend-share-{who:?}-Plain"), "agent");
        }
        for kind in Kind::ALL {
            self.keys.insert((Who::Admin, kind), loci_it::ADMIN_KEY.to_owned());
            for (who, name) in [(Who::WritersToken, "Writer"), (Who::CompanionsToken, "Companion")]
            {
                self.keys.insert((who, kind), hs256(&claims(name, 3600), SECRET));
            }
        }
    }

    /// A key that somebody makes for themselves in the console.
    fn key_of_the_console(&self, key: &str) -> String {
        let page = ("x-loci-console", "1");
        let mut client = Client::new(self.addr, None);
        let shown = json!({"key": key});
        let signed_in = client.call_with("POST", "/console/login", Some(&shown), &[page]);
        let cookie = signed_in.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        let wanted = json!({"name": "made in the console"});
        let headers = [page, ("cookie", cookie.as_str())];
        let made = client.call_with("POST", "/v1/api_keys", Some(&wanted), &headers).ok();
        assert!(made["console_session"].is_string(), "{made}");
        made["secret"].as_str().unwrap().to_owned()
    }

    fn groups(&mut self) {
        for (chat, member) in [
            ("the-chat", "Member"),
            ("the-chat", "Left"),
            ("lobby", "the-user"),
            ("lobby", "Companion"),
            ("lobby", "FellowUser"),
            ("lobby", "Left"),
        ] {
            self.admin.call("PUT", &format!("/v1/chats/{chat}/members/{member}"), None).ok();
        }
    }

    /// Writes a memory for each question, by whoever may write there without a grant.
    fn fill(&self, kind: Kind, questions: &[String]) {
        let author = if kind == Kind::Chat { Who::Member } else { Who::Owner };
        let mut author = self.client(author, kind).unwrap();
        for key in questions {
            let sealed = key.contains("Sealed");
            let value = if sealed { BASE64.encode("closed") } else { "tea and a cake".to_owned() };
            let body = json!({
                "store": kind.name(), "value": value, "encrypted": sealed,
                "inContext": !key.contains("Internal"),
            });
            if !is_guests(key) {
                author.call("PUT", &format!("/api/storage/memory/{key}"), Some(&body)).ok();
            }
        }
    }

    /// Looks up the store of a kind.
    fn find(&mut self, kind: Kind) {
        let body = self.admin.get("/v1/memory_stores?limit=100").ok();
        let named = |store: &&Value| store["name"] == format!("home of {}", kind.name());
        let store = body["data"].as_array().unwrap().iter().find(named).expect("the home is there");
        self.stores.insert(kind, store["id"].as_str().unwrap().to_owned());
    }

    fn share(&mut self) {
        for kind in Kind::ALL {
            let url = format!("/v1/memory_stores/{}/grants", self.stores[&kind]);
            for (grantee, level) in [
                ("Searcher", "search"),
                ("Reader", "read"),
                ("Writer", "readwrite"),
                ("SwitchedOff", "readwrite"),
            ] {
                self.admin.post(&url, &json!({"grantee": grantee, "level": level})).ok();
            }
            let lapsing = json!({"grantee": "Lapsed", "level": "readwrite", "ttl_seconds": 1});
            self.admin.post(&url, &lapsing).ok();
            if kind == Kind::Open {
                self.admin.post(&url, &json!({"grantee": "everyone", "level": "read"})).ok();
            }
        }
    }

    /// Two sessions with every store, one for looking and one for writing.
    fn sessions(&mut self) {
        for (who, access) in
            [(Who::SessionReading, "read_only"), (Who::SessionWriting, "read_write")]
        {
            let resources: Vec<Value> = Kind::ALL
                .iter()
                .map(|kind| {
                    json!({
                        "type": "memory_store", "memory_store_id": self.stores[kind],
                        "access": access,
                    })
                })
                .collect();
            let session = self
                .admin
                .post(
                    "/v1/sessions",
                    &json!({"agent": "agent_1", "environment_id": "env_1", "resources": resources}),
                )
                .ok();
            let key = self.key(&json!({"name": format!("{who:?}"), "session_id": session["id"]}));
            for kind in Kind::ALL {
                self.keys.insert((who, kind), key.clone());
            }
        }
    }

    /// Lets things end: guests write, ids are looked up, memories and grants expire, members leave,
    /// memory is switched off, a store is archived.
    fn end(&mut self, questions: &dyn Fn(Kind) -> Vec<String>) {
        for kind in Kind::ALL {
            let questions = questions(kind);
            let mut guest = self.client(Who::Writer, kind).unwrap();
            for key in questions.iter().filter(|key| is_guests(key)) {
                let body = json!({
                    "store": kind.name(), "value": "tea of a guest",
                    "inContext": !key.contains("Hidden"),
                });
                guest.call("PUT", &format!("/api/storage/memory/{key}"), Some(&body)).ok();
            }
            self.look_up(kind);
            let author = if kind == Kind::Chat { Who::Member } else { Who::Owner };
            let mut author = self.client(author, kind).unwrap();
            for key in questions.iter().filter(|key| key.contains("Expired")) {
                let body = json!({"store": kind.name(), "value": "tea", "ttl": 1});
                author.call("PUT", &format!("/api/storage/memory/{key}"), Some(&body)).ok();
            }
        }
        for chat in ["the-chat", "lobby"] {
            self.admin.delete(&format!("/v1/chats/{chat}/members/Left")).ok();
        }
        let off = json!({"enabled": false});
        self.admin.post("/v1/principals/SwitchedOff/memory", &off).ok();
        let archive = format!("/v1/memory_stores/{}/archive", self.stores[&Kind::Archived]);
        self.admin.call("POST", &archive, None).ok();
        // Whatever was to expire had one second, by the clock.
        std::thread::sleep(Duration::from_millis(1100));
    }

    fn look_up(&mut self, kind: Kind) {
        let mut api = Api::open(self.client(Who::Admin, kind).unwrap(), &self.stores[&kind]);
        for memory in api.memories() {
            let key = memory.path.trim_start_matches('/').to_owned();
            self.memories.insert((kind, key), (memory.id, memory.version));
        }
    }
}
