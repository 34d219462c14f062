//! The commands of `memory_20250818`: a tree of text files below `/memories`.
//!
//! The documented strings are the reference, `Error: ` prefixes included; where the documentation
//! says nothing, the helpers of the client libraries are followed and the place says so.

mod edit;
mod text;
mod tree;
mod view;

use super::answer::{Answer, Stop, is_beyond_words, json_of, says};
use super::desk::Desk;
use super::input::Input;
use super::path::ToolPath;
use super::place::Whose;
use super::shelf::Shelf;
use loci_engine::Error;
use loci_model::{Memory, MemoryPath, View, limit};

/// Room for the prefix of another store besides the path itself; what is too long is refused later,
/// in better words.
const PATH_CHARS_MAX: usize = 4 * limit::PATH_BYTES_MAX;

/// Runs one command.
pub(super) async fn run(desk: &Desk<'_>, input: &Input) -> Result<Answer, Error> {
    let ran = match input.command() {
        "view" => view::view(desk, input).await,
        "create" => edit::create(desk, input).await,
        "str_replace" => edit::str_replace(desk, input).await,
        "insert" => edit::insert(desk, input).await,
        "delete" => tree::delete(desk, input).await,
        _ => tree::rename(desk, input).await,
    };
    match ran {
        Ok(text) => Ok(Answer::done(json_of(&text))),
        Err(Stop::Says(words)) => Ok(Answer::refused(words)),
        Err(Stop::Fails(error)) if is_beyond_words(&error) => Err(error),
        Err(Stop::Fails(error)) => Ok(Answer::refused(format!("Error: {error}"))),
    }
}

/// A path argument that must be there.
fn path_of(input: &Input, name: &str) -> Result<ToolPath, Stop> {
    match input.text(name, PATH_CHARS_MAX)? {
        None => says(format!("{name} is required for {}", input.command())),
        Some(text) => ToolPath::parse(text),
    }
}

/// A text argument that must be there.
fn text_of<'i>(input: &'i Input, name: &str) -> Result<&'i str, Stop> {
    match input.content(name)? {
        None => says(format!("{name} is required for {}", input.command())),
        Some(text) => Ok(text),
    }
}

/// Which store a path is in. Arguments beside the path choose it for programs that wrap the tool;
/// models name other stores in the path.
fn whose<'i>(desk: &'i Desk<'_>, input: &'i Input, path: &'i ToolPath) -> Result<Whose<'i>, Stop> {
    desk.whose_path(input, path.store())
}

/// That a path ends nowhere, the way most commands say it.
fn missing<T>(path: &ToolPath) -> Result<T, Stop> {
    says(format!("Error: The path {path} does not exist"))
}

/// The memory a path names, unless it is a directory: the root, or one that has only others below.
async fn file_at(shelf: Shelf<'_>, path: &ToolPath, gone: &str) -> Result<Memory, Stop> {
    for paths in [path.exact(), path.plain()] {
        if let Some(found) = shelf.newest_of(&paths, View::Basic).await? {
            return Ok(found);
        }
    }
    says(gone)
}

/// What the tool says about content that only its writer can open.
fn sealed(path: &ToolPath) -> String {
    format!("The file {path} is sealed: only the program that wrote it can open it.")
}

/// The path a refusal of the core names, as the tool shows it.
fn blocked_by(path: &ToolPath, blocker: &MemoryPath) -> String {
    path.show(blocker)
}
