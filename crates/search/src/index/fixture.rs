//! Memories for tests of indexes and ranking.

use loci_model::{
    Attributes, Content, Memory, MemoryId, MemoryPath, PrincipalId, StoreId, Timestamp, VersionId,
};

/// A memory with a text; its id and head are `n`, its times 0.
pub(crate) fn memory(n: u128, path: &str, text: &str) -> Memory {
    let content = Content::Text(text.to_owned());
    Memory {
        id: MemoryId::from_u128(n),
        store: StoreId::from_u128(1),
        partition: None,
        owner: PrincipalId::from_u128(1),
        path: MemoryPath::parse(path).unwrap(),
        attributes: Attributes::default(),
        head: VersionId::from_u128(n),
        revision: 1,
        digest: content.digest(),
        size_bytes: text.len() as u64,
        is_sealed: false,
        created_at: Timestamp::from_micros(0),
        updated_at: Timestamp::from_micros(0),
        content: Some(content),
    }
}

/// The same with tags.
pub(crate) fn with_tags(mut memory: Memory, tags: &[&str]) -> Memory {
    memory.attributes.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    memory
}
