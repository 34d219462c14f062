//! The model inside the binary: all-MiniLM-L6-v2 with weights stored as int8, run by `rten`.
//!
//! It makes search by meaning work on a machine without a network from the first minute. The model
//! is loaded on first use, so a server nobody searches stays small. Passages run on threads of low
//! priority, queries on threads of their own: a question never waits for indexing to finish a batch.

use super::{EmbedError, Embedder, Purpose, WordPiece, normalized};
use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};
#[cfg(debug_assertions)]
use std::sync::LazyLock;
use std::sync::{Arc, OnceLock};

static VOCABULARY: &str = include_str!("../../model/vocab.txt");

const NAME: &str = "builtin/all-MiniLM-L6-v2-int8/1";
const DIMS: usize = 384;
const TOKENS_MAX: usize = 256;
const BATCH_TEXTS_MAX: usize = 32;
/// Padding included. Keeps the attention of a batch of long texts within a few tens of megabytes.
const BATCH_TOKENS_MAX: usize = 2_048;
/// The model learned English. What it makes of other scripts only says which of two memories goes
/// first where words say nothing.
const TRUST_MIN: f32 = 0.05;
const QUERY_THREADS_MAX: usize = 2;
const PASSAGE_THREADS_MAX: usize = 4;
/// How far passages stand back behind everything else the machine does.
#[cfg(target_os = "linux")]
const PASSAGE_NICENESS: i32 = 15;

/// The built-in embedder. Cheap to make; share one.
#[derive(Default)]
pub struct Builtin {
    tokenizer: OnceLock<WordPiece>,
    loaded: OnceLock<Result<Loaded, EmbedError>>,
}

struct Loaded {
    model: Model,
    ids: NodeId,
    mask: NodeId,
    embedding: NodeId,
    query_threads: Arc<ThreadPool>,
    passage_threads: Arc<ThreadPool>,
}

impl Builtin {
    /// An embedder that has not loaded its model yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The weights as they are in this binary, for whoever checks where they come from.
    pub fn weights() -> &'static [u8] {
        weights()
    }

    fn tokenizer(&self) -> &WordPiece {
        self.tokenizer.get_or_init(|| {
            WordPiece::new(VOCABULARY).expect("the vocabulary in the binary has its marks")
        })
    }

    fn loaded(&self) -> Result<&Loaded, EmbedError> {
        self.loaded.get_or_init(Loaded::load).as_ref().map_err(Clone::clone)
    }
}

impl Embedder for Builtin {
    fn model(&self) -> &str {
        NAME
    }

    fn dims(&self) -> usize {
        DIMS
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let tokenizer = self.tokenizer();
        let encoded: Vec<_> = texts.iter().map(|text| tokenizer.encode(text, TOKENS_MAX)).collect();
        let lengths: Vec<_> = encoded.iter().map(Vec::len).collect();
        let mut vectors = vec![Vec::new(); texts.len()];
        for batch in batches(&lengths) {
            let inputs: Vec<&[i32]> = batch.iter().map(|&text| encoded[text].as_slice()).collect();
            let outputs = self.loaded()?.run(&inputs, purpose)?;
            for (text, vector) in batch.into_iter().zip(outputs) {
                vectors[text] = vector;
            }
        }
        Ok(vectors)
    }

    fn tokens(&self, text: &str) -> usize {
        self.tokenizer().count(text)
    }

    fn trust(&self, text: &str) -> f32 {
        latin_share(text).max(TRUST_MIN)
    }
}

/// The weights inside the binary.
#[cfg(not(debug_assertions))]
fn weights() -> &'static [u8] {
    include_bytes!("../../model/model.onnx")
}

/// Debug builds read the weights from the source tree on first use: 23 MB less in every test program
/// to link and to write.
#[cfg(debug_assertions)]
fn weights() -> &'static [u8] {
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/model/model.onnx");
    static WEIGHTS: LazyLock<Vec<u8>> =
        LazyLock::new(|| std::fs::read(FILE).expect("a debug build runs beside its source tree"));
    &WEIGHTS
}

/// The share of Latin letters among a text's letters.
fn latin_share(text: &str) -> f32 {
    let is_latin =
        |char: &char| char.is_ascii_alphabetic() || ('\u{c0}'..='\u{24f}').contains(char);
    let letters = text.chars().filter(|char| char.is_alphabetic()).count();
    let latin = text.chars().filter(is_latin).count();
    if letters == 0 { 1.0 } else { latin.min(letters) as f32 / letters as f32 }
}

