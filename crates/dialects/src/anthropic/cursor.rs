//! Page cursors: `page_` and the last position shown, as a few bytes in base64.
//!
//! A cursor says which listing and order it belongs to, so that one handed to another is refused
//! instead of silently meaning something else. It holds only a position: no store, no filter, no
//! authority. Those come with every request anew.

use super::error::Problem;
use super::query::{Query, refuse};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use loci_model::query::{Direction, ListCursor, ListOrder};
use loci_model::{SessionId, StoreId, Timestamp};

const PREFIX: &str = "page_";
const FORMAT: u8 = 1;
/// Characters of the longest cursor: a path of the greatest length and a little.
const CHARS_MAX: usize = 2048;

/// Which way a page lies from the position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    /// After it.
    Next,
    /// Before it.
    Previous,
}

/// A position in one of the listings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cursor {
    Stores(Timestamp, StoreId),
    Memories(ListOrder, Direction, ListCursor),
    Versions(u64),
    Sessions(Direction, Sense, Timestamp, SessionId),
    Resources(u32),
}

impl Cursor {
    /// The cursor in a request's `page`, taken apart by `pick`; one of another listing is refused.
    pub(super) fn from_query<T>(
        query: Query<'_>,
        pick: impl FnOnce(Self) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(text) = query.get("page")? else {
            return Ok(None);
        };
        let picked = Self::parse(&text).and_then(pick);
        let refused = || refuse("page", "is not a cursor of this listing");
        picked.map(Some).ok_or_else(refused)
    }

    /// The cursor as text.
    pub(super) fn show(&self) -> String {
        let mut bytes = vec![FORMAT];
        match self {
            Self::Stores(at, id) => {
                bytes.push(b's');
                put_moment(&mut bytes, *at, id.to_bytes());
            }
            Self::Memories(order, direction, at) => {
                bytes.extend([b'm', order_code(*order), direction_code(*direction)]);
                bytes.extend(at.to_bytes());
            }
            Self::Versions(seq) => {
                bytes.push(b'v');
                bytes.extend(seq.to_be_bytes());
            }
            Self::Sessions(direction, sense, at, id) => {
                let sense = match sense {
                    Sense::Next => b'>',
                    Sense::Previous => b'<',
                };
                bytes.extend([b'n', direction_code(*direction), sense]);
                put_moment(&mut bytes, *at, id.to_bytes());
            }
            Self::Resources(shown) => {
                bytes.push(b'r');
                bytes.extend(shown.to_be_bytes());
            }
        }
        let mut text = String::from(PREFIX);
        URL_SAFE_NO_PAD.encode_string(bytes, &mut text);
        text
    }

    fn parse(text: &str) -> Option<Self> {
        if text.len() > CHARS_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        let mut rest = Rest(&bytes);
        if rest.byte()? != FORMAT {
            return None;
        }
        let cursor = match rest.byte()? {
            b's' => Self::Stores(rest.time()?, StoreId::from_bytes(rest.array()?)),
            b'm' => {
                let (order, direction) = (order_of(rest.byte()?)?, direction_of(rest.byte()?)?);
                let at = ListCursor::from_bytes(order, std::mem::take(&mut rest.0))?;
                Self::Memories(order, direction, at)
            }
            b'v' => Self::Versions(u64::from_be_bytes(rest.array()?)),
            b'n' => {
                let direction = direction_of(rest.byte()?)?;
                let sense = match rest.byte()? {
                    b'>' => Sense::Next,
                    b'<' => Sense::Previous,
                    _ => return None,
                };
                let id = |rest: &mut Rest<'_>| Some(SessionId::from_bytes(rest.array()?));
                Self::Sessions(direction, sense, rest.time()?, id(&mut rest)?)
            }
            b'r' => Self::Resources(u32::from_be_bytes(rest.array()?)),
            _ => return None,
        };
        rest.0.is_empty().then_some(cursor)
    }
}

/// The bytes not read yet.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn time(&mut self) -> Option<Timestamp> {
        Some(Timestamp::from_micros(i64::from_be_bytes(self.array()?)))
    }
}

fn put_moment(bytes: &mut Vec<u8>, at: Timestamp, id: [u8; 16]) {
    bytes.extend(at.as_micros().to_be_bytes());
    bytes.extend(id);
}

