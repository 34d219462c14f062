//! Turning text into vectors: the seam between search and whatever model does it.
//!
//! Three choices exist: the built-in model, an HTTP endpoint, or none (an `Option` at the caller).
//! Every vector handed out has unit length and finite parts, so a dot product is a cosine and no
//! later stage needs to check again.

#[cfg(feature = "builtin-model")]
mod builtin;
mod http;
mod passages;
#[cfg(feature = "builtin-model")]
mod wordpiece;

#[cfg(feature = "builtin-model")]
pub use builtin::Builtin;
pub use http::{EndpointKey, HttpConfig, HttpEmbedder};
pub use passages::{PASSAGES_MAX, passages};
#[cfg(feature = "builtin-model")]
pub use wordpiece::WordPiece;

/// A model that embeds text.
pub trait Embedder: Send + Sync + 'static {
    /// Names model, dimension and way of embedding; vectors of different names are never compared.
    fn model(&self) -> &str;

    /// How many numbers a vector has.
    fn dims(&self) -> usize;

    /// One unit-length vector per text, in order. Blocks. Texts longer than the model takes are cut
    /// at its limit.
    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// How many tokens a text has for this model, to split passages; an estimate where the model's
    /// own tokenizer is out of reach.
    fn tokens(&self, text: &str) -> usize;

    /// How far the model can be trusted with a text's language, 0 to 1.
    fn trust(&self, text: &str) -> f32 {
        let _ = text;
        1.0
    }
}

/// What a vector is wanted for: somebody waits for a query, nobody waits for a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A question to search with; answered as soon as possible.
    Query,
    /// A part of a memory, indexed in the background.
    Passage,
}

/// Why a text was not embedded. Holds neither the text nor a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// Not now; it may work later.
    #[error("the embedder is unavailable: {0}")]
    Unavailable(String),
    /// Not now and not later, until somebody changes the configuration.
    #[error("the embedder refuses: {0}")]
    Refused(String),
    /// It answered something that cannot be used.
    #[error("the embedder gave an unusable answer: {0}")]
    Bad(String),
}

/// Scales a vector to unit length; none if it has no direction or a part that is not a number.
fn normalized(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let squares: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    let length = squares.sqrt();
    if !length.is_finite() || length < LENGTH_MIN {
        return None;
    }
    for x in &mut vector {
        *x = (f64::from(*x) / length) as f32;
    }
    Some(vector)
}

/// Shorter vectors are rounding noise, not a direction.
const LENGTH_MIN: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn a_vector_is_scaled_to_unit_length() {
        assert_eq!(normalized(vec![3.0, 4.0]), Some(vec![0.6, 0.8]));
        assert_eq!(normalized(vec![f32::MAX, 0.0]), Some(vec![1.0, 0.0]));
    }

    #[test]
    fn what_has_no_direction_is_refused() {
        for bad in [vec![], vec![0.0; 3], vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0]] {
            assert_eq!(normalized(bad), None);
        }
    }
}
