//! Evaluation files: conversations of memories, and questions with the memories that answer them.
//! Whatever could make a figure wrong is refused before anything is measured.

use crate::exit::Failure;
use loci_model::{MemoryPath, limit};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of one file.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// One file. Members that are not listed here are of no concern.
#[derive(Deserialize)]
struct DataFile {
    conversations: Vec<ConversationEntry>,
}

#[derive(Deserialize)]
struct ConversationEntry {
    idx: i64,
    sample_id: String,
    memories: Vec<MemoryEntry>,
    questions: Vec<QuestionEntry>,
}

#[derive(Deserialize)]
struct MemoryEntry {
    id: String,
    path: String,
    content: String,
}

#[derive(Deserialize)]
struct QuestionEntry {
    qid: String,
    question: String,
    category: i64,
    evidence: Vec<String>,
}

/// Memories that belong together, and what is asked about them.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) number: i64,
    pub(super) name: String,
    pub(super) memories: Vec<(MemoryPath, String)>,
    pub(super) questions: Vec<Question>,
}

/// A question and the paths that answer it.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) category: i64,
    /// At least one, none twice.
    pub(super) evidence: Vec<String>,
}

/// Which questions count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice<'a> {
    pub(super) categories: &'a [i64],
    /// Only so many of each conversation, before categories are looked at.
    pub(super) questions_max: Option<usize>,
}

/// Reads and checks all files.
pub(super) fn load(files: &[PathBuf], choice: Choice<'_>) -> Result<Vec<Conversation>, Failure> {
    let mut conversations = Vec::new();
    for file in files {
        let wrong = |why: String| Failure::failed(format!("{}: {why}", file.display()));
        let text = read(file)?;
        conversations.extend(parse(&text, choice).map_err(wrong)?);
    }
    if conversations.iter().all(|conversation| conversation.questions.is_empty()) {
        return Err(Failure::failed("no question is of these categories"));
    }
    Ok(conversations)
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let cannot = |error| Failure::io(format_args!("cannot read {}", file.display()), &error);
    let bytes = fs::metadata(file).map_err(cannot)?.len();
    let mut text = Vec::new();
    let mut opened = File::open(file).map_err(cannot)?.take(FILE_BYTES_MAX + 1);
    opened.read_to_end(&mut text).map_err(cannot)?;
    if bytes.max(text.len() as u64) > FILE_BYTES_MAX {
        let message = format!("{}: is over {FILE_BYTES_MAX} bytes", file.display());
        return Err(Failure::failed(message));
    }
    Ok(text)
}

fn parse(text: &[u8], choice: Choice<'_>) -> Result<Vec<Conversation>, String> {
    let file: DataFile = serde_json::from_slice(text).map_err(|error| {
        // The words of the error may quote the file; where it is says enough.
        format!("not an evaluation file, at line {} column {}", error.line(), error.column())
    })?;
    file.conversations.into_iter().map(|entry| conversation(entry, choice)).collect()
}

fn conversation(entry: ConversationEntry, choice: Choice<'_>) -> Result<Conversation, String> {
    let name = entry.sample_id;
    let mut paths = HashMap::new();
    let mut memories = Vec::new();
    for memory in entry.memories {
        let path = MemoryPath::parse(&memory.path)
            .map_err(|invalid| format!("{name}, memory {:?}: {invalid}", memory.id))?;
        if memory.content.len() > limit::CONTENT_BYTES_MAX {
            let max = limit::CONTENT_BYTES_MAX;
            return Err(format!("{name}, memory {:?} is over {max} bytes", memory.id));
        }
        if paths.insert(memory.id.clone(), path.to_string()).is_some() {
            return Err(format!("{name}, memory {:?} is there twice", memory.id));
        }
        memories.push((path, memory.content));
    }
    let mut questions = Vec::new();
    for asked in entry.questions.into_iter().take(choice.questions_max.unwrap_or(usize::MAX)) {
        if !choice.categories.contains(&asked.category) {
            continue;
        }
        let mut evidence: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for id in &asked.evidence {
            let path = paths.get(id);
            let path = path.ok_or(format!("{name}, question {:?}: no memory {id:?}", asked.qid))?;
            if seen.insert(path) {
                evidence.push(path.clone());
            }
        }
        if evidence.is_empty() {
            return Err(format!("{name}, question {:?} has no evidence", asked.qid));
        }
        let (id, text, category) = (asked.qid, asked.question, asked.category);
        questions.push(Question { id, text, category, evidence });
    }
    Ok(Conversation { number: entry.idx, name, memories, questions })
}

/// Refuses conversations that cannot stand in one store: a path would hold only its last memory.
pub(super) fn check_paths<'a>(
    conversations: impl Iterator<Item = &'a Conversation>,
) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    for conversation in conversations {
        for (path, _) in &conversation.memories {
            if !seen.insert(path.as_str()) {
                return Err(Failure::failed(format!("two memories are at {path}")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const ALL: Choice<'_> = Choice { categories: &[1, 2], questions_max: None };

    fn file() -> Value {
        json!({"name": "n", "conversations": [{
            "idx": 3, "sample_id": "one", "extra": true,
            "memories": [
                {"id": "m1", "path": "/a", "content": "x"},
                {"id": "m2", "path": "/b", "content": "y", "speaker": "z"},
            ],
            "questions": [
                {"qid": "q1", "question": "?", "category": 5, "evidence": []},
                {"qid": "q2", "question": "?", "category": 1, "evidence": ["m2", "m1", "m2"]},
                {"qid": "q3", "question": "?", "category": 2, "evidence": ["m1"]},
            ],
        }]})
    }

    fn read(value: &Value, choice: Choice<'_>) -> Result<Vec<Conversation>, String> {
        parse(value.to_string().as_bytes(), choice)
    }

    #[test]
    fn questions_are_chosen_by_place_and_category() {
        let found = read(&file(), ALL).unwrap();
        assert_eq!((found[0].number, found[0].name.as_str()), (3, "one"));
        let ids = |choice| {
            let found = read(&file(), choice).unwrap().remove(0);
            found.questions.into_iter().map(|question| question.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(ALL), ["q2", "q3"]);
        assert_eq!(ids(Choice { questions_max: Some(2), ..ALL }), ["q2"]);
        assert_eq!(found[0].questions[0].evidence, ["/b", "/a"], "each once");
    }

    #[test]
    fn what_would_spoil_a_figure_is_refused() {
        let refused = |pointer: &str, value: Value| {
            let mut file = file();
            *file.pointer_mut(pointer).unwrap() = value;
            read(&file, ALL).unwrap_err()
        };
        let question = "/conversations/0/questions/1";
        let told = refused(&format!("{question}/evidence"), json!(["m9"]));
        assert!(told.contains("m9"), "{told}");
        assert!(refused(&format!("{question}/evidence"), json!([])).contains("no evidence"));
        assert!(refused("/conversations/0/memories/1/id", json!("m1")).contains("twice"));
        assert!(refused("/conversations/0/memories/1/path", json!("b")).contains("path"));
        assert!(refused("/conversations", json!(7)).contains("line 1"));
        let mut twice = file();
        twice["conversations"][0]["memories"][1]["path"] = json!("/a");
        let found = read(&twice, ALL).unwrap();
        assert!(check_paths(found.iter()).unwrap_err().message.contains("/a"));
    }
}
