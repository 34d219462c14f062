//! `loci import`: reads an export, sent as it is read, so that its size does not matter.

use super::client::Client;
use super::output::{Format, Progress, number_or_dash};
use crate::exit::Failure;
use axum::body::Body;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use tokio::sync::mpsc;

const CHUNK: usize = 64 * 1024;
/// Chunks read ahead of what the server has taken.
const AHEAD: usize = 8;

pub(super) async fn run(client: &mut Client, format: Format, from: &Path) -> Result<(), Failure> {
    let chunks = match from == Path::new("-") {
        true => read(io::stdin()),
        false => read(File::open(from).map_err(|error| {
            Failure::io(format_args!("cannot read {}", from.display()), &error)
        })?),
    };
    let progress = Progress::start("import");
    let body = stream::unfold((chunks, progress), |(mut chunks, mut progress)| async move {
        let chunk = chunks.recv().await?;
        progress.advance(chunk.as_ref().map_or(0, Bytes::len));
        Some((chunk, (chunks, progress)))
    });
    // A refused import reads on to the end, and in this process it may ask once more after it.
    let done = client.upload("/v1/import", Body::from_stream(body.fuse())).await?;
    format.show(&done, || format!("{} items", number_or_dash(&done, "items")))
}

/// Reads on a thread of its own: standard input cannot be waited for in any other way.
fn read(mut from: impl Read + Send + 'static) -> mpsc::Receiver<io::Result<Bytes>> {
    let (send, chunks) = mpsc::channel(AHEAD);
    std::thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        loop {
            let chunk = match from.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => Ok(Bytes::copy_from_slice(&buffer[..count])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let is_last = chunk.is_err();
            // A server that has answered already does not take the rest.
            if send.blocking_send(chunk).is_err() || is_last {
                return;
            }
        }
    });
    chunks
}
