//! Sealing: plain bytes in, an age file out, in binary form because that is the shorter one.

use super::args::SealArgs;
use super::keys;
use crate::exit::Failure;
use age::secrecy::SecretString;
use age::x25519;
use age::{Encryptor, Recipient, scrypt};
use std::io::Write;
use std::iter;

/// The work a passphrase costs, as a power of two. What the age tool takes: about a second and 256 MiB,
/// whatever the machine, so that what one machine sealed another can open.
const WORK_FACTOR: u8 = 18;

/// For whom content is sealed.
pub(crate) enum Lock {
    /// For those who have an identity of one of these.
    Recipients(Vec<x25519::Recipient>),
    /// For those who know the passphrase.
    Passphrase(SecretString),
}

impl Lock {
    /// What the options say, or none if nothing is to be sealed.
    pub(crate) fn given(args: &SealArgs) -> Result<Option<Self>, Failure> {
        if let Some(file) = &args.passphrase_file {
            return Ok(Some(Self::Passphrase(keys::passphrase(file)?)));
        }
        if args.recipients.is_empty() && args.recipient_files.is_empty() {
            return Ok(None);
        }
        let recipients = keys::recipients(&args.recipients, &args.recipient_files)?;
        Ok(Some(Self::Recipients(recipients)))
    }

    /// Seals.
    pub(crate) fn seal(&self, plain: &[u8]) -> Result<Vec<u8>, Failure> {
        let cannot =
            |why: &dyn ToString| Failure::failed(format!("cannot seal: {}", why.to_string()));
        let encryptor = match self {
            Self::Recipients(recipients) => {
                let recipients = recipients.iter().map(|recipient| recipient as &dyn Recipient);
                Encryptor::with_recipients(recipients)
            }
            Self::Passphrase(passphrase) => {
                let mut recipient = scrypt::Recipient::new(passphrase.clone());
                recipient.set_work_factor(WORK_FACTOR);
                Encryptor::with_recipients(iter::once(&recipient as &dyn Recipient))
            }
        };
        let encryptor = encryptor.map_err(|error| cannot(&error))?;
        let mut sealed = Vec::with_capacity(plain.len() + 1024);
        encryptor
            .wrap_output(&mut sealed)
            .and_then(|mut writer| {
                writer.write_all(plain)?;
                writer.finish()
            })
            .map_err(|error| cannot(&error))?;
        Ok(sealed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use age::x25519::Identity;

    #[test]
    fn what_is_sealed_here_opens_elsewhere() {
        let (one, two) = (Identity::generate(), Identity::generate());
        let lock = Lock::Recipients(vec![one.to_public(), two.to_public()]);
        for plain in [&b""[..], b"\xff\x00 bytes", &[7; 200_000]] {
            let sealed = lock.seal(plain).unwrap();
            assert!(sealed.starts_with(b"age-encryption.org/v1\n"));
            assert_eq!(age::decrypt(&one, &sealed).unwrap(), plain);
            assert_eq!(age::decrypt(&two, &sealed).unwrap(), plain);
            assert!(age::decrypt(&Identity::generate(), &sealed).is_err());
        }
    }

    #[test]
    fn sealing_twice_gives_different_bytes() {
        let lock = Lock::Recipients(vec![Identity::generate().to_public()]);
        assert_ne!(lock.seal(b"same").unwrap(), lock.seal(b"same").unwrap());
    }

    #[test]
    fn nothing_is_sealed_unless_asked() {
        assert!(Lock::given(&SealArgs::default()).unwrap().is_none());
        let recipients = vec!["age1nonsense".to_owned()];
        assert!(Lock::given(&SealArgs { recipients, ..SealArgs::default() }).is_err());
    }
}
