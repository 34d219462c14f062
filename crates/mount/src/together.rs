//! Edits that come at the same moment go to the server together, in one request and one durable commit;
//! one by itself goes at once, on the task that waits for it. An edit is not refused because of another:
//! if a batch is refused, each edit of it goes alone.
//!
//! While few edits are under way, others need not wait for them. While many are, whatever comes
//! gathers until it is as much or until they are answered, because a few large requests carry more
//! than many small ones.

use crate::port::{Act, Done, Edit, Refusal};
use crate::volume::Volume;
use futures_util::future::join_all;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Requests under way for one store.
const UNDER_WAY_MAX: usize = 2;
/// From so many edits under way on, a request begins beside them only with as many.
const MANY: usize = 16;
/// Edits of one request.
const EDITS_MAX: usize = 256;
/// Bytes of content of one request, unless one edit alone has more.
const BYTES_MAX: usize = 512 * 1024;

type Answer = oneshot::Sender<Result<Done, Refusal>>;

/// The edits of one store that are not sent yet.
#[derive(Default)]
pub(crate) struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    edits: VecDeque<(Edit, Answer)>,
    /// Who is on the way: as long as an edit waits, at least one.
    senders: usize,
    /// Edits that were sent and are not answered.
    under_way: usize,
}

impl Waiting {
    /// Whether what waits is worth a request beside what is under way.
    fn is_enough(&self) -> bool {
        self.under_way < MANY || self.edits.len() >= self.under_way
    }
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an edit; says whether somebody has to be sent for it.
    fn add(&self, edit: Edit, answer: Answer) -> bool {
        let mut waiting = self.waiting();
        waiting.edits.push_back((edit, answer));
        let is_wanted = waiting.senders < UNDER_WAY_MAX && waiting.is_enough();
        waiting.senders += usize::from(is_wanted);
        is_wanted
    }

    /// The next batch, for whoever has brought home this many answers; whoever gets none is done.
    fn next(&self, answered: usize) -> Option<(Vec<Edit>, Vec<Answer>)> {
        let mut waiting = self.waiting();
        waiting.under_way -= answered;
        let mut bytes = 0;
        let fits = waiting.edits.iter().take(EDITS_MAX).take_while(|(edit, _)| {
            bytes += size(edit);
            bytes <= BYTES_MAX
        });
        let count = fits.count().max(1).min(waiting.edits.len());
        // Where many are under way, their sender comes back for what waits.
        if count == 0 || !waiting.is_enough() {
            waiting.senders -= 1;
            return None;
        }
        waiting.under_way += count;
        Some(waiting.edits.drain(..count).unzip())
    }
}

fn size(edit: &Edit) -> usize {
    match &edit.act {
        Act::Put { text, .. } => text.as_ref().map_or(0, String::len),
        Act::Append { text, .. } => text.len(),
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
        self.edit_under(store, edits, None).await
    }

    /// One edit in a request of its own, which can be sent again under its key and happens once.
    pub(crate) async fn edit_once(
        &self,
        store: usize,
        edit: Edit,
        key: &str,
    ) -> Result<Done, Refusal> {
        Ok(self.edit_under(store, vec![edit], Some(key)).await?.remove(0))
    }

    async fn edit_under(
        &self,
        store: usize,
        edits: Vec<Edit>,
        key: Option<&str>,
    ) -> Result<Vec<Done>, Refusal> {
        // A closed store says of everything that it is not there, which would be taken for removals.
        self.tree().check_store(store).map_err(|_| Refusal::Denied)?;
        let count = edits.len();
        let done = self.ask(self.port.edit(self.stores[store], edits, key)).await?;
        if done.len() == count {
            Ok(done)
        } else {
            Err(Refusal::Unreachable("the answer has not one line for each edit".into()))
        }
    }

    /// One edit, with whatever others come at the same moment.
    pub(crate) async fn edit(self: &Arc<Self>, store: usize, edit: Edit) -> Result<Done, Refusal> {
        let (answer, answered) = oneshot::channel();
        if self.queues[store].add(edit, answer)
            && let Some((edits, answers)) = self.queues[store].next(0)
        {
            // A task of its own would cost a lone edit two hand-overs between threads. A batch has one,
            // so that no other edit of it is lost when this caller gives up.
            if edits.len() == 1 {
                let _after = After { volume: self, store };
                self.send(store, edits, answers).await;
            } else {
                self.send_on(store, edits, answers);
            }
        }
        let is_over = || Refusal::Unreachable("the mount is ending".into());
        answered.await.unwrap_or_else(|_| Err(is_over()))
    }

    /// Sends a batch, and what has gathered meanwhile, until nothing waits.
    fn send_on(self: &Arc<Self>, store: usize, edits: Vec<Edit>, answers: Vec<Answer>) {
        let volume = Arc::clone(self);
        self.spawn(async move {
            let mut batch = Some((edits, answers));
            while let Some((edits, answers)) = batch {
                let count = answers.len();
                volume.send(store, edits, answers).await;
                batch = volume.queues[store].next(count);
            }
        });
    }

    async fn send(&self, store: usize, mut edits: Vec<Edit>, answers: Vec<Answer>) {
        let results: Vec<Result<Done, Refusal>> = if edits.len() == 1 {
            vec![self.edit_alone(store, edits.remove(0)).await]
        } else {
            self.send_batch(store, edits).await
        };
        for (answer, result) in answers.into_iter().zip(results) {
            // A caller that gave up waits for no answer.
            let _ = answer.send(result);
        }
    }

    async fn edit_alone(&self, store: usize, edit: Edit) -> Result<Done, Refusal> {
        Ok(self.edit_all(store, vec![edit]).await?.remove(0))
    }

    async fn send_batch(&self, store: usize, edits: Vec<Edit>) -> Vec<Result<Done, Refusal>> {
        match self.edit_all(store, edits.clone()).await {
            Ok(done) => done.into_iter().map(Ok).collect(),
            // What was not reached for all of them is not reached for one.
            Err(refusal @ Refusal::Unreachable(_)) => {
                edits.iter().map(|_| Err(refusal.clone())).collect()
            }
            Err(_) => join_all(edits.into_iter().map(|edit| self.edit_alone(store, edit))).await,
        }
    }
}

