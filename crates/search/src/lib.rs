//! Finding memories: by word and by meaning, and putting the two together.
//!
//! Everything here is pure or a plain blocking call: no SQL, no async, no clock. An index holds
//! exactly what one audience may get of one store, so access is decided before anything is scored:
//! what is not in the index cannot be returned, counted, or felt in another memory's score.
#![warn(missing_docs)]

pub mod embed;
pub mod index;
pub mod rank;
pub mod text;
pub mod vector;
mod wanted;

pub use wanted::{Explanation, Fusion, Mode, Recency, SearchFilter, Signals, Span, Wanted};
