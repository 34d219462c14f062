//! Word search by looking at everything: a memory matches when its path, tags or text hold any of
//! the words, whatever their case.

use super::state::State;
use loci_model::policy::SearchPass;
use loci_model::{Content, Memory, MemoryId};

impl State {
    pub(super) fn find_words(
        &self,
        pass: &SearchPass,
        words: &[String],
        limit: usize,
    ) -> Vec<MemoryId> {
        let wanted: Vec<Vec<String>> = words.iter().map(|word| tokens(word)).collect();
        let mut found: Vec<(usize, MemoryId)> = pass
            .stores()
            .iter()
            .filter_map(|store| self.shelf(*store).ok())
            .flat_map(|shelf| shelf.visible(pass.audience(), pass.now()))
            .map(|memory| (count_hits(&memory, &wanted), memory.id))
            .filter(|(hits, _)| *hits > 0)
            .collect();
        found.sort_by_key(|(hits, id)| (std::cmp::Reverse(*hits), *id));
        found.truncate(limit);
        found.into_iter().map(|(_, id)| id).collect()
    }
}

/// How many of the words a memory holds; a word of several tokens must appear as they stand.
fn count_hits(memory: &Memory, words: &[Vec<String>]) -> usize {
    let Some(text) = memory.content.as_ref().and_then(Content::text) else {
        return 0;
    };
    let tags = memory.attributes.tags.join(" ");
    let columns = [memory.path.as_str(), tags.as_str(), text].map(tokens);
    let holds = |word: &&Vec<String>| {
        !word.is_empty()
            && columns
                .iter()
                .any(|column| column.windows(word.len()).any(|part| part == word.as_slice()))
    };
    words.iter().filter(holds).count()
}

fn tokens(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|token| !token.is_empty())
        .map(str::to_lowercase)
        .collect()
}
