//! Edits that come at the same moment go to the server together, in one request and one durable commit;
//! one by itself goes at once. Nobody is refused because of somebody else: if a batch is refused, each
//! edit of it goes alone.

use crate::port::{Act, Done, Edit, Refusal};
use crate::volume::Volume;
use futures_util::future::join_all;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Requests under way for one store: while one is being made durable, the next gathers.
const UNDER_WAY_MAX: usize = 2;
/// Edits of one request.
const EDITS_MAX: usize = 128;
/// Bytes of content of one request, unless one edit alone has more.
const BYTES_MAX: usize = 512 * 1024;

type Answer = oneshot::Sender<Result<Done, Refusal>>;

/// The edits of one store that are not sent yet.
#[derive(Default)]
pub(crate) struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    edits: VecDeque<(Edit, Answer)>,
    under_way: usize,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an edit; says whether somebody has to be sent for it.
    fn add(&self, edit: Edit, answer: Answer) -> bool {
        let mut waiting = self.waiting();
        waiting.edits.push_back((edit, answer));
        let is_wanted = waiting.under_way < UNDER_WAY_MAX;
        waiting.under_way += usize::from(is_wanted);
        is_wanted
    }

    /// The next batch; whoever gets none is done.
    fn next(&self) -> Option<(Vec<Edit>, Vec<Answer>)> {
        let mut waiting = self.waiting();
        let mut bytes = 0;
        let fits = waiting.edits.iter().take(EDITS_MAX).take_while(|(edit, _)| {
            bytes += size(edit);
            bytes <= BYTES_MAX
        });
        let count = fits.count().max(1).min(waiting.edits.len());
        if count == 0 {
            waiting.under_way -= 1;
            return None;
        }
        Some(waiting.edits.drain(..count).unzip())
    }
}

fn size(edit: &Edit) -> usize {
    match &edit.act {
        Act::Put { text, .. } => text.as_ref().map_or(0, String::len),
        Act::Append(text) => text.len(),
        Act::Remove => 0,
    }
}

impl Volume {
    /// All of these edits or none; the answer has one line each.
    pub(crate) async fn edit_all(
        &self,
        store: usize,
        edits: Vec<Edit>,
    ) -> Result<Vec<Done>, Refusal> {
        let count = edits.len();
        let done = self.ask(self.port.edit(self.stores[store], edits)).await?;
        if done.len() == count {
            Ok(done)
        } else {
            Err(Refusal::Unreachable("the answer has not one line for each edit".into()))
        }
    }

    /// One edit, with whatever others come at the same moment.
    pub(crate) async fn edit(self: &Arc<Self>, store: usize, edit: Edit) -> Result<Done, Refusal> {
        let (answer, answered) = oneshot::channel();
        if self.queues[store].add(edit, answer) {
            let volume = Arc::clone(self);
            self.spawn(async move {
                while let Some((edits, answers)) = volume.queues[store].next() {
                    volume.send(store, edits, answers).await;
                }
            });
        }
        let is_over = || Refusal::Unreachable("the mount is ending".into());
        answered.await.unwrap_or_else(|_| Err(is_over()))
    }

    async fn send(&self, store: usize, edits: Vec<Edit>, answers: Vec<Answer>) {
        let results: Vec<Result<Done, Refusal>> = match self.edit_all(store, edits.clone()).await {
            Ok(done) => done.into_iter().map(Ok).collect(),
            // What was not reached for all of them is not reached for one.
            Err(refusal @ Refusal::Unreachable(_)) => {
                answers.iter().map(|_| Err(refusal.clone())).collect()
            }
            Err(refusal) if edits.len() == 1 => vec![Err(refusal)],
            Err(_) => {
                join_all(edits.into_iter().map(|edit| async {
                    self.edit_all(store, vec![edit]).await.map(|mut done| done.remove(0))
                }))
                .await
            }
        };
        for (answer, result) in answers.into_iter().zip(results) {
            // Whoever gave up waiting wants no answer.
            let _ = answer.send(result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::At;
    use loci_model::{Expect, MemoryId};

    fn edit(bytes: usize) -> Edit {
        let (at, expect) = (At::Memory(MemoryId::from_u128(1)), Expect::Present);
        Edit { at, expect, act: Act::Append("x".repeat(bytes)) }
    }

    #[test]
    fn a_few_go_at_once_and_the_rest_together_within_bounds() {
        let queue = Queue::default();
        let add = |bytes| queue.add(edit(bytes), oneshot::channel().0);
        let took = || queue.next().map(|(edits, _)| edits.len());
        assert!(add(1) && add(1), "the first two are sent for");
        assert!(!add(BYTES_MAX * 2) && !add(1), "the others wait for those who are on their way");
        assert_eq!([took(), took(), took()], [Some(2), Some(1), Some(1)]);
        for _ in 0..EDITS_MAX + 5 {
            assert!(!add(10));
        }
        assert_eq!([took(), took()], [Some(EDITS_MAX), Some(5)]);
        assert_eq!([took(), took()], [None, None]);
        assert!(add(1), "whoever went home is sent for again");
    }
}
