//! Large answers are written down on threads that may be blocked, as those of all doors are. The library
//! writes an answer within the future that it answers by; so once a handler has said that an answer is
//! large, that future goes on elsewhere.

use super::{Answer, batch};
use http::request::Parts;
use loci_engine::Engine;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

/// What is less than this is written on the spot, which is quicker.
const LARGE_BYTES: usize = 32 * 1024;

/// About how many bytes the answer to a request has, as soon as that is known. It travels with the
/// request.
#[derive(Debug, Clone, Default)]
pub(super) struct Size(Arc<AtomicUsize>);

impl Size {
    fn is_large(&self) -> bool {
        self.0.load(Ordering::Acquire) >= LARGE_BYTES
    }
}

/// Says how large the answer to a request will be.
pub(super) fn note_size(parts: &Parts, bytes: usize) {
    if let Some(size) = parts.extensions.get::<Size>() {
        size.0.store(bytes, Ordering::Release);
    }
}

/// An answer, written elsewhere if it is large.
pub(super) async fn answered(
    engine: &Engine,
    size: &Size,
    answering: impl Future<Output = Answer> + Send + 'static,
) -> Answer {
    let mut answering = Box::pin(answering);
    let small = poll_fn(|cx| match size.is_large() {
        true => Poll::Ready(None),
        false => answering.as_mut().poll(cx).map(Some),
    });
    if let Some(answer) = small.await {
        return answer;
    }
    let here = tokio::runtime::Handle::current();
    let written = engine.written(usize::MAX, move || here.block_on(answering)).await;
    written.unwrap_or_else(|error| batch::failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Response;
    use http_body_util::{BodyExt, Full};
    use loci_engine::seam::Seams;
    use loci_storage_memory::MemStorage;
    use std::thread;

    #[tokio::test]
    async fn only_a_large_answer_is_written_elsewhere() {
        let engine = Engine::new(Arc::new(MemStorage::new()), Seams::real());
        let here = thread::current().id();
        for (bytes, is_here) in [(0, true), (LARGE_BYTES - 1, true), (LARGE_BYTES, false)] {
            let size = Size::default();
            let (mut parts, ()) = http::Request::new(()).into_parts();
            parts.extensions.insert(size.clone());
            let (wrote, written) = std::sync::mpsc::channel();
            let answer = answered(&engine, &size, async move {
                let handler = tokio::spawn(async move {
                    tokio::task::yield_now().await;
                    note_size(&parts, bytes);
                });
                handler.await.unwrap();
                wrote.send(thread::current().id()).unwrap();
                Response::new(Full::default().boxed())
            });
            assert_eq!(answer.await.status(), 200);
            assert_eq!(written.recv().unwrap() == here, is_here, "{bytes}");
        }
    }
}
