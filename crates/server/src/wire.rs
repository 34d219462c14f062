//! Puts the parts together: an open place becomes an engine, a router and, for a directory, a
//! listening socket. The server and every one-shot command hold a place in the same way, so a third
//! process is served whoever holds it.

use crate::config::{Config, SearchConfig};
use crate::exit::Failure;
use crate::hand_over;
use crate::held::{Held, Refusal};
use crate::holder::Kind;
use crate::mcp::{self, McpOptions};
use crate::place::Place;
use crate::searching;
use crate::socket::{self, SocketFiles};
use crate::summaries::ModelSummarizer;
use crate::{document, oracles};
use axum::Router;
use loci_dialects::qiforge::{self, QiforgeOptions};
use loci_dialects::tool::{self, ToolOptions};
use loci_dialects::{anthropic, kilroy, mobius, robutler};
use loci_engine::reading::ReadingOptions;
use loci_engine::seam::Seams;
use loci_engine::{ClockBehind, Engine, Error, FirstStart, VisitorLimits};
use loci_http::{HttpOptions, Listener, LocalOperator};
use loci_model::Caller;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A place that this process works on.
pub(crate) struct Holding {
    held: Held,
    /// What this process is.
    kind: Kind,
    engine: Engine,
    /// Makes vectors for what is written, once started.
    following: Option<JoinHandle<()>>,
    /// Hears what other servers wrote.
    hearing: JoinHandle<()>,
    /// The workspace and its administrator, whom whoever opened the place acts as.
    start: FirstStart,
    /// What models may do by themselves.
    tools: ToolOptions,
    /// How models' programs reach it.
    mcp: McpOptions,
    /// Who this server is to QiForge's oracles.
    qiforge: Arc<QiforgeOptions>,
}

/// A place that answers requests: through [`Self::router`] here, and a directory's socket to others.
pub(crate) struct Answering {
    holding: Holding,
    router: Router,
    stop: watch::Sender<bool>,
    /// Turns true when a server asks for the place.
    asked_for: watch::Sender<bool>,
    local: Option<Local>,
}

/// The socket of a directory, and who serves it.
struct Local {
    files: SocketFiles,
    serving: JoinHandle<()>,
}

impl Holding {
    /// Takes a place, making it if need be.
    pub(crate) async fn take(
        place: &Place,
        kind: Kind,
        search: &SearchConfig,
    ) -> Result<Self, Refusal> {
        let search = searching::options(search)?;
        let held = Held::open(place, kind).await?;
        let engine = Engine::new(held.storage(), Seams::real()).with_search(search);
        let resumed = engine.resume_time().await;
        if let Some(behind) = resumed.map_err(|error| settling(place, error.into()))? {
            let ClockBehind { clock, written } = behind;
            tracing::warn!(%clock, %written, "the clock is more than a day behind what was written; \
                what has expired since may work again");
        }
        let start = engine.settle().await.map_err(|error| match error {
            Error::Replica => Refusal::Away(Failure::failed(format!(
                "{place} holds no memories yet; a server on the primary begins"
            ))),
            other => settling(place, other.into()),
        })?;
        let (tools, mcp) = (ToolOptions::default(), McpOptions::default());
        let qiforge = Arc::default();
        let listener = engine.clone();
        let hearing = tokio::spawn(async move { listener.listen_to_others().await });
        Ok(Self { held, kind, engine, following: None, hearing, start, tools, mcp, qiforge })
    }

    /// The same place, shared and summarised as the configuration says.
    pub(crate) fn sharing(
        self,
        config: &Config,
        tools: ToolOptions,
        mcp: McpOptions,
        summarizer: Option<ModelSummarizer>,
    ) -> Self {
        let engine = match summarizer {
            Some(summarizer) => self.engine.with_summarizer(Arc::new(summarizer)),
            None => self.engine,
        };
        let engine = engine.with_homes(config.homes.limits());
        let engine = engine.with_guarded_searches(
            config.limits.search_only_per_minute(),
            config.limits.search_only_memories_per_day(),
        );
        let engine = match config.new_agents_per_day() {
            Some(per_day) => engine.with_new_agents(per_day),
            None => engine,
        };
        Self { engine, tools, mcp, ..self }
    }

    /// The same place, read by a model beside the rules.
    pub(crate) fn reading(self, options: ReadingOptions) -> Self {
        Self { engine: self.engine.with_reader(options), ..self }
    }

