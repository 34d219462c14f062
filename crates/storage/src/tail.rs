//! How the content of a version is kept: whole, or only as what it adds to the version before it,
//! its base. A log that is written by many small appends then costs what is appended, not the sum of
//! everything it ever was.
//!
//! What always holds: the content of a version is that of its base with its own bytes behind it; a
//! base is an earlier version of the same memory, of text, and not a short one; nothing sealed is
//! ever shared; and from a head to a version that is kept whole it is no more than so many steps, so
//! that reading has a bound.

use loci_model::decide::NextContent;
use loci_model::{Content, Digest, Hash, Memory};
use std::collections::HashMap;

/// Bytes of a content from which on the next version may share it. Less is not worth a second look
/// when it is read.
pub const SHARED_BYTES_MIN: u64 = 1024;

/// Steps from a head to a version that is kept whole. The next one is kept whole again, which costs
/// each append a thousandth of the content.
pub const DEPTH_MAX: u32 = 1000;

/// What the row of a memory says about how the content of its head is kept.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Chain {
    /// How many steps it is to a version that is kept whole, at most: redactions make it fewer.
    pub depth: u32,
    /// The hash of the content, put aside where the next append is likely to need it. Holds some of
    /// the content, so it goes when the memory goes.
    pub hash: Option<Vec<u8>>,
}

/// A head that the next version may build upon.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    size_bytes: u64,
    digest: Digest,
    is_sealed: bool,
    chain: &'a Chain,
}

/// What is written of a content.
#[derive(Clone, PartialEq, Eq)]
pub enum Piece {
    /// What the head has, once more: it is short, or sealed.
    Copy,
    /// All of it.
    Whole(Content),
    /// What is behind the content of the head.
    Tail(Vec<u8>),
}

/// A content as it is to be written.
#[derive(Clone)]
pub struct Written {
    /// SHA-256 of all of it.
    pub digest: Digest,
    /// Bytes of all of it.
    pub size_bytes: u64,
    /// Whether it is sealed.
    pub is_sealed: bool,
    /// What to write.
    pub piece: Piece,
    /// What the memory's row says then.
    pub chain: Chain,
}

/// Whether a content of this sort can be a base at all.
pub fn is_sharable(memory: &Memory) -> bool {
    !memory.is_sealed && memory.size_bytes >= SHARED_BYTES_MIN
}

impl<'a> Head<'a> {
    /// The head of a memory.
    pub fn of(memory: &Memory, chain: &'a Chain) -> Self {
        let Memory { size_bytes, digest, is_sealed, .. } = *memory;
        Self { size_bytes, digest, is_sealed, chain }
    }

    /// Whether a next version may go on from here.
    fn is_base(&self) -> bool {
        !self.is_sealed && self.size_bytes >= SHARED_BYTES_MIN && self.chain.depth < DEPTH_MAX
    }

    fn hash(&self) -> Option<Hash> {
        if self.size_bytes == 0 {
            return Some(Hash::default());
        }
        Hash::resume(self.chain.hash.as_deref()?, self.size_bytes, self.digest)
    }

    /// Whether writing a content takes the one that is there.
    pub fn needs_old(&self, next: &NextContent) -> bool {
        match next {
            NextContent::Whole(_) => false,
            NextContent::Kept => {
                !self.is_sealed && self.size_bytes >= SHARED_BYTES_MIN && !self.is_base()
            }
            NextContent::Extended(_) => {
                self.size_bytes > 0 && (!self.is_base() || self.hash().is_none())
            }
        }
    }

    /// How to write a content; `old` is the one that is there, if [`Head::needs_old`] says so.
    pub fn write(&self, next: NextContent, old: Option<Content>) -> Written {
        match next {
            NextContent::Kept => self.keep(old),
            NextContent::Whole(content) => self.replace(content),
            NextContent::Extended(tail) => self.extend(tail, old),
        }
    }

    fn keep(&self, old: Option<Content>) -> Written {
        let hash = self.chain.hash.clone();
        let (piece, depth) = match old {
            Some(old) => (Piece::Whole(old), 0),
            None if self.is_base() => (Piece::Tail(Vec::new()), self.chain.depth + 1),
            None => (Piece::Copy, 0),
        };
        Written {
            digest: self.digest,
            size_bytes: self.size_bytes,
            is_sealed: self.is_sealed,
            piece,
            chain: Chain { depth, hash },
        }
    }

    /// What begins with what is there goes on from it, whoever wrote it: so does the file that
    /// somebody adds a line to through an editor.
    fn replace(&self, content: Content) -> Written {
        let may_share = self.is_base() && !content.is_sealed();
        let first = if may_share { self.size_bytes } else { u64::MAX };
        let (begun, digest) = content.digests(first);
        let (size_bytes, is_sealed) = (content.bytes().len() as u64, content.is_sealed());
        let (piece, depth) = match usize::try_from(first) {
            Ok(first) if may_share && begun == Some(self.digest) => {
                (Piece::Tail(content.bytes()[first..].to_vec()), self.chain.depth + 1)
            }
            _ => (Piece::Whole(content), 0),
        };
        Written { digest, size_bytes, is_sealed, piece, chain: Chain { depth, hash: None } }
    }

