//! Keys of issuers as they were found, for a while. What was not found is not kept: whoever publishes
//! their keys a moment later is known a moment later.
//!
//! Lookups lead to addresses that strangers name and take as long as those like, so they are shared out:
//! an address that sends tokens has a part of the turns, and only so many lookups that find nothing. A
//! domain has a part of them, whoever names it, and so have all lookups together that are not the first one
//! of an address whose lookups find something: the rest is for those who come for the first time.

use super::super::slow::network;
use super::KeySource;
use loci_engine::Error;
use loci_ucan::{Did, Key};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// How long keys count as they were found; somebody who takes a key out of use waits this long.
const AGE_MAX: Duration = Duration::from_secs(600);
/// DIDs whose keys are kept.
const KEPT_MAX: usize = 10_000;
/// Lookups at once; others wait.
const LOOKUPS_MAX: usize = 16;
/// For one lookup, waiting included.
const PATIENCE: Duration = Duration::from_secs(3);
/// Lookups at once for tokens that one address sends.
const LOOKUPS_PER_PEER: usize = 4;
/// Lookups at once of what lies at one domain.
const LOOKUPS_PER_DOMAIN: usize = 2;
/// Lookups at once that are not the only one of an address without failures.
const LOOKUPS_OF_OTHERS: usize = 8;
/// Lookups that find nothing, which one address has free.
const FAILURES_FREE: f64 = 30.0;
/// In how many seconds it earns one back.
const FAILURE_SECS: u32 = 2;
/// Addresses that are counted at once.
const PEERS_MAX: usize = 10_000;

const SPENT: Error = Error::TooMany {
    why: "too many tokens from this address named issuers whose keys were not found; slow down",
    after_secs: FAILURE_SECS,
};

pub(super) struct KnownKeys {
    source: Arc<dyn KeySource>,
    kept: Mutex<HashMap<Did, (Instant, Vec<Key>)>>,
    lookups: Arc<Semaphore>,
    /// For those that are not the only one of an address without failures.
    others: Arc<Semaphore>,
    peers: Mutex<HashMap<IpAddr, Arc<Peer>>>,
    domains: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// An address that sends tokens.
struct Peer {
    turns: Arc<Semaphore>,
    /// Failures that it has left, and when that was.
    left: Mutex<(f64, Instant)>,
}

impl Peer {
    fn new() -> Self {
        let left = Mutex::new((FAILURES_FREE, Instant::now()));
        Self { turns: Arc::new(Semaphore::new(LOOKUPS_PER_PEER)), left }
    }

    /// The failures that are left now, after so many more.
    fn left_after(&self, failures: f64) -> f64 {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let earned = now.duration_since(left.1).as_secs_f64() / f64::from(FAILURE_SECS);
        *left = ((left.0 + earned).min(FAILURES_FREE) - failures, now);
        left.0
    }
}

impl KnownKeys {
    pub(super) fn new(source: Arc<dyn KeySource>) -> Self {
        let turns = |count| Arc::new(Semaphore::new(count));
        Self {
            source,
            kept: Mutex::default(),
            lookups: turns(LOOKUPS_MAX),
            others: turns(LOOKUPS_OF_OTHERS),
            peers: Mutex::default(),
            domains: Mutex::default(),
        }
    }