/// Goes on with what has gathered while a lone edit was under way, also when its caller gave up.
struct After<'v> {
    volume: &'v Arc<Volume>,
    store: usize,
}

impl Drop for After<'_> {
    fn drop(&mut self) {
        if let Some((edits, answers)) = self.volume.queues[self.store].next(1) {
            self.volume.send_on(self.store, edits, answers);
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
        Edit { at, expect, act: Act::Append { text: "x".repeat(bytes), is_own_line: false } }
    }

    #[test]
    fn a_few_go_at_once_and_the_rest_together_within_bounds() {
        let queue = Queue::default();
        let add = |bytes| queue.add(edit(bytes), oneshot::channel().0);
        let took = |answered| queue.next(answered).map(|(edits, _)| edits.len());
        assert!(add(1) && add(1), "the first two are sent for");
        assert!(!add(BYTES_MAX * 2) && !add(1), "the others wait for those who are on their way");
        assert_eq!([took(0), took(0), took(2), took(1)], [Some(2), Some(1), Some(1), None]);
        assert!(add(1), "whoever went home is sent for again");
        assert_eq!([took(0), took(1), took(1)], [Some(1), None, None]);
    }

    #[test]
    fn beside_many_only_as_many_begin() {
        let queue = Queue::default();
        let add = || queue.add(edit(10), oneshot::channel().0);
        let took = |answered| queue.next(answered).map(|(edits, _)| edits.len());
        assert!(add() && add());
        (0..MANY).for_each(|_| assert!(!add(), "two are on the way"));
        assert_eq!([took(0), took(0)], [Some(MANY + 2), None]);
        (1..MANY + 2).for_each(|_| assert!(!add(), "not as many yet"));
        assert!(add(), "as many as are under way");
        assert_eq!(took(0), Some(MANY + 2));
    }

    #[test]
    fn what_gathers_goes_when_the_many_are_answered() {
        let queue = Queue::default();
        let add = || queue.add(edit(10), oneshot::channel().0);
        let took = |answered| queue.next(answered).map(|(edits, _)| edits.len());
        assert!(add(), "the first is sent for");
        assert_eq!(took(0), Some(1));
        for index in 0..EDITS_MAX + 5 {
            assert_eq!(add(), index == 0, "one more goes beside the first");
        }
        assert_eq!(took(0), Some(EDITS_MAX));
        assert_eq!(took(1), None, "the first comes home, and many are still under way");
        assert!(!add(), "so nobody is sent for");
        assert_eq!(took(EDITS_MAX), Some(6), "the sender of the many takes what has gathered");
        assert_eq!(took(6), None);
        assert!(add(), "nobody is on the way any more");
    }
}
