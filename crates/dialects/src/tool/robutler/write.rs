//! `create`, `edit`, `delete` and `rename` of entries.
//!
//! A rename within a store is one atomic edit of the entry itself, so type, lifetime, visibility,
//! seal and history stay. To another store it takes two commits, the destination first: whatever
//! happens in between, the entry is in one of them or in both, never in none.

use super::address::{Key, Target, What, destination, target};
use super::entry::{self, kept, path_of, told, value_of};
use crate::robutler::value::Value;
use crate::tool::answer::{Json, NOT_THE_WRITER, Stop, json_of, says};
use crate::tool::desk::Desk;
use crate::tool::input::Input;
use crate::tool::shelf::{Shelf, relocation, removal};
use loci_engine::{Error, Purpose};
use loci_model::edit::Occurrence;
use loci_model::{
    At, AttributesPatch, Content, Edit, EditOp, Expect, Memory, OnSame, Patch, limit,
};

/// Characters shown around a change, on either side.
const AROUND_CHARS: usize = 40;
/// Characters shown of a text that was changed.
const CHANGED_CHARS_MAX: usize = 1000;

/// Writes an entry, over what is there. The caller's own memory is written, not another writer's of
/// the same key: that stays and is shown again should this one go.
pub(super) async fn create(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    let (target, key) = entry_for(desk, input, "create")?;
    let Some(content) = input.raw("content") else {
        return says("content is required for create");
    };
    let Some((content, attributes)) = kept(content) else {
        return says("content is not valid text");
    };
    let place = desk.place(target.whose, Purpose::Change).await?;
    let shown = &target.shown;
    match put(desk.shelf(&place), &key, content, attributes).await {
        Ok(()) => Ok(json_of(&format!("Created {shown}"))),
        Err(Error::PathTaken { memory: None, .. }) => {
            says(format!("Cannot create {shown}: an entry of this name is kept from models"))
        }
        Err(Error::PathTaken { .. }) => {
            says(format!("Cannot create {shown}: there are entries above or below that name"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Writes the caller's own entry of a key.
pub(super) async fn put(
    shelf: Shelf<'_>,
    key: &Key,
    content: Content,
    attributes: AttributesPatch,
) -> Result<(), Error> {
    let me = shelf.context.caller.principal;
    let path = path_of(&key.plain)?;
    let mut turn = shelf.turn(&path).await?;
    loop {
        let there = entry::at(shelf, key).await?;
        let own = there.iter().find(|memory| memory.partition.is_none_or(|of| of == me));
        let at = own.map_or_else(|| At::Path(None, path.clone()), |own| At::Id(own.id));
        // What is written is the newest, even if the caller wrote the same before others did.
        let is_newest = there.first().map(|first| first.id) == own.map(|own| own.id);
        let on_same = if is_newest { OnSame::Skip } else { OnSame::Record };
        let metadata = told(&key.plain, own);
        let attributes = AttributesPatch { metadata, ..attributes.clone() };
        let op = EditOp::Put { content: Some(content.clone()), to: None, attributes };
        match shelf.commit(vec![Edit { at, expect: Expect::Anything, on_same, op }]).await {
            // It was removed since it was looked for.
            Err(Error::NotFound("memory")) => {}
            other => return other,
        }
        turn.again().await?;
    }
}

/// Replaces a text that occurs once, or the first time it occurs.
pub(super) async fn edit(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    let (target, key) = entry_for(desk, input, "edit")?;
    let (old, new) = (input.content("old_str")?, input.content("new_str")?);
    let (Some(old), Some(new)) = (old.filter(|old| !old.is_empty()), new) else {
        return says("old_str and new_str are required for edit");
    };
    let is_first_enough = match input.text("occurrence", limit::NAME_CHARS_MAX)? {
        None | Some("only") => false,
        Some("first") => true,
        Some(_) => return says("occurrence must be only or first"),
    };
    let path = &target.shown;
    let place = desk.place(target.whose, Purpose::Change).await?;
    let shelf = desk.shelf(&place);
    let change = |memory: &Memory, text: &str| {
        if let Some(kind) = value_of(memory).as_ref().and_then(not_text) {
            return says(format!(
                "Cannot edit {path}: value is {kind}, not text. Use create to overwrite, or fetch \
                 + delete + create to convert."
            ));
        }
        let Some(at) = text.find(old) else {
            return says(format!("old_str not found in {path}"));
        };
        let count = text.matches(old).count();
        if count > 1 && !is_first_enough {
            return says(format!(
                "old_str matches {count} times in {path}. Add more surrounding context so the \
                 match is unique."
            ));
        }
        let (before, after) = (&text[..at], &text[at + old.len()..]);
        Ok(([before, new, after].concat(), difference(before, old, new, after)))
    };
    let sealed = || format!("Cannot edit {path}: it is sealed, and only its writer can open it.");
    let which = if is_first_enough { Occurrence::First } else { Occurrence::Only };
    let atomic = EditOp::Replace { old: old.to_owned(), new: new.to_owned(), which };
    let mut turn = shelf.turn(&path_of(&key.plain)?).await?;
    loop {
        let Some(newest) = entry::at(shelf, &key).await?.into_iter().next() else {
            return not_found(path);
        };
        let told = shelf.rewrite(&turn, newest.id, &change, Some(&atomic), sealed).await?;
        if let Some(lines) = told {
            return Ok(json_of(&format!("Edited {path}\n{lines}")));
        }
        turn.again().await?;
    }
}

/// The type of a value that is not text.
fn not_text(value: &Value<'_>) -> Option<&'static str> {
    let Value::Json(json) = value else { return None };
    match json.get().as_bytes().first() {
        Some(b'"') => None,
        Some(b'n') => Some("null"),
        Some(b't' | b'f') => Some("boolean"),
        Some(b'[') => Some("array"),
        Some(b'{') => Some("object"),
        _ => Some("number"),
    }
}

/// The change in its surroundings, as two lines.
fn difference(before: &str, old: &str, new: &str, after: &str) -> String {
    let start = before.char_indices().rev().nth(AROUND_CHARS - 1).map_or(0, |(at, _)| at);
    let end = after.char_indices().nth(AROUND_CHARS).map_or(after.len(), |(at, _)| at);
    let lead = if start > 0 { "…" } else { "" };
    let trail = if end < after.len() { "…" } else { "" };
    let line = |sign: &str, text: &str| {
        let text = match text.char_indices().nth(CHANGED_CHARS_MAX) {
            None => text.to_owned(),
            Some((cut, _)) => format!("{}…", &text[..cut]),
        };
        let whole = format!("{lead}{}[{text}]{}{trail}", &before[start..], &after[..end]);
        format!("  {sign} {}", whole.replace('\n', "\\n"))
    };
    format!("{}\n{}", line("-", old), line("+", new))
}

/// Removes an entry.
pub(super) async fn delete(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    let (target, key) = entry_for(desk, input, "delete")?;
    let place = desk.place(target.whose, Purpose::Change).await?;
    let is_all = remove(desk.shelf(&place), &key, &target.shown).await?;
    Ok(json_of(&format!("Deleted {}{}", target.shown, rest(is_all))))
}

async fn remove(shelf: Shelf<'_>, key: &Key, path: &str) -> Result<bool, Stop> {
    match take_out(shelf, key).await {
        Err(Stop::Fails(Error::NotFound("memory"))) => not_found(path),
        Err(Stop::Fails(Error::Denied(NOT_THE_WRITER))) => {
            says(format!("Cannot delete {path}: {NOT_THE_WRITER}"))
        }
        taken => taken,
    }
}

/// Removes the entries of a key as far as the caller may; false when others' stay.
pub(super) async fn take_out(shelf: Shelf<'_>, key: &Key) -> Result<bool, Stop> {
    let mut turn = shelf.turn(&path_of(&key.plain)?).await?;
    loop {
        let found = entry::at(shelf, key).await?;
        if found.is_empty() {
            return Err(Error::NotFound("memory").into());
        }
        match shelf.take_away(&found, |memory| Ok(removal(memory))).await {
            Err(Stop::Fails(Error::NotFound("memory"))) => {}
            other => return other,
        }
        turn.again().await?;
    }
}

/// What an answer adds when another writer's entry could not be taken away.
fn rest(is_all: bool) -> &'static str {
    if is_all { "" } else { ". Another writer's entry of this name remains" }
}

/// Gives an entry another key, or another store.
pub(super) async fn rename(desk: &Desk<'_>, input: &Input) -> Result<Json, Stop> {
    const NEEDED: &str = "path and new_str (new path) are required for rename";
    let new = input.text("new_str", limit::PATH_BYTES_MAX)?.filter(|new| !new.is_empty());
    let (Some(source), Some(new)) = (target(desk, input)?, new) else {
        return says(NEEDED);
    };
    let dest = destination(input, &source, new)?;
    let (What::Entry(from), What::Entry(to)) = (&source.what, &dest.what) else {
        return says("path must include a filename for rename");
    };
    let done = |rest: &str| Ok(json_of(&format!("Renamed {} → {new}{rest}", source.shown)));
    let here = desk.place(source.whose, Purpose::Change).await?;
    let there = desk.place(dest.whose, Purpose::Change).await?;
    let shelf = desk.shelf(&here);
    if here.store != there.store {
        let is_all = carry(shelf, (from, &source.shown), desk.shelf(&there), (to, new)).await?;
        return done(rest(is_all));
    }
    let path = path_of(&to.plain)?;
    let mut turn = shelf.turn(&path_of(&from.plain)?).await?;
    loop {
        let found = entry::at(shelf, from).await?;
        if found.is_empty() {
            return not_found(&source.shown);
        }
        if from.plain == to.plain {
            return done("");
        }
        if !entry::at(shelf, to).await?.is_empty() {
            return taken(&source.shown, new);
        }
        let relocate =
            |memory: &Memory| Ok(relocation(memory, path.clone(), told(&to.plain, Some(memory))));
        match shelf.take_away(&found, relocate).await {
            Ok(is_all) => return done(rest(is_all)),
            Err(Stop::Fails(Error::ExpectFailed | Error::NotFound("memory"))) => {}
            Err(Stop::Fails(Error::PathTaken { .. })) => return taken(&source.shown, new),
            Err(Stop::Fails(Error::Denied(NOT_THE_WRITER))) => {
                return says(format!("Cannot rename {}: {NOT_THE_WRITER}", source.shown));
            }
            Err(other) => return Err(other),
        }
        turn.again().await?;
    }
}

fn taken<T>(path: &str, new: &str) -> Result<T, Stop> {
    says(format!("Cannot rename {path}: {new} already exists"))
}

/// Carries an entry to another store: written there, then removed here. If it cannot be removed
/// here, what was written there is taken back.
async fn carry(
    here: Shelf<'_>,
    (from, shown): (&Key, &str),
    there: Shelf<'_>,
    (to, new): (&Key, &str),
) -> Result<bool, Stop> {
    let newest = entry::at(here, from).await?.into_iter().next();
    let memory = match newest {
        None => None,
        Some(newest) => here.load(newest.id).await?,
    };
    let Some(memory) = memory else { return not_found(shown) };
    if !entry::at(there, to).await?.is_empty() {
        return taken(shown, new);
    }
    let path = path_of(&to.plain)?;
    let mut attributes = AttributesPatch::replace(memory.attributes.clone());
    if let metadata @ Patch::Set(_) = told(&to.plain, Some(&memory)) {
        attributes.metadata = metadata;
    }
    let op = EditOp::Put { content: memory.content.clone(), to: None, attributes };
    let at = At::Path(None, path.clone());
    let copy = Edit { at: at.clone(), expect: Expect::Absent, on_same: OnSame::Skip, op };
    match there.commit(vec![copy]).await {
        Ok(()) => {}
        Err(Error::PathTaken { .. }) => return taken(shown, new),
        Err(Error::Denied(_) | Error::NotFound("memory store")) => {
            return says(format!("Cannot rename {shown}: no write access to the store of {new}"));
        }
        Err(error) => return Err(error.into()),
    }
    let gone = match unchanged(here, &memory).await? {
        true => remove(here, from, shown).await,
        false => says(format!("{shown} was changed by somebody else meanwhile. Try again.")),
    };
    match gone {
        Ok(is_all) => Ok(is_all),
        Err(refused) => {
            let expect = Expect::Digest(memory.digest);
            let undone = there.commit(vec![Edit::remove(at, expect)]).await;
            match (undone, refused) {
                (Ok(()), refused) => Err(refused),
                (Err(_), Stop::Says(why)) => says(format!("{why} A copy is at {new}.")),
                (Err(_), refused) => Err(refused),
            }
        }
    }
}

async fn unchanged(shelf: Shelf<'_>, memory: &Memory) -> Result<bool, Stop> {
    let now = shelf.load(memory.id).await?;
    Ok(now.is_some_and(|now| now.revision == memory.revision))
}

fn not_found<T>(path: &str) -> Result<T, Stop> {
    says(format!("Memory not found: {path}"))
}

/// The entry a command means, which must be one.
fn entry_for<'i>(
    desk: &Desk<'_>,
    input: &'i Input,
    command: &str,
) -> Result<(Target<'i>, Key), Stop> {
    let Some(target) = target(desk, input)? else {
        return says(format!("path is required for {command}"));
    };
    match target.what.clone() {
        What::Entry(key) => Ok((target, key)),
        What::List(_) | What::Nothing => {
            says(format!("path must include a filename for {command}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_two_lines() {
        assert_eq!(difference("a ", "b", "c", " d"), "  - a [b] d\n  + a [c] d");
        let (before, after) = ("x".repeat(41), "y".repeat(41));
        let (x, y) = ("x".repeat(40), "y".repeat(40));
        let expected = format!("  - …{x}[é]{y}…\n  + …{x}[]{y}…");
        assert_eq!(difference(&before, "é", "", &after), expected);
        assert_eq!(difference("", "a\nb", "c", ""), "  - [a\\nb]\n  + [c]");
        let (exact, edge) = ("x".repeat(40), "é".repeat(40));
        assert_eq!(difference(&exact, "a", "b", &edge).matches('…').count(), 0);
    }
}
