//! The push of a device: lines of what it wrote and forgot, oldest first. A line counts only if it
//! is later than what is there, forgotten notes included, so pushing again changes nothing and
//! devices that push in any order end up with the same notes.
//!
//! A device sends all it has and repeats a refused push for ever, so a line that means nothing is
//! passed over. Lines about one key are taken together in their order, and many keys are written by
//! one commit.

use super::answer::AnswerBody;
use super::moment::Moment;
use super::name::{Key, Namespace, Place};
use super::note::{self, Source, Written};
use super::shelf::{Rows, Shelf};
use super::write::{Attempt, Held, Next};
use loci_engine::{Error, Purpose};
use loci_model::{Invalid, MemoryPath, StoreId, View, limit};
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};

/// Lines of one push.
const LINES_MAX: usize = 100_000;
/// Keys written by one commit; each takes two edits at most. A database gives up on a write that
/// takes long, and a push that was cut off is sent again, which loses nothing.
const KEYS_AT_ONCE: usize = limit::BATCH_EDITS_MAX;
/// From how many keys on a whole namespace is read instead of each of them.
const KEYS_READ_SINGLY: usize = 20;
/// Memories read at once.
const BASIC_ROWS: usize = 1000;
/// How often a push goes on although the database did not answer in time.
const SLOW_MAX: usize = 4;

/// One line.
#[derive(Debug)]
enum Line {
    Put(Written, Moment),
    Delete(Moment),
}

/// Everything a push says about one key.
#[derive(Debug)]
struct Turn {
    key: Key,
    lines: Vec<Line>,
}

/// What a key is while lines are applied to it.
enum State<'l> {
    Missing,
    /// A note, with the line that wrote it if one did, and whether it began with this push.
    Live {
        at: Moment,
        line: Option<&'l Written>,
        is_new: bool,
    },
    Dead {
        at: Moment,
        line: Option<&'l Moment>,
    },
}

