//! What a store ended up with, as the history checker wants it, and whether its other views agree.

use std::collections::HashMap;

use loci_it::{Api, Entry, Operation, sha256};
use serde_json::Value;

/// Memories whose content is read back, from the newest.
const READ_BACK: usize = 20;

/// The feed of a store with the digests of its versions.
#[track_caller]
pub(crate) fn entries(api: &mut Api) -> Vec<Entry> {
    let digests: HashMap<String, Option<String>> = api
        .all_versions()
        .iter()
        .map(|version| (text(version, "id"), version["content_sha256"].as_str().map(str::to_owned)))
        .collect();
    let feed = api.changes(0);
    assert_eq!(feed.len(), digests.len(), "one entry for each version");
    let entries = feed.iter().map(|change| {
        let operation = match change["operation"].as_str() {
            Some("created") => Operation::Created,
            Some("modified") => Operation::Modified,
            Some("deleted") => Operation::Deleted,
            _ => panic!("not of this run: {change}"),
        };
        let version = text(change, "memory_version_id");
        let digest = digests.get(&version).unwrap_or_else(|| panic!("no version for {change}"));
        Entry {
            seq: change["seq"].as_u64().unwrap(),
            memory: text(change, "memory_id"),
            revision: change["revision"].as_u64().unwrap(),
            path: text(change, "path"),
            digest: digest.clone().filter(|_| operation != Operation::Deleted),
            operation,
            version,
        }
    });
    entries.collect()
}

/// The listing shows what the feed ends with, and the content is what was written.
#[track_caller]
pub(crate) fn verify_end(api: &mut Api, feed: &[Entry]) {
    let mut live: HashMap<&str, &Entry> = HashMap::new();
    for entry in feed {
        match entry.operation {
            Operation::Deleted => live.remove(entry.memory.as_str()),
            Operation::Created | Operation::Modified => live.insert(&entry.memory, entry),
        };
    }
    let listed = api.memories();
    assert_eq!(listed.len(), live.len(), "memories listed and live");
    for memory in &listed {
        let entry = live[memory.id.as_str()];
        let shown = (&memory.path, &memory.version, Some(&memory.digest));
        assert_eq!(shown, (&entry.path, &entry.version, entry.digest.as_ref()));
    }
    let mut newest: Vec<&Entry> = live.into_values().collect();
    newest.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.seq));
    for entry in newest.into_iter().take(READ_BACK) {
        assert_eq!(Some(sha256(&api.content(&entry.memory))), entry.digest, "{entry:?}");
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}")).to_owned()
}
