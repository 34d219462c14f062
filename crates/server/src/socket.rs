//! The socket of a data directory: how a second process reaches the one that holds it.
//!
//! Only the holder of the directory's lock binds and unlinks, so there is never a doubt whose socket
//! it is. Whoever may open the socket may open the directory, and is the operator: the file is 0600.
//!
//! The socket lies in the data directory. Where it cannot – the kernel allows 107 bytes for its path,
//! and some file systems know no sockets – it lies in a private folder in `$XDG_RUNTIME_DIR` or the
//! system's temporary directory. The name of that folder follows from the data directory, so others
//! find it without being told, and a holder that was killed leaves one folder at most. A note in the
//! data directory says where it is, for those who have other variables; it may be lost.

use rustix::process::geteuid;
use sha2::{Digest, Sha256};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio::net::{UnixListener, UnixStream};

const SOCKET: &str = "loci.sock";
const NOTE: &str = "loci.sock.path";
const PATH_BYTES_MAX: usize = 107;
/// Bytes of the digest in a folder's name. The folder's owner is checked, so a name that fits two
/// directories of one user is the only harm, and that takes 2^64 directories.
const NAME_BYTES: usize = 16;

/// A bound socket; [`Self::remove`] takes its files away.
#[derive(Debug)]
pub(crate) struct SocketFiles {
    socket: PathBuf,
    /// The note in the data directory and the private folder, when the socket is elsewhere.
    elsewhere: Option<(PathBuf, PathBuf)>,
}

/// Binds the socket of a directory whose lock this process holds.
pub(crate) fn bind(data: &Path) -> io::Result<(UnixListener, SocketFiles)> {
    bind_at(data, &bases(), listen)
}

