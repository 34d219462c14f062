//! What texts say: claims read out of sentences ([`extract`]), and what is known once the claims of
//! many texts are put together in time ([`graph`]).
//!
//! Pure, as search is: no clock, no storage, no policy. Whatever is known here is derived from
//! memories and names them, so that it goes when they go.
#![warn(missing_docs)]

pub mod claim;
pub mod extract;
pub mod graph;
pub mod ontology;
pub mod told;
