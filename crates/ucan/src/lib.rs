//! Tokens of the QiForge door: UCAN 0.9.1 in a CAR archive, verified link by link.
//!
//! Pure: no clock, no network, no state. Keys that do not stand in a DID itself are looked up by the
//! caller, so it goes in steps: [`Token::parse`], [`Token::invoker`] and [`Token::check_invoker`] (who
//! made it, by their own signature), [`Token::issuers`] (whose keys are needed), [`Token::verify`]. Whoever a token speaks for is taken from links that were verified, never from
//! one that merely came along. There is no check for single use: clients send one token many times.
#![warn(missing_docs)]

mod base58;
mod car;
mod cbor;
mod did;
mod json;
mod link;
mod token;
mod verify;

pub use did::{Did, Key};
pub use token::Token;
pub use verify::{Keys, Terms, Verified};

/// Characters of a token, as it stands in the header.
pub const TOKEN_CHARS_MAX: usize = 64 * 1024;
/// Links from the invocation to the root, both counted.
pub const DEPTH_MAX: usize = 8;
/// Blocks of an archive.
pub const BLOCKS_MAX: usize = 64;
/// Proofs of one link, and capabilities of one.
pub const LIST_MAX: usize = 64;
/// What tokens of this door are about.
pub const RESOURCE: &str = "ixo:memory";

/// Why a token does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    /// 401: it is nobody's token, or not of now. 403: it does not allow this.
    pub status: u16,
    /// In words that quote nothing of the token.
    pub why: &'static str,
}

impl Refused {
    /// A token that proves nothing.
    pub(crate) const fn unproven(why: &'static str) -> Self {
        Self { status: 401, why }
    }

    /// A token that proves something else.
    pub(crate) const fn not_allowed(why: &'static str) -> Self {
        Self { status: 403, why }
    }
}

pub(crate) const MALFORMED: Refused =
    Refused::unproven("the token is malformed: expected a UCAN 0.9.1 archive in base64");
