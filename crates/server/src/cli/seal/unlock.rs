//! Opening: an age file in, binary or armoured, plain bytes out, all of them or none.
//!
//! Sealed content comes from elsewhere and is not trusted: it is authenticated to its last byte before
//! any of it is printed, and it cannot make us work for more than a bounded time.

use super::args::OpenArgs;
use super::keys;
use crate::exit::{Exit, Failure};
use age::armor::ArmoredReader;
use age::secrecy::SecretString;
use age::{DecryptError, Decryptor, Identity, scrypt, x25519};
use std::io::{self, Read};
use std::iter;

/// The most work a passphrase may cost, as a power of two: some seconds and 1 GiB.
const WORK_FACTOR_MAX: u8 = 20;
/// How the two forms begin.
const BINARY: &[u8] = b"age-encryption.org/";
const ARMOUR: &str = "-----BEGIN AGE ENCRYPTED FILE-----";

/// What sealed content is opened with.
pub(crate) enum Unlock {
    /// With whichever of these fits.
    Identities(Vec<x25519::Identity>),
    /// With a passphrase.
    Passphrase(SecretString),
}

impl Unlock {
    /// What the options say, or none if nothing is to be opened.
    pub(crate) fn given(args: &OpenArgs) -> Result<Option<Self>, Failure> {
        if let Some(file) = &args.passphrase_file {
            return Ok(Some(Self::Passphrase(keys::passphrase(file)?)));
        }
        if args.identity_files.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self::Identities(keys::identities(&args.identity_files)?)))
    }

    /// Whether a text is sealed content that was kept as text.
    pub(crate) fn is_armoured(text: &str) -> bool {
        text.trim_start().starts_with(ARMOUR)
    }

    /// Opens what is kept at `place`.
    pub(crate) fn open(&self, sealed: &[u8], place: &str) -> Result<Vec<u8>, Failure> {
        if !sealed.starts_with(BINARY) && !sealed.trim_ascii_start().starts_with(ARMOUR.as_bytes())
        {
            return Err(foreign(place));
        }
        let told = |error: DecryptError| self.told(&error, place);
        let decryptor = Decryptor::new_buffered(ArmoredReader::new(sealed)).map_err(told)?;
        let reader = match self {
            Self::Identities(_) if decryptor.is_scrypt() => {
                let why = "is sealed with a passphrase; give it with --passphrase-file";
                return Err(Failure::new(Exit::Denied, format!("{place} {why}")));
            }
            Self::Passphrase(_) if !decryptor.is_scrypt() => {
                let why = "is not sealed with a passphrase; give an identity with --open-with";
                return Err(Failure::new(Exit::Denied, format!("{place} {why}")));
            }
            Self::Identities(identities) => {
                decryptor.decrypt(identities.iter().map(|identity| identity as &dyn Identity))
            }
            Self::Passphrase(passphrase) => {
                let mut identity = scrypt::Identity::new(passphrase.clone());
                identity.set_max_work_factor(WORK_FACTOR_MAX);
                decryptor.decrypt(iter::once(&identity as &dyn Identity))
            }
        };
        let mut plain = Vec::with_capacity(sealed.len());
        reader.map_err(told)?.read_to_end(&mut plain).map_err(|error| damaged(&error, place))?;
        Ok(plain)
    }

    fn told(&self, error: &DecryptError, place: &str) -> Failure {
        match (self, error) {
            (
                Self::Identities(_),
                DecryptError::NoMatchingKeys | DecryptError::DecryptionFailed,
            ) => {
                let why = "is sealed to others: no identity given with --open-with opens it";
                Failure::new(Exit::Denied, format!("{place} {why}"))
            }
            (
                Self::Passphrase(_),
                DecryptError::NoMatchingKeys | DecryptError::DecryptionFailed,
            ) => Failure::new(Exit::Denied, format!("the passphrase does not open {place}")),
            (_, DecryptError::InvalidMac) => {
                Failure::failed(format!("the sealed content of {place} is damaged or forged"))
            }
            (_, DecryptError::ExcessiveWork { required, .. }) => Failure::failed(format!(
                "{place} asks for 2^{required} units of work to be opened, limit 2^{WORK_FACTOR_MAX}"
            )),
            (_, DecryptError::Io(error)) if error.kind() != io::ErrorKind::InvalidData => {
                damaged(error, place)
            }
            _ => foreign(place),
        }
    }
}

