//! How many of something one principal may have at the same time, beside what all of them may have
//! together: nobody takes everything there is. Counted by principal and not by key, because whoever
//! has one key can make more.

use crate::error::Failure;
use loci_engine::Error;
use loci_model::PrincipalId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// After how many seconds somebody who has enough may ask again.
const RETRY_SECS: u32 = 1;

/// What is shared out.
pub(crate) struct Shares {
    all_max: usize,
    each_max: usize,
    taken: Mutex<HashMap<PrincipalId, usize>>,
}

impl Shares {
    pub(crate) fn new(all_max: usize, each_max: usize) -> Arc<Self> {
        Arc::new(Self { all_max, each_max, taken: Mutex::default() })
    }

    /// Takes one for a principal, or says why not: `own` when they have enough, `all` when nothing is
    /// left.
    pub(crate) fn take(
        self: &Arc<Self>,
        principal: PrincipalId,
        own: &'static str,
        all: &'static str,
    ) -> Result<Share, Failure> {
        let mut taken = self.lock();
        if taken.get(&principal).is_some_and(|count| *count >= self.each_max) {
            return Err((&Error::TooMany { why: own, after_secs: RETRY_SECS }).into());
        }
        if taken.values().sum::<usize>() >= self.all_max {
            return Err((&Error::Unavailable(all)).into());
        }
        *taken.entry(principal).or_default() += 1;
        Ok(Share { of: Arc::clone(self), principal })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PrincipalId, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of what is shared out; given back when it is dropped.
pub(crate) struct Share {
    of: Arc<Shares>,
    principal: PrincipalId,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.of.lock();
        if let Some(count) = taken.get_mut(&self.principal) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.principal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_takes_everything_and_what_is_given_back_can_be_taken() {
        let shares = Shares::new(3, 2);
        let [one, other] = [1, 2].map(PrincipalId::from_u128);
        let take = |who| shares.take(who, "own", "all");
        let first = take(one).ok().unwrap();
        let _second = take(one).ok().unwrap();
        assert!(take(one).is_err());
        let third = take(other).ok().unwrap();
        assert!(take(other).is_err(), "none is left");
        drop(first);
        let fourth = take(other).ok().unwrap();
        assert!(take(one).is_err(), "none is left");
        drop((third, fourth));
        assert!(take(one).is_ok());
        assert_eq!(shares.lock().len(), 1);
    }
}
