//! What search is compared with: the same texts in a plain FTS5 table, the same vectors scanned in
//! a loop, each by itself, without a server, rights, ranking or fresh reads.

use super::corpus::Corpus;
use super::meaning::Meanings;
use loci_search::embed::Embedder;
use loci_search::vector::{QueryVector, VectorMatrix};
use rusqlite::Connection;
use std::path::Path;
use std::time::Instant;

const RESULTS: usize = 10;
/// Texts put in one transaction.
const AT_ONCE: u64 = 10_000;

/// An FTS5 table of all texts.
pub(crate) struct Fts {
    connection: Connection,
    /// How many texts a second went in.
    pub(crate) per_second: f64,
}

impl Fts {
    /// Puts the texts in, as fast as it goes: nothing waits for the disk.
    pub(crate) fn new(file: &Path, memories: u64, corpus: &Corpus) -> anyhow::Result<Self> {
        let connection = Connection::open(file)?;
        connection.execute_batch(
            "pragma journal_mode=off; pragma synchronous=off; pragma cache_size=-1048576;
             create virtual table words using fts5 (
                 store, content, content = '', tokenize = 'unicode61');",
        )?;
        let start = Instant::now();
        for from in (0..memories).step_by(AT_ONCE as usize) {
            connection.execute_batch("begin")?;
            let mut insert = connection.prepare_cached(
                "insert into words (rowid, store, content) values (?1, 's1', ?2)",
            )?;
            for n in from..memories.min(from + AT_ONCE) {
                insert.execute((n as i64 + 1, corpus.text(n)))?;
            }
            connection.execute_batch("commit")?;
        }
        let per_second = memories as f64 / start.elapsed().as_secs_f64();
        connection.execute_batch("insert into words (words) values ('optimize')")?;
        Ok(Self { connection, per_second })
    }

    /// The best ten memories that hold one of the words.
    pub(crate) fn search(&self, query: &str) -> anyhow::Result<Vec<i64>> {
        let any = query.split(' ').collect::<Vec<_>>().join(" OR ");
        let mut statement = self.connection.prepare_cached(
            "select rowid from words where words match ?1 and rank match 'bm25(0.0, 1.0)'
             order by rank limit ?2",
        )?;
        let matched = format!("store : s1 AND content : ({any})");
        let found = statement.query_map((matched, RESULTS as i64), |row| row.get(0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

/// All vectors in a row.
pub(crate) fn matrix(memories: u64, meanings: &Meanings) -> VectorMatrix {
    let mut matrix = VectorMatrix::new(meanings.embedder.dims());
    for n in 0..memories {
        matrix.push(&meanings.vector(n));
    }
    matrix
}

/// The ten nearest rows, by comparing every one.
pub(crate) fn nearest(
    matrix: &VectorMatrix,
    query: &QueryVector,
    scores: &mut Vec<f32>,
) -> Vec<usize> {
    matrix.scores(query, scores);
    let mut best: Vec<usize> = Vec::with_capacity(RESULTS + 1);
    let mut least = f32::NEG_INFINITY;
    for (row, score) in scores.iter().enumerate() {
        if *score > least || best.len() < RESULTS {
            let place = best.partition_point(|other| scores[*other] >= *score);
            best.insert(place, row);
            best.truncate(RESULTS);
            if best.len() == RESULTS {
                least = scores[best[RESULTS - 1]];
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_are_those_with_the_best_scores() {
        let unit = |n: usize| {
            let angle = n as f32 / 40.0;
            let mut vector = vec![0.0; 32];
            (vector[0], vector[1]) = (angle.cos(), angle.sin());
            vector
        };
        let mut matrix = VectorMatrix::new(32);
        (0..50).for_each(|n| {
            matrix.push(&unit(n * 7 % 50));
        });
        let found = nearest(&matrix, &QueryVector::new(&unit(0)), &mut Vec::new());
        let mut angles: Vec<usize> = found.into_iter().map(|row| row * 7 % 50).collect();
        angles.sort_unstable();
        assert_eq!(angles, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn fts5_finds_any_of_the_words() {
        let corpus = Corpus::new();
        let scratch = tempfile::tempdir().unwrap();
        let fts = Fts::new(&scratch.path().join("words.db"), 300, &corpus).unwrap();
        let query = corpus.text(450).split(' ').take(4).collect::<Vec<_>>().join(" ");
        assert!(!fts.search(&query.replace(':', "")).unwrap().is_empty());
    }
}
