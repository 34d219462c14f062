//! Promise: a token that a trusted issuer signed is the agent it names, for as long as it says and
//! the issuer's key counts; every other token is nobody's. No token is ever in the log.

use crate::sharing::{NO_MODEL, agent, words};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use loci_it::{Client, Server, Setup};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair, RsaPublicKeyComponents};
use serde_json::{Value, json};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(crate) const SECRET: &str = "a shared secret of thirty-two bytes or more";
const ONE: &str = include_str!("../../../../crates/http/src/layers/token/fixtures/one.pk8.b64");
const TWO: &str = include_str!("../../../../crates/http/src/layers/token/fixtures/two.pk8.b64");

pub(crate) fn claims(agent: &str, seconds: i64) -> Value {
    #[expect(clippy::disallowed_methods, reason = "an issuer has a clock of its own")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    json!({"agent_id": agent, "exp": now.strict_add_signed(seconds)})
}

fn signed(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(header), part(claims));
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(sign(message.as_bytes())))
}

pub(crate) fn hs256(claims: &Value, secret: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    signed(&json!({"alg": "HS256"}), claims, |message| hmac::sign(&key, message).as_ref().to_vec())
}

fn pair(text: &str) -> RsaKeyPair {
    RsaKeyPair::from_pkcs8(&STANDARD.decode(text.replace('\n', "")).unwrap()).unwrap()
}

fn rs256(claims: &Value, name: &str, key: &str) -> String {
    let pair = pair(key);
    signed(&json!({"alg": "RS256", "kid": name}), claims, |message| {
        let mut signature = vec![0; pair.public().modulus_len()];
        pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).unwrap();
        signature
    })
}

fn write_keys(file: &Path, keys: &[(&str, &str)]) {
    let jwk = |(name, key): &(&str, &str)| {
        let public = RsaPublicKeyComponents::<Vec<u8>>::from(pair(key).public());
        let (n, e) = (URL_SAFE_NO_PAD.encode(public.n), URL_SAFE_NO_PAD.encode(public.e));
        json!({"kty": "RSA", "kid": name, "use": "sig", "n": n, "e": e})
    };
    let keys: Vec<Value> = keys.iter().map(jwk).collect();
    std::fs::write(file, json!({ "keys": keys }).to_string()).unwrap();
}

fn status(server: &Server, token: &str) -> u16 {
    server.client_as(Some(token)).get("/v1/memory_stores").status
}

