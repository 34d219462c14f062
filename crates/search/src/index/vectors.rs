//! The vectors of an index: which rows of the matrix are which document's. A document without
//! vectors is one that the background work has not reached; it is found by word meanwhile.

use super::NONE;
use crate::vector::VectorMatrix;
use foldhash::fast::RandomState;
use std::collections::HashSet;

/// Rows that are nobody's before the matrix is made anew.
const GONE_MIN: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct DocVectors {
    /// None until the first vectors' model is known.
    matrix: Option<VectorMatrix>,
    /// Who made them, as a number.
    space: u32,
    /// The first row of each document, or none.
    first: Vec<u32>,
    count: Vec<u8>,
    /// Whose each row is, or nobody's.
    doc_of: Vec<u32>,
    /// Live documents without vectors.
    missing: HashSet<u32, RandomState>,
    rows_gone: usize,
}

impl DocVectors {
    /// Forgets every vector; those to come have this many numbers.
    pub(crate) fn begin(
        &mut self,
        space: u32,
        dims: usize,
        docs: usize,
        live: HashSet<u32, RandomState>,
    ) {
        *self = Self {
            space,
            matrix: Some(VectorMatrix::new(dims)),
            first: vec![NONE; docs],
            count: vec![0; docs],
            missing: live,
            ..Self::default()
        };
    }

    /// Makes room for the next document, which may take over the vectors of an earlier one. A blank
    /// one will never have any.
    pub(crate) fn add_doc(&mut self, heir_of: Option<u32>, is_blank: bool) {
        let doc = u32::try_from(self.first.len()).expect("as many as documents");
        let (first, count) = match heir_of {
            None => (NONE, 0),
            Some(before) => {
                let count = std::mem::take(&mut self.count[before as usize]);
                (std::mem::replace(&mut self.first[before as usize], NONE), count)
            }
        };
        self.first.push(first);
        self.count.push(count);
        for row in self.rows(doc) {
            self.doc_of[row as usize] = doc;
        }
        if first == NONE && !is_blank {
            self.missing.insert(doc);
        }
        if let Some(before) = heir_of {
            self.missing.remove(&before);
        }
    }

    pub(crate) fn set(&mut self, doc: u32, vectors: &[Vec<f32>]) {
        self.drop_rows(doc);
        let Some(matrix) = &mut self.matrix else { return };
        let fits = |vector: &Vec<f32>| vector.len() == matrix.dims();
        let Ok(count) = u8::try_from(vectors.len()) else { return };
        if count == 0 || !vectors.iter().all(fits) {
            return;
        }
        self.first[doc as usize] = u32::try_from(self.doc_of.len()).expect("fewer rows than 2^32");
        self.count[doc as usize] = count;
        for vector in vectors {
            matrix.push(vector);
            self.doc_of.push(doc);
        }
        self.missing.remove(&doc);
    }

    /// A document is gone.
    pub(crate) fn forget(&mut self, doc: u32) {
        self.drop_rows(doc);
        self.missing.remove(&doc);
    }

    fn drop_rows(&mut self, doc: u32) {
        let rows = self.rows(doc);
        if rows.is_empty() {
            return;
        }
        self.rows_gone += rows.len();
        for row in rows {
            self.doc_of[row as usize] = NONE;
        }
        self.first[doc as usize] = NONE;
        self.count[doc as usize] = 0;
        self.missing.insert(doc);
        if self.rows_gone >= GONE_MIN && self.rows_gone * 2 > self.doc_of.len() {
            self.drop_gone();
        }
    }

    fn drop_gone(&mut self) {
        let kept: Vec<u32> = (0u32..)
            .zip(&self.doc_of)
            .filter(|(_, doc)| **doc != NONE)
            .map(|(row, _)| row)
            .collect();
        if let Some(matrix) = &mut self.matrix {
            matrix.keep(&kept);
        }
        self.doc_of = kept.iter().map(|row| self.doc_of[*row as usize]).collect();
        self.rows_gone = 0;
        self.first.fill(NONE);
        for (row, doc) in (0u32..).zip(&self.doc_of) {
            // Rows of a document lie side by side.
            let first = &mut self.first[*doc as usize];
            *first = row.min(*first);
        }
    }

    /// Documents have new numbers.
    pub(crate) fn renumber(&mut self, new_doc: &[u32], docs: usize) {
        let (first, count) = (std::mem::take(&mut self.first), std::mem::take(&mut self.count));
        self.first = vec![NONE; docs];
        self.count = vec![0; docs];
        for (old, new) in new_doc.iter().enumerate().filter(|(_, new)| **new != NONE) {
            self.first[*new as usize] = first[old];
            self.count[*new as usize] = count[old];
        }
        self.missing = self.missing.iter().map(|doc| new_doc[*doc as usize]).collect();
        for doc in &mut self.doc_of {
            if *doc != NONE {
                *doc = new_doc[*doc as usize];
            }
        }
    }

    pub(crate) fn rows(&self, doc: u32) -> std::ops::Range<u32> {
        let (first, count) = (self.first[doc as usize], self.count[doc as usize]);
        if first == NONE { 0..0 } else { first..first + u32::from(count) }
    }

    pub(crate) fn has_all(&self) -> bool {
        self.missing.is_empty()
    }

    /// Documents without vectors, in order.
    pub(crate) fn missing(&self) -> Vec<u32> {
        let mut missing: Vec<u32> = self.missing.iter().copied().collect();
        missing.sort_unstable();
        missing
    }

    pub(crate) fn matrix(&self) -> Option<&VectorMatrix> {
        self.matrix.as_ref()
    }

    /// Whether these vectors and those can be compared.
    pub(crate) fn is_comparable(&self, other: &Self) -> bool {
        self.space == other.space
    }

    pub(crate) fn doc_of(&self, row: u32) -> u32 {
        self.doc_of[row as usize]
    }

    pub(crate) fn row_count(&self) -> usize {
        self.doc_of.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.matrix.as_ref().map_or(0, VectorMatrix::bytes)
            + self.first.len() * 5
            + self.doc_of.len() * 4
    }
}
