//! The memory tool, executed on the server: `POST /v1/tools/memory` takes a tool's input and
//! answers with what its clients would have said.
//!
//! Two tools share the word. The native one (`memory_20250818`) sees a tree of text files, the one
//! with nine commands (Robutler) entries under keys. Which one a request means is told by its
//! command, and where both have it by its arguments:
//!
//! | command | native | Robutler |
//! |---|---|---|
//! | `str_replace`, `insert` | always | – |
//! | `edit`, `search`, `share`, `unshare`, `stores` | – | always |
//! | `create` | with `file_text` | otherwise |
//! | `rename` | with `old_path` or `new_path` | otherwise |
//! | `view`, `delete` | otherwise | with `key` or `/memories/shared/<id>/…`, or without a path with `scope` or `store` |
//!
//! Whichever it is, a path names the same: what one shape made the other finds.
//!
//! Where both have the command, `"dialect": "native"` or `"robutler"` in the body decides instead.
//! An `action` instead of a command is what the clients before the nine commands say.

mod answer;
mod definitions;
mod desk;
mod input;
mod native;
mod path;
mod place;
mod robutler;
mod shelf;

use answer::{Answer, Envelope, Stop, json_response, refusal};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::Response;
use axum::routing::get;
use desk::Desk;
use input::{Input, Shape};
use loci_engine::{Context, Engine, Error, Identified};
use loci_model::{Invalid, RequestId, limit};
use std::sync::Arc;
use utoipa::OpenApi;

/// More than any layer around this door lets through; a bound all the same.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What becomes of a file that the native `create` finds where it is to make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnExisting {
    /// It stays, and the answer says that it exists.
    #[default]
    Refuse,
    /// It gets the new content; the old one stays as a version.
    Overwrite,
}

/// What the operator can set.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolOptions {
    /// Takes `share` and `unshare` away: what a model reads may talk it into sharing.
    pub hide_sharing: bool,
    /// What the native `create` does where a file is.
    pub on_existing: OnExisting,
}

struct Door {
    engine: Engine,
    options: ToolOptions,
}

/// The routes of the tool. The layers around it leave `loci_engine::Identified` and
/// `loci_model::RequestId` on each request and bound the size of its body.
pub fn router(engine: Engine, options: ToolOptions) -> Router {
    let door = Arc::new(Door { engine, options });
    Router::new().route("/v1/tools/memory", get(define).post(execute)).with_state(door)
}

/// The description of these routes.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

#[derive(OpenApi)]
#[openapi(
    paths(define, execute),
    components(schemas(Answer, Envelope)),
    tags((name = "tools", description = "Tools that models call, executed here"))
)]
struct Document;

/// The definitions of the memory tool, to be given to models.
#[utoipa::path(
    get,
    path = "/v1/tools/memory",
    operation_id = "tools_define_memory",
    tag = "tools",
    responses((status = 200, body = Object), (status = "4XX", body = Envelope))
)]
async fn define(State(door): State<Arc<Door>>, request: Request) -> Response<Body> {
    match sender(&request) {
        Ok(_) => json_response(&definitions::all(&door.options)),
        Err(error) => refusal(&error, request.extensions().get::<RequestId>().copied()),
    }
}

/// Executes one call of the memory tool. The body is the tool's input, with `agentId`, `chatId` and
/// `userId` beside it where they matter.
#[utoipa::path(
    post,
    path = "/v1/tools/memory",
    operation_id = "tools_execute_memory",
    tag = "tools",
    request_body = Object,
    responses((status = 200, body = Answer), (status = "4XX", body = Envelope))
)]
async fn execute(State(door): State<Arc<Door>>, request: Request) -> Response<Body> {
    let id = request.extensions().get::<RequestId>().copied();
    match run(&door, request).await {
        Ok(answer) => {
            let written = door.engine.written(answer.bytes(), move || json_response(&answer));
            written.await.unwrap_or_else(|error| refusal(&error, id))
        }
        Err(error) => refusal(&error, id),
    }
}

async fn run(door: &Door, request: Request) -> Result<Answer, Error> {
    let context = sender(&request)?;
    let body = to_bytes(request.into_body(), BODY_BYTES_MAX)
        .await
        .map_err(|_| Invalid::new("body", "could not be read whole or is too large"))?;
    let input = Input::read(&body)?;
    let shape = match shape(&input) {
        Ok(shape) => shape,
        Err(Stop::Says(words)) => return Ok(Answer::refused(words)),
        Err(Stop::Fails(error)) => return Err(error),
    };
    let mut context = door.engine.acting(&context, who(&input, "agentId")?).await?;
    let user = who(&input, "userId")?;
    context.caller.session_user = door.engine.session_user(&context, user).await?;
    let desk = Desk::new(&door.engine, &door.options, context);
    match shape {
        Shape::Native => native::run(&desk, &input).await,
        Shape::Robutler if input.is_action() => robutler::run_action(&desk, &input).await,
        Shape::Robutler => robutler::run(&desk, &input).await,
    }
}

