//! Reading what seals and opens: recipients, identities, passphrases.
//!
//! Messages name the file and the line and never what stands there, because it may be a secret that
//! was put in the wrong place.

use crate::exit::Failure;
use age::secrecy::SecretString;
use age::x25519::{Identity, Recipient};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes of a file of keys; hundreds of them fit.
const FILE_BYTES_MAX: u64 = 64 * 1024;
/// Each recipient makes the sealed content longer.
const RECIPIENTS_MAX: usize = 100;
const SECRET_START: &str = "AGE-SECRET-KEY-";
const SEALED_STARTS: [&str; 2] = ["age-encryption.org/", "-----BEGIN AGE"];

/// The recipients named by options and in files, at least one.
pub(super) fn recipients<P: AsRef<Path>>(
    given: &[String],
    files: &[P],
) -> Result<Vec<Recipient>, Failure> {
    let mut found = Vec::new();
    for text in given {
        found.push(recipient(text.trim(), "--seal-to")?);
    }
    for file in files {
        let file = file.as_ref();
        let text = read(file)?;
        let before = found.len();
        for (line, key) in lines(&text) {
            found.push(recipient(key, &format!("{} line {line}", file.display()))?);
        }
        if found.len() == before {
            return Err(Failure::usage(format!("{} has no recipients", file.display())));
        }
    }
    match found.len() {
        0 => Err(Failure::usage("there is nobody to seal to")),
        count if count > RECIPIENTS_MAX => {
            Err(Failure::usage(format!("{count} recipients are too many, limit {RECIPIENTS_MAX}")))
        }
        _ => Ok(found),
    }
}

fn recipient(text: &str, place: &str) -> Result<Recipient, Failure> {
    text.parse().map_err(|_| {
        Failure::usage(match text.to_ascii_uppercase().starts_with(SECRET_START) {
            true => format!("{place}: this is an identity, a secret; give its recipient, age1…"),
            false => format!("{place}: not a recipient, which looks like age1…"),
        })
    })
}

/// The identities in files, at least one.
pub(super) fn identities<P: AsRef<Path>>(files: &[P]) -> Result<Vec<Identity>, Failure> {
    let mut found = Vec::new();
    for file in files {
        let file = file.as_ref();
        let text = read(file)?;
        if SEALED_STARTS.iter().any(|start| text.starts_with(start)) {
            let why = "is itself sealed; open it first, for instance with age --decrypt";
            return Err(Failure::usage(format!("{} {why}", file.display())));
        }
        let before = found.len();
        for (line, key) in lines(&text) {
            let identity = key.parse().map_err(|_| {
                let place = format!("{} line {line}", file.display());
                Failure::usage(format!(
                    "{place}: not an identity, which looks like {SECRET_START}…"
                ))
            })?;
            found.push(identity);
        }
        if found.len() == before {
            return Err(Failure::usage(format!("{} has no identities", file.display())));
        }
    }
    Ok(found)
}

/// The first line of a file.
pub(super) fn passphrase(file: &Path) -> Result<SecretString, Failure> {
    let text = read(file)?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(SecretString::from(line.to_owned())),
        _ => Err(Failure::usage(format!("{} begins with an empty line", file.display()))),
    }
}

/// Lines that hold something, by number.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| Failure::io(format_args!("cannot read {}", path.display()), &error))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let why = format!("{} is over {FILE_BYTES_MAX} bytes", path.display());
        return Err(Failure::usage(why));
    }
    String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{} is no text", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use age::secrecy::ExposeSecret;
    use std::fs;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn files_may_have_comments_and_both_kinds_of_line_ends() {
        let (one, two) = (Identity::generate(), Identity::generate());
        let text = format!("# ours\r\n\r\n{}\r\n {} \n", one.to_public(), two.to_public());
        let found = recipients(&[one.to_public().to_string()], &[file(&text).path()]).unwrap();
        assert_eq!(found.len(), 3);
        assert_eq!(found[2].to_string(), two.to_public().to_string());
        let secret = one.to_string();
        let text = format!("# public key: x\n{}\n", secret.expose_secret());
        assert_eq!(identities(&[file(&text).path()]).unwrap().len(), 1);
    }

    #[test]
    fn what_is_wrong_is_told_without_the_secret() {
        let secret = Identity::generate().to_string();
        let secret = secret.expose_secret();
        let none: [&Path; 0] = [];
        let failure = recipients(&[secret.to_owned()], &none).err().unwrap();
        assert!(failure.message.contains("this is an identity"), "{}", failure.message);
        assert!(!failure.message.contains(secret));
        let cut = file(&format!("\n{}\n", &secret[..40]));
        let failure = identities(&[cut.path()]).err().unwrap();
        assert!(failure.message.contains("line 2: not an identity"), "{}", failure.message);
        assert!(!failure.message.contains(&secret[..20]));
    }

    #[test]
    fn files_without_keys_and_sealed_ones_are_refused() {
        let refused = |text: &str| identities(&[file(text).path()]).err().unwrap().message;
        assert!(refused("# nothing\n").contains("has no identities"));
        assert!(refused("age-encryption.org/v1\n-> scrypt").contains("itself sealed"));
        assert!(refused("-----BEGIN AGE ENCRYPTED FILE-----\n").contains("itself sealed"));
        assert!(refused(&"#".repeat(70_000)).contains("is over"));
        let empty = file("\n");
        assert!(recipients(&[], &[empty.path()]).is_err());
        assert!(passphrase(empty.path()).is_err());
        assert_eq!(passphrase(file("a b \nrest").path()).unwrap().expose_secret(), "a b ");
        assert!(passphrase(Path::new("/nowhere/at/all")).is_err());
    }
}
