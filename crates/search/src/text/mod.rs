//! Text as search sees it: words, stems, phrases, author headers, passages, snippets, fingerprints.
//!
//! Everything here is pure, linear in its input and total: no text, however odd, makes it panic or
//! take more than a pass or two. Documents and queries go through the same [`Analyzer`], so that
//! what is written and what is asked meet in the same terms.

pub mod analyze;
pub mod author;
mod characters;
pub mod fingerprint;
mod fold;
pub mod natural;
pub mod phrase;
pub mod query;
mod scan;
pub mod snippet;
mod stem;
mod stop;
pub mod windows;

pub use analyze::{Analyzer, Term};
pub use author::{Header, header, without_names};
pub use fingerprint::{jaccard, minhash, shingles};
pub use natural::natural_cmp;
pub use phrase::contains_phrase;
pub use query::{Phrase, Prefix, QueryTerm, TextQuery};
pub use snippet::{Snippet, snippet};
pub use windows::word_passages;
