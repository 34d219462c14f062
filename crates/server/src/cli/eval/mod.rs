//! `loci eval`: measures search on questions whose answers are known.
//!
//! Everything happens in a data directory made for it and removed after it, or in a database that
//! holds no memories yet; what the user keeps is never touched. Memories go in through the one write path, vectors are made by the worker that
//! makes them for everybody, and questions are asked as any door would ask them.

mod data;
mod figures;
mod report;

use super::args::{EvalArgs, EvalFusion, EvalScope, SearchMode};
use super::output::{Format, Progress};
use super::reembed::percent;
use crate::config::{Config, SearchConfig};
use crate::exit::Failure;
use crate::holder::Kind;
use crate::place::{DatabaseUrl, Place};
use crate::wire::Holding;
use data::{Choice, Conversation, Question};
use figures::Scores;
use loci_engine::search::{Fusion, Mode, Reach, SearchRequest, Wanted};
use loci_engine::{Context, Engine, NewStore};
use loci_model::query::{Direction, StoreQuery};
use loci_model::{Edit, StoreId, StorePolicy, View, limit};
use report::{Goal, Report, Row};
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(50);
/// How long vectors may stand still before somebody should look.
const STALLED: Duration = Duration::from_secs(300);
/// As long as the snippets of a search that does not say.
const SNIPPET_CHARS: usize = 240;

pub(super) async fn run(
    format: Format,
    args: &EvalArgs,
    database: Option<DatabaseUrl>,
) -> Result<(), Failure> {
    let goals: Vec<Goal> =
        args.fail_under.iter().map(|goal| Goal::parse(goal)).collect::<Result<_, _>>()?;
    let wanted = wanted(args)?;
    let choice = Choice { categories: &args.categories, questions_max: args.limit };
    let conversations = data::load(&args.data, choice)?;
    match args.scope {
        EvalScope::Merged => data::check_paths(conversations.iter())?,
        EvalScope::PerConversation => {
            conversations.iter().try_for_each(|one| data::check_paths([one].into_iter()))?;
        }
    }
    let folder = tempfile::Builder::new()
        .prefix("loci-eval-")
        .tempdir()
        .map_err(|error| Failure::io("cannot make a temporary directory", &error))?;
    let place = match database {
        Some(url) => Place::Database(url),
        None => Place::Directory(folder.path().to_owned()),
    };
    let report = tokio::select! {
        measured = measure(&place, &conversations, &wanted, args) => measured?,
        _ = tokio::signal::ctrl_c() => return Err(Failure::failed("interrupted")),
    };
    report.show(format, &goals)
}

/// What every question asks for, but its words.
fn wanted(args: &EvalArgs) -> Result<Wanted, Failure> {
    let fusion = match (args.fusion, args.lexical_weight) {
        (EvalFusion::Convex, lexical_weight) => Fusion::Convex { lexical_weight },
        (EvalFusion::Rrf, None) => Fusion::Rrf { k: 60.0 },
        (EvalFusion::Rrf, Some(_)) => {
            return Err(Failure::usage("--lexical-weight goes with --fusion convex"));
        }
    };
    let mode = match args.mode {
        SearchMode::Hybrid => Mode::Hybrid,
        SearchMode::Lexical => Mode::Lexical,
        SearchMode::Semantic => Mode::Semantic,
    };
    let wanted = Wanted { mode, fusion, ..Wanted::new("", args.depth) };
    wanted.validate().map_err(|invalid| {
        // The bounds of `limit` are those of the option that fills it.
        Failure::usage(invalid.to_string().replace("limit", "--depth"))
    })?;
    Ok(wanted)
}

async fn measure(
    place: &Place,
    conversations: &[Conversation],
    wanted: &Wanted,
    args: &EvalArgs,
) -> Result<Report, Failure> {
    let search = match &args.config {
        Some(path) => Config::load(path)?.search.resolve()?,
        None => SearchConfig::default(),
    };
    let taken = Holding::take(place, Kind::Command, &search).await;
    let mut holding = taken.map_err(|refusal| refusal.failure(place))?;
    let engine = holding.engine().clone();
    let caller = engine.local_operator(holding.start());
    let request = engine.seams().request_id(engine.seams().now());
    let trial = Trial { engine, context: Context { caller, request, idempotency: None } };
    if trial.has_stores().await? {
        return Err(Failure::failed(format!("{place} holds memories; eval takes an empty one")));
    }
    holding.follow();

    let started = Instant::now();
    let stores = trial.fill(conversations, args.scope).await?;
    let model = match wanted.mode {
        Mode::Lexical => None,
        Mode::Hybrid | Mode::Semantic => trial.wait_for_vectors().await?,
    };
    let indexing_secs = started.elapsed().as_secs_f64();
    let rows = trial.ask(conversations, &stores, wanted).await?;
    drop(trial);
    holding.release().await;
    Ok(Report {
        memories: conversations.iter().map(|conversation| conversation.memories.len()).sum(),
        indexing_secs,
        scope: args.scope.name(),
        mode: args.mode.name(),
        model,
        rows,
    })
}

