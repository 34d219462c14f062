//! Looks up the Ed25519 keys of DIDs that do not hold them: `did:web` at the domain it names, `did:ixo`
//! at the configured indexer of the chain.
//!
//! The DID comes from whoever sends a token, so what is asked is bounded: one request without
//! redirects, three seconds, a quarter of a megabyte. A domain leads to addresses on the internet only,
//! unless the operator allows private ones, and then plain http to this machine only. Errors are fixed
//! words, never the other side's.

mod public;

use loci_http::KeySource;
use loci_ucan::{Did, Key};
use percent_encoding::percent_decode_str;
use public::PublicOnly;
use serde_json::{Value, json};
use std::time::Duration;
use ureq::Agent;
use ureq::unversioned::transport::DefaultConnector;

const TIMEOUT: Duration = Duration::from_secs(3);
const ANSWER_BYTES_MAX: u64 = 256 * 1024;
/// Keys of one DID.
const KEYS_MAX: usize = 32;
/// How the indexer is asked for a DID's record.
const QUESTION: &str = "query($id: String!) { iids(filter: {id: {equalTo: $id}}) { nodes { id \
    verificationMethod } } }";

/// Whether keys of `did:web` are looked up, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Web {
    /// Nowhere.
    Off,
    /// On the internet.
    Public,
    /// There, on this machine and in its network.
    Anywhere,
}

/// Where keys are found.
pub(crate) struct Resolver {
    indexer: Option<String>,
    /// Asks the indexer, which the operator named.
    asks_indexer: Agent,
    /// Asks domains, if any.
    asks_web: Option<Agent>,
}

impl Resolver {
    pub(crate) fn new(indexer: Option<String>, web: Web) -> Self {
        let config = || {
            Agent::config_builder()
                .max_redirects(0)
                .http_status_as_error(false)
                .timeout_global(Some(TIMEOUT))
        };
        let asks_web = match web {
            Web::Off => None,
            // A proxy would resolve names by itself, past every check.
            Web::Public => Some(Agent::with_parts(
                config().proxy(None).build(),
                DefaultConnector::default(),
                PublicOnly::default(),
            )),
            Web::Anywhere => Some(config().build().into()),
        };
        Self { indexer, asks_indexer: config().build().into(), asks_web }
    }

    fn of_web(&self, did: &Did) -> Result<Vec<Key>, &'static str> {
        let agent = self.asks_web.as_ref().ok_or("did:web is switched off")?;
        let url = document_url(did.name()).ok_or("its name is no web address")?;
        let answer = agent.get(url).header("accept", "application/json").call();
        let document = read(answer.map_err(|_| "no answer from an address that may be asked")?)?;
        if document["id"] != did.as_str() {
            return Err("the document is somebody else's");
        }
        Ok(keys(&document["verificationMethod"]))
    }

    fn of_ixo(&self, did: &Did) -> Result<Vec<Key>, &'static str> {
        let indexer = self.indexer.as_deref().ok_or("no indexer is configured")?;
        let body = json!({"query": QUESTION, "variables": {"id": did.as_str()}}).to_string();
        let request = self.asks_indexer.post(indexer).content_type("application/json");
        let answer = read(request.send(body).map_err(|_| "no answer")?)?;
        let record = &answer["data"]["iids"]["nodes"][0];
        if record.is_null() {
            return Err("there is no record");
        }
        if record["id"] != did.as_str() {
            return Err("the record is somebody else's, or nobody's");
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

    /// How often somebody on this machine was asked, who answers everybody alike.
    fn asked(answer: &Value, ask: impl FnOnce(std::net::SocketAddr)) -> usize {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let body = answer.to_string();
        let serving = std::thread::spawn(move || {
            let mut asked = 0;
            for mut stream in listener.incoming().flatten() {
                let mut buffer = [0; 8192];
                let read = stream.read(&mut buffer).unwrap_or(0);
                if buffer[..read].starts_with(b"end") {
                    return asked;
                }
                asked += 1;
                let head = format!("content-length: {}", body.len());
                let _ =
                    write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\n{head}\r\n\r\n{body}");
                // What comes late must not make the kernel take the answer back.
                let _ = stream.shutdown(std::net::Shutdown::Write);
                let _ = stream.read_to_end(&mut Vec::new());
            }
            asked
        });
        ask(address);
        std::net::TcpStream::connect(address).unwrap().write_all(b"end").unwrap();
        serving.join().unwrap()
    }

    #[test]
    fn domains_of_this_machine_are_not_asked_unless_the_operator_allows_it() {
        let look = |web: Web, host: &str| {
            asked(&json!({}), |address| {
                let did = format!("did:web:{host}%3A{}", address.port());
                let found = Resolver::new(None, web).keys(&Did::parse(&did).unwrap());
                assert!(found.is_err(), "{host}");
            })
        };
        for host in ["127.0.0.1", "localhost", "0.0.0.0", "%5B%3A%3Affff%3A127.0.0.1%5D"] {
            assert_eq!(look(Web::Off, host), 0, "{host}");
            assert_eq!(look(Web::Public, host), 0, "{host}");
        }
        assert_eq!(look(Web::Anywhere, "127.0.0.1"), 1);
        assert_eq!(look(Web::Anywhere, "localhost"), 1);
    }

    #[test]
    fn a_record_must_say_whose_it_is() {
        let good = "z6Mks8fbHkqPNSKLFE1UtwmrLf2dS8HgAsr2WaYTKzkYExSt";
        let methods = json!([{"type": "Multikey", "publicKeyMultibase": good}]);
        let look = |record: Value| {
            let answer = json!({"data": {"iids": {"nodes": [record]}}});
            let mut found = Ok(Vec::new());
            asked(&answer, |address| {
                let resolver = Resolver::new(Some(format!("http://{address}/")), Web::Off);
                found = resolver.keys(&Did::parse("did:ixo:ixo1ana").unwrap());
            });
            found.map(|keys| keys.len())
        };
        assert_eq!(look(json!({"id": "did:ixo:ixo1ana", "verificationMethod": methods})), Ok(1));
        for id in [json!("did:ixo:ixo1bob"), Value::Null, json!(5), json!(["did:ixo:ixo1ana"])] {
            assert!(look(json!({"id": id, "verificationMethod": methods})).is_err(), "{id}");
        }
        assert!(look(json!({ "verificationMethod": methods })).is_err());
        assert!(look(Value::Null).is_err());
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
