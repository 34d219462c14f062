//! `[qiforge]`: who this server is to QiForge's oracles, whose tokens it takes, and where it finds the
//! keys of those whose names do not hold them.
//!
//! Without the section the door is closed: anybody who can make a key can make a token, and keep things
//! here. How much is bounded, for each visitor and for all of them.

use crate::exit::Failure;
use crate::resolver::{Resolver, Web};
use loci_dialects::qiforge::{Oracle, QiforgeOptions};
use loci_engine::VisitorLimits;
use loci_http::{UcanOptions, Ucans};
use loci_model::query::Amount;
use loci_ucan::{Did, Key, Keys};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

/// A token that is sent about for longer than this is one too many; the runtime's last an hour.
const TOKEN_SECONDS: u32 = 24 * 60 * 60;

/// `[qiforge]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct QiforgeSection {
    enabled: Option<bool>,
    did: Option<String>,
    audiences: Vec<String>,
    indexer: Option<String>,
    web: bool,
    web_private: bool,
    token_seconds: Option<u32>,
    accept_star: bool,
    ignore_room: bool,
    allow_users: Option<Vec<String>>,
    allow_oracles: Option<Vec<String>>,
    new_visitors_per_day: Option<u32>,
    visitor_memories: Option<u64>,
    visitor_mb: Option<u64>,
    visitors_memories: Option<u64>,
    visitors_mb: Option<u64>,
    keys: BTreeMap<String, Vec<String>>,
    oracles: BTreeMap<String, OracleEntry>,
}

/// `[qiforge.oracles."did:…"]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct OracleEntry {
    entity_did: Option<String>,
    owners: Vec<String>,
    open: bool,
}

/// The door as it is to be opened.
pub(crate) struct Qiforge {
    pub(crate) ucans: Arc<Ucans>,
    pub(crate) options: QiforgeOptions,
    pub(crate) visitors: VisitorLimits,
}

