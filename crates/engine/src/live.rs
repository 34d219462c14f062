//! The feeds of all stores that a caller may read as one stream, for as long as somebody looks.
//!
//! A stream holds a moment and one number for each store and nothing else; so it can be taken up by any
//! server from a few bytes. Who may read what is asked at every look, and so is whether the credential still
//! counts: whoever loses something meanwhile learns nothing more of it.

use crate::search::News;
use crate::{Context, Engine, Error, Result};
use loci_model::policy::{self, ReadPass};
use loci_model::{Change, Invalid, StoreId, Timestamp, limit};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Between two looks when nobody says anything.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Writes within this time come together: fast enough for eyes, and cheap for writers.
const BREATH: Duration = Duration::from_millis(80);
/// Stores of one stream; the oldest, for who has more.
const LIVE_STORES_MAX: usize = 1000;
/// Bytes of a position: the end of a store's id, which is random, and its number.
const ID_BYTES: usize = 8;

/// Something that a stream tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveEvent {
    /// A change.
    Change(Change),
    /// More was waiting than a stream tells: what lies between is in the store's feed.
    Gap {
        /// Which store.
        store: StoreId,
        /// The last number that was told.
        after: u64,
        /// The stream goes on after this one.
        until: u64,
    },
    /// What the caller may see has changed.
    Access,
}

/// One stream.
pub struct Live {
    engine: Engine,
    context: Context,
    /// The hash of what the caller showed, where that can be asked about again.
    shown: Option<[u8; 32]>,
    only: Option<StoreId>,
    places: BTreeMap<StoreId, u64>,
    /// What is made from then on is told from its beginning.
    began: Timestamp,
    /// When it looked last.
    looked: Timestamp,
    news: watch::Receiver<News>,
}

impl Engine {
    /// Opens a stream of all stores, or of one, from where an earlier one was or from now on.
    pub async fn live(
        &self,
        context: Context,
        shown: Option<[u8; 32]>,
        only: Option<StoreId>,
        from: Option<&[u8]>,
    ) -> Result<Live> {
        if let Some(store) = only {
            self.read_pass(&context, store).await?;
        }
        let now = to_millis(self.seams.now());
        let is_resumed = from.is_some();
        let (began, from) = match from {
            Some(from) => read_cursor(from)?,
            None => (now, BTreeMap::new()),
        };
        let mut live = Live {
            engine: self.clone(),
            context,
            shown,
            only,
            places: BTreeMap::new(),
            began: began.min(now),
            looked: now,
            news: self.search.news.subscribe(),
        };
        for (store, (_, end)) in live.readable().await? {
            let place = from.get(&id_end(store)).copied();
            // Only an earlier stream can have missed a store: for a new one, what is there is old, even
            // when it was made within this very millisecond.
            let is_missed = is_resumed && store_made(store) >= live.began;
            let start = if is_missed { 0 } else { end };
            live.places.insert(store, place.map_or(start, |place| place.min(end)));
        }
        Ok(live)
    }
}

impl Live {
    /// How many stores it follows.
    pub fn stores(&self) -> usize {
        self.places.len()
    }

    /// Where it is, for [`Engine::live`] to go on from.
    pub fn cursor(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(ID_BYTES + self.places.len() * (ID_BYTES + 3));
        write_number(&mut bytes, u64::try_from(self.looked.as_micros() / 1000).unwrap_or(0));
        for (store, seq) in &self.places {
            bytes.extend(id_end(*store));
            write_number(&mut bytes, *seq);
        }
        bytes
    }

    /// Waits until something happens and tells it; nothing when nothing did for so long, `None` when
    /// the server stops. Fails when the caller is nobody any more.
    pub async fn next(&mut self, patience: Duration) -> Result<Option<Vec<LiveEvent>>> {
        let end = Instant::now() + patience;
        loop {
            if self.news.borrow_and_update().is_over {
                return Ok(None);
            }
            let told = self.look().await?;
            if !told.is_empty() || Instant::now() >= end {
                return Ok(Some(told));
            }
            let next_look = end.min(Instant::now() + LOOK_EVERY);
            if let Ok(Ok(())) = tokio::time::timeout_at(next_look, self.news.changed()).await
                && !self.news.borrow().is_over
            {
                tokio::time::sleep(BREATH).await;
            }
        }
    }

    async fn look(&mut self) -> Result<Vec<LiveEvent>> {
        let mut told = Vec::new();
        let is_other = self.ask_again().await?;
        self.looked = to_millis(self.engine.seams.now());
        let readable = self.readable().await?;
        let is_same = readable.keys().eq(self.places.keys());
        if is_other || !is_same {
            told.push(LiveEvent::Access);
        }
        self.places.retain(|store, _| readable.contains_key(store));
        for (store, (pass, end)) in readable {
            // What was made while somebody looks is shown from its beginning.
            let is_new = store_made(store) >= self.began;
            let place = self.places.entry(store).or_insert(if is_new { 0 } else { end });
            if *place >= end {
                continue;
            }
            let waiting = limit::CHANGES_PAGE_MAX;
            if end - *place > waiting as u64 {
                told.push(LiveEvent::Gap { store, after: *place, until: end });
                *place = end;
                continue;
            }
            let changes = self.engine.storage.changes(&pass, *place, waiting).await?;
            *place = changes.last().map_or(*place, |change| change.seq);
            told.extend(changes.into_iter().map(LiveEvent::Change));
        }
        Ok(told)
    }

