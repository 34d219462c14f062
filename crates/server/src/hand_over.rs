//! How a server that starts gets a data directory from a command that has it open.
//!
//! A command holds a directory only because no server did, so it gives it up when a server asks for it
//! over the local socket: the command finishes what it is at, releases the lock, and becomes a client
//! of the server like every other. A server gives nothing up. The route is on the local socket and
//! nowhere else, so only the operator can ask.
//!
//! Other commands look for the lock all the time, and one of them could take it before the server
//! does. So the server holds a second lock while it waits, `loci.next`: commands that find it taken
//! leave the directory's own lock alone. The kernel frees both when their process ends.

use crate::exit::Failure;
use crate::holder::{self, Holder, Kind};
use crate::socket;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::post;
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// Held by a server while it waits for the directory.
const NEXT: &str = "loci.next";
const ROUTE: &str = "/local/hand_over";
/// How long the answer to a question may take.
const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// Between two questions.
const ASK_EVERY: Duration = Duration::from_millis(500);
/// Between two looks at the lock.
const POLL: Duration = Duration::from_millis(20);
/// How long an owner is waited for that does not answer: one that has just begun, or is just ending.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// The same for one that has agreed and closed its socket, but lets others finish what they asked for.
const LEAVING_MAX: Duration = Duration::from_secs(75);
/// How long the second lock is tried for: commands that look at it hold it for microseconds.
const NEXT_WAIT: Duration = Duration::from_secs(1);

/// What the owner of a directory answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// It ends its work and releases the lock.
    Leaves,
    /// It is a server.
    Stays,
    /// It does not know the question: an older version.
    Strange,
    /// It has no socket, or does not answer there.
    Silent,
}

/// The route of the local socket. What is sent through `asked` is for whoever holds the directory
/// in this process.
pub(crate) fn router(kind: Kind, asked: watch::Sender<bool>) -> Router {
    Router::new().route(ROUTE, post(answer)).with_state((kind, asked))
}

async fn answer(State((kind, asked)): State<(Kind, watch::Sender<bool>)>) -> StatusCode {
    match kind {
        Kind::Command => {
            asked.send_replace(true);
            StatusCode::ACCEPTED
        }
        Kind::Serve | Kind::Replica => StatusCode::CONFLICT,
    }
}

/// Whether a server waits for the directory, which is to leave the lock to it.
pub(crate) fn is_awaited(data: &Path) -> bool {
    let Ok(file) = File::open(data.join(NEXT)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// A server's wait for a directory that another process has.
pub(crate) struct Waiting {
    data: PathBuf,
    /// The second lock, from the first look on.
    next: Option<File>,
    asked_at: Option<Instant>,
    /// When the owner is given up, unless it answers.
    give_up_at: Instant,
    /// The owner that the log has named; of one without a label nothing is known but that it is there.
    named: Option<Option<Holder>>,
}

impl Waiting {
    pub(crate) fn new(data: &Path) -> Self {
        let give_up_at = Instant::now() + SILENCE_MAX;
        Self { data: data.to_owned(), next: None, asked_at: None, give_up_at, named: None }
    }

    /// Asks the owner if it is time to, and waits a moment; or says why waiting makes no sense.
    pub(crate) async fn step(&mut self) -> Result<(), Failure> {
        if self.next.is_none() {
            self.next = Some(self.take_next().await?);
        }
        if self.asked_at.is_none_or(|at| at.elapsed() >= ASK_EVERY) {
            self.asked_at = Some(Instant::now());
            self.ask().await?;
        }
        if Instant::now() >= self.give_up_at {
            return Err(self.refused(
                "does not give it up; wait until it has ended, or end it, and start again",
            ));
        }
        tokio::time::sleep(POLL).await;
        Ok(())
    }

    async fn ask(&mut self) -> Result<(), Failure> {
        // Read first: an owner that agrees may be gone with the answer, and its label with it.
        let owner = holder::read(&self.data);
        let answer = ask(&self.data).await;
        let is_server = owner.is_some_and(|owner| owner.kind == Kind::Serve);
        match answer {
            Answer::Stays => return Err(self.refused("is a server; stop it first")),
            Answer::Strange if is_server => {
                return Err(self.refused("is a server; stop it first"));
            }
            Answer::Leaves => self.give_up_at = Instant::now() + LEAVING_MAX,
            // The label may be that of a server that was killed: only an answer counts.
            Answer::Strange | Answer::Silent => {}
        }
        if self.named.is_none_or(|named| named != owner && owner.is_some()) {
            self.named = Some(owner);
            let data = self.data.display();
            tracing::info!(%data, owner = by(owner), "waiting for the data directory");
        }
        Ok(())
    }

    async fn take_next(&self) -> Result<File, Failure> {
        let cannot = |error: io::Error| Failure::io("cannot wait for the data directory", &error);
        let path = self.data.join(NEXT);
        let opened = File::options().create(true).truncate(false).write(true).open(path);
        let file = opened.map_err(cannot)?;
        let deadline = Instant::now() + NEXT_WAIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(cannot(error)),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    tokio::time::sleep(POLL).await;
                }
                Err(TryLockError::WouldBlock) => {
                    let data = self.data.display();
                    let why = format!("{data} is in use, and another server waits for it already");
                    return Err(Failure::failed(why));
                }
            }
        }
    }

    fn refused(&self, why: &str) -> Failure {
        let (data, owner) = (self.data.display(), by(holder::read(&self.data)));
        Failure::failed(format!("{data} is in use by another loci ({owner}), which {why}"))
    }
}