impl Shelf<'_> {
    pub(super) async fn push(
        &self,
        namespace: &Namespace,
        lines: Vec<Value>,
    ) -> Result<AnswerBody, Error> {
        if lines.len() > LINES_MAX {
            let why = format!("takes up to {LINES_MAX} lines");
            return Err(Invalid::new("lines", why).into());
        }
        let mut turns = turns(namespace, lines);
        if turns.is_empty() {
            if let Some(store) = self.store(Purpose::Change).await? {
                self.engine.require_write(&self.keeper, store).await?;
            }
            return Ok(AnswerBody::Applied { applied: 0 });
        }
        let store = self.store_to_write().await?;
        // What was read before some of it is written counts once; then each key is looked at anew.
        let mut listed = match turns.len() > KEYS_READ_SINGLY {
            true => self.all_held(store, namespace, &turns).await?,
            false => HashMap::new(),
        };
        let mut waiting: VecDeque<Vec<Turn>> = VecDeque::new();
        while !turns.is_empty() {
            let rest = turns.split_off(turns.len().min(KEYS_AT_ONCE));
            waiting.push_back(std::mem::replace(&mut turns, rest));
        }
        let (mut applied, mut slow) = (0, 0);
        while let Some(mut turns) = waiting.pop_front() {
            let mut taken = self.take(store, namespace, &turns, &mut listed).await;
            if matches!(taken, Ok(None)) && turns.len() == 1 {
                taken = self.take_in_turn(store, namespace, &turns).await;
            }
            match taken {
                Ok(Some(count)) => applied += count,
                Ok(None) => {
                    // Somebody writes one of these; the others need not wait for it.
                    let rest = turns.split_off(turns.len() / 2);
                    waiting.push_front(rest);
                    waiting.push_front(turns);
                }
                Err(Error::TooLarge { limit, bytes }) => {
                    let before: usize = turns.iter().map(|turn| turn.lines.len()).sum();
                    turns.iter_mut().for_each(|turn| turn.lines.retain(|line| line.fits(limit)));
                    let after: usize = turns.iter().map(|turn| turn.lines.len()).sum();
                    if before == after {
                        return Err(Error::TooLarge { limit, bytes });
                    }
                    waiting.push_front(turns);
                }
                // A database that is slow gets less at a time. What it wrote after all is not later
                // than itself, so it is not written twice.
                Err(Error::Unavailable(_)) if slow < SLOW_MAX && turns.len() > 1 => {
                    slow += 1;
                    let rest = turns.split_off(turns.len() / 2);
                    waiting.push_front(rest);
                    waiting.push_front(turns);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(AnswerBody::Applied { applied })
    }

    /// Applies everything that is said about some keys in one commit, and says how many lines
    /// counted; none when somebody else was faster.
    async fn take(
        &self,
        store: StoreId,
        namespace: &Namespace,
        turns: &[Turn],
        listed: &mut HashMap<Key, Held>,
    ) -> Result<Option<usize>, Error> {
        let (mut edits, mut applied) = (Vec::new(), 0);
        for turn in turns {
            let held = match listed.remove(&turn.key) {
                Some(held) => held,
                None => self.held(store, namespace, &turn.key).await?,
            };
            let (next, count) = merged(&held, &turn.lines);
            applied += count;
            if let Some(next) = next {
                edits.extend(self.edits(namespace, &turn.key, &held, &next));
            }
        }
        if edits.is_empty() {
            return Ok(Some(applied));
        }
        Ok(match self.attempt(store, edits).await? {
            Attempt::Done(_) => Some(applied),
            Attempt::Late => None,
        })
    }

    /// Applies what is said about a single key that others write too.
    async fn take_in_turn(
        &self,
        store: StoreId,
        namespace: &Namespace,
        turns: &[Turn],
    ) -> Result<Option<usize>, Error> {
        let path = turns.first().map(|turn| namespace.path(&turn.key));
        let path = path.as_ref().map(MemoryPath::as_str).unwrap_or_default();
        let mut turn = self.engine.turn(store, path).await?;
        loop {
            let count = self.take(store, namespace, turns, &mut HashMap::new()).await?;
            if count.is_some() {
                return Ok(count);
            }
            turn.again().await?;
        }
    }

    /// What is there of the keys of a push, by reading all of the namespace.
    async fn all_held(
        &self,
        store: StoreId,
        namespace: &Namespace,
        turns: &[Turn],
    ) -> Result<HashMap<Key, Held>, Error> {
        let mut known: HashMap<Key, Held> =
            turns.iter().map(|turn| (turn.key.clone(), Held::default())).collect();
        let mut rows = Rows::below(namespace.directory(), View::Basic);
        while let Some(page) = rows.next(self, &self.keeper, store, BASIC_ROWS).await? {
            for memory in page {
                let Some(place) = Place::of(&memory) else { continue };
                let Some(held) = known.get_mut(&place.key) else { continue };
                match place.is_tombstone {
                    true => held.tombstone = Some(memory),
                    false => held.note = Some(memory),
                }
            }
        }
        Ok(known)
    }
}

/// What lines make of a note, if they change it, and how many of them count.
fn merged<'l>(held: &Held, lines: &'l [Line]) -> (Option<Next<'l>>, usize) {
    let mut state = match (held.shown(), &held.tombstone) {
        (Some(live), _) => State::Live { at: note::updated_at(live), line: None, is_new: false },
        (None, Some(dead)) => State::Dead { at: note::updated_at(dead), line: None },
        (None, None) => State::Missing,
    };
    let mut applied = 0;
    for line in lines {
        let next = match (line, &state) {
            (Line::Put(written, at), State::Missing) => {
                Some(State::Live { at: at.clone(), line: Some(written), is_new: true })
            }
            (Line::Put(written, at), State::Live { at: known, is_new, .. }) if at > known => {
                Some(State::Live { at: at.clone(), line: Some(written), is_new: *is_new })
            }
            (Line::Put(written, at), State::Dead { at: known, .. }) if at > known => {
                Some(State::Live { at: at.clone(), line: Some(written), is_new: true })
            }
            (Line::Delete(at), State::Live { at: known, .. }) if at > known => {
                Some(State::Dead { at: at.clone(), line: Some(at) })
            }
            _ => None,
        };
        if let Some(next) = next {
            (state, applied) = (next, applied + 1);
        }
    }
    let next = match state {
        State::Live { line: Some(written), is_new, .. } => Some(Next::Written { written, is_new }),
        State::Dead { line: Some(at), .. } => Some(Next::Forgotten(Some(at))),
        _ => None,
    };
    (next, applied)
}

impl Line {
    /// Reads a line of a push into this namespace; none for one that means nothing here.
    fn read(namespace: &Namespace, line: Value) -> Option<(Key, Self)> {
        let Value::Object(mut line) = line else { return None };
        let is_elsewhere = |named: &Value| named.as_str() != Some(namespace.as_str());
        if line.get("namespace").is_some_and(is_elsewhere) {
            return None;
        }
        let key = Key::parse(line.get("key")?.as_str()?).ok()?;
        let at = Moment::parse(line.get("at")?.as_str()?).ok()?;
        match line.get("op")?.as_str()? {
            "delete" => Some((key, Self::Delete(at))),
            "put" => {
                let content = text(&mut line, "content")??;
                let source = match text(&mut line, "source")? {
                    Some(source) => Source::parse(&source).ok()?,
                    None => Source::Tool,
                };
                let description = note::description(text(&mut line, "description")?).ok()?;
                let said = Some(at.clone());
                Some((key, Self::Put(Written { content, description, source, at: said }, at)))
            }
            _ => None,
        }
    }

    fn fits(&self, bytes_max: u64) -> bool {
        match self {
            Self::Put(written, _) => written.content.len() as u64 <= bytes_max,
            Self::Delete(_) => true,
        }
    }
}

/// Takes a text out of a line: `Some(None)` when it is null or not there, `None` when it is no text.
fn text(line: &mut Map<String, Value>, name: &str) -> Option<Option<String>> {
    match line.remove(name) {
        None | Some(Value::Null) => Some(None),
        Some(Value::String(text)) => Some(Some(text)),
        Some(_) => None,
    }
}

/// Lines by key, in the order in which each key is last written, so that what was pushed in some
/// order is pulled in it.
fn turns(namespace: &Namespace, lines: Vec<Value>) -> Vec<Turn> {
    let mut by_key: HashMap<Key, (usize, Vec<Line>)> = HashMap::new();
    let lines = lines.into_iter().filter_map(|line| Line::read(namespace, line));
    for (number, (key, line)) in lines.enumerate() {
        let (last, lines) = by_key.entry(key).or_default();
        *last = number;
        lines.push(line);
    }
    let mut turns: Vec<_> = by_key.into_iter().collect();
    turns.sort_unstable_by_key(|(_, (last, _))| *last);
    turns.into_iter().map(|(key, (_, lines))| Turn { key, lines }).collect()
}