    /// Asks whether the credential still counts and what it is worth; says whether that changed.
    async fn ask_again(&mut self) -> Result<bool> {
        let caller = &mut self.context.caller;
        let fresh = self.engine.caller_again(caller, self.shown.as_ref()).await?;
        let is_other = fresh != *caller;
        *caller = fresh;
        Ok(is_other)
    }

    /// The stores that may be read right now, and how far each is.
    async fn readable(&self) -> Result<BTreeMap<StoreId, (ReadPass, u64)>> {
        let caller = &self.context.caller;
        let now = self.engine.seams.now();
        let facts = self.engine.storage.all_facts(caller).await?;
        let wanted =
            facts.iter().filter(|facts| self.only.is_none_or(|only| only == facts.store.id));
        let passes: Vec<ReadPass> = wanted
            .filter_map(|facts| policy::read(caller, facts, now).ok())
            .take(LIVE_STORES_MAX)
            .collect();
        let system = policy::System::because("each of these stores may be read, as was just asked");
        let stores = passes.iter().map(ReadPass::store).collect();
        let pass = system.search(caller.workspace, stores, now);
        let ends = self.engine.storage.feed_ends(&pass).await?;
        let ends: BTreeMap<StoreId, u64> = ends.iter().map(|end| (end.store, end.seq)).collect();
        let known =
            |pass: ReadPass| Some((pass.store(), (pass.clone(), *ends.get(&pass.store())?)));
        Ok(passes.into_iter().filter_map(known).collect())
    }
}

/// When an id was made: ids begin with the milliseconds of their making.
fn store_made(store: StoreId) -> Timestamp {
    let millis = store.as_u128() >> 80;
    Timestamp::from_micros(i64::try_from(millis).unwrap_or(0).saturating_mul(1000))
}

/// A moment as far as ids tell it.
fn to_millis(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(at.as_micros().div_euclid(1000) * 1000)
}

fn id_end(store: StoreId) -> [u8; ID_BYTES] {
    let bytes = store.to_bytes();
    let mut end = [0; ID_BYTES];
    end.copy_from_slice(&bytes[bytes.len() - ID_BYTES..]);
    end
}

/// Seven bits a byte, the smallest first.
fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).expect("seven bits are a byte") | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).expect("seven bits are a byte"));
}

/// The number at the beginning of some bytes, and the rest.
fn read_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let (number, rest) = bytes.split_at(length);
    let number = number.iter().rev();
    let number = number.fold(0u64, |number, byte| number << 7 | u64::from(byte & 0x7f));
    (length <= 9).then_some((number, rest))
}

fn read_cursor(bytes: &[u8]) -> Result<(Timestamp, BTreeMap<[u8; ID_BYTES], u64>)> {
    let wrong = || Error::from(Invalid::new("after", "is not one that was given out"));
    let (millis, mut rest) = read_number(bytes).ok_or_else(wrong)?;
    let micros = i64::try_from(millis).map_err(|_| wrong())?.saturating_mul(1000);
    let mut places = BTreeMap::new();
    while !rest.is_empty() {
        let (id, after) = rest.split_first_chunk().ok_or_else(wrong)?;
        let (number, after) = read_number(after).ok_or_else(wrong)?;
        if places.len() >= LIVE_STORES_MAX {
            return Err(wrong());
        }
        places.insert(*id, number);
        rest = after;
    }
    Ok((Timestamp::from_micros(micros), places))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_survive_the_way_through_bytes() {
        for number in [0, 1, 127, 128, 300, 65_535, 1 << 40, (1 << 63) - 1] {
            let mut bytes = Vec::new();
            write_number(&mut bytes, 1_700_000_000_000);
            bytes.extend([7; ID_BYTES]);
            write_number(&mut bytes, number);
            bytes.extend([9; ID_BYTES]);
            write_number(&mut bytes, 5);
            let (at, places) = read_cursor(&bytes).unwrap();
            assert_eq!(at.as_micros(), 1_700_000_000_000_000);
            assert_eq!((places[&[7; 8]], places[&[9; 8]]), (number, 5));
        }
        for wrong in [&[][..], &[1, 2, 3], &[7; 9], &[0xff; 30]] {
            assert!(read_cursor(wrong).is_err(), "{wrong:?}");
        }
        assert!(read_cursor(&[5]).unwrap().1.is_empty());
    }
}
