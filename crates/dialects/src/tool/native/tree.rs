//! `delete` and `rename`: what takes files and whole directories away from where they are. Each is
//! one atomic batch, so a directory goes whole or stays whole.

use super::{blocked_by, missing, path_of, whose};
use crate::tool::answer::{Stop, says};
use crate::tool::desk::Desk;
use crate::tool::input::Input;
use crate::tool::path::{ToolPath, prefix_of};
use crate::tool::shelf::{Shelf, relocation, removal};
use loci_engine::{Error, Purpose};
use loci_model::{Memory, MemoryPath, Patch, limit};

/// Removes a file, or a directory with everything in it.
pub(super) async fn delete(desk: &Desk<'_>, input: &Input) -> Result<String, Stop> {
    let path = path_of(input, "path")?;
    let place = desk.place(whose(desk, input, &path)?, Purpose::Change).await?;
    let shelf = desk.shelf(&place);
    let Some(memory) = path.memory() else {
        return says(format!("Cannot delete the {path} directory itself"));
    };
    let mut turn = shelf.turn(memory).await?;
    loop {
        let found = find(shelf, memory, &path).await?;
        match shelf.take_away(&found, |memory| Ok(removal(memory))).await {
            Ok(is_all) => return Ok(format!("Successfully deleted {path}{}", rest(is_all))),
            Err(Stop::Fails(Error::NotFound("memory"))) => {}
            Err(Stop::Fails(Error::Denied(why))) => {
                return says(format!("Error: Cannot delete {path}: {why}"));
            }
            Err(other) => return Err(other),
        }
        turn.again().await?;
    }
}

/// Moves a file, or a directory with everything in it. Nothing may be at the destination.
pub(super) async fn rename(desk: &Desk<'_>, input: &Input) -> Result<String, Stop> {
    let (old, new) = (path_of(input, "old_path")?, path_of(input, "new_path")?);
    if old.store() != new.store() {
        return says(format!("Error: Cannot rename {old} to {new}: they are in different stores"));
    }
    let place = desk.place(whose(desk, input, &old)?, Purpose::Change).await?;
    let shelf = desk.shelf(&place);
    let Some(from) = old.memory() else {
        return says(format!("Cannot rename the {old} directory itself"));
    };
    let mut turn = shelf.turn(from).await?;
    loop {
        let found = find(shelf, from, &old).await?;
        let Some(to) = new.memory() else { return exists(&new.to_string()) };
        if to != from && to.as_str().starts_with(prefix_of(from).as_str()) {
            return says(format!("Error: Cannot rename {old} to {new}: it lies inside {old}"));
        }
        let exact = new.exact();
        if let Some(blocker) = shelf.blocker(&exact).await? {
            return match exact.contains(&blocker.path) {
                true => exists(&new.to_string()),
                false => exists(&destination(&new, to, &blocker.path)),
            };
        }
        let relocate =
            |memory: &Memory| moved(memory, from, to).map(|to| relocation(memory, to, Patch::Keep));
        match shelf.take_away(&found, relocate).await {
            Ok(is_all) => {
                return Ok(format!("Successfully renamed {old} to {new}{}", rest(is_all)));
            }
            Err(Stop::Fails(Error::PathTaken { path: taken, .. })) => {
                return exists(&destination(&new, to, &taken));
            }
            Err(Stop::Fails(Error::ExpectFailed | Error::NotFound("memory"))) => {}
            Err(Stop::Fails(Error::Denied(why))) => {
                return says(format!("Error: Cannot rename {old}: {why}"));
            }
            Err(other) => return Err(other),
        }
        turn.again().await?;
    }
}

fn exists<T>(path: &str) -> Result<T, Stop> {
    says(format!("Error: The destination {path} already exists"))
}

/// What is in the way: the destination itself when it is a directory, or the file above it.
fn destination(new: &ToolPath, to: &MemoryPath, blocker: &MemoryPath) -> String {
    let is_below = blocker.as_str().starts_with(prefix_of(to).as_str());
    if is_below { new.to_string() } else { blocked_by(new, blocker) }
}

/// What an answer adds when another writer's file of the name could not be taken away.
fn rest(is_all: bool) -> &'static str {
    if is_all { "" } else { ". Another writer's file of this name remains" }
}

/// What is at a path: a file, as each writer left it, or everything below a directory. The file
/// goes first, because different writers may have made both.
async fn find(shelf: Shelf<'_>, memory: &MemoryPath, path: &ToolPath) -> Result<Vec<Memory>, Stop> {
    let there = shelf.at_any(&path.exact()).await?;
    if !there.is_empty() {
        return Ok(there);
    }
    let tree = shelf.below(&prefix_of(memory), limit::TREE_EDITS_MAX).await?;
    if tree.memories.is_empty() {
        let there = shelf.at_any(&path.plain()).await?;
        return if there.is_empty() { missing(path) } else { Ok(there) };
    }
    if tree.is_cut {
        let max = limit::TREE_EDITS_MAX;
        return says(format!(
            "Error: The directory {path} holds more than {max} files. Please go one directory at a \
             time."
        ));
    }
    Ok(tree.memories)
}

/// Where a memory goes when `from` becomes `to`: one below it stays below it, and all others are
/// what it names.
fn moved(memory: &Memory, from: &MemoryPath, to: &MemoryPath) -> Result<MemoryPath, Stop> {
    let below = prefix_of(from);
    let is_below = memory.path.as_str().starts_with(below.as_str());
    let rest = if is_below { &memory.path.as_str()[from.as_str().len()..] } else { "" };
    match MemoryPath::parse(&format!("{to}{rest}")) {
        Ok(path) => Ok(path),
        Err(invalid) => {
            says(format!("Error: Cannot rename: a path in it would be too long: {invalid}"))
        }
    }
}
