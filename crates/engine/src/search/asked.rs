//! Questions that were embedded lately. The same ones are asked again and again: an agent's runtime
//! sends its fixed questions in every turn, and paging repeats the query.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How many are remembered.
const ASKED_MAX: usize = 128;

struct Asked {
    model: String,
    text: Arc<str>,
    vector: Vec<f32>,
}

/// The latest questions, the newest in front.
#[derive(Default)]
pub(crate) struct AskedLately(Mutex<VecDeque<Asked>>);

impl AskedLately {
    /// The vector of a question, if it was embedded lately.
    pub(crate) fn get(&self, model: &str, text: &str) -> Option<Vec<f32>> {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = asked.iter().position(|one| *one.text == *text && one.model == model)?;
        let found = asked.remove(at)?;
        let vector = found.vector.clone();
        asked.push_front(found);
        Some(vector)
    }

    /// Remembers a question.
    pub(crate) fn put(&self, model: &str, text: &Arc<str>, vector: &[f32]) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one =
            Asked { model: model.to_owned(), text: Arc::clone(text), vector: vector.to_vec() };
        asked.push_front(one);
        asked.truncate(ASKED_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_remembered_and_models_are_kept_apart() {
        let lately = AskedLately::default();
        for number in 0..=ASKED_MAX {
            lately.put("m", &number.to_string().into(), &[number as f32]);
            assert!(lately.get("m", "0").is_some(), "what is asked again stays");
        }
        assert_eq!(lately.get("m", "1"), None);
        assert_eq!(lately.get("m", "2"), Some(vec![2.0]));
        assert_eq!(lately.get("other", "2"), None);
    }
}
