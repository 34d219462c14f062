//! The public keys of a token issuer, from a file that is read again when it changes, so that keys
//! can be replaced while the server runs.
//!
//! A file that cannot be read or understood changes nothing: the keys of before keep counting, and
//! the log says why, once.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

const FILE_BYTES_MAX: u64 = 1024 * 1024;
const KEYS_MAX: usize = 100;
/// How often the file is looked at, at most.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Bits of a modulus: fewer are weak, more cost too much to verify.
const MODULUS_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// The file and what was last read from it.
pub(super) struct IssuerKeys {
    file: Arc<Path>,
    state: Mutex<State>,
}

struct State {
    keys: Arc<KeySet>,
    looked_at: Instant,
    /// What was last found: the content that is in force or was complained about.
    seen: Result<Vec<u8>, String>,
}

/// Keys by name.
#[derive(Debug)]
pub(super) struct KeySet(Vec<PublicKey>);

/// A key of the issuer.
#[derive(Debug)]
pub(super) struct PublicKey {
    name: Option<String>,
    modulus: Vec<u8>,
    exponent: Vec<u8>,
}

impl IssuerKeys {
    /// Reads a file that must be good.
    pub(super) fn open(file: PathBuf) -> Result<Self, String> {
        let told = |why: String| format!("{}: {why}", file.display());
        let content = read(&file).map_err(told)?;
        let keys = Arc::new(KeySet::parse(&content).map_err(told)?);
        let state = State { keys, looked_at: Instant::now(), seen: Ok(content) };
        Ok(Self { file: file.into(), state: Mutex::new(state) })
    }

    /// The keys of now, as of a second ago at most.
    pub(super) async fn current(&self) -> Arc<KeySet> {
        let is_due = {
            let mut state = self.lock();
            let is_due = state.looked_at.elapsed() >= LOOK_EVERY;
            if is_due {
                state.looked_at = Instant::now();
            }
            is_due
        };
        if is_due {
            let file = Arc::clone(&self.file);
            let found = tokio::task::spawn_blocking(move || read(&file)).await;
            self.take(found.unwrap_or_else(|error| Err(error.to_string())));
        }
        Arc::clone(&self.lock().keys)
    }

    fn take(&self, found: Result<Vec<u8>, String>) {
        let mut state = self.lock();
        if state.seen == found {
            return;
        }
        match found.as_deref().map_err(Clone::clone).and_then(KeySet::parse) {
            Ok(keys) => {
                tracing::info!(
                    count = keys.0.len(),
                    "the keys of the token issuer were read again"
                );
                state.keys = Arc::new(keys);
            }
            Err(why) => {
                tracing::warn!(why, "the keys of the token issuer stay as they were");
            }
        }
        state.seen = found;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    let told = |error: std::io::Error| format!("cannot be read: {error}");
    let mut content = Vec::new();
    File::open(file)
        .and_then(|opened| opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut content))
        .map_err(told)?;
    match content.len() as u64 > FILE_BYTES_MAX {
        true => Err(format!("is larger than {FILE_BYTES_MAX} bytes")),
        false => Ok(content),
    }
}

#[derive(Deserialize)]
struct WrittenSet {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct WrittenKey {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    alg: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

impl KeySet {
    /// Keys of other sorts and for other purposes are passed over, as the format asks.
    fn parse(content: &[u8]) -> Result<Self, String> {
        let set: WrittenSet =
            serde_json::from_slice(content).map_err(|_| "is not a JSON Web Key Set".to_owned())?;
        if set.keys.len() > KEYS_MAX {
            return Err(format!("has more than {KEYS_MAX} keys"));
        }
        let mut keys: Vec<PublicKey> = Vec::new();
        for (number, written) in (1..).zip(set.keys) {
            let told = |why: &str| format!("key {number} {why}");
            let written: WrittenKey =
                serde_json::from_value(written).map_err(|_| told("is not a JSON Web Key"))?;
            let is_for_us = written.kty == "RSA"
                && written.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
                && written.alg.as_deref().is_none_or(|alg| alg == "RS256");
            if !is_for_us {
                continue;
            }
            let key = PublicKey::parse(written).map_err(|why| told(&why))?;
            if keys.iter().any(|known| known.name == key.name) {
                return Err(told("has the name of another, or is another one without a name"));
            }
            keys.push(key);
        }
        if keys.is_empty() {
            return Err("has no RSA key for RS256 signatures".to_owned());
        }
        Ok(Self(keys))
    }

    /// The key of a name; a token that names none means the only one.
    pub(super) fn find(&self, name: Option<&str>) -> Option<&PublicKey> {
        match (name, self.0.as_slice()) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(_), keys) => keys.iter().find(|key| key.name.as_deref() == name),
        }
    }
}

impl PublicKey {
    fn parse(written: WrittenKey) -> Result<Self, String> {
        let number = |field: &str, text: Option<String>| {
            let bytes = text.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
            let bytes = bytes.ok_or_else(|| format!("has no readable {field}"))?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            Ok::<_, String>(bytes[zeros..].to_vec())
        };
        let (modulus, exponent) = (number("n", written.n)?, number("e", written.e)?);
        let bits = modulus.first().map_or(0, |first| {
            8 * modulus.len() - usize::try_from(first.leading_zeros()).unwrap_or(0)
        });
        if !MODULUS_BITS.contains(&bits) {
            let (min, max) = (MODULUS_BITS.start(), MODULUS_BITS.end());
            return Err(format!("has {bits} bits, expected {min} to {max}"));
        }
        Ok(Self { name: written.kid, modulus, exponent })
    }

    /// Whether this key signed it, by RS256.
    pub(super) fn verify(&self, signed: &[u8], signature: &[u8]) -> bool {
        RsaPublicKeyComponents { n: &self.modulus, e: &self.exponent }
            .verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature)
            .is_ok()
    }
}
