//! What one store says, as a graph that follows its feed.
//!
//! Who "I" is in a memory: whoever its writer says, where it is a message of a conversation (a
//! `role` in its metadata, the name in its source, or a name in front of its text); else the user,
//! whom agents write notes about. What assistants and systems said is not taken for a fact.

use crate::derived::{Derived, Kept};
use crate::reading::kept;
use loci_knowledge::claim::Utterance;
use loci_knowledge::extract::extract;
use loci_knowledge::graph::{Graph, Source};
use loci_knowledge::told::admit;
use loci_model::{Content, Memory, MemoryId, StoreId, Timestamp};
use loci_search::text::author::header;
use loci_storage::Reading;
use serde_json::Value;

/// The member of a memory's metadata that says who wrote it.
const ROLE: &str = "role";
/// The member of a memory's metadata that says which facts it no longer says.
pub(super) const DISMISSED: &str = "dismissed_facts";
/// Whom notes without a speaker are about.
const USER: &str = "User";
/// Roles whose words are the user's own.
const OWN: [&str; 2] = ["user", "human"];
/// Roles, as they stand in front of a text, that are nobody's name.
const OTHERS: [&str; 8] =
    ["assistant", "system", "tool", "ai", "agent", "bot", "model", "developer"];
/// The kind of what happened once.
const EPISODE: &str = "episode";
/// Kinds that are made from other memories: what they say is known already.
const DERIVED: [&str; 1] = ["summary"];

/// All graphs of this process.
pub(crate) type Graphs = Kept<Learned>;

/// What one store says.
#[derive(Debug)]
pub(crate) struct Learned {
    pub(super) graph: Graph,
}

impl Derived for Learned {
    fn empty(store: StoreId) -> Self {
        Self { graph: Graph::new(store) }
    }

    const WITH_READINGS: bool = true;

    fn put(&mut self, memory: &Memory) {
        self.put_read(memory, &[]);
    }

    /// Rules come first; what readers found is held to the text once more, and trusted less.
    fn put_read(&mut self, memory: &Memory, readings: &[Reading]) {
        let metadata = metadata(memory);
        let source = Source {
            memory: memory.id,
            said: when(memory),
            expires_at: memory.attributes.expires_at,
            dismissed: dismissed(&metadata),
        };
        let Some(utterance) = said(memory, &metadata) else {
            return self.graph.put(&source, Vec::new());
        };
        let mut claims = extract(utterance);
        for reading in readings {
            claims.extend(admit(utterance, kept(&reading.claims), &reading.reader).claims);
        }
        self.graph.put(&source, claims);
    }

    fn remove(&mut self, id: MemoryId) {
        self.graph.remove(id);
    }

    fn settle(&mut self) {
        self.graph.settle();
    }

    fn has_expired(&self, now: Timestamp) -> bool {
        self.graph.has_expired(now)
    }

    fn expire(&mut self, now: Timestamp) {
        self.graph.expire(now);
    }

    fn bytes(&self) -> usize {
        self.graph.bytes()
    }
}

pub(crate) fn metadata(memory: &Memory) -> Value {
    let text = memory.attributes.metadata.as_deref();
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The marks of facts that somebody took away from a memory.
pub(super) fn dismissed(metadata: &Value) -> Vec<u64> {
    let marks = metadata[DISMISSED].as_array().into_iter().flatten();
    marks.filter_map(|mark| u64::from_str_radix(mark.as_str()?, 16).ok()).collect()
}

/// When a memory was said. What happened keeps its time whatever is noted about it later; a note is
/// as new as its last change.
fn when(memory: &Memory) -> Timestamp {
    match memory.attributes.kind.as_deref() {
        Some(EPISODE) => memory.created_at,
        _ => memory.updated_at,
    }
}

/// What a memory says and who says it, unless it is nobody's own words.
pub(crate) fn said<'a>(memory: &'a Memory, metadata: &Value) -> Option<Utterance<'a>> {
    let attributes = &memory.attributes;
    if attributes.kind.as_deref().is_some_and(|kind| DERIVED.contains(&kind)) {
        return None;
    }
    let text = memory.content.as_ref().and_then(Content::text)?;
    let at = when(memory);
    if let Some(role) = metadata[ROLE].as_str() {
        let speaker = attributes.source.as_deref().unwrap_or(USER);
        return OWN.contains(&role).then_some(Utterance { speaker, at, text });
    }
    match header(text) {
        Some(header) => {
            let name = header.author.to_lowercase();
            if OTHERS.contains(&name.as_str()) {
                return None;
            }
            let speaker = if OWN.contains(&name.as_str()) { USER } else { header.author };
            Some(Utterance { speaker, at, text: &text[header.body_start..] })
        }
        None => Some(Utterance { speaker: USER, at, text }),
    }
}
