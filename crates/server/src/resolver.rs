//! Looks up the Ed25519 keys of DIDs that do not hold them: `did:web` at the domain it names, `did:ixo`
//! at the configured indexer of the chain.
//!
//! The DID comes from whoever sends a token, so what is asked is bounded: one request without
//! redirects, three seconds, a quarter of a megabyte; plain http to this machine only. Errors are fixed
//! words, never the other side's.

use loci_http::KeySource;
use loci_ucan::{Did, Key};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use std::time::Duration;
use ureq::Agent;

const TIMEOUT: Duration = Duration::from_secs(3);
const ANSWER_BYTES_MAX: u64 = 256 * 1024;
/// Keys of one DID.
const KEYS_MAX: usize = 32;
/// How the indexer is asked for a DID's record.
const QUESTION: &str = "query($id: String!) { iids(filter: {id: {equalTo: $id}}) { nodes { id \
    verificationMethod } } }";

/// Where keys are found.
pub(crate) struct Resolver {
    indexer: Option<String>,
    asks_web: bool,
    agent: Agent,
}

impl Resolver {
    pub(crate) fn new(indexer: Option<String>, asks_web: bool) -> Self {
        let agent = Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_global(Some(TIMEOUT))
            .build();
        Self { indexer, asks_web, agent: agent.into() }
    }

    fn of_web(&self, did: &Did) -> Result<Vec<Key>, &'static str> {
        if !self.asks_web {
            return Err("did:web is switched off");
        }
        let url = document_url(did.name()).ok_or("its name is no web address")?;
        let answer = self.agent.get(url).header("accept", "application/json").call();
        let document = read(answer.map_err(|_| "no answer")?)?;
        if document["id"] != did.as_str() {
            return Err("the document is somebody else's");
        }
        Ok(keys(&document["verificationMethod"]))
    }

    fn of_ixo(&self, did: &Did) -> Result<Vec<Key>, &'static str> {
        let indexer = self.indexer.as_deref().ok_or("no indexer is configured")?;
        let body = json!({"query": QUESTION, "variables": {"id": did.as_str()}}).to_string();
        let request = self.agent.post(indexer).content_type("application/json");
        let answer = read(request.send(body).map_err(|_| "no answer")?)?;
        let record = &answer["data"]["iids"]["nodes"][0];
        if record["id"].as_str().is_some_and(|id| id != did.as_str()) {
            return Err("the record is somebody else's");
        }
        Ok(keys(&record["verificationMethod"]))
    }
}

impl KeySource for Resolver {
    fn keys(&self, did: &Did) -> Result<Vec<Key>, &'static str> {
        match did.method() {
            "web" => self.of_web(did),
            "ixo" => self.of_ixo(did),
            _ => Err("no keys are known for DIDs of this method"),
        }
    }
}

fn read(mut answer: ureq::http::Response<ureq::Body>) -> Result<Value, &'static str> {
    if !answer.status().is_success() {
        return Err("an answer that is not a success");
    }
    let bytes = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
    let bytes = bytes.map_err(|_| "an answer that breaks off or is too large")?;
    serde_json::from_slice(&bytes).map_err(|_| "an answer that is not JSON")
}

/// Where the document of a `did:web` is.
fn document_url(name: &str) -> Option<String> {
    let mut parts = name.split(':');
    let host = percent_decode_str(parts.next()?).decode_utf8().ok()?;
    let is_host = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    if host.is_empty() || !host.chars().all(is_host) {
        return None;
    }
    let is_local = ["localhost", "127.0.0.1", "[::1]"].iter().any(|local| {
        host.strip_prefix(local).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    });
    let scheme = if is_local { "http" } else { "https" };
    let path: Vec<&str> = parts.collect();
    let is_plain = |segment: &&str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
        !matches!(*segment, "" | "." | "..") && segment.chars().all(is_plain)
    };
    match path.as_slice() {
        [] => Some(format!("{scheme}://{host}/.well-known/did.json")),
        path if path.iter().all(is_plain) => {
            Some(format!("{scheme}://{host}/{}/did.json", path.join("/")))
        }
        _ => None,
    }
}

/// The Ed25519 keys among the methods of a document; those of other sorts are passed over.
fn keys(methods: &Value) -> Vec<Key> {
    let methods = methods.as_array().map(Vec::as_slice).unwrap_or_default();
    methods.iter().take(KEYS_MAX).filter_map(key).collect()
}

fn key(method: &Value) -> Option<Key> {
    let kind = method["type"].as_str()?;
    // What a multibase key is stands in it; the other forms only say by their type.
    if let Some(text) = method["publicKeyMultibase"].as_str() {
        return Key::from_multibase(text);
    }
    if !kind.contains("Ed25519") {
        return None;
    }
    if let Some(text) = method["publicKeyHex"].as_str() {
        return Key::from_bytes(&hex::decode(text).ok()?);
    }
    Key::from_base58(method["publicKeyBase58"].as_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_where_the_name_says() {
        for (name, expected) in [
            ("m.example.org", Some("https://m.example.org/.well-known/did.json")),
            ("m.example.org%3A8443", Some("https://m.example.org:8443/.well-known/did.json")),
            ("m.example.org:users:ana", Some("https://m.example.org/users/ana/did.json")),
            ("127.0.0.1%3A8988", Some("http://127.0.0.1:8988/.well-known/did.json")),
            ("localhost", Some("http://localhost/.well-known/did.json")),
            ("%5B%3A%3A1%5D%3A80", Some("http://[::1]:80/.well-known/did.json")),
            ("localhost.example.org", Some("https://localhost.example.org/.well-known/did.json")),
            ("127.0.0.1.example.org", Some("https://127.0.0.1.example.org/.well-known/did.json")),
            ("user%40host", None),
            ("host%2Fpath", None),
            ("host:..:x", None),
            ("host::x", None),
            ("host:a%2Fb", None),
            ("", None),
        ] {
            assert_eq!(document_url(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn keys_of_other_sorts_are_passed_over() {
        let good = "z6Mks8fbHkqPNSKLFE1UtwmrLf2dS8HgAsr2WaYTKzkYExSt";
        let found = keys(&json!([
            {"type": "Ed25519VerificationKey2020", "publicKeyMultibase": good},
            {"type": "Multikey", "publicKeyMultibase": good},
            {"type": "EcdsaSecp256k1VerificationKey2019",
             "publicKeyMultibase": "zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme"},
            {"type": "Ed25519VerificationKey2018", "publicKeyHex": "ab".repeat(32)},
            {"type": "EcdsaSecp256k1VerificationKey2019", "publicKeyHex": "ab".repeat(32)},
            {"type": "Ed25519VerificationKey2018", "publicKeyBase58": "2NEpo7TZRRrLZSi2U"},
            {"type": "Ed25519VerificationKey2018", "publicKeyHex": "ab"},
            {"publicKeyMultibase": good},
            "x",
        ]));
        assert_eq!(found.len(), 3);
        assert!(keys(&Value::Null).is_empty());
        assert_eq!(
            keys(&Value::Array(vec![json!({"type": "Multikey", "publicKeyMultibase": good}); 99]))
                .len(),
            32
        );
    }
}