    /// The keys of a DID, if they were found lately.
    pub(super) fn kept(&self, did: &Did) -> Option<Vec<Key>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, keys) = kept.get(did).filter(|(found_at, _)| found_at.elapsed() < AGE_MAX)?;
        Some(keys.clone())
    }

    /// Looks up the keys of a DID for a token from an address; none if they cannot be had.
    pub(super) async fn find(&self, did: &Did, from: IpAddr) -> Result<Vec<Key>, Error> {
        let peer = self.peer(network(from));
        if peer.left_after(0.0) < 1.0 {
            return Err(SPENT);
        }
        let found = tokio::time::timeout(PATIENCE, self.look_up(did, &peer)).await;
        let why = match found {
            Ok(Ok(keys)) if !keys.is_empty() => {
                self.keep(did, &keys);
                return Ok(keys);
            }
            Ok(Ok(_)) => "there is none of a sort that counts",
            Ok(Err(why)) => why,
            Err(_elapsed) => "it took too long",
        };
        tracing::info!(method = did.method(), why, "the keys of a DID were not found");
        peer.left_after(1.0);
        Ok(Vec::new())
    }

    async fn look_up(&self, did: &Did, peer: &Peer) -> Result<Vec<Key>, &'static str> {
        let own = permit(&peer.turns).await?;
        let at_domain = match domain(did) {
            Some(domain) => Some(permit(&self.turns_at(domain)).await?),
            None => None,
        };
        let is_only = peer.turns.available_permits() == LOOKUPS_PER_PEER - 1;
        let other = match is_only && peer.left_after(0.0) >= FAILURES_FREE {
            true => None,
            false => Some(permit(&self.others).await?),
        };
        let shared = permit(&self.lookups).await?;
        let (source, did) = (Arc::clone(&self.source), did.clone());
        let work = tokio::task::spawn_blocking(move || {
            // Held until the thread is free again, even when nobody waits any more.
            let _permits = (own, at_domain, other, shared);
            source.keys(&did)
        });
        work.await.unwrap_or(Err("the lookup failed"))
    }

    fn turns_at(&self, domain: String) -> Arc<Semaphore> {
        let mut domains = self.domains.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody asks or waits for are not kept.
        domains.retain(|_, turns| {
            Arc::strong_count(turns) > 1 || turns.available_permits() < LOOKUPS_PER_DOMAIN
        });
        let turns = domains.entry(domain);
        Arc::clone(turns.or_insert_with(|| Arc::new(Semaphore::new(LOOKUPS_PER_DOMAIN))))
    }

    fn peer(&self, address: IpAddr) -> Arc<Peer> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() >= PEERS_MAX && !peers.contains_key(&address) {
            peers.retain(|_, peer| Arc::strong_count(peer) > 1 || peer.left_after(0.0) < 1.0);
            if peers.len() >= PEERS_MAX {
                peers.clear();
            }
        }
        Arc::clone(peers.entry(address).or_insert_with(|| Arc::new(Peer::new())))
    }

    fn keep(&self, did: &Did, keys: &[Key]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.retain(|_, (found_at, _)| found_at.elapsed() < AGE_MAX);
        }
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(did.clone(), (Instant::now(), keys.to_vec()));
    }
}

/// Where the document of a DID lies, whatever its port and path; none where the operator said it.
fn domain(did: &Did) -> Option<String> {
    let first = did.name().split(':').next().filter(|_| did.method() == "web")?;
    let host = first.to_ascii_lowercase();
    Some(host.split("%3a").next().unwrap_or(&host).trim_end_matches('.').to_owned())
}