/// Sealed by something else, or by an age of the future.
fn foreign(place: &str) -> Failure {
    let why = "is not in a form of age known here; --sealed prints it as it is";
    Failure::failed(format!("the sealed content of {place} {why}"))
}

fn damaged(error: &io::Error, place: &str) -> Failure {
    let why = match error.kind() {
        io::ErrorKind::UnexpectedEof => "is cut off",
        _ => "is damaged or forged",
    };
    Failure::failed(format!("the sealed content of {place} {why}"))
}

#[cfg(test)]
mod tests {
    use super::super::lock::Lock;
    use super::*;
    use age::x25519::Identity as Key;

    fn with(key: &Key) -> Unlock {
        Unlock::Identities(vec![Key::generate(), key.clone()])
    }

    #[test]
    fn both_forms_that_other_tools_write_are_opened() {
        let key = Key::generate();
        for plain in [&b""[..], "tea, \u{e9}".as_bytes(), &[255; 150_000]] {
            let binary = age::encrypt(&key.to_public(), plain).unwrap();
            assert_eq!(with(&key).open(&binary, "/a").unwrap(), plain);
            let armoured = age::encrypt_and_armor(&key.to_public(), plain).unwrap();
            assert!(Unlock::is_armoured(&armoured));
            assert_eq!(with(&key).open(armoured.as_bytes(), "/a").unwrap(), plain);
            let windows = armoured.replace('\n', "\r\n");
            assert_eq!(with(&key).open(windows.as_bytes(), "/a").unwrap(), plain);
        }
    }

    #[test]
    fn what_does_not_open_is_told_apart() {
        let key = Key::generate();
        let sealed = Lock::Recipients(vec![key.to_public()]).seal(&[1; 1000]).unwrap();
        let other = with(&Key::generate()).open(&sealed, "/a").unwrap_err();
        assert_eq!(other.exit, Exit::Denied);
        assert!(other.message.contains("/a") && other.message.contains("--open-with"));
        for at in [30, sealed.len() - 1, sealed.len() - 500] {
            let mut broken = sealed.clone();
            broken[at] ^= 1;
            let failure = with(&key).open(&broken, "/a").unwrap_err();
            assert!(!failure.message.is_empty(), "byte {at}");
        }
        for end in [0, 10, 100, sealed.len() - 1] {
            assert!(with(&key).open(&sealed[..end], "/a").is_err(), "{end} bytes");
        }
        let longer = [&sealed[..], b"x"].concat();
        assert!(with(&key).open(&longer, "/a").is_err());
        let newer = String::from_utf8_lossy(&sealed).replacen("/v1\n", "/v9\n", 1);
        for foreign in ["some other format", "", &newer] {
            let failure = with(&key).open(foreign.as_bytes(), "/a").unwrap_err();
            assert!(failure.message.contains("not in a form of age"), "{}", failure.message);
        }
        let cut = with(&key).open(&sealed[..100], "/a").unwrap_err();
        assert!(cut.message.contains("cut off"), "{}", cut.message);
    }

    #[test]
    fn passphrases_open_and_are_bounded() {
        let phrase = |text: &str| SecretString::from(text.to_owned());
        let sealed_at = |factor: u8| {
            let mut recipient = scrypt::Recipient::new(phrase("tea"));
            recipient.set_work_factor(factor);
            age::encrypt(&recipient, b"plain").unwrap()
        };
        // Little work, so that the test is quick.
        let sealed = sealed_at(4);
        assert_eq!(Unlock::Passphrase(phrase("tea")).open(&sealed, "/a").unwrap(), b"plain");
        let wrong = Unlock::Passphrase(phrase("coffee")).open(&sealed, "/a").unwrap_err();
        assert_eq!(wrong.exit, Exit::Denied);
        let key = Key::generate();
        let hint = with(&key).open(&sealed, "/a").unwrap_err();
        assert!(hint.message.contains("--passphrase-file"), "{}", hint.message);
        let sealed = age::encrypt(&key.to_public(), b"plain").unwrap();
        let hint = Unlock::Passphrase(phrase("tea")).open(&sealed, "/a").unwrap_err();
        assert!(hint.message.contains("--open-with"), "{}", hint.message);
        // The header says how much work there is; nobody has to have done it.
        let forged = String::from_utf8_lossy(&sealed_at(4)).replacen(" 4\n", " 30\n", 1);
        let refused = Unlock::Passphrase(phrase("tea")).open(forged.as_bytes(), "/a").unwrap_err();
        assert!(refused.message.contains("2^30"), "{}", refused.message);
    }
}