/// How messages name an owner.
fn by(owner: Option<Holder>) -> String {
    let Some(Holder { pid, .. }) = owner else { return "which process is unknown".to_owned() };
    match command_of(pid) {
        Some(command) => format!("process {pid}, loci {command}"),
        None => format!("process {pid}"),
    }
}

/// The command that a process was started with, where the system tells. Nothing else of its command
/// line is shown: there may be a key in it.
fn command_of(pid: u32) -> Option<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    crate::cli::command_name(words.filter(|word| !word.is_empty()))
}

/// Asks the owner of a directory to give it up.
async fn ask(data: &Path) -> Answer {
    match timeout(ANSWER_WAIT, exchange(data)).await {
        Ok(Ok(StatusCode::ACCEPTED)) => Answer::Leaves,
        Ok(Ok(StatusCode::CONFLICT)) => Answer::Stays,
        Ok(Ok(_)) => Answer::Strange,
        Ok(Err(_)) | Err(_) => Answer::Silent,
    }
}

async fn exchange(data: &Path) -> io::Result<StatusCode> {
    let stream = socket::connect(data).await?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    let connection = tokio::spawn(connection);
    let request = Request::post(ROUTE).header(HOST, "localhost").body(Body::empty());
    let answered = sender.send_request(request.map_err(io::Error::other)?).await;
    connection.abort();
    Ok(answered.map_err(io::Error::other)?.status())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_waiting_server_is_seen_and_a_second_one_refused() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        assert!(!is_awaited(data), "nothing is there");
        let first = Waiting::new(data).take_next().await.unwrap();
        assert!(is_awaited(data) && is_awaited(data));
        let refused = Waiting::new(data).take_next().await.unwrap_err();
        assert!(refused.message.contains("another server"), "{}", refused.message);
        drop(first);
        assert!(!is_awaited(data), "the file means nothing without its lock");
        // Commands that look do not keep a server from waiting.
        let looking = File::open(data.join(NEXT)).unwrap();
        looking.lock_shared().unwrap();
        let waiting = Waiting::new(data);
        let (taken, ()) = tokio::join!(waiting.take_next(), async {
            tokio::time::sleep(POLL).await;
            drop(looking);
        });
        assert!(taken.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn an_owner_that_never_answers_is_given_up_and_named() {
        let folder = tempfile::tempdir().unwrap();
        holder::write(folder.path(), Kind::Command);
        let mut waiting = Waiting::new(folder.path());
        let began = Instant::now();
        let failure = loop {
            if let Err(failure) = waiting.step().await {
                break failure;
            }
        };
        assert!(began.elapsed() >= SILENCE_MAX && began.elapsed() < SILENCE_MAX * 2);
        let pid = format!("process {}", std::process::id());
        assert!(failure.message.contains(&pid), "{}", failure.message);
        assert!(failure.message.contains("end it"), "{}", failure.message);
    }

    #[test]
    fn only_commands_give_a_directory_up() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (kind, expect) in [
            (Kind::Command, StatusCode::ACCEPTED),
            (Kind::Serve, StatusCode::CONFLICT),
            (Kind::Replica, StatusCode::CONFLICT),
        ] {
            let asked = watch::Sender::new(false);
            let said = runtime.block_on(answer(State((kind, asked.clone()))));
            assert_eq!((said, *asked.borrow()), (expect, kind == Kind::Command));
        }
    }
}
