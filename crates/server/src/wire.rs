//! Puts the parts together: a data directory becomes a storage, an engine, a router and a listening
//! socket. The server and every one-shot command hold a directory in the same way, so a third
//! process is served whoever holds it.

use crate::config::SearchConfig;
use crate::exit::Failure;
use crate::holder::{self, Kind};
use crate::searching;
use crate::socket::{self, SocketFiles};
use axum::Router;
use loci_dialects::anthropic;
use loci_engine::seam::Seams;
use loci_engine::{Engine, FirstStart};
use loci_http::{HttpOptions, Listener, LocalOperator};
use loci_model::Caller;
use loci_storage_sqlite::{OpenError, SqliteOptions, SqliteStorage};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A data directory that this process holds.
pub(crate) struct Holding {
    data: PathBuf,
    storage: Arc<SqliteStorage>,
    engine: Engine,
    /// Makes vectors for what is written, once started.
    following: Option<JoinHandle<()>>,
    /// The workspace and its administrator, whom whoever opened the directory acts as.
    start: FirstStart,
}

/// A held directory that answers requests: through [`Self::router`] here, through the socket to
/// others.
pub(crate) struct Answering {
    holding: Holding,
    router: Router,
    socket: SocketFiles,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

/// Why a directory is not ours.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Another process has it, and will answer on the socket.
    Held,
    /// It cannot be used.
    Failed(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Holding {
    /// Takes a directory, making it if need be.
    pub(crate) async fn take(
        data: &Path,
        kind: Kind,
        search: &SearchConfig,
    ) -> Result<Self, Refusal> {
        let search = searching::options(search)?;
        let path = data.to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            SqliteStorage::open(&path, SqliteOptions::default())
        });
        let storage = match opened.await {
            Ok(Ok(storage)) => Arc::new(storage),
            Ok(Err(OpenError::Locked)) => return Err(Refusal::Held),
            Ok(Err(error)) => return Err(Refusal::Failed(refused(data, &error))),
            Err(error) => return Err(Failure::failed(format!("opening failed: {error}")).into()),
        };
        holder::write(data, kind);
        // Backups that a killed process was making.
        let _ = fs::remove_dir_all(scratch_dir(data));
        let engine = Engine::new(storage.clone(), Seams::real()).with_search(search);
        let start = engine.settle().await.map_err(Failure::from)?;
        Ok(Self { data: data.to_owned(), storage, engine, following: None, start })
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn start(&self) -> &FirstStart {
        &self.start
    }

    /// Starts to make vectors for what is written, in the place of those of another model.
    pub(crate) fn follow(&mut self) {
        let engine = self.engine.clone();
        self.following = Some(tokio::spawn(async move { engine.follow().await }));
    }

    /// The same after a pause, but not in the place of another model's: a command does not know
    /// which model the server is configured with.
    pub(crate) fn help_follow(&mut self, after: Duration) {
        let engine = self.engine.clone();
        self.following = Some(tokio::spawn(async move {
            tokio::time::sleep(after).await;
            if let Ok(false) = engine.would_replace_vectors().await {
                engine.follow().await;
            }
        }));
    }

    /// Builds the routes and listens on the socket.
    pub(crate) fn answer(self, options: &HttpOptions) -> Result<Answering, Failure> {
        fs::create_dir_all(&options.scratch_dir)
            .map_err(|error| Failure::io("cannot make the scratch directory", &error))?;
        let doors = anthropic::router(self.engine.clone());
        let router = loci_http::router(self.engine.clone(), doors, anthropic::openapi(), options);
        let (listener, socket) = socket::bind(&self.data)
            .map_err(|error| Failure::io("cannot listen in the data directory", &error))?;
        let (stop, stopping) = watch::channel(false);
        let listener = Listener::Unix(listener, LocalOperator(self.operator()));
        let serving = tokio::spawn(listen(listener, router.clone(), options.clone(), stopping));
        Ok(Answering { holding: self, router, socket, stop, serving })
    }

    fn operator(&self) -> Caller {
        self.engine.local_operator(&self.start)
    }

    /// Gives the directory back, its log folded into the database.
    pub(crate) async fn release(self) {
        holder::remove(&self.data);
        let Self { storage, engine, following, .. } = self;
        if let Some(following) = following {
            // What it was at is taken up by the next start.
            following.abort();
            let _ = following.await;
        }
        drop(engine);
        let closed = tokio::task::spawn_blocking(move || match Arc::try_unwrap(storage) {
            Ok(storage) => storage.close(),
            // A request that outlived the drain still has it. The last one to go closes it, and if
            // the process ends first, the next start reads the log instead.
            Err(shared) => drop(shared),
        });
        if let Err(error) = closed.await {
            tracing::error!(%error, "closing the data directory failed");
        }
    }
}

impl Answering {
    pub(crate) fn engine(&self) -> &Engine {
        &self.holding.engine
    }

