//! The rows that a store is searched by where it lies: the words of memories and, where pgvector is,
//! their passages. They are written in the transaction of the vectors they belong to and go with the
//! text, so that nothing is found by what was taken away.
//!
//! Only the newest version of a memory has such rows: only heads are searched.

use crate::client::{Tx, uuid};
use crate::fault::Result;
use crate::row::get;
use crate::vectors::{Origin, TextVersion, key};
use half::f16;
use loci_model::{StoreId, VersionId};
use loci_storage::VectorBatch;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use uuid::Uuid;

/// Stands between the words of a memory on their way; no word has it.
const BETWEEN: char = '\u{1f}';

/// Longer memories are ranked by their best piece, which is about as long as this.
const LENGTH_MAX: i32 = 100;
/// Stands between a directory and the name in it; no path has it.
const NAME: char = '\u{1}';
/// What an index takes of a place.
const PLACE_BYTES_MAX: usize = 2000;

/// What the words of a store begin with. Two stores may share it: it makes lists short, and who
/// looks a word up names the store besides.
pub(crate) fn mark(store: StoreId) -> String {
    let bytes = store.to_bytes();
    bytes[12..].iter().fold(String::with_capacity(8), |mut mark, byte| {
        let _ = write!(mark, "{byte:02x}");
        mark
    })
}

/// Writes the words of a batch, for versions that still have their text.
pub(crate) async fn put_words(
    tx: &Tx,
    batch: &VectorBatch,
    known: &HashMap<VersionId, TextVersion>,
) -> Result<()> {
    let mark = mark(batch.store);
    let mut newest: BTreeMap<Uuid, (&TextVersion, &[String])> = BTreeMap::new();
    for (id, words) in &batch.words {
        let Some(version) = known.get(id) else { continue };
        let is_newer =
            newest.get(&version.memory).is_none_or(|(other, _)| other.seq <= version.seq);
        if is_newer {
            newest.insert(version.memory, (version, words));
        }
    }
    if newest.is_empty() {
        return Ok(());
    }
    let (mut memories, mut seqs, mut terms) = (Vec::new(), Vec::new(), Vec::new());
    let (mut places, mut lengths) = (Vec::new(), Vec::new());
    for (memory, (version, words)) in newest {
        let mut joined = String::new();
        for word in words.iter().filter(|word| !word.contains(['\0', BETWEEN])) {
            if !joined.is_empty() {
                joined.push(BETWEEN);
            }
            joined.push_str(&mark);
            joined.push_str(word);
        }
        memories.push(memory);
        seqs.push(version.seq);
        places.push(place(&version.path));
        lengths.push(i32::try_from(words.len()).unwrap_or(LENGTH_MAX).min(LENGTH_MAX));
        terms.push(joined);
    }
    let (store, workspace) = (uuid(batch.store.to_bytes()), uuid(batch.workspace.to_bytes()));
    let sql = include_str!("../queries/word/put.sql");
    tx.execute(sql, &[&store, &workspace, &memories, &seqs, &places, &lengths, &terms]).await?;
    Ok(())
}

/// Where a memory lies, for whoever looks for its neighbours: first its directory, then its name with
/// every number written so that a smaller one comes first.
fn place(path: &str) -> String {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut place = format!("{directory}{NAME}");
    let mut rest = name;
    while let Some(start) = rest.find(|char: char| char.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let end = number.find(|char: char| !char.is_ascii_digit()).unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        let value = number.trim_start_matches('0');
        let _ = write!(place, "{before}0{:04}{value}", value.len());
        rest = after;
    }
    place.push_str(rest);
    place.truncate(place.floor_char_boundary(PLACE_BYTES_MAX));
    place
}

