//! The rows on a page, read off its cells. A page tells by itself what it holds, so rows are found
//! wherever they are, whatever became of the tree above them. A cell or record that does not fit its
//! page is no row; freed space is never looked at (and holds zeros, because deletion is secure).

use super::pages::{Pages, be32};
use rusqlite::types::Value;

/// Bytes of one record: the largest content, its attributes, and room.
const RECORD_BYTES_MAX: u64 = 64 * 1024 * 1024;

const LEAF_TABLE: u8 = 0x0d;
const LEAF_INDEX: u8 = 0x0a;
const INNER_INDEX: u8 = 0x02;

/// A row: its key, if its table has keys of its own, and its columns.
pub(super) struct Row {
    pub(super) key: Option<i64>,
    pub(super) values: Vec<Value>,
}

/// What is on one page.
#[derive(Default)]
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    /// Cells that are not whole.
    pub(super) broken: u64,
}

/// The rows of a page; none when it holds none.
pub(super) fn rows(pages: &mut Pages, number: u32) -> Found {
    let page = pages.page(number);
    let header = if number == 1 { 100 } else { 0 };
    let (kind, pointers) = match page[header] {
        kind @ (LEAF_TABLE | LEAF_INDEX) => (kind, header + 8),
        kind @ INNER_INDEX => (kind, header + 12),
        _ => return Found::default(),
    };
    let count = usize::from(u16::from_be_bytes([page[header + 3], page[header + 4]]));
    let mut found = Found::default();
    for nth in 0..count {
        let at = pointers + 2 * nth;
        let Some(pointer) = page.get(at..at + 2) else {
            found.broken += 1;
            break;
        };
        let cell = usize::from(u16::from_be_bytes([pointer[0], pointer[1]]));
        match row(pages, &page, kind, cell) {
            Some(row) => found.rows.push(row),
            None => found.broken += 1,
        }
    }
    found
}

fn row(pages: &mut Pages, page: &[u8], kind: u8, cell: usize) -> Option<Row> {
    // Inner pages begin each cell with the page to its left.
    let mut at = if kind == INNER_INDEX { cell + 4 } else { cell };
    let size = varint(page, &mut at)?;
    let key = match kind {
        LEAF_TABLE => Some(varint(page, &mut at)? as i64),
        _ => None,
    };
    let record = payload(pages, page, at, size, kind == LEAF_TABLE)?;
    Some(Row { key, values: values(&record)? })
}

/// A record, which goes on in other pages when it is long.
fn payload(
    pages: &mut Pages,
    page: &[u8],
    at: usize,
    size: u64,
    is_table: bool,
) -> Option<Vec<u8>> {
    if size > RECORD_BYTES_MAX {
        return None;
    }
    let (size, usable) = (usize::try_from(size).ok()?, pages.page_bytes());
    let least = (usable - 12) * 32 / 255 - 23;
    let most = if is_table { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
    if size <= most {
        return page.get(at..at + size).map(<[u8]>::to_vec);
    }
    let fitting = least + (size - least) % (usable - 4);
    let local = if fitting <= most { fitting } else { least };
    let mut record = page.get(at..at + local)?.to_vec();
    let mut next = be32(page, at + local)?;
    while record.len() < size {
        if next == 0 || next > pages.count() {
            return None;
        }
        let more = pages.page(next);
        next = be32(&more, 0)?;
        let left = (size - record.len()).min(usable - 4);
        record.extend_from_slice(&more[4..4 + left]);
    }
    Some(record)
}

/// The columns of a record.
fn values(record: &[u8]) -> Option<Vec<Value>> {
    let mut at = 0;
    let header = usize::try_from(varint(record, &mut at)?).ok()?;
    if header > record.len() || header < at {
        return None;
    }
    let (mut data, mut values) = (header, Vec::new());
    while at < header {
        let kind = varint(record, &mut at)?;
        let mut take = |bytes: usize| {
            let taken = record.get(data..data.checked_add(bytes)?)?;
            data += bytes;
            Some(taken)
        };
        values.push(match kind {
            0 => Value::Null,
            1..=6 => integer(take([1, 2, 3, 4, 6, 8][usize::try_from(kind).ok()? - 1])?),
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            12.. if kind % 2 == 0 => {
                Value::Blob(take(usize::try_from((kind - 12) / 2).ok()?)?.to_vec())
            }
            13.. => {
                let text = take(usize::try_from((kind - 13) / 2).ok()?)?;
                Value::Text(String::from_utf8(text.to_vec()).ok()?)
            }
            // No column here holds a fraction, and the rest is reserved.
            _ => return None,
        });
    }
    (data == record.len()).then_some(values)
}

fn integer(bytes: &[u8]) -> Value {
    let is_negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let start = if is_negative { -1_i64 } else { 0 };
    Value::Integer(bytes.iter().fold(start, |number, byte| (number << 8) | i64::from(*byte)))
}

/// A number of one to nine bytes, and the place behind it.
fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for nth in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if nth == 8 {
            return Some((number << 8) | u64::from(byte));
        }
        number = (number << 7) | u64::from(byte & 0x7f);
        if byte < 0x80 {
            break;
        }
    }
    Some(number)
}
