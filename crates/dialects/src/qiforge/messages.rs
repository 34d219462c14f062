//! `POST /qiforge/messages`: a conversation, or what of it was not handed over yet. All of it is kept
//! or nothing, and when this answers it can be found.
//!
//! Clients send a batch again until they see an answer, perhaps days later with more behind it. What
//! the conversation ends with already is therefore passed over: messages are numbered, a batch is
//! compared with the newest ones of its conversation, and numbers are taken on condition that nobody
//! took them meanwhile.

use super::access::Refusal;
use super::call::{Answer, Call};
use super::episode::{DESCRIPTION_CHARS_MAX, KIND, LABEL_CHARS_MAX, NewEpisode, line, told};
use super::error::{RefusalBody, json};
use super::place::ADDRESSES;
use axum::http::StatusCode;
use loci_engine::Error;
use loci_model::query::{Amount, Direction, ListItem, ListQuery};
use loci_model::{
    Content, Digest, Edit, Memory, MemoryPath, PathPrefix, StoreId, View, Visibility, limit,
};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Messages of one request.
const MESSAGES_MAX: usize = 1000;
const _: () = assert!(MESSAGES_MAX <= limit::TREE_EDITS_MAX, "a request is one batch");
/// Messages of other conversations of the room that may lie between a batch and its repetition.
const BETWEEN_MAX: usize = 200;
const FOLDER: &str = "/messages/";
/// Shown in the feed.
const REASON: &str = "qiforge";

/// A conversation to be kept.
#[derive(ToSchema)]
#[schema(as = QiforgeMessages)]
#[expect(dead_code, reason = "describes the body and never holds one")]
pub(super) struct MessagesBody {
    /// In the order in which they were said, up to 1000.
    messages: Vec<MessageBody>,
}

#[derive(ToSchema)]
#[schema(as = QiforgeMessage)]
#[expect(dead_code, reason = "describes the body and never holds one")]
pub(super) struct MessageBody {
    /// What was said; a message without is passed over.
    content: String,
    /// `user`, `assistant` or `system`.
    role_type: String,
    role: Option<String>,
    /// Who spoke.
    name: Option<String>,
    /// Which conversation it was.
    source_description: Option<String>,
}

/// What became of it.
#[derive(Serialize, ToSchema)]
#[schema(as = QiforgeMessagesAnswer)]
pub(super) struct MessagesAnswer {
    message: String,
    success: bool,
}

/// A message that was read.
#[derive(Debug, PartialEq)]
struct Message<'a> {
    content: &'a str,
    role: &'a str,
    speaker: String,
    conversation: String,
}

/// Keeps the messages of a conversation.
#[utoipa::path(
    post,
    path = "/qiforge/messages",
    operation_id = "qiforge_messages",
    tag = "qiforge",
    params(("x-room-id" = String, Header, description = "the room")),
    request_body = MessagesBody,
    responses(
        (status = 202, description = "Kept, and can be found", body = MessagesAnswer),
        (status = "4XX", body = RefusalBody<'_>)
    )
)]
pub(super) async fn messages(call: Call) -> Answer {
    let messages = read(&call.body)?;
    let kept = match messages.is_empty() {
        true => 0,
        false => keep(&call, &messages).await?,
    };
    let message = format!("{kept} messages added, {} known already", messages.len() - kept);
    let mut response = json(&MessagesAnswer { message, success: true });
    *response.status_mut() = StatusCode::ACCEPTED;
    Ok(response)
}

fn read(body: &Map<String, Value>) -> Result<Vec<Message<'_>>, Refusal> {
    let Some(Value::Array(list)) = body.get("messages") else {
        return Err(Refusal::new(400, "messages must be a list"));
    };
    if list.len() > MESSAGES_MAX {
        let why = format!("messages takes up to {MESSAGES_MAX}, these are {}", list.len());
        return Err(Refusal::new(400, why));
    }
    let mut messages = Vec::with_capacity(list.len());
    for (at, one) in list.iter().enumerate() {
        let told = |why: String| Refusal::new(400, format_args!("messages[{at}].{why}"));
        if let Some(message) = message(one).map_err(told)? {
            messages.push(message);
        }
    }
    Ok(messages)
}

/// A message; nothing if nothing was said.
fn message(value: &Value) -> Result<Option<Message<'_>>, String> {
    let text = |name: &str, chars_max: usize| match value.get(name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) if text.chars().count() <= chars_max => Ok(text.as_str()),
        Some(Value::String(_)) => Err(format!("{name} takes up to {chars_max} characters")),
        Some(_) => Err(format!("{name} must be a text")),
    };
    let content = text("content", usize::MAX)?;
    if content.len() > limit::CONTENT_BYTES_MAX {
        let (bytes, max) = (content.len(), limit::CONTENT_BYTES_MAX);
        return Err(format!("content is {bytes} bytes, limit {max}"));
    }
    let role = text("role_type", LABEL_CHARS_MAX)?;
    if !matches!(role, "user" | "assistant" | "system") {
        return Err("role_type must be user, assistant or system".to_owned());
    }
    let (name, label) = (text("name", LABEL_CHARS_MAX)?, text("role", LABEL_CHARS_MAX)?);
    let speaker = [name, label, role].into_iter().find(|text| !text.trim().is_empty());
    let conversation = line(text("source_description", DESCRIPTION_CHARS_MAX)?, usize::MAX);
    let speaker = line(speaker.unwrap_or(role), usize::MAX);
    let is_said = !content.trim().is_empty();
    Ok(is_said.then_some(Message { content, role, speaker, conversation }))
}