/// Brings the passages of a generation in step with the vectors that were just written.
pub(crate) async fn put(
    tx: &Tx,
    batch: &VectorBatch,
    dims: usize,
    known: &HashMap<VersionId, TextVersion>,
    origins: &BTreeMap<i64, Origin<'_>>,
) -> Result<()> {
    let memory_of: HashMap<i64, Uuid> =
        known.values().map(|version| (version.seq, version.memory)).collect();
    // By seq, so that the newest version of a memory comes last and stays.
    let mut newest: BTreeMap<Uuid, (i64, Origin<'_>)> = BTreeMap::new();
    for (seq, origin) in origins {
        if let Some(memory) = memory_of.get(seq) {
            newest.insert(*memory, (*seq, *origin));
        }
    }
    let mut rows = Rows::default();
    let mut copies: Vec<(Uuid, i64, i64)> = Vec::new();
    for (memory, (seq, origin)) in newest {
        match origin {
            Origin::Made(bytes) => rows.add(memory, seq, bytes, dims),
            Origin::Row(from) => copies.push((memory, from, seq)),
        }
    }
    let left = pass_on(tx, batch, copies).await?;
    if !left.is_empty() {
        let seqs: Vec<i64> = left.iter().map(|(_, seq)| *seq).collect();
        let sql = include_str!("../queries/vector/of_versions.sql");
        let store = uuid(batch.store.to_bytes());
        let found = tx.query(sql, &[&store, &key(batch.generation), &seqs]).await?;
        for row in &found {
            let seq: i64 = get(row, 0)?;
            let memory = left.iter().find(|(_, of)| *of == seq).map(|(memory, _)| *memory);
            if let Some(memory) = memory {
                rows.add(memory, seq, get(row, 1)?, dims);
            }
        }
    }
    rows.write(tx, batch).await
}

/// Hands passages on to versions with the same text; gives back those that could not get any.
async fn pass_on(
    tx: &Tx,
    batch: &VectorBatch,
    copies: Vec<(Uuid, i64, i64)>,
) -> Result<Vec<(Uuid, i64)>> {
    if copies.is_empty() {
        return Ok(Vec::new());
    }
    let memories: Vec<Uuid> = copies.iter().map(|(memory, _, _)| *memory).collect();
    let old: Vec<i64> = copies.iter().map(|(_, from, _)| *from).collect();
    let new: Vec<i64> = copies.iter().map(|(_, _, to)| *to).collect();
    let (store, generation) = (uuid(batch.store.to_bytes()), key(batch.generation));
    let sql = include_str!("../queries/passage/pass_on.sql");
    let moved = tx.query(sql, &[&generation, &store, &memories, &old, &new]).await?;
    let moved: HashSet<i64> = moved.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
    let left = copies.into_iter().filter(|(_, _, to)| !moved.contains(to));
    Ok(left.map(|(memory, _, to)| (memory, to)).collect())
}

/// Passages on their way.
#[derive(Default)]
struct Rows {
    memories: Vec<Uuid>,
    seqs: Vec<i64>,
    nths: Vec<i16>,
    embeddings: Vec<String>,
}

impl Rows {
    /// Takes the vectors of a version apart. One that is no direction at all is left out.
    fn add(&mut self, memory: Uuid, seq: i64, bytes: &[u8], dims: usize) {
        for (nth, vector) in (0i16..).zip(bytes.chunks_exact(dims * 2)) {
            let numbers: Vec<f32> = vector
                .chunks_exact(2)
                .map(|pair| f16::from_le_bytes([pair[0], pair[1]]).to_f32())
                .collect();
            if numbers.iter().all(|number| number.is_finite()) {
                self.memories.push(memory);
                self.seqs.push(seq);
                self.nths.push(nth);
                self.embeddings.push(written(&numbers));
            }
        }
    }

    async fn write(self, tx: &Tx, batch: &VectorBatch) -> Result<()> {
        if self.memories.is_empty() {
            return Ok(());
        }
        let (store, workspace) = (uuid(batch.store.to_bytes()), uuid(batch.workspace.to_bytes()));
        tx.execute(
            include_str!("../queries/passage/put.sql"),
            &[
                &key(batch.generation),
                &workspace,
                &store,
                &self.memories,
                &self.seqs,
                &self.nths,
                &self.embeddings,
            ],
        )
        .await?;
        Ok(())
    }
}

/// A vector as pgvector reads it.
pub(crate) fn written(numbers: &[f32]) -> String {
    let mut text = String::with_capacity(numbers.len() * 10 + 2);
    text.push('[');
    for (at, number) in numbers.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{number}");
    }
    text.push(']');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_each_other_as_people_count() {
        let ordered = [
            "/a/intro",
            "/a/turn_2.md",
            "/a/turn_09.md",
            "/a/turn_10.md",
            "/a/turn_10b.md",
            "/a/turn_x.md",
            "/a/b/turn_1.md",
            "/b/1",
            "/b/a",
        ];
        let places = ordered.map(place);
        assert!(places.is_sorted(), "{places:?}");
        assert!(place(&"/1a".repeat(2000)).len() <= PLACE_BYTES_MAX);
        assert!(place("/a").starts_with(NAME));
    }
}
