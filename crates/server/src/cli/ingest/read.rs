//! Reads a document as text, whatever it is written in.

use super::chunks::Markup;
use super::pdf;
use crate::exit::Failure;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes of a document.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The text of a document and how it is written.
pub(super) fn read(path: &Path) -> Result<(String, Markup), Failure> {
    let name = path.display();
    let mut bytes = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|error| Failure::io(format_args!("cannot read {name}"), &error))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Failure::failed(format!("{name} is over {FILE_BYTES_MAX} bytes")));
    }
    let extension = path.extension().and_then(|one| one.to_str()).unwrap_or_default();
    if bytes.starts_with(b"%PDF-") {
        return pdf::text(bytes)
            .map(|text| (text, Markup::Plain))
            .map_err(|why| Failure::failed(format!("{name} cannot be read as PDF: {why}")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::failed(format!("{name} is neither UTF-8 text nor PDF")))?;
    let is_markdown =
        ["md", "markdown", "mdx"].iter().any(|one| extension.eq_ignore_ascii_case(one));
    Ok((text, if is_markdown { Markup::Markdown } else { Markup::Plain }))
}
