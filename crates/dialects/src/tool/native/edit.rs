//! `create`, `str_replace` and `insert`: what changes the text of one file.

use super::text::{Replaced, insert_after, replace_only};
use super::{blocked_by, file_at, path_of, sealed, text_of, whose};
use crate::tool::OnExisting;
use crate::tool::answer::{Stop, says};
use crate::tool::desk::Desk;
use crate::tool::input::Input;
use crate::tool::path::ToolPath;
use crate::tool::shelf::{Shelf, put};
use loci_engine::{Error, Purpose};
use loci_model::edit::Occurrence;
use loci_model::{At, Content, Edit, EditOp, Expect, Memory, OnSame};

/// Makes a file. One that is there stays, unless the operator lets models overwrite.
pub(super) async fn create(desk: &Desk<'_>, input: &Input) -> Result<String, Stop> {
    let path = path_of(input, "path")?;
    let text = text_of(input, "file_text")?;
    let place = desk.place(whose(desk, input, &path)?, Purpose::Change).await?;
    let shelf = desk.shelf(&place);
    let done = format!("File created successfully at: {path}");
    let Some(memory) = path.memory() else { return exists(&path.to_string()) };
    let exact = path.exact();
    if let Some(blocker) = shelf.blocker(&exact).await? {
        let is_there = exact.contains(&blocker.path);
        if is_there && desk.options.on_existing == OnExisting::Overwrite {
            overwrite(shelf, &blocker, text).await?;
            return Ok(done);
        }
        return match is_there {
            true => exists(&path.to_string()),
            // Where sealed files are is not told.
            false if blocker.is_sealed => exists(&path.to_string()),
            false => exists(&blocked_by(&path, &blocker.path)),
        };
    }
    match shelf.create(memory.clone(), text.to_owned()).await {
        Ok(()) => Ok(done),
        Err(Error::PathTaken { path: taken, .. }) => exists(&blocked_by(&path, &taken)),
        Err(error) => Err(error.into()),
    }
}

fn exists<T>(path: &str) -> Result<T, Stop> {
    says(format!("Error: File {path} already exists"))
}

async fn overwrite(shelf: Shelf<'_>, there: &Memory, text: &str) -> Result<(), Error> {
    let edit = Edit {
        at: At::Id(there.id),
        expect: Expect::Anything,
        on_same: OnSame::Skip,
        op: put(Content::Text(text.to_owned())),
    };
    shelf.commit(vec![edit]).await
}

/// Replaces the only occurrence of a text; without a new one the old is taken out.
pub(super) async fn str_replace(desk: &Desk<'_>, input: &Input) -> Result<String, Stop> {
    let path = path_of(input, "path")?;
    let old = text_of(input, "old_str")?;
    let new = input.content("new_str")?.unwrap_or_default();
    let place = desk.place(whose(desk, input, &path)?, Purpose::Change).await?;
    let shelf = desk.shelf(&place);
    let gone = format!("Error: The path {path} does not exist. Please provide a valid path.");
    let change = |_: &Memory, text: &str| match replace_only(text, old, new) {
        Replaced::Done { text, snippet } => Ok((text, snippet)),
        Replaced::NotFound => says(format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        )),
        Replaced::Ambiguous(lines) => says(format!(
            "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: \
             {lines}. Please ensure it is unique"
        )),
    };
    let (old, new) = (old.to_owned(), new.to_owned());
    let atomic = EditOp::Replace { old, new, which: Occurrence::Only };
    let snippet = rewrite(shelf, &path, &gone, change, Some(&atomic)).await?;
    Ok(format!(
        "The memory file has been edited. Here is the snippet showing the change (with line \
         numbers):\n{snippet}"
    ))
}

/// Puts a text after a line.
pub(super) async fn insert(desk: &Desk<'_>, input: &Input) -> Result<String, Stop> {
    let path = path_of(input, "path")?;
    let Some(line) = input.integer("insert_line")? else {
        return says("insert_line is required for insert");
    };
    let insert = text_of(input, "insert_text")?;
    let place = desk.place(whose(desk, input, &path)?, Purpose::Change).await?;
    let shelf = desk.shelf(&place);
    let gone = format!("Error: The path {path} does not exist");
    let change = |_: &Memory, text: &str| match insert_after(text, line, insert) {
        Ok(text) => Ok((text, ())),
        Err(lines) => says(format!(
            "Error: Invalid `insert_line` parameter: {line}. It should be within the range of \
             lines of the file: [0, {lines}]"
        )),
    };
    rewrite(shelf, &path, &gone, change, None).await?;
    Ok(format!("The file {path} has been edited."))
}

async fn rewrite<T>(
    shelf: Shelf<'_>,
    path: &ToolPath,
    gone: &str,
    change: impl Fn(&Memory, &str) -> Result<(String, T), Stop>,
    atomic: Option<&EditOp>,
) -> Result<T, Stop> {
    let Some(memory) = path.memory() else { return says(gone) };
    let mut turn = shelf.turn(memory).await?;
    loop {
        let found = file_at(shelf, path, gone).await?;
        let sealed = || format!("Error: {}", sealed(path));
        if let Some(told) = shelf.rewrite(&turn, found.id, &change, atomic, sealed).await? {
            return Ok(told);
        }
        turn.again().await?;
    }
}