/// Waits until a token is answered so; the file of keys is looked at once a second.
fn comes_to(server: &Server, token: &str, expected: u16) {
    let began = Instant::now();
    while status(server, token) != expected {
        assert!(began.elapsed() < Duration::from_secs(60), "never came to {expected}");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_shared_secret_names_agents() {
    let config = format!("{NO_MODEL}[jwt]\nsecret_env = 'TOKEN_SECRET'\naudience = 'loci'\n");
    let setup = Setup::new().config(&config).env("TOKEN_SECRET", SECRET);
    let server = setup.start();
    let with = |name: &str, value: Value| {
        let mut claims = claims("scout", 60);
        claims["aud"] = json!("loci");
        claims[name] = value;
        claims
    };
    let good = hs256(&with("aud", json!("loci")), SECRET);
    let store = server.client_as(Some(&good)).post("/v1/memory_stores", &json!({"name": "mine"}));
    let store = store.ok()["id"].as_str().unwrap().to_owned();
    let url = format!("/v1/memory_stores/{store}/memories");
    let memory = json!({"path": "/a", "content": "by token"});
    server.client_as(Some(&good)).post(&url, &memory).ok();
    let by_other_header = [("X-Api-Key", good.as_str())];
    let mut nobody: Client = server.client_as(None);
    assert_eq!(nobody.call_with("GET", &url, None, &by_other_header).status, 200);

    // The same agent by a key sees the same; another agent by a token does not.
    let key = json!({"name": "k", "principal": "scout"});
    let key = server.client().post("/v1/api_keys", &key).ok();
    assert_eq!(server.client_as(key["secret"].as_str()).get(&url).status, 200);
    let other = hs256(&with("agent_id", json!("other")), SECRET);
    assert_eq!(server.client_as(Some(&other)).get(&url).status, 404);

    let (head, rest) = good.split_once('.').unwrap();
    let (_, signature) = rest.split_once('.').unwrap();
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let mut refused = vec![
        hs256(&with("exp", json!(1_000_000_000)), SECRET),
        hs256(&with("nbf", json!(9_000_000_000_u64)), SECRET),
        hs256(&with("aud", json!("others")), SECRET),
        hs256(&claims("scout", 60), SECRET),
        hs256(&with("agent_id", json!("admin")), SECRET),
        hs256(&with("agent_id", json!("")), SECRET),
        hs256(&with("agent_id", json!(7)), SECRET),
        hs256(&with("x", json!("x".repeat(9000))), SECRET),
        hs256(&with("aud", json!("loci")), "another secret of thirty-two bytes or more"),
        rs256(&with("aud", json!("loci")), "one", ONE),
        signed(&json!({"alg": "none"}), &with("aud", json!("loci")), |_| Vec::new()),
        format!("{head}.{}.{signature}", part(&with("agent_id", json!("other")))),
        format!("{head}.{rest}x"),
    ];
    refused.push(good.replacen('e', "f", 1));
    for token in &refused {
        let reply = server.client_as(Some(token)).get("/v1/memory_stores");
        assert_eq!(reply.status, 401, "{}", reply.text());
        assert!(!words(&reply).is_empty() && !reply.text().contains(signature));
    }
    // What an agent's token may not.
    for (method, path) in [
        ("GET", "/v1/principals"),
        ("GET", "/v1/events"),
        ("GET", "/v1/export"),
        ("GET", "/v1/chats"),
        ("PUT", "/v1/chats/room/members/scout"),
        ("POST", "/v1/api_keys"),
        ("POST", "/v1/principals/scout/memory"),
    ] {
        let body = (method == "POST").then(|| json!({"name": "k"}));
        let reply = server.client_as(Some(&good)).call(method, path, body.as_ref());
        assert!([400, 403].contains(&reply.status), "{method} {path}: {}", reply.text());
    }
    assert_eq!(server.client_as(Some(&good)).get("/v1/chats").status, 403);
    server.stop();
    let printed = setup.printed();
    for token in [&good, &other, &refused[0]] {
        assert!(!printed.contains(token.rsplit('.').next().unwrap()), "a token is in the log");
    }
    assert!(!printed.contains(SECRET));
}

#[test]
fn tokens_end_soon_and_make_so_many_agents_on_one_day() {
    let config = format!(
        "{NO_MODEL}[jwt]\nsecret_env = 'TOKEN_SECRET'\nnew_agents_per_day = 2\ntoken_seconds = 600\n"
    );
    let setup = Setup::new().config(&config).env("TOKEN_SECRET", SECRET);
    let server = setup.start();
    let ask = |agent: &str, secs: i64| status(&server, &hs256(&claims(agent, secs), SECRET));
    assert_eq!(ask("one", 3600), 401, "it would last too long");
    assert_eq!((ask("one", 600), ask("two", 60)), (200, 200));
    let third = server.client_as(Some(&hs256(&claims("three", 60), SECRET)));
    let refused = { third }.get("/v1/memory_stores");
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert!(refused.header("retry-after").is_some());
    // Who is known comes always, and so does who is made known by others.
    assert_eq!((ask("one", 60), ask("two", 60), ask("three", 60)), (200, 200, 429));
    agent(&server, "three");
    assert_eq!(ask("three", 60), 200);
    server.stop();
}

#[test]
fn the_issuers_keys_can_be_replaced_while_the_server_runs() {
    let setup = Setup::new();
    let file = setup.scratch().join("issuer.json");
    write_keys(&file, &[("one", ONE)]);
    let setup = setup.config(&format!("{NO_MODEL}[jwt]\njwks_file = '{}'\n", file.display()));
    let server = setup.start();
    let (one, two) =
        (rs256(&claims("scout", 600), "one", ONE), rs256(&claims("scout", 600), "two", TWO));
    assert_eq!((status(&server, &one), status(&server, &two)), (200, 401));
    let forged = rs256(&claims("scout", 600), "one", TWO);
    assert_eq!(status(&server, &forged), 401);
    assert_eq!(status(&server, &hs256(&claims("scout", 600), SECRET)), 401);

    write_keys(&file, &[("one", ONE), ("two", TWO)]);
    comes_to(&server, &two, 200);
    assert_eq!(status(&server, &one), 200);

    std::fs::write(&file, "{ not keys").unwrap();
    let began = Instant::now();
    while !setup.printed().contains("stay as they were") {
        assert_eq!((status(&server, &one), status(&server, &two)), (200, 200));
        assert!(began.elapsed() < Duration::from_secs(60), "the log says nothing");
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!((status(&server, &one), status(&server, &two)), (200, 200), "the old keys count");

    write_keys(&file, &[("two", TWO)]);
    comes_to(&server, &one, 401);
    assert_eq!(status(&server, &two), 200);
    server.stop();
    let printed = setup.printed();
    assert!([&one, &two].iter().all(|token| !printed.contains(token.as_str())));
}

#[test]
fn a_start_with_keys_that_cannot_work_fails_and_says_why() {
    let setup = Setup::new();
    let file = setup.scratch().join("issuer.json");
    std::fs::write(&file, "{}").unwrap();
    let bad = [
        (format!("jwks_file = '{}'", file.display()), "issuer.json"),
        ("secret_env = 'TOKEN_SECRET'".to_owned(), "at least 32 bytes"),
        ("issuer = 'x'".to_owned(), "jwt needs"),
    ];
    for (line, expected) in bad {
        let setup = Setup::new()
            .config(&format!("{NO_MODEL}[jwt]\n{line}\n"))
            .env("TOKEN_SECRET", "much too short");
        assert!(setup.try_start().is_err(), "{line}");
        let said = setup.printed();
        assert!(said.contains(expected) && !said.contains("much too short"), "{said}");
    }
}

#[test]
fn without_a_word_about_tokens_they_are_keys_that_nobody_has() {
    let setup = Setup::new().config(NO_MODEL);
    let server = setup.start();
    agent(&server, "scout");
    let token = hs256(&claims("scout", 60), SECRET);
    let reply = server.client_as(Some(&token)).get("/v1/memory_stores");
    assert_eq!((reply.status, words(&reply).as_str()), (401, "invalid API key"));
    server.stop();
}
