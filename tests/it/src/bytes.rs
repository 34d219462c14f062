//! Looks for a secret in raw bytes, in every form a storage engine might have left it in.
//!
//! A full-text index keeps terms in lower case and drops the prefix a term shares with its
//! neighbour, so the tail of the secret is searched for on its own too.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use memchr::memmem;

/// Every byte form of one secret.
#[derive(Clone, Debug)]
pub struct Needles {
    forms: Vec<(String, Vec<u8>)>,
}

impl Needles {
    /// The forms of `secret`, which must be long enough not to be found by accident.
    pub fn of(secret: &str) -> Self {
        assert!(secret.len() >= 24, "a short secret is found by accident");
        let mut forms: Vec<(String, Vec<u8>)> = Vec::new();
        let lower = secret.to_lowercase();
        let tail = |text: &str| text[text.len() / 2..].to_owned();
        for (case, text) in [("as is", secret), ("lower case", &lower)] {
            forms.push((format!("UTF-8 {case}"), text.as_bytes().to_vec()));
            forms.push((format!("tail {case}"), tail(text).into_bytes()));
            let wide = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            forms.push((format!("UTF-16LE {case}"), wide));
            for shift in 0..3 {
                forms.push((format!("base64+{shift} {case}"), base64_core(text, shift)));
            }
        }
        Self { forms }
    }

    /// Pieces of some bytes that are no text, such as a vector: a file that kept any of it is found,
    /// however much of the rest was written over.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let pieces = bytes.chunks_exact(24).enumerate();
        let forms: Vec<_> = pieces
            .map(|(number, piece)| (format!("bytes {}…", number * 24), piece.to_vec()))
            .collect();
        assert!(!forms.is_empty(), "a short secret is found by accident");
        Self { forms }
    }

    fn find(&self, haystack: &[u8]) -> Vec<&str> {
        let found = self.forms.iter().filter(|(_, form)| memmem::find(haystack, form).is_some());
        found.map(|(name, _)| name.as_str()).collect()
    }
}

/// What base64 text around the secret must contain when the secret starts at `shift` modulo three.
fn base64_core(text: &str, shift: usize) -> Vec<u8> {
    let padded = [&vec![0; shift][..], text.as_bytes()].concat();
    let encoded = STANDARD_NO_PAD.encode(&padded).into_bytes();
    // The characters that mix in a neighbouring byte are cut off at both ends.
    encoded[(shift * 8).div_ceil(6)..padded.len() * 8 / 6].to_vec()
}

/// The forms of the secret found in some bytes, each with `place` named.
pub fn hits_in(place: &str, haystack: &[u8], needles: &Needles) -> Vec<String> {
    needles.find(haystack).into_iter().map(|form| format!("{place}: {form}")).collect()
}

/// The forms of the secret found in names and bytes of every file below a folder.
pub fn hits_in_dir(folder: &Path, needles: &Needles) -> Vec<String> {
    let mut hits = Vec::new();
    for entry in fs::read_dir(folder).expect("the data directory can be listed") {
        let entry = entry.expect("the data directory can be listed");
        let path = entry.path();
        let kind = entry.file_type().expect("a directory entry has a type");
        let name = path.display().to_string();
        hits.extend(hits_in(&format!("name {name}"), name.as_bytes(), needles));
        if kind.is_dir() {
            hits.extend(hits_in_dir(&path, needles));
        } else if kind.is_file() {
            // A file may vanish between the listing and the read; then it holds nothing.
            let bytes = fs::read(&path).unwrap_or_default();
            hits.extend(hits_in(&name, &bytes, needles));
        }
    }
    hits
}
