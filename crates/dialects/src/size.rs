//! About how many bytes it takes to go through memories or to write them down, by which the engine decides
//! where that is done.

use loci_model::Memory;

/// What a memory takes beside its content and metadata.
const EACH: usize = 512;

/// Of one memory, as far as it was loaded.
pub(crate) fn of(memory: &Memory) -> usize {
    let metadata = memory.attributes.metadata.as_ref().map_or(0, String::len);
    EACH + metadata + memory.content.as_ref().map_or(0, |content| content.bytes().len())
}

/// Of several.
pub(crate) fn of_all<'a>(memories: impl IntoIterator<Item = &'a Memory>) -> usize {
    memories.into_iter().map(of).sum()
}