impl Loaded {
    fn load() -> Result<Self, EmbedError> {
        let refused = |e: &dyn std::fmt::Display| {
            EmbedError::Refused(format!("the built-in model does not load: {e}"))
        };
        // Packing once costs 40 MB and makes a query a quarter faster.
        let model = ModelOptions::with_all_ops()
            .prepack_weights(true)
            .load_static_slice(weights())
            .map_err(|e| refused(&e))?;
        let node = |name| model.node_id(name).map_err(|e| refused(&e));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            ids: node("input_ids")?,
            mask: node("attention_mask")?,
            embedding: node("embedding")?,
            query_threads: Arc::new(ThreadPool::with_num_threads(cores.min(QUERY_THREADS_MAX))),
            passage_threads: Arc::new(low_priority_threads(cores.min(PASSAGE_THREADS_MAX))),
            model,
        })
    }

    /// Embeds texts of about the same length, the shorter ones padded.
    fn run(&self, texts: &[&[i32]], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let longest = texts.iter().map(|ids| ids.len()).max().unwrap_or(0);
        let mut ids = NdTensor::<i32, 2>::zeros([texts.len(), longest]);
        let mut mask = NdTensor::<i32, 2>::zeros([texts.len(), longest]);
        for (row, text) in texts.iter().enumerate() {
            for (column, &id) in text.iter().enumerate() {
                ids[[row, column]] = id;
                mask[[row, column]] = 1;
            }
        }
        let threads = match purpose {
            Purpose::Query => &self.query_threads,
            Purpose::Passage => &self.passage_threads,
        };
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(threads)));
        let inputs = vec![(self.ids, ids.view().into()), (self.mask, mask.view().into())];
        let [output] = self
            .model
            .run_n(inputs, [self.embedding], Some(options))
            .map_err(|e| EmbedError::Bad(format!("the built-in model failed: {e}")))?;
        let output: Tensor<f32> =
            output.try_into().map_err(|_| EmbedError::Bad("not a matrix of numbers".into()))?;
        if output.shape() != [texts.len(), DIMS] {
            return Err(EmbedError::Bad("a matrix of another shape".into()));
        }
        output
            .to_vec()
            .chunks_exact(DIMS)
            .map(|row| normalized(row.to_vec()))
            .collect::<Option<_>>()
            .ok_or_else(|| EmbedError::Bad("a vector without direction".into()))
    }
}

/// Threads that run when nothing else wants the processor.
fn low_priority_threads(count: usize) -> ThreadPool {
    let make = move || {
        // On Linux the call means the calling thread, and threads it starts inherit it; elsewhere
        // it would mean the whole process. A system that does not allow it only loses politeness.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::setpriority_process(None, PASSAGE_NICENESS);
        ThreadPool::with_num_threads(count)
    };
    std::thread::spawn(make).join().unwrap_or_else(|_| ThreadPool::with_num_threads(1))
}

/// Groups texts of similar length, so that little of a batch is padding.
fn batches(lengths: &[usize]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&text| lengths[text]);
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for text in order {
        match batches.last_mut() {
            // The texts come by length: the one to be added is the longest.
            Some(batch)
                if batch.len() < BATCH_TEXTS_MAX
                    && (batch.len() + 1) * lengths[text] <= BATCH_TOKENS_MAX =>
            {
                batch.push(text);
            }
            _ => batches.push(vec![text]),
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::{BATCH_TEXTS_MAX, BATCH_TOKENS_MAX, TOKENS_MAX, batches, latin_share};
    use proptest::prelude::*;

    #[test]
    fn letters_of_other_scripts_count_against_an_english_model() {
        for (text, share) in [
            ("what does Ana drink?", 1.0),
            ("où est le café", 1.0),
            ("2026-11-16", 1.0),
            ("猫が好き", 0.0),
            ("чай", 0.0),
            ("the 猫 is", 5.0 / 6.0),
        ] {
            assert!((latin_share(text) - share).abs() < 1e-6, "{text}");
        }
    }

    proptest! {
        #[test]
        fn batches_hold_every_text_once_and_stay_small(
            lengths in prop::collection::vec(2..=TOKENS_MAX, 0..200),
        ) {
            let batches = batches(&lengths);
            for batch in &batches {
                let longest = batch.iter().map(|&text| lengths[text]).max().unwrap();
                prop_assert!(batch.len() <= BATCH_TEXTS_MAX);
                prop_assert!(batch.len() * longest <= BATCH_TOKENS_MAX);
            }
            let mut texts: Vec<_> = batches.into_iter().flatten().collect();
            texts.sort_unstable();
            prop_assert_eq!(texts, (0..lengths.len()).collect::<Vec<_>>());
        }
    }
}