    fn extend(&self, tail: String, old: Option<Content>) -> Written {
        let mut hash = self.hash().unwrap_or_else(|| {
            let mut hash = Hash::default();
            hash.add(old.as_ref().expect("needs_old asked for it").bytes());
            hash
        });
        hash.add(tail.as_bytes());
        let size_bytes = self.size_bytes + tail.len() as u64;
        let (piece, depth) = if self.is_base() {
            (Piece::Tail(tail.into_bytes()), self.chain.depth + 1)
        } else {
            let mut text = match old {
                Some(Content::Text(text)) => text,
                Some(Content::Sealed(_)) | None => String::new(),
            };
            text.push_str(&tail);
            (Piece::Whole(Content::Text(text)), 0)
        };
        Written {
            digest: hash.digest(),
            size_bytes,
            is_sealed: false,
            piece,
            chain: Chain { depth, hash: (size_bytes >= SHARED_BYTES_MIN).then(|| hash.save()) },
        }
    }
}

/// A row of content with what its version says about it, as a check finds it.
pub struct Found<'a, K> {
    /// Which.
    pub key: K,
    /// Its base.
    pub base: Option<K>,
    /// Whether a later version goes on from here.
    pub is_base: bool,
    /// Its own bytes.
    pub bytes: &'a [u8],
    /// The digest of the version.
    pub digest: Digest,
    /// The size of the version.
    pub size_bytes: u64,
    /// Whether the version is sealed.
    pub is_sealed: bool,
}

/// Compares contents with their digests, each byte once, however many versions share it. Wants
/// them in the order of history.
pub struct Comparison<K> {
    begun: HashMap<K, (Hash, u64)>,
}

impl<K> Default for Comparison<K> {
    fn default() -> Self {
        Self { begun: HashMap::new() }
    }
}