/// Keeps what is not there yet; says how many.
async fn keep(call: &Call, messages: &[Message<'_>]) -> Result<usize, Error> {
    let store = call.access.own_to_write(&call.engine).await?;
    let context = &call.access.context;
    // Asked before anything is read, because reading allows less.
    call.engine.require_write(context, store).await?;
    let mut turn = call.engine.turn(store, FOLDER).await?;
    // Whoever tries again is not counted again.
    let mut is_admitted = false;
    loop {
        let newest = newest(call, store, messages.len() + BETWEEN_MAX).await?;
        let last = newest.last().and_then(number).unwrap_or(0);
        let known = repeated(&newest, messages);
        let new = &messages[known..];
        if new.is_empty() {
            return Ok(0);
        }
        if !is_admitted {
            let bytes = new.iter().map(|one| one.content.len() as u64).sum();
            let amount = Amount { memories: new.len() as u64, bytes };
            call.engine.admit_written(context, ADDRESSES, amount).await?;
            is_admitted = true;
        }
        let edits = edits(new, last)?;
        match call.engine.commit_tree(context, store, edits, REASON).await {
            Ok(_) => return Ok(new.len()),
            Err(Error::PathTaken { .. } | Error::ExpectFailed) => turn.again().await?,
            Err(error) => return Err(error),
        }
    }
}

fn edits(messages: &[Message<'_>], last: u64) -> Result<Vec<Edit>, Error> {
    let edits = (last + 1..).zip(messages).enumerate().map(|(at, (number, message))| {
        let mut metadata = Map::new();
        metadata.insert("role".into(), message.role.into());
        if at == 0 {
            // A repetition begins where a batch began.
            metadata.insert("first".into(), "yes".into());
        }
        let new = NewEpisode {
            path: MemoryPath::parse(&format!("{FOLDER}{number:012}"))?,
            content: message.content,
            name: None,
            speaker: Some(&message.speaker),
            source: "message",
            description: &message.conversation,
            visibility: Visibility::default(),
            metadata,
        };
        Ok(new.edit())
    });
    edits.collect()
}

/// The newest messages of a room, oldest first.
async fn newest(call: &Call, store: StoreId, count: usize) -> Result<Vec<Memory>, Error> {
    let mut query = ListQuery {
        prefix: PathPrefix::parse(FOLDER)?,
        direction: Direction::Descending,
        ..ListQuery::everything(View::Basic, count)
    };
    query.filter.kind = Some(KIND.to_owned());
    let page = call.engine.list(&call.access.context, store, &query).await?;
    let memories = page.items.into_iter().filter_map(|item| match item {
        ListItem::Memory(memory) => Some(*memory),
        ListItem::Directory(_) => None,
    });
    let mut memories: Vec<Memory> = memories.collect();
    memories.reverse();
    Ok(memories)
}

fn number(memory: &Memory) -> Option<u64> {
    memory.path.as_str().strip_prefix(FOLDER)?.parse().ok()
}

/// How many messages at the beginning of a batch are what the conversation ends with.
fn repeated(newest: &[Memory], messages: &[Message<'_>]) -> usize {
    let Some(first) = messages.first() else { return 0 };
    let of_conversation = newest
        .iter()
        .filter(|one| one.attributes.scope.as_deref().unwrap_or_default() == first.conversation);
    let tail: Vec<&Memory> = of_conversation.collect();
    let digests: Vec<Digest> = messages
        .iter()
        .take(tail.len())
        .map(|one| Content::Text(one.content.to_owned()).digest())
        .collect();
    let is_same = |kept: &Memory, at: usize| {
        kept.digest == digests[at]
            && kept.attributes.source.as_deref() == Some(messages[at].speaker.as_str())
            && told(kept, "role").as_deref() == Some(messages[at].role)
    };
    let fits = |count: &usize| {
        let run = &tail[tail.len() - count..];
        told(run[0], "first").is_some()
            && run.iter().enumerate().all(|(at, kept)| is_same(kept, at))
    };
    (1..=digests.len()).rev().find(fits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(body: Value) -> String {
        let Value::Object(body) = body else { panic!("{body} is no object") };
        let refusal = read(&body).unwrap_err();
        assert_eq!(refusal.status, 400);
        refusal.text
    }

    #[test]
    fn what_nobody_said_is_passed_over() {
        let Value::Object(body) = json!({"messages": [
            {"content": "", "role_type": "assistant"},
            {"content": " \n", "role_type": "user"},
            {"role_type": "user"},
            {"content": "hi", "role_type": "user", "name": null, "role": "Me"},
            {"content": "yes", "role_type": "assistant"},
        ]}) else {
            panic!("no object")
        };
        let messages = read(&body).unwrap();
        let speakers: Vec<&str> = messages.iter().map(|one| one.speaker.as_str()).collect();
        assert_eq!(speakers, ["Me", "assistant"]);
    }

    #[test]
    fn mistakes_are_named() {
        assert!(refused(json!({})).starts_with("400 messages must be a list"));
        let many = vec![json!({"content": "", "role_type": "user"}); 1001];
        assert!(refused(json!({ "messages": many })).contains("up to 1000"));
        let one = |message: Value| refused(json!({ "messages": [message] }));
        assert!(
            one(json!({"content": "x", "role_type": "tool"})).contains("messages[0].role_type")
        );
        assert!(one(json!({"content": 5, "role_type": "user"})).contains("content must be a text"));
        let long = json!({"content": "x", "role_type": "user", "name": "n".repeat(256)});
        assert!(one(long).contains("name takes up to 255"));
        let huge = json!({"content": "x".repeat(1 << 21), "role_type": "user"});
        assert!(one(huge).contains("limit 1048576"));
        assert!(one(json!("text")).contains("role_type"));
    }
}
