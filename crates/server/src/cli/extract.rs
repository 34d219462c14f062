//! `loci extract`: reads messages as JSON lines and writes what they claim, a line for a line, as they
//! come. Needs no memories and opens none; what it prints depends on its input alone.

use crate::exit::Failure;
use loci_knowledge::claim::{Claim, Utterance};
use loci_knowledge::extract::extract;
use loci_model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

/// The longest line, in bytes.
const LINE_BYTES_MAX: usize = 1024 * 1024;
/// Who speaks if a line does not say.
const SPEAKER_DEFAULT: &str = "User";

/// One message; fields it does not know are passed over.
#[derive(Deserialize)]
struct Line {
    id: Value,
    #[serde(default)]
    speaker: Option<String>,
    at: String,
    text: String,
}

/// What one message claims.
#[derive(Serialize)]
struct Read<'a> {
    id: &'a Value,
    facts: Vec<Fact<'a>>,
}

#[derive(Serialize)]
struct Fact<'a> {
    subject: &'a str,
    relation: &'a str,
    object: &'a str,
    negated: bool,
    valid_at: Option<String>,
    invalid_at: Option<String>,
}

pub(super) fn run(from: &Path) -> Result<(), Failure> {
    let out = BufWriter::new(io::stdout().lock());
    if from == Path::new("-") {
        return copy(BufReader::new(io::stdin()), out);
    }
    let file = File::open(from)
        .map_err(|error| Failure::io(format_args!("cannot read {}", from.display()), &error))?;
    copy(BufReader::new(file), out)
}

/// Answers each line of `lines`. Whoever waits for an answer gets it: nothing is held back while the
/// input has nothing more to offer.
fn copy<R: io::Read>(mut lines: BufReader<R>, mut out: impl Write) -> Result<(), Failure> {
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let limit = LINE_BYTES_MAX as u64 + 1;
        let count = io::Read::take(&mut lines, limit)
            .read_until(b'\n', &mut line)
            .map_err(|error| Failure::io("cannot read the input", &error))?;
        if count == 0 {
            break;
        }
        let end = line.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
        let answered = match &line[..end] {
            [] => Ok(()),
            line if line.len() > LINE_BYTES_MAX => {
                Err(format!("is longer than {LINE_BYTES_MAX} bytes"))
            }
            line => answer(line, &mut out)?,
        };
        if let Err(why) = answered {
            // What was right before it is printed all the same.
            out.flush()?;
            return Err(Failure::usage(format!("line {number} {why}")));
        }
        if lines.buffer().is_empty() {
            out.flush()?;
        }
    }
    Ok(out.flush()?)
}

/// Writes the answer to one line, or says what is wrong with it.
fn answer(line: &[u8], out: &mut impl Write) -> Result<Result<(), String>, Failure> {
    let message: Line = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => return Ok(Err(format!("is not {{id, speaker, at, text}}: {error}"))),
    };
    if !(message.id.is_string() || message.id.is_number()) {
        return Ok(Err("has an id that is neither a string nor a number".to_owned()));
    }
    let Some(at) = moment(&message.at) else {
        return Ok(Err("has an at that is neither RFC 3339 nor a date".to_owned()));
    };
    let speaker = message.speaker.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let speaker = speaker.unwrap_or(SPEAKER_DEFAULT);
    let claims = extract(Utterance { speaker, at, text: &message.text });
    let read = Read { id: &message.id, facts: claims.iter().map(fact).collect() };
    serde_json::to_writer(&mut *out, &read).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(Ok(()))
}

/// A time, or the beginning of a day.
fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    Timestamp::parse(text).or_else(|_| Timestamp::parse(&format!("{text}T00:00:00Z"))).ok()
}

fn fact(claim: &Claim) -> Fact<'_> {
    Fact {
        subject: &claim.subject.name,
        relation: claim.relation.name(),
        object: &claim.object.name,
        negated: claim.is_negated,
        valid_at: claim.valid_at.map(|at| at.to_string()),
        invalid_at: claim.invalid_at.map(|at| at.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(input: &str) -> (String, Result<(), Failure>) {
        let mut out = Vec::new();
        let done = copy(BufReader::new(input.as_bytes()), &mut out);
        (String::from_utf8(out).unwrap(), done)
    }

    #[test]
    fn a_line_is_answered_by_a_line() {
        let (out, done) = answers(
            "{\"id\":7,\"speaker\":\"Ana\",\"at\":\"2026-03-10\",\"text\":\"I moved to Oslo in May 2020.\",\"x\":1}\n\n\
             {\"id\":\"b\",\"at\":\"2026-03-10T09:00:00Z\",\"text\":\"Hello there\"}",
        );
        done.unwrap();
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(
            lines[0],
            "{\"id\":7,\"facts\":[{\"subject\":\"Ana\",\"relation\":\"LivesAt\",\"object\":\"Oslo\",\
             \"negated\":false,\"valid_at\":\"2020-05-01T00:00:00.000000Z\",\"invalid_at\":null}]}"
        );
        assert_eq!(lines[1], "{\"id\":\"b\",\"facts\":[]}");
    }

    #[test]
    fn a_bad_line_is_named_and_what_was_before_it_is_answered() {
        let good = "{\"id\":1,\"at\":\"2026-03-10\",\"text\":\"I like tea\"}\n";
        let long = "x".repeat(LINE_BYTES_MAX + 9);
        for (bad, why) in [
            ("nonsense", "line 2 is not"),
            ("{\"id\":1,\"text\":\"a\"}", "missing field `at`"),
            ("{\"id\":[],\"at\":\"2026-03-10\",\"text\":\"a\"}", "neither a string nor a number"),
            ("{\"id\":1,\"at\":\"soon\",\"text\":\"a\"}", "neither RFC 3339 nor a date"),
            (long.as_str(), "longer than 1048576 bytes"),
        ] {
            let (out, done) = answers(&format!("{good}{bad}\n{good}"));
            let failure = done.unwrap_err();
            assert!(failure.message.contains(why), "{}", failure.message);
            assert_eq!(failure.exit, crate::exit::Exit::Usage);
            assert_eq!(out.lines().count(), 1, "{why}");
            assert!(out.contains("\"subject\":\"User\""), "{out}");
        }
    }
}
