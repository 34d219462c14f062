//! Cuts a document into pieces that can be found and read by themselves: along headings, then
//! paragraphs, then sentences, never inside a word. Each piece begins with the headings it stands
//! under, so that it says what it is about.

/// Characters of a piece, headings aside.
const CHARS_MAX: usize = 1200;
/// Characters of one heading.
const HEADING_CHARS_MAX: usize = 120;

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    Markdown,
    Plain,
}

/// The pieces of a document, in order.
pub(super) fn chunks(text: &str, markup: Markup) -> Vec<String> {
    let mut chunks = Vec::new();
    for section in sections(text, markup) {
        let heading = section.headings.join(" > ");
        for piece in pieces(&section.body) {
            let chunk = if heading.is_empty() { piece } else { format!("{heading}\n\n{piece}") };
            chunks.push(chunk);
        }
    }
    chunks
}

struct Section {
    headings: Vec<String>,
    body: String,
}

/// What stands under each heading. A `#` inside a block of code is no heading.
fn sections(text: &str, markup: Markup) -> Vec<Section> {
    let mut sections = vec![Section { headings: Vec::new(), body: String::new() }];
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        is_code ^= markup == Markup::Markdown && is_fence;
        match heading(line).filter(|_| markup == Markup::Markdown && !is_code) {
            Some((depth, title)) => {
                open.retain(|(above, _)| *above < depth);
                open.push((depth, title.chars().take(HEADING_CHARS_MAX).collect()));
                let headings = open.iter().map(|(_, title)| title.clone()).collect();
                sections.push(Section { headings, body: String::new() });
            }
            None => {
                let last = sections.last_mut().expect("there is one from the start");
                last.body.push_str(line);
                last.body.push('\n');
            }
        }
    }
    sections.retain(|section| !section.body.trim().is_empty());
    sections
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let depth = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(depth..)?.strip_prefix(' ')?.trim().trim_end_matches('#').trim();
    ((1..=6).contains(&depth) && !title.is_empty()).then_some((depth, title))
}

/// Paragraphs, as many together as fit.
fn pieces(body: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut piece = String::new();
    for paragraph in body.split("\n\n").map(str::trim).filter(|one| !one.is_empty()) {
        for part in parts(paragraph) {
            let is_full = piece.chars().count() + part.chars().count() + 2 > CHARS_MAX;
            if is_full && !piece.is_empty() {
                pieces.push(std::mem::take(&mut piece));
            }
            if !piece.is_empty() {
                piece.push_str("\n\n");
            }
            piece.push_str(&part);
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// A paragraph, cut at sentences, or at spaces where a sentence is too long.
fn parts(paragraph: &str) -> Vec<String> {
    if paragraph.chars().count() <= CHARS_MAX {
        return vec![paragraph.to_owned()];
    }
    let mut parts = Vec::new();
    let mut rest = paragraph;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(CHARS_MAX).map_or(rest.len(), |(at, _)| at);
        let cut = match end == rest.len() {
            true => end,
            false => {
                let head = &rest[..end];
                let sentence = [". ", "? ", "! ", ".\n", "\n"];
                let at = sentence.iter().filter_map(|mark| Some(head.rfind(mark)? + mark.len()));
                let at = at.max().filter(|at| *at > end / 3);
                at.or_else(|| head.rfind(char::is_whitespace).filter(|at| *at > 0)).unwrap_or(end)
            }
        };
        let part = rest[..cut].trim();
        if !part.is_empty() {
            parts.push(part.to_owned());
        }
        rest = rest[cut..].trim_start();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_says_where_it_stands() {
        let text = "Before.\n\n# Guide\n\nHello.\n\n## Set-up #\n\nRun it.\n\n```\n# no heading\n```\n\n# Next\n\nBye.\n";
        assert_eq!(
            chunks(text, Markup::Markdown),
            [
                "Before.",
                "Guide\n\nHello.",
                "Guide > Set-up\n\nRun it.\n\n```\n# no heading\n```",
                "Next\n\nBye.",
            ]
        );
        assert_eq!(chunks("# one\n\ntwo", Markup::Plain), ["# one\n\ntwo"]);
        assert!(chunks(" \n\n# Only a heading\n", Markup::Markdown).is_empty());
    }

    #[test]
    fn nothing_is_lost_and_nothing_is_too_long() {
        let sentence = "Ähnliche Wörter stehen hier, eines nach dem anderen. ";
        for text in [sentence.repeat(200), "x".repeat(5000), "wort ".repeat(2000)] {
            let all = chunks(&text, Markup::Plain);
            assert!(all.iter().all(|one| one.chars().count() <= CHARS_MAX + 2), "{}", all.len());
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
            assert_eq!(all.iter().map(|one| letters(one)).sum::<usize>(), letters(&text));
        }
    }
}
