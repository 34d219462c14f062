//! The text of a PDF, read by a process of its own that may use so much memory and processor time and
//! no more. A small file can unfold to any size, and its reader ends the process when it gets no more
//! memory, or panics on what is broken: that is a file that cannot be read, and not the end of us.

use crate::exit::Failure;
use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

/// The hidden command that reads a PDF from standard input and writes its text.
pub(in crate::cli) const COMMAND: &str = "read-pdf";
/// Address space of the process: about a gigabyte beside what the program reserves when it starts.
const MEMORY_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Seconds of processor time.
const CPU_SECS_MAX: u64 = 60;
/// Bytes of text.
const TEXT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Bytes of a reason.
const REASON_BYTES_MAX: u64 = 1024;

/// The text of a PDF, or why there is none.
pub(super) fn text(bytes: Vec<u8>) -> Result<String, String> {
    let cannot = |error: io::Error| format!("no process can be started for it: {error}");
    let mut child = std::env::current_exe()
        // It needs nothing that is set for this process, and keys least of all.
        .and_then(|own| {
            Command::new(own)
                .arg(COMMAND)
                .env_clear()
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
        })
        .map_err(cannot)?;
    let mut to = child.stdin.take().expect("it was just piped");
    let writing = std::thread::spawn(move || {
        // A reader that ends early says why.
        let _ = to.write_all(&bytes);
    });
    let mut text = Vec::new();
    let from = child.stdout.take().expect("it was just piped");
    let read = from.take(TEXT_BYTES_MAX + 1).read_to_end(&mut text);
    let is_too_long = text.len() as u64 > TEXT_BYTES_MAX;
    if is_too_long || read.is_err() {
        // Gone already is as good.
        let _ = child.kill();
    }
    let mut reason = Vec::new();
    let said = child.stderr.take().expect("it was just piped");
    let _ = said.take(REASON_BYTES_MAX).read_to_end(&mut reason);
    let ended = child.wait().map_err(cannot)?;
    // With the reader gone, writing has ended, too.
    let _ = writing.join();
    match ended.success() {
        _ if is_too_long => Err(format!("its text is over {TEXT_BYTES_MAX} bytes")),
        true => String::from_utf8(text).map_err(|_| "its text is no text".to_owned()),
        false => Err(why(ended, &String::from_utf8_lossy(&reason))),
    }
}

fn why(ended: ExitStatus, said: &str) -> String {
    match ended.signal() {
        None if !said.trim().is_empty() => said.trim().to_owned(),
        Some(signal) if signal == Signal::XCPU.as_raw() => {
            format!("it takes more than {CPU_SECS_MAX} seconds to read")
        }
        Some(signal) if signal == Signal::ABORT.as_raw() => {
            "it takes more memory than a document may".to_owned()
        }
        _ => format!("the process that read it ended with {ended}"),
    }
}

/// Reads a PDF from standard input and writes its text to standard output, within the limits.
pub(in crate::cli) fn serve() -> Result<(), Failure> {
    let bounded = |most| Rlimit { current: Some(most), maximum: Some(most) };
    let limits = [(Resource::As, MEMORY_BYTES_MAX), (Resource::Cpu, CPU_SECS_MAX)];
    for (resource, most) in limits {
        setrlimit(resource, bounded(most))
            .map_err(|error| Failure::io("cannot bound the reader", &error.into()))?;
    }
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Failure::io("cannot read the document", &error))?;
    let text = extracted(&bytes).map_err(|why| {
        let why: String = why.chars().take(200).collect();
        eprintln!("{why}");
        Failure::failed("")
    })?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

fn extracted(bytes: &[u8]) -> Result<String, String> {
    std::panic::set_hook(Box::new(|_| {}));
    match std::panic::catch_unwind(|| pdf_extract::extract_text_from_mem(bytes)) {
        Ok(Ok(text)) if text.trim().is_empty() => Err("there is no text in it".to_owned()),
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("it is damaged".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_a_reader_is_told() {
        let cases = [
            (1 << 8, "there is no text in it", "there is no text in it"),
            (6, "memory allocation of 9 bytes failed", "more memory"),
            (24, "", "60 seconds"),
            (9, "", "signal: 9"),
            (3 << 8, " ", "exit status: 3"),
        ];
        for (raw, said, expect) in cases {
            let told = why(ExitStatus::from_raw(raw), said);
            assert!(told.contains(expect), "{raw}: {told}");
        }
    }
}
