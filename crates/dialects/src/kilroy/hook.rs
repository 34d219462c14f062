//! The two URLs of a hook. Both do the work before they answer, so that what is acknowledged is
//! there; they differ in whether the answer shows it.

use super::call::{Answer, Call};
use super::error::{Outcome, Stop};
use super::render::{self, AnswerBody, Payload, RefusalBody};
use super::request::CallBody;
use super::{change, find};
use serde_json::json;

/// The blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    Write,
    Read,
    Search,
    Delete,
    Append,
}

impl Block {
    pub(super) const ALL: [Self; 5] =
        [Self::Write, Self::Read, Self::Search, Self::Delete, Self::Append];

    /// What it is called by, and what stands in for a source that nobody named.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Write => "memory_write",
            Self::Read => "memory_read",
            Self::Search => "memory_search",
            Self::Delete => "memory_delete",
            Self::Append => "memory_append",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|block| block.name() == name)
    }
}

/// Runs a memory block; answers with its result only when the body says `"sync": true`.
///
/// The work is done when this answers, either way.
#[utoipa::path(
    post,
    path = "/api/v1/pd/webhook/{api_token}/{pd_alias}/{trigger_name}",
    tag = "kilroy blocks",
    params(
        ("api_token" = String, Path, description = "an API key, unless one is in a header"),
        ("pd_alias" = String, Path, description = "`kilroy.ai.webhooks`"),
        ("trigger_name" = String, Path, description = "`memory_write`, `memory_read`, `memory_search`, `memory_delete` or `memory_append`"),
    ),
    request_body = CallBody,
    responses(
        (status = 200, description = "Done; what the block could not do is `{\"error\": …}` in its text", body = AnswerBody<'_>),
        (status = "4XX", body = RefusalBody<'_>)
    )
)]
pub(super) async fn webhook(call: Call) -> Answer {
    let is_shown = call.message.is_sync;
    answer(call, is_shown).await
}

/// Runs a memory block and answers with its result.
#[utoipa::path(
    post,
    path = "/api/v1/pd/webhook_sync/{api_token}/{pd_alias}/{trigger_name}",
    tag = "kilroy blocks",
    params(
        ("api_token" = String, Path, description = "an API key, unless one is in a header"),
        ("pd_alias" = String, Path, description = "`kilroy.ai.webhooks`"),
        ("trigger_name" = String, Path, description = "`memory_write`, `memory_read`, `memory_search`, `memory_delete` or `memory_append`"),
    ),
    request_body = CallBody,
    responses(
        (status = 200, description = "The block's result; what it could not do is `{\"error\": …}` in its text", body = AnswerBody<'_>),
        (status = "4XX", body = RefusalBody<'_>)
    )
)]
pub(super) async fn webhook_sync(call: Call) -> Answer {
    answer(call, true).await
}

async fn answer(call: Call, is_shown: bool) -> Answer {
    let payload = match run(&call).await {
        Ok(payload) => payload,
        Err(Stop::Says(words)) => Payload::json(&json!({ "error": words })),
        Err(Stop::Fails(problem)) => return Err(problem),
    };
    if !is_shown {
        return Ok(render::acknowledgement());
    }
    let Call { engine, message, .. } = call;
    let now = engine.seams().now();
    let written = engine.written(payload.bytes(), move || render::answer(&message, &payload, now));
    Ok(written.await?)
}

async fn run(call: &Call) -> Outcome<Payload> {
    let targs = call.message.targs()?;
    match call.block {
        Block::Write => change::write(call, &targs).await,
        Block::Append => change::append(call, &targs).await,
        Block::Delete => change::delete(call, &targs).await,
        Block::Read => find::read(call, &targs).await,
        Block::Search => find::search(call, &targs).await,
    }
}