/// An engine of our own, and who asks it.
struct Trial {
    engine: Engine,
    context: Context,
}

impl Trial {
    async fn has_stores(&self) -> Result<bool, Failure> {
        let query = StoreQuery {
            since: None,
            until: None,
            include_archived: true,
            direction: Direction::Ascending,
            after: None,
            limit: 1,
        };
        Ok(!self.engine.list_stores(&self.context, &query).await?.items.is_empty())
    }

    /// Writes all memories; gives the store of each conversation.
    async fn fill(
        &self,
        conversations: &[Conversation],
        scope: EvalScope,
    ) -> Result<Vec<StoreId>, Failure> {
        let mut progress = Progress::start("writing memories");
        let mut written = 0;
        let mut stores: Vec<StoreId> = Vec::new();
        for conversation in conversations {
            let store = match (scope, stores.first()) {
                (EvalScope::Merged, Some(store)) => *store,
                _ => self.make_store(&conversation.name).await?,
            };
            for memories in conversation.memories.chunks(limit::BATCH_EDITS_MAX) {
                let edits = memories.iter();
                let edits = edits.map(|(path, text)| Edit::put_text(path.clone(), text.as_str()));
                self.engine.commit(&self.context, store, edits.collect(), "api").await?;
                written += memories.len();
                progress.say(|| written.to_string());
            }
            stores.push(store);
        }
        Ok(stores)
    }

    async fn make_store(&self, name: &str) -> Result<StoreId, Failure> {
        let content_bytes_max = limit::CONTENT_BYTES_MAX as u64;
        let policy = StorePolicy { content_bytes_max, ..StorePolicy::default() };
        let new = NewStore { name: name.to_owned(), policy, ..NewStore::default() };
        Ok(self.engine.create_store(&self.context, new).await?.id)
    }

    /// Waits until every memory can be found by meaning; gives the model, unless there is none.
    async fn wait_for_vectors(&self) -> Result<Option<String>, Failure> {
        let mut progress = Progress::start("making vectors");
        let (mut whole, mut least, mut moved) = (0, u64::MAX, Instant::now());
        loop {
            let status = self.engine.embedding_status(&self.context).await?;
            if status.model.is_none() || status.stores_behind == 0 {
                return Ok(status.model);
            }
            let left = status.changes_behind;
            if left < least {
                (least, moved) = (left, Instant::now());
            }
            if moved.elapsed() > STALLED {
                return Err(Failure::failed("no vectors are being made; see LOCI_LOG=info"));
            }
            whole = left.max(whole);
            progress.say(|| format!("{} %", percent(whole, left)));
            tokio::time::sleep(POLL).await;
        }
    }

    /// Asks every question where its conversation is.
    async fn ask(
        &self,
        conversations: &[Conversation],
        stores: &[StoreId],
        wanted: &Wanted,
    ) -> Result<Vec<Row>, Failure> {
        let mut progress = Progress::start("asking");
        let mut rows = Vec::new();
        for (conversation, store) in conversations.iter().zip(stores) {
            for question in &conversation.questions {
                let (took_ms, scores) = self.ask_one(*store, question, wanted).await?;
                rows.push(Row {
                    question: question.id.clone(),
                    category: question.category,
                    conversation: conversation.number,
                    took_ms,
                    scores,
                });
                progress.say(|| rows.len().to_string());
            }
        }
        Ok(rows)
    }

    async fn ask_one(
        &self,
        store: StoreId,
        question: &Question,
        wanted: &Wanted,
    ) -> Result<(f64, Scores), Failure> {
        let request = SearchRequest {
            reach: Reach::Store(store),
            wanted: Wanted { text: question.text.clone(), ..wanted.clone() },
            view: View::Basic,
            explain: false,
            content_bytes_max: usize::MAX,
            snippet_chars: SNIPPET_CHARS,
            as_of: None,
            wait: None,
        };
        let started = Instant::now();
        let answer = self.engine.search(&self.context, &request).await.map_err(|error| {
            let failure = Failure::from(error);
            Failure::new(failure.exit, format!("question {}: {}", question.id, failure.message))
        })?;
        let took_ms = started.elapsed().as_secs_f64() * 1e3;
        let ranked: Vec<&str> = answer.hits.iter().map(|hit| hit.memory.path.as_str()).collect();
        let evidence: Vec<&str> = question.evidence.iter().map(String::as_str).collect();
        Ok((took_ms, Scores::of(&ranked, &evidence)))
    }
}