/// Whom an argument beside a command's own names. Clients that know nobody say nothing, or `undefined`.
fn who<'i>(input: &'i Input, name: &'static str) -> Result<Option<&'i str>, Error> {
    let named = input.text(name, limit::NAME_CHARS_MAX);
    let named = named.map_err(|_| Invalid::new(name, "must be a short string"))?;
    Ok(named.filter(|named| *named != "undefined"))
}

fn sender(request: &Request) -> Result<Context, Error> {
    match request.extensions().get::<Identified>().map(|found| &*found.0) {
        Some(Ok(context)) => Ok(context.clone()),
        Some(Err(error)) => Err(error.clone()),
        None => Err(Error::Unauthenticated("an API key is needed")),
    }
}

/// Which tool a request means.
fn shape(input: &Input) -> Result<Shape, Stop> {
    if input.is_action() {
        return Ok(Shape::Robutler);
    }
    let by_arguments = match input.command() {
        "str_replace" | "insert" => return Ok(Shape::Native),
        "create" if is_file(input) => Shape::Native,
        "rename" if input.has("old_path") || input.has("new_path") => Shape::Native,
        "view" | "delete" if !is_robutler_target(input) => Shape::Native,
        "view" | "delete" | "create" | "rename" => Shape::Robutler,
        _ => return Ok(Shape::Robutler),
    };
    Ok(input.shape()?.unwrap_or(by_arguments))
}

/// Whether a file is to be made. An empty one, unless it is only beside the content of an entry.
fn is_file(input: &Input) -> bool {
    input.has("file_text") || (input.value("file_text").is_some() && !input.has("content"))
}

fn is_robutler_target(input: &Input) -> bool {
    let path = input.value("path").and_then(|path| path.as_str()).unwrap_or_default();
    let shared = path.strip_prefix(path::SHARED).and_then(|rest| rest.split_once('/'));
    shared.is_some_and(|(id, _)| !id.is_empty())
        || input.has("key")
        || (path.is_empty() && input.names_store())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_told_apart() {
        let check = |body: &str, expected: Shape| {
            let input = Input::read(body.as_bytes()).unwrap();
            assert_eq!(shape(&input).unwrap(), expected, "{body}");
        };
        for body in [
            r#"{"command":"view"}"#,
            r#"{"command":"view","path":"/memories"}"#,
            r#"{"command":"view","path":"/memories/shared"}"#,
            r#"{"command":"view","path":"/memories/shared/x"}"#,
            r#"{"command":"delete","path":"/memories/a"}"#,
            r#"{"command":"create","path":"/memories/a","file_text":""}"#,
            r#"{"command":"rename","old_path":"/memories/a"}"#,
            r#"{"command":"str_replace","dialect":"robutler"}"#,
            r#"{"command":"insert"}"#,
            r#"{"command":"view","key":"a","dialect":"native"}"#,
            r#"{"command":"view","path":"/memories/a","scope":"user"}"#,
            r#"{"command":"delete","path":"/memories/a","store":"s"}"#,
            r#"{"command":"view","path":"/memories/a","scope":"","store":"","key":""}"#,
            r#"{"command":"create","path":"/memories/a","file_text":"x","content":""}"#,
            r#"{"command":"rename","old_path":"/memories/a","path":"","new_str":""}"#,
        ] {
            check(body, Shape::Native);
        }
        for body in [
            r#"{"command":"view","path":"/memories/shared/x/"}"#,
            r#"{"command":"view","path":"/memories/shared/x/y"}"#,
            r#"{"command":"view","scope":"user"}"#,
            r#"{"command":"view","path":"/memories/","dialect":"robutler"}"#,
            r#"{"command":"delete","key":"a"}"#,
            r#"{"command":"delete","store":"s"}"#,
            r#"{"command":"create","path":"/memories/a","content":"x"}"#,
            r#"{"command":"create","path":"/memories/a","content":"x","file_text":""}"#,
            r#"{"command":"rename","path":"/memories/a","new_str":"b","old_path":""}"#,
            r#"{"command":"create","path":"/memories/a"}"#,
            r#"{"command":"rename","path":"/memories/a","new_str":"b"}"#,
            r#"{"command":"edit"}"#,
            r#"{"command":"search","dialect":"native"}"#,
            r#"{"command":"fly"}"#,
        ] {
            check(body, Shape::Robutler);
        }
        let odd = Input::read(br#"{"command":"view","dialect":"klingon"}"#).unwrap();
        assert!(shape(&odd).is_err());
    }
}