impl<K: Eq + std::hash::Hash> Comparison<K> {
    /// Whether a content is what its version says.
    pub fn is_sound(&mut self, found: Found<'_, K>) -> bool {
        let begun = match &found.base {
            None => Some((Hash::default(), 0)),
            // Only one goes on from each.
            Some(base) => self.begun.remove(base),
        };
        let Some((mut hash, mut size_bytes)) = begun else { return false };
        hash.add(found.bytes);
        size_bytes += found.bytes.len() as u64;
        let is_text = found.is_sealed || std::str::from_utf8(found.bytes).is_ok();
        let is_sound = is_text && size_bytes == found.size_bytes && hash.digest() == found.digest;
        if found.is_base {
            self.begun.insert(found.key, (hash, size_bytes));
        }
        is_sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::{
        Attributes, MemoryId, MemoryPath, PrincipalId, StoreId, Timestamp, VersionId,
    };

    fn memory(content: &Content) -> Memory {
        Memory {
            id: MemoryId::from_u128(1),
            store: StoreId::from_u128(1),
            partition: None,
            owner: PrincipalId::from_u128(1),
            path: MemoryPath::parse("/a").unwrap(),
            attributes: Attributes::default(),
            head: VersionId::from_u128(1),
            revision: 1,
            content: None,
            digest: content.digest(),
            size_bytes: content.bytes().len() as u64,
            is_sealed: content.is_sealed(),
            created_at: Timestamp::from_micros(1),
            updated_at: Timestamp::from_micros(1),
        }
    }

    fn text(bytes: usize) -> Content {
        Content::Text("x".repeat(bytes))
    }

    /// Writes on top of a content, as an engine does it, and gives back what it comes to.
    fn step(content: &mut Content, chain: &mut Chain, next: NextContent) -> Piece {
        let memory = memory(content);
        let head = Head::of(&memory, chain);
        let old = head.needs_old(&next).then(|| content.clone());
        let expected = match &next {
            NextContent::Kept => content.clone(),
            NextContent::Whole(whole) => whole.clone(),
            NextContent::Extended(tail) => {
                Content::Text(format!("{}{tail}", content.text().unwrap()))
            }
        };
        let written = head.write(next, old);
        assert!(written.digest == expected.digest());
        assert_eq!(written.size_bytes, expected.bytes().len() as u64);
        assert_eq!(written.is_sealed, expected.is_sealed());
        match &written.piece {
            Piece::Copy => assert!(expected == *content && written.chain.depth == 0),
            Piece::Whole(whole) => assert!(*whole == expected && written.chain.depth == 0),
            Piece::Tail(tail) => {
                assert_eq!([content.bytes(), tail].concat(), expected.bytes());
                assert_eq!(written.chain.depth, chain.depth + 1);
            }
        }
        *chain = written.chain;
        *content = expected;
        written.piece
    }

    #[test]
    fn a_long_text_is_extended_by_what_is_new() {
        let (mut content, mut chain) = (text(SHARED_BYTES_MIN as usize), Chain::default());
        let head = memory(&content);
        assert!(Head::of(&head, &chain).needs_old(&NextContent::Extended("a".into())), "once");
        for n in 1..=DEPTH_MAX {
            let piece = step(&mut content, &mut chain, NextContent::Extended("more".into()));
            assert!(piece == Piece::Tail(b"more".to_vec()));
            assert_eq!(chain.depth, n);
            let head = memory(&content);
            let next = NextContent::Extended("a".into());
            let needs_old = Head::of(&head, &chain).needs_old(&next);
            assert_eq!(needs_old, n == DEPTH_MAX, "the hash is enough");
        }
        let piece = step(&mut content, &mut chain, NextContent::Extended("more".into()));
        assert!(matches!(piece, Piece::Whole(_)), "the chain has an end");
        assert!(chain.hash.is_some());
    }

    #[test]
    fn a_short_text_is_written_whole_until_it_is_long() {
        let (mut content, mut chain) = (text(0), Chain::default());
        let half = "y".repeat(SHARED_BYTES_MIN as usize / 2);
        for is_hashed in [false, true] {
            let piece = step(&mut content, &mut chain, NextContent::Extended(half.clone()));
            assert!(matches!(piece, Piece::Whole(_)));
            assert_eq!(chain.hash.is_some(), is_hashed);
        }
        let piece = step(&mut content, &mut chain, NextContent::Extended(half));
        assert!(matches!(piece, Piece::Tail(_)));
    }

    #[test]
    fn what_begins_alike_is_shared() {
        let (mut content, mut chain) = (text(2000), Chain::default());
        let longer = Content::Text(format!("{}more", content.text().unwrap()));
        let piece = step(&mut content, &mut chain, NextContent::Whole(longer.clone()));
        assert!(piece == Piece::Tail(b"more".to_vec()));
        let piece = step(&mut content, &mut chain, NextContent::Whole(longer));
        assert!(piece == Piece::Tail(Vec::new()));
        for other in [text(1999), text(2004), Content::Text("y".repeat(2005)), text(0)] {
            let (mut content, mut chain) = (content.clone(), chain.clone());
            let piece = step(&mut content, &mut chain, NextContent::Whole(other));
            assert!(matches!(piece, Piece::Whole(_)));
        }
    }

    #[test]
    fn what_is_kept_is_shared_unless_it_is_short() {
        let (mut content, mut chain) = (text(1023), Chain::default());
        assert!(step(&mut content, &mut chain, NextContent::Kept) == Piece::Copy);
        let (mut content, mut chain) = (text(1024), Chain::default());
        for _ in 0..DEPTH_MAX {
            let piece = step(&mut content, &mut chain, NextContent::Kept);
            assert!(piece == Piece::Tail(Vec::new()));
        }
        let piece = step(&mut content, &mut chain, NextContent::Kept);
        assert!(piece == Piece::Whole(content));
    }

    #[test]
    fn sealed_content_is_never_shared() {
        let sealed = Content::Sealed(vec![b'x'; 5000]);
        let (mut content, mut chain) = (sealed.clone(), Chain::default());
        assert!(step(&mut content, &mut chain, NextContent::Kept) == Piece::Copy);
        let piece = step(&mut content, &mut chain, NextContent::Whole(sealed.clone()));
        assert!(matches!(piece, Piece::Whole(_)));
        for (mut content, next) in [(sealed.clone(), text(6000)), (text(5000), sealed)] {
            let piece = step(&mut content, &mut Chain::default(), NextContent::Whole(next));
            assert!(matches!(piece, Piece::Whole(_)));
        }
    }

    #[test]
    fn a_damaged_hash_is_made_anew() {
        let (mut content, mut chain) = (text(2000), Chain::default());
        step(&mut content, &mut chain, NextContent::Extended("a".into()));
        chain.hash.as_mut().unwrap()[3] ^= 1;
        let head = memory(&content);
        assert!(Head::of(&head, &chain).needs_old(&NextContent::Extended("b".into())));
        step(&mut content, &mut chain, NextContent::Extended("b".into()));
    }

    #[test]
    fn a_comparison_looks_at_every_byte_once() {
        let whole = |text: &str| Content::Text(text.into());
        let found = |key, base, is_base, bytes, of: &str| Found {
            key,
            base,
            is_base,
            bytes,
            digest: whole(of).digest(),
            size_bytes: of.len() as u64,
            is_sealed: false,
        };
        let mut all = Comparison::default();
        assert!(all.is_sound(found(1, None, true, b"ab", "ab")));
        assert!(all.is_sound(found(2, None, false, b"x", "x")));
        assert!(all.is_sound(found(3, Some(1), true, b"", "ab")));
        assert!(all.is_sound(found(4, Some(3), true, b"c", "abc")));
        assert!(!all.is_sound(found(5, Some(4), false, b"e", "abcd")));
        assert!(!all.is_sound(found(6, Some(9), false, b"", "")), "its base is missing");
        assert!(!all.is_sound(found(7, None, false, b"\xff", "\u{ff}")), "not text");
    }
}
