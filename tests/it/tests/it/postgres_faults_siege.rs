//! Clients that go on asking one server while its database fails: writers, readers, and somebody who
//! asks whether the server is alive and ready. Every request is sent once; what was acknowledged has
//! to be there in the end, and what was not, once at most.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use loci_it::{Api, Client, Dice, Server, budget, sha256};
use serde_json::json;

const WRITERS: usize = 16;
const READERS: usize = 8;
/// Answers before the fault and after it, so that connections are open and in use.
const CALM: usize = 8 * (WRITERS + READERS);
/// What is promised is two seconds; a busy machine may take one of its own.
const ANSWERED_WITHIN: Duration = Duration::from_secs(3);
const ALIVE_WITHIN: Duration = Duration::from_secs(1);
const RECOVERED_WITHIN: Duration = Duration::from_secs(5);
/// Without a refusal for so long, the server counts as recovered.
const QUIET: Duration = Duration::from_millis(1500);
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Write,
    Read,
    Alive,
    Ready,
}

/// One request and its answer.
#[derive(Debug)]
struct Seen {
    kind: Kind,
    sent: Instant,
    took: Duration,
    status: u16,
    says_when: bool,
    /// Of what it wrote.
    digest: Option<String>,
}

/// Statuses allowed while the fault lasts.
#[derive(Clone, Copy)]
pub(crate) struct During<'a> {
    pub(crate) writes: &'a [u16],
    pub(crate) reads: &'a [u16],
    /// Whether the server may call itself ready.
    pub(crate) is_ready: bool,
}

/// Clients at work.
pub(crate) struct Siege {
    name: String,
    api: Api,
    is_over: Arc<AtomicBool>,
    refusals: Arc<AtomicUsize>,
    answers: Arc<AtomicUsize>,
    clients: Vec<JoinHandle<Vec<Seen>>>,
    broken: Instant,
    mending: Instant,
}

/// What was seen.
pub(crate) struct Endured {
    siege: Siege,
    mended: Instant,
}

impl Siege {
    /// Starts the clients and lets them work for a moment. The fault is expected next.
    pub(crate) fn start(server: &Server, name: &str) -> Self {
        Self::with_contents(server, name, 100)
    }

    /// The same with large contents, to use up space.
    pub(crate) fn start_large(server: &Server, name: &str) -> Self {
        Self::with_contents(server, name, 20_000)
    }

    fn with_contents(server: &Server, name: &str, length: usize) -> Self {
        let mut api = Api::create(server.client(), name);
        let first = api.put("/first", "read by everybody").id;
        let mut dice = Dice::new(name);
        let is_over = Arc::new(AtomicBool::new(false));
        let (refusals, answers) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let mut clients = Vec::new();
        for number in 0..WRITERS + READERS + 2 {
            let mut client = Asking {
                kind: match number {
                    0 => Kind::Alive,
                    1 => Kind::Ready,
                    _ if number < 2 + READERS => Kind::Read,
                    _ => Kind::Write,
                },
                // Probes have no key.
                client: if number < 2 { server.client_as(None) } else { server.client() },
                store: api.path(""),
                first: first.clone(),
                number,
                length,
                dice: dice.split(),
                refusals: Arc::clone(&refusals),
                answers: Arc::clone(&answers),
            };
            let is_over = Arc::clone(&is_over);
            clients.push(thread::spawn(move || client.work(&is_over)));
        }
        let now = Instant::now();
        let name = name.to_owned();
        let siege =
            Self { name, api, is_over, refusals, answers, clients, broken: now, mending: now };
        siege.wait_for_answers();
        siege
    }

    /// Waits until the clients have been answered some more times.
    #[track_caller]
    fn wait_for_answers(&self) {
        let (before, began) = (self.answers.load(Ordering::Acquire), Instant::now());
        while self.answers.load(Ordering::Acquire) < before + CALM {
            assert!(began.elapsed() < PATIENCE, "{}: it does not go on", self.name);
            thread::sleep(PAUSE);
        }
    }

    /// Waits while the fault, which is there now, lasts.
    pub(crate) fn holds(&mut self, outage: Duration) {
        self.broken = Instant::now();
        thread::sleep(outage);
    }

    /// Waits until the fault shows.
    pub(crate) fn wait_for_refusals(&self) {
        let began = Instant::now();
        while self.refusals.load(Ordering::Acquire) < WRITERS {
            assert!(began.elapsed() < PATIENCE, "{}: nobody is refused", self.name);
            thread::sleep(PAUSE);
        }
    }

    /// Mends the database and waits until the server goes on.
    pub(crate) fn mended(mut self, mend: impl FnOnce()) -> Endured {
        self.mending = Instant::now();
        mend();
        let mended = Instant::now();
        let (mut last, mut since) = (self.refusals.load(Ordering::Acquire), Instant::now());
        let limit = budget(RECOVERED_WITHIN) + 2 * QUIET;
        while since.elapsed() < QUIET && mended.elapsed() < limit {
            let now = self.refusals.load(Ordering::Acquire);
            if now != last {
                (last, since) = (now, Instant::now());
            }
            thread::sleep(PAUSE);
        }
        self.wait_for_answers();
        Endured { siege: self, mended }
    }
}