fn order_code(order: ListOrder) -> u8 {
    match order {
        ListOrder::Path => b'p',
        ListOrder::Created => b'c',
        ListOrder::Updated => b'u',
    }
}

fn order_of(code: u8) -> Option<ListOrder> {
    [ListOrder::Path, ListOrder::Created, ListOrder::Updated]
        .into_iter()
        .find(|order| order_code(*order) == code)
}

fn direction_code(direction: Direction) -> u8 {
    match direction {
        Direction::Ascending => b'+',
        Direction::Descending => b'-',
    }
}

fn direction_of(code: u8) -> Option<Direction> {
    [Direction::Ascending, Direction::Descending]
        .into_iter()
        .find(|direction| direction_code(*direction) == code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::{MemoryId, MemoryPath, PathPrefix};

    fn samples() -> Vec<Cursor> {
        let at = Timestamp::from_micros(-5);
        let (memory, session) = (MemoryId::from_u128(7), SessionId::from_u128(u128::MAX));
        let path = MemoryPath::parse("/a/ü.md").unwrap();
        let directory = PathPrefix::parse("/a/").unwrap();
        let (up, down) = (Direction::Ascending, Direction::Descending);
        vec![
            Cursor::Stores(at, StoreId::from_u128(9)),
            Cursor::Memories(ListOrder::Path, up, ListCursor::Memory(path, memory)),
            Cursor::Memories(ListOrder::Path, down, ListCursor::Directory(directory)),
            Cursor::Memories(ListOrder::Created, up, ListCursor::Time(at, memory)),
            Cursor::Memories(ListOrder::Updated, down, ListCursor::Time(at, memory)),
            Cursor::Versions(u64::MAX),
            Cursor::Sessions(up, Sense::Next, at, session),
            Cursor::Sessions(down, Sense::Previous, at, session),
            Cursor::Resources(3),
        ]
    }

    #[test]
    fn cursors_round_trip_and_differ() {
        let mut texts: Vec<String> = samples().iter().map(Cursor::show).collect();
        for (cursor, text) in samples().into_iter().zip(&texts) {
            assert!(text.starts_with("page_"));
            assert_eq!(Cursor::parse(text), Some(cursor));
        }
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), samples().len());
    }

    #[test]
    fn the_longest_path_has_a_cursor() {
        let segment = "x".repeat(1023);
        let path = MemoryPath::parse(&format!("/{segment}")).unwrap();
        let at = ListCursor::Memory(path, MemoryId::from_u128(1));
        let cursor = Cursor::Memories(ListOrder::Path, Direction::Ascending, at);
        assert_eq!(Cursor::parse(&cursor.show()), Some(cursor));
    }

    #[test]
    fn garbage_is_refused() {
        let whole = samples()[1].show();
        let cut = &whole[..whole.len() - 3];
        for bad in ["", "x", "page_", "page_!!!", "page_AAAA", "page_bm9uc2Vuc2U", "-1", "page_AQ"]
        {
            assert_eq!(Cursor::parse(bad), None, "{bad}");
        }
        assert_eq!(Cursor::parse(&format!("page_{}", "A".repeat(5000))), None);
        for cursor in samples() {
            let text = cursor.show();
            assert_eq!(
                Cursor::parse(&format!("{text}AAAA")).filter(|found| *found == cursor),
                None
            );
        }
        // A shortened path is another valid path; a shortened fixed-size position is nothing.
        assert_ne!(Cursor::parse(cut), Some(samples()[1].clone()));
        let fixed = samples()[0].show();
        assert_eq!(Cursor::parse(&fixed[..fixed.len() - 4]), None);
    }

    #[test]
    fn a_damaged_cursor_is_refused_or_is_another_one() {
        for cursor in samples() {
            let text = cursor.show();
            let whole = URL_SAFE_NO_PAD.decode(&text[PREFIX.len()..]).unwrap();
            for at in 0..whole.len() {
                for flip in [1, 2, 0x20, 0x80, 0xff] {
                    let mut bytes = whole.clone();
                    bytes[at] ^= flip;
                    let damaged = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(&bytes));
                    if let Some(found) = Cursor::parse(&damaged) {
                        assert_eq!(found.show(), damaged, "one text for each cursor");
                    }
                }
            }
        }
    }
}