async fn permit(turns: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, &'static str> {
    Arc::clone(turns).acquire_owned().await.map_err(|_| "the server is stopping")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Condvar;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn did(number: usize) -> Did {
        Did::parse(&format!("did:ixo:ixo1abc{number}")).unwrap()
    }

    fn some_key() -> Key {
        Key::from_bytes(&[7; 32]).unwrap()
    }

    struct Counting {
        asked: AtomicUsize,
        failures: usize,
    }

    impl KeySource for Counting {
        fn keys(&self, _: &Did) -> Result<Vec<Key>, &'static str> {
            let before = self.asked.fetch_add(1, Ordering::SeqCst);
            if before < self.failures { Err("not now") } else { Ok(vec![some_key()]) }
        }
    }

    fn counting(failures: usize) -> (Arc<Counting>, KnownKeys) {
        let source = Arc::new(Counting { asked: AtomicUsize::new(0), failures });
        let known = KnownKeys::new(Arc::clone(&source) as Arc<dyn KeySource>);
        (source, known)
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_found_is_kept_for_a_while_and_what_was_not_is_not() {
        let (source, known) = counting(1);
        assert!(known.find(&did(1), ONE).await.unwrap().is_empty());
        assert!(known.kept(&did(1)).is_none());
        assert_eq!(known.find(&did(1), ONE).await.unwrap().len(), 1);
        assert_eq!(known.kept(&did(1)).unwrap().len(), 1);
        assert_eq!(source.asked.load(Ordering::SeqCst), 2);
        tokio::time::advance(AGE_MAX).await;
        assert!(known.kept(&did(1)).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_only_so_many_lookups_that_find_nothing() {
        let (source, known) = counting(usize::MAX);
        for number in 0..30 {
            assert!(known.find(&did(number), ONE).await.unwrap().is_empty());
        }
        let refused = known.find(&did(99), ONE).await;
        assert!(matches!(refused, Err(Error::TooMany { after_secs: 2, .. })), "{refused:?}");
        assert_eq!(source.asked.load(Ordering::SeqCst), 30, "nobody was asked");
        assert!(known.find(&did(99), OTHER).await.is_ok(), "addresses do not share");
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(known.find(&did(99), ONE).await.is_ok());
        assert!(known.find(&did(99), ONE).await.is_err());
    }

    /// A source that answers for one DID at once, and for others when it is let go.
    #[derive(Default)]
    struct Tarpit {
        stuck: Mutex<(usize, bool)>,
        changed: Condvar,
    }

    impl KeySource for Tarpit {
        fn keys(&self, asked: &Did) -> Result<Vec<Key>, &'static str> {
            if *asked == did(0) {
                return Ok(vec![some_key()]);
            }
            let mut stuck = self.stuck.lock().unwrap();
            stuck.0 += 1;
            self.changed.notify_all();
            drop(self.changed.wait_while(stuck, |stuck| !stuck.1).unwrap());
            Err("it said nothing for long")
        }
    }

    /// Waits until so many lookups are stuck.
    async fn stuck(source: &Arc<Tarpit>, count: usize) {
        let waiting = Arc::clone(source);
        let all_stuck = tokio::task::spawn_blocking(move || {
            let stuck = waiting.stuck.lock().unwrap();
            drop(waiting.changed.wait_while(stuck, |stuck| stuck.0 < count).unwrap());
        });
        all_stuck.await.unwrap();
    }

    #[tokio::test]
    async fn several_addresses_do_not_keep_others_from_being_looked_up() {
        let source = Arc::new(Tarpit::default());
        let known = Arc::new(KnownKeys::new(Arc::clone(&source) as Arc<dyn KeySource>));
        let asking: Vec<_> = (1..=4)
            .flat_map(|address| (0..16).map(move |number| (address, number)))
            .map(|(address, number)| {
                let (known, from) = (Arc::clone(&known), IpAddr::from([198, 51, 100, address]));
                let did = did(usize::from(address) * 100 + number);
                tokio::spawn(async move { known.find(&did, from).await.map(drop) })
            })
            .collect();
        stuck(&source, 4 + LOOKUPS_OF_OTHERS).await;
        assert_eq!(known.find(&did(0), ONE).await.unwrap().len(), 1);
        assert_eq!(source.stuck.lock().unwrap().0, 4 + LOOKUPS_OF_OTHERS);
        source.stuck.lock().unwrap().1 = true;
        source.changed.notify_all();
        for asked in asking {
            let _ = asked.await.unwrap();
        }
    }

    #[tokio::test]
    async fn one_domain_does_not_keep_others_from_being_looked_up() {
        let source = Arc::new(Tarpit::default());
        let known = Arc::new(KnownKeys::new(Arc::clone(&source) as Arc<dyn KeySource>));
        let asking: Vec<_> = (1..=32)
            .map(|address| {
                let (known, from) = (Arc::clone(&known), IpAddr::from([198, 51, 100, address]));
                // Ports, paths and capitals make no other domain.
                let name = ["slow.example", "SLOW.example%3A8443", "slow.example.%3a1"]
                    [usize::from(address) % 3];
                let did = Did::parse(&format!("did:web:{name}:{address}")).unwrap();
                tokio::spawn(async move { known.find(&did, from).await.map(drop) })
            })
            .collect();
        stuck(&source, LOOKUPS_PER_DOMAIN).await;
        assert_eq!(known.find(&did(0), ONE).await.unwrap().len(), 1);
        assert_eq!(source.stuck.lock().unwrap().0, LOOKUPS_PER_DOMAIN);
        source.stuck.lock().unwrap().1 = true;
        source.changed.notify_all();
        for asked in asking {
            let _ = asked.await.unwrap();
        }
        assert!(known.turns_at("other.example".to_owned()).available_permits() > 0);
        assert_eq!(known.domains.lock().unwrap().len(), 1, "what nobody asks is not kept");
    }

    #[tokio::test]
    async fn one_address_does_not_keep_others_from_being_looked_up() {
        let source = Arc::new(Tarpit::default());
        let known = Arc::new(KnownKeys::new(Arc::clone(&source) as Arc<dyn KeySource>));
        let asking: Vec<_> = (1..=64)
            .map(|number| {
                let known = Arc::clone(&known);
                tokio::spawn(async move { known.find(&did(number), ONE).await.map(drop) })
            })
            .collect();
        let waiting = Arc::clone(&source);
        let all_stuck = tokio::task::spawn_blocking(move || {
            let stuck = waiting.stuck.lock().unwrap();
            drop(waiting.changed.wait_while(stuck, |stuck| stuck.0 < LOOKUPS_PER_PEER).unwrap());
        });
        all_stuck.await.unwrap();
        assert_eq!(known.find(&did(0), OTHER).await.unwrap().len(), 1);
        assert_eq!(source.stuck.lock().unwrap().0, LOOKUPS_PER_PEER);
        source.stuck.lock().unwrap().1 = true;
        source.changed.notify_all();
        for asked in asking {
            // Looked up and not found, or over the budget.
            let _ = asked.await.unwrap();
        }
    }
}
