//! How much of an answer a model gets at once. A token is counted as four bytes, which errs on the
//! side of less for the languages that models are mostly spoken to in.

use crate::arguments::Arguments;
use crate::trouble::Trouble;
use serde_json::{Value, json};

const BYTES_PER_TOKEN: usize = 4;
/// Tokens of an answer when nobody says.
const TOKENS_DEFAULT: u64 = 2000;
const TOKENS_MIN: u64 = 100;
const TOKENS_MAX: u64 = 20_000;

/// What all tools call the argument.
pub(crate) const NAME: &str = "max_tokens";

/// Bytes of the answer to a call.
pub(crate) fn bytes(arguments: &Arguments<'_>) -> Result<usize, Trouble> {
    let tokens = arguments.number(NAME, TOKENS_MIN..=TOKENS_MAX)?.unwrap_or(TOKENS_DEFAULT);
    Ok(usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN))
}

/// The argument in a schema.
pub(crate) fn schema() -> Value {
    json!({
        "type": "integer",
        "minimum": TOKENS_MIN,
        "maximum": TOKENS_MAX,
        "description": "Length of the answer; 2000 if you do not say.",
    })
}

/// As much of a text as fits, cut between characters.
pub(crate) fn head(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
