//! The extractor from outside: any text at all, and sets of sentences written by hand.

mod any_text;
mod sentences;
