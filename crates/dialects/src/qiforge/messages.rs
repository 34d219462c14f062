//! `POST /qiforge/messages`: a conversation, or what of it was not handed over yet, as much as a body
//! holds. It is kept in its order, in batches that are there whole or not at all, and when this answers
//! all of it can be found.
//!
//! Clients send everything again until they see an answer, perhaps days later with more behind it. What
//! the conversation ends with already is therefore passed over, be it all of it or the batches that
//! came through: messages are numbered, what comes is compared with the newest ones of its
//! conversation, and numbers are taken on condition that nobody took them meanwhile.

use super::access::{Refusal, admitted, there_to_write};
use super::call::{Answer, Call};
use super::episode::{DESCRIPTION_CHARS_MAX, KIND, LABEL_CHARS_MAX, NewEpisode, line, told};
use super::error::{RefusalBody, json};
use axum::http::StatusCode;
use loci_engine::{Context, Error};
use loci_model::query::{Amount, Direction, ListItem, ListQuery};
use loci_model::{
    Content, Digest, Edit, Memory, MemoryPath, PathPrefix, StoreId, View, Visibility, limit,
};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Messages that are written at once, and read at once.
const BATCH: usize = 1000;
const _: () = assert!(BATCH <= limit::TREE_EDITS_MAX, "they are one batch of edits");
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
    /// In the order in which they were said, as many as a body holds.
    messages: Vec<MessageBody>,
}

#[derive(ToSchema)]
#[schema(as = QiforgeMessage)]
#[expect(dead_code, reason = "describes the body and never holds one")]
pub(super) struct MessageBody {
    /// What was said; an empty message is passed over.
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
    if value.get("content").is_none_or(Value::is_null) {
        return Err("content is needed".to_owned());
    }
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

impl Message<'_> {
    /// What it takes of a visitor's allowance.
    fn bytes(&self) -> u64 {
        (self.content.len() + self.speaker.len() + self.conversation.len()) as u64
    }
}