impl Endured {
    /// Looks at every answer, then at what the store holds.
    #[track_caller]
    pub(crate) fn verify(self, during: During<'_>) {
        let Self { mut siege, mended } = self;
        siege.is_over.store(true, Ordering::Release);
        let clients = std::mem::take(&mut siege.clients);
        let seen: Vec<Seen> =
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        let name = siege.name.clone();
        for one in &seen {
            let is_orderly = one.status == 200 || one.status == 503 && one.says_when;
            assert!(is_orderly, "{name}: {one:?}");
            assert!(one.took < budget(ANSWERED_WITHIN), "{name}: {one:?}");
            if one.kind == Kind::Alive {
                assert!(one.status == 200 && one.took < budget(ALIVE_WITHIN), "{name}: {one:?}");
            }
            // Sent and answered while the fault lasted.
            if one.sent < siege.broken || one.sent + one.took > siege.mending {
                continue;
            }
            let allowed = match one.kind {
                Kind::Write => during.writes,
                Kind::Read => during.reads,
                Kind::Ready if during.is_ready => &[200, 503],
                Kind::Ready => &[503],
                Kind::Alive => &[200],
            };
            assert!(allowed.contains(&one.status), "{name}: {one:?}");
        }
        let refused = seen.iter().filter(|one| one.status == 503);
        let recovered = refused.map(|one| (one.sent + one.took).max(mended)).max();
        let recovered = recovered.map_or(Duration::ZERO, |last| last - mended);
        let unknown = siege.verify_store(&seen);
        eprintln!("{name}: {}; recovered {recovered:?} after; {unknown}", waits(&seen));
        assert!(recovered < budget(RECOVERED_WITHIN), "{name}: still refused {recovered:?} later");
        let goes_on = seen.iter().filter(|one| one.sent > mended && one.status == 200);
        assert!(goes_on.count() > WRITERS, "{name}: it does not go on");
    }
}

impl Siege {
    /// What was acknowledged is there once, and of the rest nothing is there twice.
    #[track_caller]
    fn verify_store(&mut self, seen: &[Seen]) -> String {
        let mut stored: HashMap<String, usize> = HashMap::new();
        for version in self.api.all_versions() {
            let digest = version["content_sha256"].as_str().unwrap().to_owned();
            *stored.entry(digest).or_default() += 1;
        }
        let numbers = self.api.changes(0);
        let numbers: Vec<u64> = numbers.iter().filter_map(|one| one["seq"].as_u64()).collect();
        assert!(numbers.iter().copied().eq(1..=numbers.len() as u64), "{}: a gap", self.name);
        let (mut acknowledged, mut refused, mut happened) = (0, 0, 0);
        for one in seen {
            let Some(digest) = &one.digest else { continue };
            let times = stored.remove(digest).unwrap_or(0);
            match one.status {
                200 => assert_eq!(times, 1, "{}: acknowledged, and there {times} times", self.name),
                _ => assert!(times <= 1, "{}: refused, and there {times} times", self.name),
            }
            acknowledged += usize::from(one.status == 200);
            refused += usize::from(one.status != 200);
            happened += usize::from(one.status != 200 && times == 1);
        }
        stored.remove(&sha256("read by everybody"));
        assert!(stored.is_empty(), "{}: nobody wrote {} of them", self.name, stored.len());
        format!("{acknowledged} writes acknowledged, {refused} refused, {happened} of them made")
    }
}

/// How long answers took, by kind and outcome.
fn waits(seen: &[Seen]) -> String {
    let mut by_kind: HashMap<(Kind, u16), Vec<Duration>> = HashMap::new();
    for one in seen {
        by_kind.entry((one.kind, one.status)).or_default().push(one.took);
    }
    let mut lines: Vec<String> = by_kind
        .into_iter()
        .map(|((kind, status), mut waits)| {
            waits.sort_unstable();
            let count = waits.len();
            let late = waits[(count * 99 / 100).min(count - 1)].as_millis();
            let max = waits[count - 1].as_millis();
            format!("{kind:?} {status} ×{count} p99 {late} max {max} ms")
        })
        .collect();
    lines.sort_unstable();
    lines.join(", ")
}

/// One client.
struct Asking {
    kind: Kind,
    client: Client,
    store: String,
    first: String,
    number: usize,
    length: usize,
    dice: Dice,
    refusals: Arc<AtomicUsize>,
    /// Of reads and writes that were not refused.
    answers: Arc<AtomicUsize>,
}

impl Asking {
    fn work(&mut self, is_over: &AtomicBool) -> Vec<Seen> {
        let mut seen = Vec::new();
        while !is_over.load(Ordering::Acquire) {
            let one = self.ask(seen.len());
            if one.status != 200 {
                self.refusals.fetch_add(1, Ordering::AcqRel);
            } else if matches!(one.kind, Kind::Write | Kind::Read) {
                self.answers.fetch_add(1, Ordering::AcqRel);
            }
            seen.push(one);
            thread::sleep(PAUSE);
        }
        seen
    }

    fn ask(&mut self, count: usize) -> Seen {
        let content = (self.kind == Kind::Write).then(|| self.dice.hex(self.length));
        let digest = content.as_ref().map(|content| sha256(content));
        let path = format!("/{}/{count}", self.number);
        let body = content.map(|content| json!({"path": path, "content": content}));
        let url = match self.kind {
            Kind::Write => format!("{}/memories", self.store),
            Kind::Read => format!("{}/memories/{}", self.store, self.first),
            Kind::Alive => "/healthz".to_owned(),
            Kind::Ready => "/readyz".to_owned(),
        };
        let method = if self.kind == Kind::Write { "POST" } else { "GET" };
        let sent = Instant::now();
        let reply = self.client.call(method, &url, body.as_ref());
        Seen {
            kind: self.kind,
            sent,
            took: sent.elapsed(),
            status: reply.status,
            says_when: reply.header("retry-after").is_some(),
            digest,
        }
    }
}
