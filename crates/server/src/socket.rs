//! The socket in the data directory: how a second process reaches the one that holds it.
//!
//! Only the holder of the directory's lock binds and unlinks, so there is never a doubt whose socket
//! it is. Whoever may open the socket may open the directory, and is the operator: the file is 0600.
//! The kernel allows 107 bytes for a socket's path; for a longer one the socket lies in a private
//! directory under the system's temporary one, and a file says where.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio::net::{UnixListener, UnixStream};

const SOCKET: &str = "loci.sock";
const ELSEWHERE: &str = "loci.sock.path";
const PATH_BYTES_MAX: usize = 107;

/// A bound socket; [`Self::remove`] takes its files away.
#[derive(Debug)]
pub(crate) struct SocketFiles {
    socket: PathBuf,
    /// The note in the data directory and the private directory, when the socket is elsewhere.
    elsewhere: Option<(PathBuf, PathBuf)>,
}

/// Binds the socket of a directory whose lock this process holds.
pub(crate) fn bind(data: &Path) -> io::Result<(UnixListener, SocketFiles)> {
    remove_stale(data)?;
    let near = data.join(SOCKET);
    if near.as_os_str().len() <= PATH_BYTES_MAX {
        let files = SocketFiles { socket: near, elsewhere: None };
        return Ok((listen(&files.socket)?, files));
    }
    let folder = tempfile::Builder::new()
        .prefix("loci-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir()?
        .keep();
    let socket = folder.join(SOCKET);
    let listener = listen(&socket)?;
    let note = data.join(ELSEWHERE);
    let text = socket
        .to_str()
        .ok_or_else(|| io::Error::other("the temporary directory has no plain name"))?;
    fs::write(&note, text)?;
    let files = SocketFiles { socket, elsewhere: Some((note, folder)) };
    Ok((listener, files))
}

fn listen(path: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// What a holder that was killed left behind.
fn remove_stale(data: &Path) -> io::Result<()> {
    if let Some(socket) = elsewhere(data)? {
        remove_if_there(&socket)?;
        if let Some(folder) = socket.parent() {
            // It may hold something of others by now; then it is not ours to remove.
            let _ = fs::remove_dir(folder);
        }
    }
    remove_if_there(&data.join(ELSEWHERE))?;
    remove_if_there(&data.join(SOCKET))
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Where the note says the socket is. A place that does not belong to the data directory's owner is
/// not believed: somebody may have taken the name after a clean-up of the temporary directory.
fn elsewhere(data: &Path) -> io::Result<Option<PathBuf>> {
    let text = match fs::read_to_string(data.join(ELSEWHERE)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let socket = PathBuf::from(text);
    let owner = fs::metadata(data)?.uid();
    let is_private = |folder: &Path| {
        fs::symlink_metadata(folder)
            .is_ok_and(|found| found.is_dir() && found.uid() == owner && found.mode() & 0o077 == 0)
    };
    Ok(socket.parent().is_some_and(is_private).then_some(socket))
}

impl SocketFiles {
    /// Removes the socket. To be called while the lock is still held: afterwards the name may be
    /// another process's.
    pub(crate) fn remove(self) {
        // What cannot be removed is stale for the next holder, who tries again.
        let _ = fs::remove_file(&self.socket);
        if let Some((note, folder)) = self.elsewhere {
            let _ = fs::remove_file(note);
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Where the socket of a directory is, whether or not anybody listens.
pub(crate) fn locate(data: &Path) -> PathBuf {
    elsewhere(data).ok().flatten().unwrap_or_else(|| data.join(SOCKET))
}

/// Connects to the process that holds the directory.
pub(crate) async fn connect(data: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(locate(data)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn round(data: &Path) {
        fs::create_dir_all(data).unwrap();
        assert!(connect(data).await.is_err(), "nobody listens yet");
        let (listener, files) = bind(data).unwrap();
        let mode = fs::metadata(locate(data)).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
        connect(data).await.unwrap();
        // A holder that was killed leaves its files; the next one is not held up by them.
        drop(listener);
        drop(files);
        assert!(connect(data).await.is_err());
        let (_listener, files) = bind(data).unwrap();
        connect(data).await.unwrap();
        let place = locate(data);
        files.remove();
        assert!(!place.exists());
        assert_eq!(fs::read_dir(data).unwrap().count(), 0, "nothing is left");
    }

    #[tokio::test]
    async fn a_socket_in_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        round(&folder.path().join("data")).await;
    }

    #[tokio::test]
    async fn a_socket_elsewhere_when_the_path_is_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("d".repeat(120));
        round(&data).await;
    }

    #[tokio::test]
    async fn a_note_that_points_to_somebody_elses_place_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        let note = folder.path().join(ELSEWHERE);
        fs::write(note, open.join(SOCKET).to_str().unwrap()).unwrap();
        assert_eq!(locate(folder.path()), folder.path().join(SOCKET));
    }
}