/// Keeps what is not there yet; says how many.
async fn keep(call: &Call, messages: &[Message<'_>]) -> Result<usize, Error> {
    // An idempotency key stands for one commit, and this may take many. A repeated request adds nothing
    // all the same: its messages are known.
    let context = &Context { idempotency: None, ..call.access.context.clone() };
    let place = call.access.place()?;
    let mut turn = call.engine.turn_at(&place).await?;
    let mut room = match there_to_write(&call.engine, context, &place).await? {
        Some(store) => Room::read(call, store, messages).await?,
        None => Room::default(),
    };
    let (mut done, mut added) = (room.known, 0);
    let new = &messages[done..];
    if new.is_empty() {
        return Ok(added);
    }
    let bytes = new.iter().map(Message::bytes).sum();
    let amount = Amount { memories: new.len() as u64, bytes };
    let store = admitted(&call.engine, context, &place, amount).await?;
    while done < messages.len() {
        let rest = &messages[done..];
        let batch = &rest[..rest.len().min(BATCH)];
        // A repetition begins where a handing over began.
        let edits = edits(batch, room.last, added == 0)?;
        match call.engine.commit_tree(context, store, edits, REASON).await {
            Ok(_) => {
                room.last += batch.len() as u64;
                (done, added) = (done + batch.len(), added + batch.len());
            }
            Err(Error::PathTaken { .. } | Error::ExpectFailed) => {
                turn.again().await?;
                // Others wrote meanwhile, perhaps the same.
                room = Room::read(call, store, messages).await?;
                done = done.max(room.known);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(added)
}

fn edits(messages: &[Message<'_>], last: u64, is_first: bool) -> Result<Vec<Edit>, Error> {
    let edits = (last + 1..).zip(messages).enumerate().map(|(at, (number, message))| {
        let mut metadata = Map::new();
        metadata.insert("role".into(), message.role.into());
        if is_first && at == 0 {
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

/// What a room holds, as far as it is about messages that are handed over.
#[derive(Default)]
struct Room {
    /// The newest number.
    last: u64,
    /// How many of the messages are there already.
    known: usize,
}

impl Room {
    async fn read(call: &Call, store: StoreId, messages: &[Message<'_>]) -> Result<Self, Error> {
        let mut room = Self::default();
        let Some(first) = messages.first() else { return Ok(room) };
        let mut query = ListQuery {
            prefix: PathPrefix::parse(FOLDER)?,
            direction: Direction::Descending,
            ..ListQuery::everything(View::Basic, BATCH)
        };
        query.filter.kind = Some(KIND.to_owned());
        let mut newest: Vec<Kept> = Vec::new();
        let mut left = messages.len() + BETWEEN_MAX;
        while left > 0 {
            query.limit = left.min(BATCH);
            let page = call.engine.list(&call.access.context, store, &query).await?;
            left -= page.items.len().min(left);
            for item in page.items {
                let ListItem::Memory(memory) = item else { continue };
                room.last = room.last.max(number(&memory).unwrap_or(0));
                let scope = memory.attributes.scope.as_deref().unwrap_or_default();
                if scope == first.conversation {
                    newest.push(Kept::of(&memory));
                }
            }
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        newest.reverse();
        room.known = repeated(&newest, messages);
        Ok(room)
    }
}

fn number(memory: &Memory) -> Option<u64> {
    memory.path.as_str().strip_prefix(FOLDER)?.parse().ok()
}

/// A message that is kept, as far as it can be compared.
struct Kept {
    digest: Digest,
    speaker: Option<String>,
    role: Option<String>,
    is_first: bool,
}

impl Kept {
    fn of(memory: &Memory) -> Self {
        Self {
            digest: memory.digest,
            speaker: memory.attributes.source.clone(),
            role: told(memory, "role"),
            is_first: told(memory, "first").is_some(),
        }
    }

    fn is(&self, message: &Message<'_>, digest: &Digest) -> bool {
        self.digest == *digest
            && self.speaker.as_deref() == Some(message.speaker.as_str())
            && self.role.as_deref() == Some(message.role)
    }
}

/// How many messages at the beginning of a batch are what the conversation ends with: the longest such
/// run that began where a handing over began. Each kept message is looked at once, whatever repeats.
fn repeated(tail: &[Kept], messages: &[Message<'_>]) -> usize {
    let pattern = &messages[..messages.len().min(tail.len())];
    let digests: Vec<Digest> =
        pattern.iter().map(|one| Content::Text(one.content.to_owned()).digest()).collect();
    let is_same = |a: usize, b: usize| {
        let (one, other) = (&pattern[a], &pattern[b]);
        digests[a] == digests[b] && (&one.speaker, one.role) == (&other.speaker, other.role)
    };
    // For each length, the longest shorter beginning that the same messages end with.
    let mut shorter = vec![0; pattern.len() + 1];
    let mut run = 0;
    for at in 1..pattern.len() {
        while run > 0 && !is_same(run, at) {
            run = shorter[run];
        }
        run += usize::from(is_same(run, at));
        shorter[at + 1] = run;
    }
    let recent = &tail[tail.len() - pattern.len()..];
    let mut run = 0;
    for kept in recent {
        while run > 0 && !kept.is(&pattern[run], &digests[run]) {
            run = shorter[run];
        }
        run += usize::from(kept.is(&pattern[run], &digests[run]));
    }
    while run > 0 && !tail[tail.len() - run].is_first {
        run = shorter[run];
    }
    run
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
        let one = |message: Value| refused(json!({ "messages": [message] }));
        assert!(
            one(json!({"content": "x", "role_type": "tool"})).contains("messages[0].role_type")
        );
        assert!(one(json!({"content": 5, "role_type": "user"})).contains("content must be a text"));
        for without in [json!({"role_type": "user"}), json!({"content": null, "role_type": "user"})]
        {
            assert!(one(without).contains("messages[0].content is needed"));
        }
        let long = json!({"content": "x", "role_type": "user", "name": "n".repeat(256)});
        assert!(one(long).contains("name takes up to 255"));
        let huge = json!({"content": "x".repeat(1 << 21), "role_type": "user"});
        assert!(one(huge).contains("limit 1048576"));
        assert!(one(json!("text")).contains("content is needed"));
    }

    /// The longest run by trying every length, to compare with.
    fn by_trying(tail: &[Kept], messages: &[Message<'_>]) -> usize {
        let fits = |count: &usize| {
            let run = &tail[tail.len() - count..];
            let is_same = |(kept, message): (&Kept, &Message<'_>)| {
                kept.is(message, &Content::Text(message.content.to_owned()).digest())
            };
            run[0].is_first && run.iter().zip(messages).all(is_same)
        };
        (1..=messages.len().min(tail.len())).rev().find(fits).unwrap_or(0)
    }

    #[test]
    fn a_repetition_is_the_longest_run_that_began_a_handing_over() {
        let message = |content| Message {
            content,
            role: "user",
            speaker: "Ana".into(),
            conversation: String::new(),
        };
        // Every conversation of up to five messages of two sorts, begun anywhere, and every batch of up
        // to four.
        for (length, bits, firsts) in (0..=5u32)
            .flat_map(|length| (0..1u32 << length).map(move |bits| (length, bits)))
            .flat_map(|(length, bits)| {
                (0..1u32 << length).map(move |firsts| (length, bits, firsts))
            })
        {
            let word = |bits: u32, at: u32| if bits >> at & 1 == 0 { "a" } else { "b" };
            let tail: Vec<Kept> = (0..length)
                .map(|at| Kept {
                    digest: Content::Text(word(bits, at).to_owned()).digest(),
                    speaker: Some("Ana".into()),
                    role: Some("user".into()),
                    is_first: firsts >> at & 1 == 1,
                })
                .collect();
            for (size, batch) in
                (1..=4u32).flat_map(|size| (0..1u32 << size).map(move |batch| (size, batch)))
            {
                let messages: Vec<_> = (0..size).map(|at| message(word(batch, at))).collect();
                let (found, expected) = (repeated(&tail, &messages), by_trying(&tail, &messages));
                assert_eq!(found, expected, "{length} {bits:b} {firsts:b} {size} {batch:b}");
            }
        }
    }
}