    pub(crate) fn router(&self) -> Router {
        self.router.clone()
    }

    /// What to put on a request made inside this process.
    pub(crate) fn operator(&self) -> LocalOperator {
        LocalOperator(self.holding.operator())
    }

    /// Turns true when this holding ends; for everything that must end with it.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Tells everything that watches [`Self::stopping`] to end.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Finishes what others are asking, then gives the directory back. The socket goes before the
    /// lock: afterwards its name may be another process's.
    pub(crate) async fn release(self) {
        self.stop();
        if let Err(error) = self.serving.await {
            tracing::warn!(%error, "the local socket failed");
        }
        self.socket.remove();
        let _ = fs::remove_dir_all(scratch_dir(&self.holding.data));
        drop(self.router);
        self.holding.release().await;
    }
}

/// Serves a listener until the holding ends.
pub(crate) async fn listen(
    listener: Listener,
    router: Router,
    options: HttpOptions,
    mut stopping: watch::Receiver<bool>,
) {
    // A sender that is gone means the same as one that says stop.
    let stopped = async { drop(stopping.wait_for(|is_stopping| *is_stopping).await) };
    loci_http::serve(listener, router, &options, stopped).await;
}

/// Where backups are made before they are sent: inside the directory, so that a copy of the data is
/// never less private than the data, and the next holder can clean up after a crash.
pub(crate) fn scratch_dir(data: &Path) -> PathBuf {
    data.join("scratch")
}

fn refused(data: &Path, error: &OpenError) -> Failure {
    let data = data.display();
    Failure::failed(match error {
        OpenError::NewerFormat { found, known } => format!(
            "{data} was written by a newer version of loci (format {found}; this version knows up \
             to {known}); nothing in it was touched"
        ),
        other => format!("{data}: {other}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::{Body, to_bytes};
    use hyper::Request;
    use serde_json::Value;
    use std::collections::BTreeSet;
    use tower::ServiceExt;

    #[tokio::test]
    async fn one_document_describes_the_routes_of_every_door() {
        let data = tempfile::tempdir().unwrap();
        let search = SearchConfig::default();
        let holding = Holding::take(data.path(), Kind::Command, &search).await.unwrap();
        let options = HttpOptions { scratch_dir: scratch_dir(data.path()), ..Default::default() };
        let answering = holding.answer(&options).unwrap();
        let request = Request::get("/openapi.json").body(Body::empty()).unwrap();
        let response = answering.router().oneshot(request).await.unwrap();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        answering.release().await;

        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let mut names = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let name = operation["operationId"].as_str().unwrap();
                assert!(names.insert(name), "{name} is {method} {path} and something else");
                let summary = operation["summary"].as_str().unwrap_or_default();
                assert!(!summary.is_empty(), "{method} {path} does not say what it does");
                assert!(operation["responses"]["4XX"].is_object(), "{method} {path}");
            }
        }
        for name in ["memories_create", "sessions_create", "grants_share", "backup"] {
            assert!(names.contains(name), "{name} is missing");
        }
    }
}
