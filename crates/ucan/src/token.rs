//! A token that was read and not yet believed: the invocation and the links that it leads to.
//!
//! Links that cannot be read are kept as such: a bad proof beside a good one does no harm.

use crate::car::Archive;
use crate::cbor::{self, Cid, Value};
use crate::link::Link;
use crate::{DEPTH_MAX, MALFORMED, Refused, TOKEN_CHARS_MAX};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;

const DAG_CBOR: u64 = 0x71;
const TOO_DEEP: Refused = Refused::unproven("the chain of the token has more than 8 links");

/// A token as it was sent.
#[derive(Debug)]
pub struct Token {
    pub(crate) invocation: Cid,
    pub(crate) links: BTreeMap<Cid, Result<Link, Refused>>,
}

impl Token {
    /// Reads the base64 of an archive; believes nothing of it.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        if text.len() > TOKEN_CHARS_MAX {
            return Err(Refused::unproven("the token is longer than 64 KiB"));
        }
        let bytes = STANDARD.decode(text).map_err(|_| MALFORMED)?;
        let archive = Archive::read(&bytes)?;
        let variant = archive.blocks.get(&archive.root).ok_or(MALFORMED)?;
        let invocation = match cbor::decode(variant)? {
            Value::Map(fields) if fields.len() == 1 => match fields.get("ucan@0.9.1") {
                Some(Value::Link(cid)) => cid.clone(),
                _ => return Err(MALFORMED),
            },
            _ => return Err(MALFORMED),
        };
        let mut links = BTreeMap::new();
        // Level by level, so that a link is read once and the deepest place it has counts.
        let mut level = vec![invocation.clone()];
        for _ in 0..DEPTH_MAX {
            let mut below: Vec<Cid> = Vec::new();
            for cid in level {
                let link = links.entry(cid).or_insert_with_key(|cid| read(&archive, cid));
                if let Ok(link) = link {
                    below.extend(link.proofs.iter().cloned());
                }
            }
            below.sort_unstable();
            below.dedup();
            level = below;
        }
        if level.is_empty() { Ok(Self { invocation, links }) } else { Err(TOO_DEEP) }
    }
}

fn read(archive: &Archive<'_>, cid: &Cid) -> Result<Link, Refused> {
    let missing = Refused::unproven("a proof of the token is missing");
    let block = archive.blocks.get(cid).ok_or(missing)?;
    if cid.codec == DAG_CBOR { Link::read(block) } else { Err(MALFORMED) }
}
