//! `loci seal keygen`: a new identity and its recipient. Nothing is asked of any server: the identity
//! exists where it is written and nowhere else.

use super::super::output::{Format, print};
use super::args::SealCommand;
use crate::exit::{Exit, Failure};
use age::secrecy::ExposeSecret;
use age::x25519::Identity;
use loci_engine::seam::Seams;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub(crate) fn run(format: Format, command: &SealCommand) -> Result<(), Failure> {
    let SealCommand::Keygen { output } = command;
    let identity = Identity::generate();
    let recipient = identity.to_public().to_string();
    let secret = identity.to_string();
    let created = Seams::real().now();
    let secret = secret.expose_secret();
    let text = format!("# created: {created}\n# public key: {recipient}\n{secret}\n");
    match output {
        Some(file) => {
            keep(file, &text)?;
            let shown = json!({"recipient": recipient, "file": file.display().to_string()});
            format.show(&shown, || recipient.clone())
        }
        None if format == Format::Json => {
            let shown = json!({"recipient": recipient, "identity": secret});
            format.show(&shown, String::new)
        }
        None => print(&text),
    }
}

/// Writes a new file that only its owner can read. One that is there is somebody's only key.
fn keep(path: &Path, text: &str) -> Result<(), Failure> {
    let open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = open.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::new(Exit::Conflict, format!("{} exists already", path.display()))
        }
        _ => Failure::io(format_args!("cannot make {}", path.display()), &error),
    })?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(|error| Failure::io(format_args!("cannot write {}", path.display()), &error))
}

#[cfg(test)]
mod tests {
    use super::super::keys;
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_file_is_for_its_owner_alone_and_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("identity");
        let command = SealCommand::Keygen { output: Some(file.clone()) };
        run(Format::Json, &command).unwrap();
        let kept = fs::read_to_string(&file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let identities = keys::identities(&[&file]).unwrap();
        let recipient = identities[0].to_public().to_string();
        assert!(kept.contains(&format!("# public key: {recipient}\n")), "{recipient}");
        assert_eq!(run(Format::Json, &command).unwrap_err().exit, Exit::Conflict);
        assert_eq!(fs::read_to_string(&file).unwrap(), kept);
    }
}