impl QiforgeSection {
    pub(super) fn check(&self) -> Result<(), String> {
        self.keys()?;
        let dids = |name: &str, dids: &[String]| {
            dids.iter().try_for_each(|did| parse(name, did).map(drop))
        };
        self.did.iter().try_for_each(|did| parse("did", did).map(drop))?;
        dids("audiences", &self.audiences)?;
        dids("allow_users", self.allow_users.as_deref().unwrap_or_default())?;
        dids("allow_oracles", self.allow_oracles.as_deref().unwrap_or_default())?;
        for (did, oracle) in &self.oracles {
            parse("oracles", did)?;
            oracle.entity_did.iter().try_for_each(|did| parse("entity_did", did).map(drop))?;
            dids("owners", &oracle.owners)?;
        }
        let numbers = [
            ("token_seconds", self.token_seconds.map(u64::from)),
            ("visitor_memories", self.visitor_memories),
            ("visitor_mb", self.visitor_mb),
            ("visitors_memories", self.visitors_memories),
            ("visitors_mb", self.visitors_mb),
        ];
        if let Some((name, _)) = numbers.iter().find(|(_, given)| *given == Some(0)) {
            return Err(format!("qiforge.{name} must be at least 1"));
        }
        if self.web_private && !self.web {
            return Err("qiforge.web_private says more about qiforge.web, which is off".to_owned());
        }
        match &self.indexer {
            Some(url) if !(url.starts_with("https://") || url.starts_with("http://")) => {
                Err("qiforge.indexer must be an http:// or https:// URL".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn keys(&self) -> Result<Keys, String> {
        let mut all = Keys::new();
        for (did, written) in &self.keys {
            let wrong = || {
                format!(
                    "qiforge.keys {did:?} takes Ed25519 keys as did:key:z…, z… or 64 hex digits"
                )
            };
            let keys = written.iter().map(|text| key(text).ok_or_else(wrong));
            all.insert(parse("keys", did)?, keys.collect::<Result<_, _>>()?);
        }
        Ok(all)
    }

    /// What visitors may keep.
    fn visitors(&self) -> VisitorLimits {
        const MB: u64 = 1024 * 1024;
        let default = VisitorLimits::default();
        let bytes = |mb: Option<u64>, otherwise| mb.map_or(otherwise, |mb| mb.saturating_mul(MB));
        VisitorLimits {
            new_per_day: self.new_visitors_per_day.unwrap_or(default.new_per_day),
            each: Amount {
                memories: self.visitor_memories.unwrap_or(default.each.memories),
                bytes: bytes(self.visitor_mb, default.each.bytes),
            },
            all: Amount {
                memories: self.visitors_memories.unwrap_or(default.all.memories),
                bytes: bytes(self.visitors_mb, default.all.bytes),
            },
        }
    }

    /// The door for a server that listens at an address; nothing if it stays closed.
    pub(crate) fn resolve(
        section: Option<&Self>,
        listen: SocketAddr,
    ) -> Result<Option<Qiforge>, Failure> {
        let fail = |why: String| Failure::failed(format!("configuration: {why}"));
        let Some(section) = section.filter(|section| section.enabled.unwrap_or(true)) else {
            return Ok(None);
        };
        let did = match &section.did {
            Some(did) => did.clone(),
            None if listen.ip().is_unspecified() => {
                let why = "qiforge.did is needed when listening on every address, such as \
                           did:web:memory.example.org";
                return Err(fail(why.to_owned()));
            }
            None => derived(listen),
        };
        let list = |name: &str, dids: &[String]| {
            dids.iter().map(|did| parse(name, did)).collect::<Result<Vec<Did>, _>>()
        };
        let set = |name: &str, dids: &Option<Vec<String>>| {
            let dids = dids.as_deref().map(|dids| list(name, dids)).transpose();
            dids.map(|dids| dids.map(|dids| dids.into_iter().collect::<BTreeSet<Did>>()))
        };
        let mut audiences = list("audiences", &section.audiences).map_err(fail)?;
        audiences.push(parse("did", &did).map_err(fail)?);
        let web = match (section.web, section.web_private) {
            (false, _) => Web::Off,
            (true, false) => Web::Public,
            (true, true) => Web::Anywhere,
        };
        let resolver = Resolver::new(section.indexer.clone(), web);
        let ucans = Ucans::new(UcanOptions {
            audiences,
            keys: section.keys().map_err(fail)?,
            source: Arc::new(resolver),
            accepts_star: section.accept_star,
            lifetime_max: section.token_seconds.unwrap_or(TOKEN_SECONDS),
            users: set("allow_users", &section.allow_users).map_err(fail)?,
            oracles: set("allow_oracles", &section.allow_oracles).map_err(fail)?,
        });
        let oracles = section.oracles.iter().map(|(did, entry)| {
            let owners = entry.owners.iter().cloned().collect();
            let entity_did = entry.entity_did.clone();
            (did.clone(), Oracle { entity_did, owners, is_open: entry.open })
        });
        let options = QiforgeOptions {
            did: Some(did),
            ignores_room: section.ignore_room,
            oracles: oracles.collect(),
        };
        let visitors = section.visitors();
        Ok(Some(Qiforge { ucans: Arc::new(ucans), options, visitors }))
    }
}

/// The name of a server that nobody named: where it listens.
fn derived(listen: SocketAddr) -> String {
    let host = match listen {
        SocketAddr::V4(v4) => v4.ip().to_string(),
        SocketAddr::V6(v6) => format!("[{}]", v6.ip()).replace(':', "%3A"),
    };
    let host = host.replace('[', "%5B").replace(']', "%5D");
    format!("did:web:{host}%3A{}", listen.port())
}

fn parse(name: &str, did: &str) -> Result<Did, String> {
    Did::parse(did).map_err(|_| format!("qiforge.{name}: {did:?} is no DID"))
}

fn key(text: &str) -> Option<Key> {
    let text = text.strip_prefix("did:key:").unwrap_or(text);
    match text.starts_with('z') {
        true => Key::from_multibase(text),
        false => Key::from_bytes(&hex::decode(text).ok()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const KEY: &str = "z6Mks8fbHkqPNSKLFE1UtwmrLf2dS8HgAsr2WaYTKzkYExSt";

    fn resolve(text: &str, listen: &str) -> Result<Option<Qiforge>, Failure> {
        let listen: SocketAddr = listen.parse().unwrap();
        let config = Config::parse(text).unwrap();
        QiforgeSection::resolve(config.qiforge.as_ref(), listen)
    }

    fn did(text: &str, listen: &str) -> Option<String> {
        resolve(text, listen).unwrap().and_then(|door| door.options.did)
    }

    #[test]
    fn the_door_is_open_where_it_is_wanted() {
        assert_eq!(did("", "127.0.0.1:8988"), None);
        assert_eq!(did("", "192.0.2.1:8988"), None);
        assert_eq!(did("[qiforge]\nenabled = false\n", "127.0.0.1:1"), None);
        let derived = did("[qiforge]\n", "127.0.0.1:8988");
        assert_eq!(derived.as_deref(), Some("did:web:127.0.0.1%3A8988"));
        let derived = did("[qiforge]\n", "[::1]:80");
        assert_eq!(derived.as_deref(), Some("did:web:%5B%3A%3A1%5D%3A80"));
        assert!(did("[qiforge]\n", "192.0.2.1:8988").is_some());
        let named = "[qiforge]\ndid = 'did:web:m.example'\n";
        assert_eq!(did(named, "0.0.0.0:1").as_deref(), Some("did:web:m.example"));
        let failure = resolve("[qiforge]\n", "0.0.0.0:1").err().unwrap();
        assert!(failure.message.contains("qiforge.did"), "{}", failure.message);
    }

    #[test]
    fn visitors_have_bounds_that_can_be_set() {
        let limits = |text: &str| {
            resolve(&format!("[qiforge]\n{text}"), "127.0.0.1:1").unwrap().unwrap().visitors
        };
        assert_eq!(limits(""), VisitorLimits::default());
        let set = limits(
            "visitor_memories = 3\nvisitor_mb = 2\nvisitors_memories = 9\nvisitors_mb = 5\n",
        );
        assert_eq!(set.each, Amount { memories: 3, bytes: 2 << 20 });
        assert_eq!(set.all, Amount { memories: 9, bytes: 5 << 20 });
        assert_eq!(limits("new_visitors_per_day = 0\n").new_per_day, 0);
    }

    #[test]
    fn keys_come_in_three_forms() {
        let hex = "ab".repeat(32);
        let text = format!(
            "[qiforge.keys]\n'did:ixo:a' = ['{KEY}', 'did:key:{KEY}', '{hex}']\n'did:ixo:b' = []\n"
        );
        let config = Config::parse(&text).unwrap();
        let keys = config.qiforge.unwrap().keys().unwrap();
        let lengths: Vec<usize> = keys.values().map(Vec::len).collect();
        assert_eq!(lengths, [3, 0]);
    }

    #[test]
    fn mistakes_are_named() {
        let why = |text: &str| Config::parse(text).expect_err(text);
        assert!(why("[qiforge]\ndid = 'me'\n").contains("qiforge.did"));
        assert!(why("[qiforge]\naudiences = ['x']\n").contains("qiforge.audiences"));
        assert!(why("[qiforge]\nindexer = 'ftp://x'\n").contains("qiforge.indexer"));
        assert!(why("[qiforge]\nallow_users = ['x']\n").contains("allow_users"));
        assert!(why("[qiforge.keys]\n'did:ixo:a' = ['zzz']\n").contains("qiforge.keys"));
        assert!(why("[qiforge.oracles.x]\n").contains("qiforge.oracles"));
        assert!(why("[qiforge.oracles.'did:x:o']\nowners = ['me']\n").contains("owners"));
        assert!(why("[qiforge]\nstar = true\n").contains("star"));
        assert!(why("[qiforge]\nvisitor_mb = 0\n").contains("qiforge.visitor_mb"));
        assert!(why("[qiforge]\ntoken_seconds = 0\n").contains("qiforge.token_seconds"));
        assert!(why("[qiforge]\nweb_private = true\n").contains("qiforge.web_private"));
    }
}
