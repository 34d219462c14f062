//! Content that is kept in pieces: the rows of a statement have the last piece of each content, and
//! all earlier ones of all of them are read by one more statement, each once, however many share it.

use crate::client::{Tx, uuid};
use crate::fault::Result;
use crate::read::keep_to_indexes;
use crate::row::get;
use loci_model::StoreId;
use std::collections::{BTreeSet, HashMap};
use tokio_postgres::Row;
use uuid::Uuid;

/// The last piece of a content.
pub(crate) struct Last {
    store: Uuid,
    bytes: Option<Vec<u8>>,
    /// The number of the version that it goes on from.
    base: Option<i64>,
}

impl Last {
    /// What two columns say, the second after the first.
    pub(crate) fn read(row: &Row, store: StoreId, column: usize) -> Result<Self> {
        let (bytes, base) = (get(row, column)?, get(row, column + 1)?);
        Ok(Self { store: uuid(store.to_bytes()), bytes, base })
    }

    /// All of the content; none if there is none, or if some of it is missing.
    pub(crate) async fn whole(self, tx: &Tx) -> Result<Option<Vec<u8>>> {
        Ok(whole(tx, vec![self]).await?.pop().flatten())
    }
}

/// Earlier pieces by store and number: what each goes on from, and its bytes.
type Pieces<'a> = HashMap<(Uuid, i64), (Option<i64>, &'a [u8])>;

/// The same for rows of one store, in their order.
pub(crate) async fn of_rows(
    tx: &Tx,
    rows: &[Row],
    store: StoreId,
    column: usize,
) -> Result<Vec<Option<Vec<u8>>>> {
    let last = rows.iter().map(|row| Last::read(row, store, column)).collect::<Result<_>>()?;
    whole(tx, last).await
}

/// The contents that these are the last pieces of, in the same order.
pub(crate) async fn whole(tx: &Tx, last: Vec<Last>) -> Result<Vec<Option<Vec<u8>>>> {
    let bases: BTreeSet<(Uuid, i64)> =
        last.iter().filter_map(|last| Some((last.store, last.base?))).collect();
    if bases.is_empty() {
        return Ok(last.into_iter().map(|last| last.bytes).collect());
    }
    let (stores, seqs): (Vec<Uuid>, Vec<i64>) = bases.into_iter().unzip();
    // A plan that was made while there was little in the table would go through all of it at each of
    // a thousand steps.
    keep_to_indexes(tx).await;
    let rows = tx.query(include_str!("../queries/payload/pieces.sql"), &[&stores, &seqs]).await?;
    let mut pieces: Pieces<'_> = HashMap::with_capacity(rows.len());
    for row in &rows {
        pieces.insert((get(row, 0)?, get(row, 1)?), (get(row, 2)?, get(row, 3)?));
    }
    Ok(last.into_iter().map(|last| join(last, &pieces)).collect())
}

fn join(last: Last, pieces: &Pieces<'_>) -> Option<Vec<u8>> {
    let bytes = last.bytes?;
    let Some(mut at) = last.base else { return Some(bytes) };
    let mut found = vec![bytes.as_slice()];
    loop {
        let (base, piece) = pieces.get(&(last.store, at))?;
        found.push(piece);
        match base {
            None => break,
            // A base is always earlier, so that even a damaged chain has an end.
            Some(base) if *base < at => at = *base,
            Some(_) => return None,
        }
    }
    found.reverse();
    Some(found.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_from_the_first() {
        let store = Uuid::nil();
        let pieces: Pieces<'_> = HashMap::from([
            ((store, 1), (None, b"a".as_slice())),
            ((store, 3), (Some(1), b"b")),
            ((store, 4), (Some(2), b"x")),
            ((store, 5), (Some(5), b"x")),
        ]);
        let joined = |bytes: Option<&[u8]>, base| {
            join(Last { store, bytes: bytes.map(<[u8]>::to_vec), base }, &pieces)
        };
        assert_eq!(joined(Some(b"c"), Some(3)), Some(b"abc".to_vec()));
        assert_eq!(joined(Some(b"c"), None), Some(b"c".to_vec()));
        assert_eq!(joined(None, None), None);
        assert_eq!(joined(Some(b"c"), Some(4)), None, "one is missing");
        assert_eq!(joined(Some(b"c"), Some(5)), None, "it has no end");
    }
}
