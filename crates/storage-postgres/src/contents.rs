//! What a draft knows of the contents of its stores: those it has read because edits build upon them,
//! and those it is about to write. A content is what it is whether its pieces are written or not.

use crate::client::uuid;
use crate::draft::{Desk, Draft, Pending};
use crate::fault::Result;
use crate::pieces::{self, Last};
use crate::row::{self, int};
use loci_model::{Content, Memory, MemoryId, StoreId};
use loci_storage::tail::{Chain, Piece};
use std::collections::BTreeSet;
use tokio_postgres::Row;
use uuid::Uuid;

/// What is written of a version's content.
pub(crate) struct NewPayload {
    pub(crate) seq: u64,
    /// The number of the version that it goes on from.
    pub(crate) base: Option<u64>,
    pub(crate) bytes: Vec<u8>,
}

impl Draft<'_> {
    /// The content of a version, checked against its digest.
    pub(crate) async fn content(
        &mut self,
        store: StoreId,
        seq: u64,
        memory: &Memory,
    ) -> Result<Content> {
        let tx = self.tx;
        let desk = self.desk(store)?;
        let mut at = desk.source_of(seq);
        if let Some(content) = desk.contents.get(&at) {
            return Ok(content.clone());
        }
        // Pieces that are not written yet, from the last; before them is what is known or written.
        let mut pieces = Vec::new();
        while !desk.contents.contains_key(&at)
            && let Some((base, bytes)) = desk.pending.tail(at)
        {
            pieces.push(bytes.to_vec());
            at = base;
        }
        let begun = match desk.contents.get(&at) {
            Some(content) => Some(content.bytes().to_vec()),
            None => crate::read::raw_content(tx, store, at).await?,
        };
        let bytes = begun.map(|begun| {
            pieces.push(begun);
            pieces.reverse();
            pieces.concat()
        });
        row::checked(bytes, memory.digest, memory.is_sealed)
    }

    /// Reads what edits will build upon, in one round trip.
    pub(crate) async fn read_contents(&mut self, wanted: &BTreeSet<(StoreId, u64)>) -> Result<()> {
        if wanted.is_empty() {
            return Ok(());
        }
        let stores: Vec<Uuid> = wanted.iter().map(|(store, _)| uuid(store.to_bytes())).collect();
        let seqs: Vec<i64> = wanted.iter().map(|(_, seq)| int(*seq)).collect();
        let sql = include_str!("../queries/payload/contents.sql");
        let rows = self.tx.query(sql, &[&stores, &seqs]).await?;
        let store_of = |row: &Row| row::id(row, 0).map(StoreId::from_bytes);
        let last = rows.iter().map(|row| Last::read(row, store_of(row)?, 2));
        let last = last.collect::<Result<_>>()?;
        for (row, bytes) in rows.iter().zip(pieces::whole(self.tx, last).await?) {
            let store = store_of(row)?;
            let (seq, is_sealed) = (row::count(row, 1)?, row::get(row, 4)?);
            let content = row::checked(bytes, row::digest(row, 5)?, is_sealed)?;
            if let Some(desk) = self.desks.get_mut(&store) {
                desk.contents.insert(seq, content);
            }
        }
        Ok(())
    }
}

impl Desk {
    /// How the content of a memory's head is kept.
    pub(crate) fn chain(&self, id: MemoryId) -> Chain {
        let known = self.memories.get(&id).and_then(Option::as_ref);
        known.map(|known| known.chain.clone()).unwrap_or_default()
    }

    /// Gives a version its content.
    pub(crate) fn put_content(&mut self, seq: u64, content: Content) {
        let bytes = content.bytes().to_vec();
        self.contents.insert(seq, content);
        self.pending.payloads.push(NewPayload { seq, base: None, bytes });
    }

    /// Gives a version that follows another one its content.
    pub(crate) fn put_piece(&mut self, before: u64, seq: u64, piece: Piece) {
        match piece {
            Piece::Whole(content) => self.put_content(seq, content),
            Piece::Tail(bytes) => {
                self.pending.payloads.push(NewPayload { seq, base: Some(before), bytes });
            }
            Piece::Copy => self.copy_content(before, seq),
        }
    }

    /// Gives a version the content of an earlier one, which is short or sealed and so never shared: a
    /// copy, so that redacting either leaves the other.
    fn copy_content(&mut self, from: u64, to: u64) {
        let from = self.source_of(from);
        self.pending.copies.push((from, to));
    }

    /// Where the content of a version is to be had, while copies of it are not written yet.
    fn source_of(&self, seq: u64) -> u64 {
        let copy = self.pending.copies.iter().rev().find(|(_, to)| *to == seq);
        copy.map_or(seq, |(from, _)| *from)
    }
}

impl Pending {
    /// What a version adds to another one, if it is not written yet: which one, and the bytes.
    fn tail(&self, seq: u64) -> Option<(u64, &[u8])> {
        let new = self.payloads.iter().rev().find(|new| new.seq == seq)?;
        Some((new.base?, &new.bytes))
    }
}
