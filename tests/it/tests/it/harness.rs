//! Tests of the harness: a search for leaked bytes that finds nothing has to mean something, and a
//! crowd in which somebody stands twice would spoil every count.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use loci_it::{Needles, crowd, hits_in};

const SECRET: &str = "QwErTyUiOpAsDfGhJkLzXcVbNm";

#[track_caller]
fn check(haystack: &[u8], expect: bool) {
    let hits = hits_in("here", haystack, &Needles::of(SECRET));
    assert_eq!(!hits.is_empty(), expect, "{hits:?}");
}

#[test]
fn every_form_of_a_secret_is_found_and_nothing_else() {
    check(b"nothing to see, QwErTyUiOpAs only the head", false);
    check(format!("xx{SECRET}yy").as_bytes(), true);
    check(SECRET.to_lowercase().as_bytes(), true);
    check(SECRET[14..].to_lowercase().as_bytes(), false);
    check(SECRET[13..].to_lowercase().as_bytes(), true);
    let wide: Vec<u8> = SECRET.encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(&wide, true);
    for before in ["", "a", "ab", "abc"] {
        check(STANDARD.encode(format!("{before}{SECRET}zz")).as_bytes(), true);
    }
}

#[test]
fn no_sentence_comes_twice() {
    let sentences: BTreeSet<String> = (0..1728).map(crowd).collect();
    assert_eq!(sentences.len(), 1728);
}