    /// The same place, open to QiForge's oracles.
    pub(crate) fn welcoming(self, qiforge: QiforgeOptions, visitors: VisitorLimits) -> Self {
        let engine = self.engine.with_visitors(visitors);
        Self { engine, qiforge: Arc::new(qiforge), ..self }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn start(&self) -> &FirstStart {
        &self.start
    }

    /// Where files that are being made lie.
    pub(crate) fn scratch_dir(&self) -> PathBuf {
        self.held.scratch_dir()
    }

    /// Starts to make vectors for what is written, in the place of those of another model.
    pub(crate) fn follow(&mut self) {
        if self.engine.is_replica() {
            return;
        }
        let engine = self.engine.clone();
        self.following = Some(tokio::spawn(async move { engine.follow().await }));
    }

    /// The same after a pause, but not in the place of another model's: a command does not know
    /// which model the server is configured with.
    pub(crate) fn help_follow(&mut self, after: Duration) {
        if self.engine.is_replica() {
            return;
        }
        let engine = self.engine.clone();
        self.following = Some(tokio::spawn(async move {
            tokio::time::sleep(after).await;
            if let Ok(false) = engine.would_replace_vectors().await {
                engine.follow().await;
            }
        }));
    }

    /// Builds the routes, and listens on the socket of a directory.
    pub(crate) fn answer(self, options: &HttpOptions) -> Result<Answering, Failure> {
        fs::create_dir_all(&options.scratch_dir)
            .map_err(|error| Failure::io("cannot make the scratch directory", &error))?;
        let doors = anthropic::router(self.engine.clone());
        let doors = doors.merge(robutler::router(self.engine.clone()));
        let doors = doors.merge(kilroy::router(self.engine.clone()));
        let agents = mobius::router(self.engine.clone());
        let doors = doors.merge(anthropic::with_agents(agents, self.engine.clone()));
        let doors = doors.merge(qiforge::router(self.engine.clone(), Arc::clone(&self.qiforge)));
        let doors = doors.merge(tool::router(self.engine.clone(), self.tools));
        let (stop, stopping) = watch::channel(false);
        let doors = doors.merge(oracles::router(self.engine.clone(), Arc::clone(&self.qiforge)));
        let doors = doors.merge(mcp::qiforge::router(
            self.engine.clone(),
            Arc::clone(&self.qiforge),
            options.body_bytes_max,
            stopping.clone(),
        ));
        let doors = doors.merge(mcp::router(
            self.engine.clone(),
            self.tools,
            self.mcp.clone(),
            options.body_bytes_max,
            stopping.clone(),
        ));
        let doors = doors.merge(loci_console::router());
        let mut openapi = anthropic::openapi();
        openapi.merge(tool::openapi());
        openapi.merge(robutler::openapi());
        openapi.merge(kilroy::openapi());
        openapi.merge(mobius::openapi());
        openapi.merge(qiforge::openapi());
        openapi.merge(document::openapi());
        document::add_agents(&mut openapi);
        let router = loci_http::router(self.engine.clone(), doors, openapi, options);
        let asked_for = watch::Sender::new(false);
        let routes = router.clone().merge(hand_over::router(self.kind, asked_for.clone()));
        let local = match &self.held {
            Held::Directory { path, .. } => self.serve_locally(path, routes, options, stopping),
            // Everybody who could open the socket can open the database.
            Held::Database { .. } => None,
        };
        Ok(Answering { holding: self, router, stop, asked_for, local })
    }

    /// Listens on the socket of a directory. Without one this process answers what it is asked all the
    /// same, and others have to wait until it has ended.
    fn serve_locally(
        &self,
        data: &Path,
        routes: Router,
        options: &HttpOptions,
        stopping: watch::Receiver<bool>,
    ) -> Option<Local> {
        let (listener, files) = socket::bind(data)
            .inspect_err(|error| {
                let data = data.display();
                tracing::warn!(%data, %error, "no local socket: commands on this directory fail while this process runs");
            })
            .ok()?;
        let listener = Listener::Unix(listener, LocalOperator(self.operator()));
        let serving = listen(listener, routes, options.clone(), stopping);
        Some(Local { files, serving: tokio::spawn(serving) })
    }

    fn operator(&self) -> Caller {
        self.engine.local_operator(&self.start)
    }

    /// Gives the place back; a directory with its log folded into the database.
    pub(crate) async fn release(self) {
        let Self { held, engine, following, hearing, .. } = self;
        // What they were at is taken up by the next start.
        for work in following.into_iter().chain([hearing]) {
            work.abort();
            let _ = work.await;
        }
        drop(engine);
        held.close().await;
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

    /// Turns true when a server asks for the place, which only a command gives up.
    pub(crate) fn asked_for(&self) -> watch::Receiver<bool> {
        self.asked_for.subscribe()
    }

    /// Tells everything that watches [`Self::stopping`] to end.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
        self.holding.engine.end_waiting();
    }

    /// Finishes what others are asking, then gives the place back. The socket goes before the lock:
    /// afterwards its name may be another process's.
    pub(crate) async fn release(self) {
        self.stop();
        if let Some(local) = self.local {
            if let Err(error) = local.serving.await {
                tracing::warn!(%error, "the local socket failed");
            }
            local.files.remove();
        }
        drop(self.router);
        self.holding.release().await;
    }
}

/// What it means that nothing could be made or found in a place that was opened. A database may
/// have gone away since, and come back.
fn settling(place: &Place, failure: Failure) -> Refusal {
    match place {
        Place::Database(_) if failure.may_pass => Refusal::Away(failure),
        Place::Database(_) | Place::Directory(_) => Refusal::Failed(failure),
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
    loci_http::serve(listener, router, &options, Box::pin(stopped)).await;
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
        let place = Place::Directory(data.path().to_owned());
        let holding = Holding::take(&place, Kind::Command, &search).await.unwrap();
        let options = HttpOptions { scratch_dir: holding.scratch_dir(), ..Default::default() };
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
        for name in [
            "memories_create",
            "sessions_create",
            "grants_share",
            "backup",
            "mcp",
            "oracle_knowledge",
        ] {
            assert!(names.contains(name), "{name} is missing");
        }
    }
}
