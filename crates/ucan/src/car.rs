//! The archive a token travels in: a header that names one root, then blocks, each under the digest
//! of its content. A block whose digest is not its own is refused, so that a link leads to what was
//! linked and nothing else.

use crate::cbor::{self, Cid, Reader, Value};
use crate::{BLOCKS_MAX, MALFORMED, Refused};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// What is in an archive.
pub(crate) struct Archive<'b> {
    pub(crate) root: Cid,
    pub(crate) blocks: BTreeMap<Cid, &'b [u8]>,
}

impl<'b> Archive<'b> {
    pub(crate) fn read(bytes: &'b [u8]) -> Result<Self, Refused> {
        let mut reader = Reader::new(bytes);
        let length = reader.varint()?;
        let Value::Map(header) = cbor::decode(reader.take(length)?)? else {
            return Err(MALFORMED);
        };
        if header.get("version") != Some(&Value::Integer(1)) {
            return Err(MALFORMED);
        }
        let root = match header.get("roots") {
            Some(Value::List(roots)) => match roots.as_slice() {
                [Value::Link(root)] => root.clone(),
                _ => return Err(MALFORMED),
            },
            _ => return Err(MALFORMED),
        };
        let mut blocks = BTreeMap::new();
        while !reader.is_empty() {
            if blocks.len() == BLOCKS_MAX {
                return Err(Refused::unproven("the token has more than 64 blocks"));
            }
            let length = reader.varint()?;
            let mut block = Reader::new(reader.take(length)?);
            let cid = block.cid()?;
            let content = block.rest();
            if Sha256::digest(content).as_slice() != cid.digest {
                return Err(Refused::unproven("a block of the token is not what its name says"));
            }
            blocks.insert(cid, content);
        }
        Ok(Self { root, blocks })
    }
}
