//! From the clock of the clients to moments of the feed: what must have happened before a request
//! was sent, and what cannot have happened before its answer was there.

/// Looked up by time.
pub(crate) struct Moments {
    /// When answers came, and the highest number acknowledged by then.
    acknowledged: Vec<(u64, u64)>,
    /// When requests were sent, and the lowest number of those sent from then on.
    begun: Vec<(u64, u64)>,
    end: u64,
}

impl Moments {
    /// From the span of each entry (number, sent, answered) and the feed's end.
    pub(crate) fn of(spans: Vec<(u64, u64, u64)>, end: u64) -> Self {
        let mut acknowledged: Vec<_> =
            spans.iter().map(|(seq, _, answered)| (*answered, *seq)).collect();
        acknowledged.sort_unstable();
        let mut highest = 0;
        for (_, seq) in &mut acknowledged {
            highest = highest.max(*seq);
            *seq = highest;
        }
        let mut begun: Vec<_> = spans.into_iter().map(|(seq, sent, _)| (sent, seq)).collect();
        begun.sort_unstable();
        let mut lowest = u64::MAX;
        for (_, seq) in begun.iter_mut().rev() {
            lowest = lowest.min(*seq);
            *seq = lowest;
        }
        Self { acknowledged, begun, end }
    }

    /// The earliest state that a request sent at this time may meet.
    pub(crate) fn first(&self, sent: u64) -> u64 {
        let count = self.acknowledged.partition_point(|(answered, _)| *answered < sent);
        self.acknowledged[..count].last().map_or(0, |(_, seq)| *seq)
    }

    /// The latest state that an answer given by this time may tell of.
    pub(crate) fn last(&self, answered: u64) -> u64 {
        let index = self.begun.partition_point(|(sent, _)| *sent <= answered);
        self.begun.get(index).map_or(self.end, |(_, seq)| seq - 1)
    }
}