fn bind_at(
    data: &Path,
    bases: &[PathBuf],
    listen: impl Fn(&Path) -> io::Result<UnixListener>,
) -> io::Result<(UnixListener, SocketFiles)> {
    remove_stale(data)?;
    let near = data.join(SOCKET);
    let mut failed = match is_short(&near).and_then(|()| listen(&near)) {
        Ok(listener) => return Ok((listener, SocketFiles { socket: near, elsewhere: None })),
        // Another process has just bound it, whatever our lock says: not to be gone around.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
        Err(error) => error,
    };
    let name = name(data, geteuid().as_raw())?;
    for base in bases {
        match bind_in(&base.join(&name), &listen) {
            Ok((listener, socket, folder)) => {
                let note = data.join(NOTE);
                if let Some(text) = socket.to_str() {
                    // Most find the socket without it.
                    let _ = fs::write(&note, text);
                }
                return Ok((listener, SocketFiles { socket, elsewhere: Some((note, folder)) }));
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

fn bind_in(
    folder: &Path,
    listen: impl Fn(&Path) -> io::Result<UnixListener>,
) -> io::Result<(UnixListener, PathBuf, PathBuf)> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if !is_private(folder, geteuid().as_raw()) {
        let why = format!("{} is not a private folder of this user", folder.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    let socket = folder.join(SOCKET);
    is_short(&socket)?;
    remove_if_there(&socket)?;
    Ok((listen(&socket)?, socket, folder.to_owned()))
}

fn listen(path: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

fn is_short(path: &Path) -> io::Result<()> {
    match path.as_os_str().len() <= PATH_BYTES_MAX {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidFilename, "the path is too long")),
    }
}

/// Where private folders may lie, best first.
fn bases() -> Vec<PathBuf> {
    let own = crate::config::env("XDG_RUNTIME_DIR").map(PathBuf::from);
    own.filter(|base| base.is_absolute()).into_iter().chain([std::env::temp_dir()]).collect()
}

/// The name of the private folder that a user makes for a data directory.
fn name(data: &Path, uid: u32) -> io::Result<String> {
    let data = fs::canonicalize(data)?;
    let digest = Sha256::digest(data.as_os_str().as_encoded_bytes());
    Ok(format!("loci-{uid}-{}", hex::encode(&digest[..NAME_BYTES])))
}

/// Whether this is a folder, and no link to one, that only this user can look into. In a directory
/// that everybody can write in, anybody may have taken the name.
fn is_private(folder: &Path, uid: u32) -> bool {
    fs::symlink_metadata(folder)
        .is_ok_and(|found| found.is_dir() && found.uid() == uid && found.mode() & 0o077 == 0)
}

/// What a holder that was killed left behind.
fn remove_stale(data: &Path) -> io::Result<()> {
    if let Some(socket) = noted(data) {
        let _ = fs::remove_file(&socket);
        if let Some(folder) = socket.parent() {
            // It may hold something of others by now; then it is not ours to remove.
            let _ = fs::remove_dir(folder);
        }
    }
    remove_if_there(&data.join(NOTE))?;
    remove_if_there(&data.join(SOCKET))
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Where the note says the socket is. A place that does not belong to the data directory's owner is
/// not believed: another user may have taken the name after a clean-up of the temporary directory.
fn noted(data: &Path) -> Option<PathBuf> {
    let socket = PathBuf::from(fs::read_to_string(data.join(NOTE)).ok()?);
    let owner = fs::metadata(data).ok()?.uid();
    socket.parent().is_some_and(|folder| is_private(folder, owner)).then_some(socket)
}

/// Every place where the socket of a directory may be, best first.
fn places(data: &Path, bases: &[PathBuf]) -> Vec<PathBuf> {
    let mut places = vec![data.join(SOCKET)];
    let owner = fs::metadata(data).map_or(geteuid().as_raw(), |found| found.uid());
    if let Ok(name) = name(data, owner) {
        let folders = bases.iter().map(|base| base.join(&name));
        let private = folders.filter(|folder| is_private(folder, owner));
        places.extend(private.map(|folder| folder.join(SOCKET)));
    }
    places.extend(noted(data));
    places
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
    let found = places(data, &bases()).into_iter().find(|place| place.exists());
    found.unwrap_or_else(|| data.join(SOCKET))
}

/// Connects to the process that holds the directory.
pub(crate) async fn connect(data: &Path) -> io::Result<UnixStream> {
    connect_at(data, &bases()).await
}

async fn connect_at(data: &Path, bases: &[PathBuf]) -> io::Result<UnixStream> {
    let mut failed = io::Error::from(io::ErrorKind::NotFound);
    for place in places(data, bases) {
        match UnixStream::connect(&place).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

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
    async fn a_note_that_points_to_another_users_place_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        let note = folder.path().join(NOTE);
        fs::write(note, open.join(SOCKET).to_str().unwrap()).unwrap();
        assert_eq!(locate(folder.path()), folder.path().join(SOCKET));
    }

    /// A data directory and a directory for private folders.
    fn scene() -> (TempDir, PathBuf, Vec<PathBuf>) {
        let scene = tempfile::tempdir().unwrap();
        let (data, base) = (scene.path().join("data"), scene.path().join("base"));
        fs::create_dir(&data).unwrap();
        fs::create_dir(&base).unwrap();
        (scene, data, vec![base])
    }

    /// Listens everywhere but in the data directory, as on a file system without sockets.
    fn not_near(data: &Path, why: io::ErrorKind) -> impl Fn(&Path) -> io::Result<UnixListener> {
        move |path| match path.starts_with(data) {
            true => Err(why.into()),
            false => listen(path),
        }
    }

    #[tokio::test]
    async fn a_socket_that_cannot_be_near_is_found_elsewhere_without_the_note() {
        let (_scene, data, bases) = scene();
        for why in [io::ErrorKind::PermissionDenied, io::ErrorKind::Unsupported] {
            let (_listener, files) = bind_at(&data, &bases, not_near(&data, why)).unwrap();
            connect_at(&data, &bases).await.unwrap();
            // For those who have other variables.
            connect_at(&data, &[]).await.unwrap();
            fs::remove_file(data.join(NOTE)).unwrap();
            connect_at(&data, &bases).await.unwrap();
            files.remove();
            assert_eq!(fs::read_dir(&bases[0]).unwrap().count(), 0, "nothing is left");
        }
        let taken = bind_at(&data, &bases, not_near(&data, io::ErrorKind::AddrInUse));
        assert_eq!(taken.unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert!(bind_at(&data, &[], not_near(&data, io::ErrorKind::Unsupported)).is_err());
    }

    #[tokio::test]
    async fn holders_that_are_killed_leave_one_folder_at_most() {
        let (_scene, data, bases) = scene();
        for _ in 0..20 {
            let bound = bind_at(&data, &bases, not_near(&data, io::ErrorKind::Unsupported));
            drop(bound.unwrap());
            fs::remove_file(data.join(NOTE)).unwrap();
        }
        assert_eq!(fs::read_dir(&bases[0]).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn a_folder_that_others_may_have_made_is_refused() {
        let (scene, data, bases) = scene();
        let folder = bases[0].join(name(&data, geteuid().as_raw()).unwrap());
        let refused = || {
            let bound = bind_at(&data, &bases, not_near(&data, io::ErrorKind::Unsupported));
            assert_eq!(bound.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
            assert_eq!(places(&data, &bases), [data.join(SOCKET)], "nobody connects there");
        };
        // A link, a file, a folder that others can look into, and one of another user.
        let own = scene.path().join("own");
        DirBuilder::new().mode(0o700).create(&own).unwrap();
        symlink(&own, &folder).unwrap();
        refused();
        fs::remove_file(&folder).unwrap();
        fs::write(&folder, "").unwrap();
        refused();
        fs::remove_file(&folder).unwrap();
        DirBuilder::new().mode(0o755).create(&folder).unwrap();
        refused();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(is_private(&folder, geteuid().as_raw()));
        assert!(!is_private(&folder, geteuid().as_raw() + 1));
        // Only an administrator can give a folder away.
        if geteuid().is_root() {
            std::os::unix::fs::chown(&folder, Some(65_534), None).unwrap();
            refused();
        }
    }
}
