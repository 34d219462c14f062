//! Contexts that were compiled lately. One counts while the feeds of its stores end where they ended
//! and nothing it was made of has expired, and in no case longer than five minutes.
//!
//! Who may read which stores is decided anew for every request, before anything is looked up here:
//! what was taken back makes another set of stores, and so another key.

use super::SlotContext;
use loci_model::{PrincipalId, SessionId, StoreId, Timestamp};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How long one counts at most: what depends on the date is this old at most.
const FRESH_SECS: i64 = 300;
/// How many are kept.
const TOLD_MAX: usize = 1024;
/// Bytes of their texts and memories together.
const BYTES_MAX: usize = 32 << 20;

/// For whom, of which stores, in how many bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct For {
    pub(super) principal: PrincipalId,
    pub(super) session: Option<SessionId>,
    /// In order.
    pub(super) stores: Vec<StoreId>,
    pub(super) bytes_max: usize,
}

struct Told {
    /// Where the feeds and readings ended, in the order of the stores.
    ends: Vec<u64>,
    made: Timestamp,
    until: Timestamp,
    bytes: usize,
    context: Arc<SlotContext>,
}

/// What was told lately.
#[derive(Default)]
pub(crate) struct ToldLately(Mutex<HashMap<For, Told>>);

impl ToldLately {
    /// What was told, if it is all true still.
    pub(super) fn get(&self, of: &For, ends: &[u64], now: Timestamp) -> Option<Arc<SlotContext>> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = told.get(of)?;
        // A clock that went back makes it no younger.
        if found.ends == ends && found.made <= now && now < found.until {
            return Some(Arc::clone(&found.context));
        }
        told.remove(of);
        None
    }

    /// Remembers what is told; `expires_at` is when the first thing it was made of does.
    pub(super) fn put(
        &self,
        of: For,
        ends: Vec<u64>,
        context: &Arc<SlotContext>,
        now: Timestamp,
        expires_at: Option<Timestamp>,
    ) {
        let latest = now.plus_secs(FRESH_SECS);
        let until = expires_at.map_or(latest, |end| end.min(latest));
        let bytes = weight(context);
        let context = Arc::clone(context);
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.insert(of, Told { ends, made: now, until, bytes, context });
        let total = |told: &HashMap<For, Told>| told.values().map(|one| one.bytes).sum::<usize>();
        if told.len() <= TOLD_MAX && total(&told) <= BYTES_MAX {
            return;
        }
        told.retain(|_, one| now < one.until);
        while told.len() > TOLD_MAX || total(&told) > BYTES_MAX {
            let oldest = told.iter().min_by_key(|(_, one)| one.made).map(|(of, _)| of.clone());
            let Some(oldest) = oldest else { break };
            told.remove(&oldest);
        }
    }
}

/// About how many bytes it takes.
fn weight(context: &SlotContext) -> usize {
    let facts = context.slots.iter().flat_map(|slot| &slot.facts);
    let facts: usize = facts.map(|(_, fact)| size_of_val(fact) + fact.text.len() * 2).sum();
    let episodes = context.slots.iter().flat_map(|slot| &slot.episodes);
    let episodes: usize = episodes
        .map(|memory| {
            size_of_val(memory) + usize::try_from(memory.size_bytes).unwrap_or(usize::MAX)
        })
        .sum();
    context.text.len() + facts + episodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: u128) -> For {
        let stores = vec![StoreId::from_u128(number)];
        For { principal: PrincipalId::from_u128(1), session: None, stores, bytes_max: 100 }
    }

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_micros(0).plus_secs(secs)
    }

    fn context(bytes: usize) -> Arc<SlotContext> {
        Arc::new(SlotContext { slots: Vec::new(), text: "x".repeat(bytes) })
    }

    #[test]
    fn it_counts_until_something_changes_or_expires_and_for_five_minutes_at_most() {
        let told = ToldLately::default();
        let put = |expires_at| told.put(of(1), vec![7], &context(1), at(1000), expires_at);
        let has = |ends: &[u64], secs| told.get(&of(1), ends, at(secs)).is_some();
        put(None);
        assert!(has(&[7], 1000) && has(&[7], 1299) && !has(&[7], 1300));
        put(None);
        assert!(!has(&[8], 1001), "something was written");
        assert!(!has(&[7], 1001), "and it is not taken up again");
        put(Some(at(1010)));
        assert!(has(&[7], 1009) && !has(&[7], 1010));
        put(None);
        assert!(!has(&[7], 999), "the clock went back");
    }

    #[test]
    fn it_is_bounded_and_the_oldest_goes_first() {
        let told = ToldLately::default();
        for number in 0..=TOLD_MAX {
            told.put(of(number as u128), vec![1], &context(1), at(number as i64 / 10), None);
        }
        assert!(told.0.lock().unwrap().len() <= TOLD_MAX);
        for number in 0..5 {
            told.put(of(number), vec![1], &context(BYTES_MAX / 4), at(200), None);
        }
        let kept = told.0.lock().unwrap();
        assert!(kept.values().map(|one| one.bytes).sum::<usize>() <= BYTES_MAX);
        assert!(!kept.is_empty());
    }
}
