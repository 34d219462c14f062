//! Connections without sockets, in a clock that stands still until everybody waits.

use super::*;
use axum::Extension;
use axum::routing::{get, post};
use http::header::CONTENT_LENGTH;
use loci_engine::seam::Seams;
use loci_engine::{Engine, Secret};
use loci_storage_memory::MemStorage;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use utoipa::openapi::OpenApiBuilder;

const REQUEST: &[u8] = b"GET /ping HTTP/1.1\r\nhost: loci\r\n\r\n";

/// Bytes of a large answer.
const LARGE: usize = 100_000;

struct Listening {
    shared: Arc<Shared>,
    looking: JoinHandle<()>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.looking.abort();
    }
}

impl Listening {
    /// A listener that nobody connects to, with its looks.
    fn new(options: &HttpOptions) -> Self {
        let router = Router::new()
            .route("/ping", get(async || "pong"))
            .route("/large", get(async || vec![b'x'; LARGE]))
            .route("/public", get(async || (Extension(Stranger), vec![b'x'; LARGE])))
            .route("/slow", post(async || sleep(Duration::from_secs(200)).await));
        let shared = Arc::new(Shared::new(router, options));
        let registry = Arc::clone(&shared.registry);
        let looking = tokio::spawn(async move {
            let mut looks = interval(registry.pause());
            loop {
                registry.look(looks.tick().await);
            }
        });
        Self { shared, looking }
    }

    fn connect(&self) -> DuplexStream {
        let (ours, theirs) = duplex(1024);
        admit(&self.shared, ours, Origin::Network(Peer(IpAddr::from([127, 0, 0, 1]))));
        theirs
    }
}

async fn ask(client: &mut DuplexStream, request: &[u8]) -> String {
    client.write_all(request).await.unwrap();
    let mut answer = vec![0; 1024];
    let length = client.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..length]).into_owned()
}

/// How long it takes until the server closes.
async fn closed_after(client: &mut DuplexStream) -> Duration {
    let began = Instant::now();
    assert_eq!(client.read(&mut [0; 8]).await.unwrap_or(0), 0);
    began.elapsed()
}

fn assert_between(took: Duration, least: u64, most: u64) {
    assert!(took >= Duration::from_secs(least) && took <= Duration::from_secs(most), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_went_silent_after_its_first_request_is_closed() {
    let listening = Listening::new(&HttpOptions::default());
    // Everything has arrived before the server reads for the first time.
    let mut client = listening.connect();
    assert!(ask(&mut client, REQUEST).await.contains("pong"));
    assert_between(closed_after(&mut client).await, 75, 78);
    // Or it comes late, when the server has waited for it.
    let mut client = listening.connect();
    sleep(Duration::from_secs(5)).await;
    assert!(ask(&mut client, REQUEST).await.contains("pong"));
    sleep(Duration::from_secs(60)).await;
    assert!(ask(&mut client, REQUEST).await.contains("pong"), "the time begins anew");
    assert_between(closed_after(&mut client).await, 75, 78);
    listening.shared.registry.all_left().await;
}

#[tokio::test(start_paused = true)]
async fn who_is_served_or_takes_an_answer_is_not_idle() {
    let listening = Listening::new(&HttpOptions::default());
    let mut slow = listening.connect();
    let request = b"POST /slow HTTP/1.1\r\nhost: loci\r\ncontent-length: 0\r\n\r\n";
    assert!(ask(&mut slow, request).await.starts_with("HTTP/1.1 200"));

    let mut reader = listening.connect();
    reader.write_all(b"GET /large HTTP/1.1\r\nhost: loci\r\n\r\n").await.unwrap();
    let mut taken = 0;
    while taken < 100_000 {
        sleep(Duration::from_secs(3)).await;
        let read = reader.read(&mut [0; 1024]).await.unwrap();
        assert!(read > 0, "cut off after {taken} bytes");
        taken += read;
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_stops_reading_is_cut_off() {
    let listening = Listening::new(&HttpOptions::default());
    let mut reader = listening.connect();
    reader.write_all(b"GET /large HTTP/1.1\r\nhost: loci\r\n\r\n").await.unwrap();
    let began = Instant::now();
    listening.shared.registry.all_left().await;
    assert_between(began.elapsed(), 10, 12);
}

#[tokio::test(start_paused = true)]
async fn a_newcomer_gets_the_place_of_who_did_nothing_for_longest() {
    let options = HttpOptions { connections_max: 3, ..HttpOptions::default() };
    let listening = Listening::new(&options);
    let mut busy = listening.connect();
    let slow = format!("POST /slow HTTP/1.1\r\nhost: loci\r\n{CONTENT_LENGTH}: 0\r\n\r\n");
    busy.write_all(slow.as_bytes()).await.unwrap();
    let mut idler = listening.connect();
    ask(&mut idler, REQUEST).await;
    sleep(Duration::from_secs(5)).await;
    let mut idle = listening.connect();
    ask(&mut idle, REQUEST).await;
    sleep(Duration::from_secs(5)).await;

    let mut newcomer = listening.connect();
    assert!(ask(&mut newcomer, REQUEST).await.contains("pong"));
    assert_eq!(closed_after(&mut idler).await, Duration::ZERO);
    assert!(ask(&mut idle, REQUEST).await.contains("pong"), "it keeps its place");
}

#[tokio::test(start_paused = true)]
async fn while_all_are_busy_newcomers_are_told_to_come_back() {
    let options = HttpOptions { connections_max: 1, ..HttpOptions::default() };
    let listening = Listening::new(&options);
    let mut busy = listening.connect();
    busy.write_all(b"POST /slow HTTP/1.1\r\nhost: loci\r\ncontent-length: 0\r\n\r\n")
        .await
        .unwrap();
    sleep(Duration::from_secs(2)).await;
    let mut newcomer = listening.connect();
    let answer = ask(&mut newcomer, REQUEST).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    let mut answer = [0; 12];
    busy.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
}

#[tokio::test(start_paused = true)]
async fn who_says_nothing_gives_its_place_to_who_asks() {
    let options = HttpOptions { connections_max: 1, ..HttpOptions::default() };
    let listening = Listening::new(&options);
    let mut silent = listening.connect();
    sleep(Duration::from_secs(2)).await;
    let mut newcomer = listening.connect();
    assert!(ask(&mut newcomer, REQUEST).await.contains("pong"));
    assert_eq!(closed_after(&mut silent).await, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_stranger_who_drips_an_answer_gives_its_place_to_who_asks() {
    let options = HttpOptions { connections_max: 1, ..HttpOptions::default() };
    for (path, keeps_its_place) in [("/public", false), ("/large", true)] {
        let listening = Listening::new(&options);
        let mut reader = listening.connect();
        reader
            .write_all(format!("GET {path} HTTP/1.1\r\nhost: loci\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let dripping = tokio::spawn(async move {
            // Always too soon to be taken for a client that has stopped.
            let mut taken = 0;
            while let Ok(count @ 1..) = reader.read(&mut [0; 64]).await {
                taken += count;
                sleep(Duration::from_secs(3)).await;
            }
            taken
        });
        sleep(Duration::from_secs(5)).await;
        let answer = ask(&mut listening.connect(), REQUEST).await;
        assert!(
            answer.starts_with("HTTP/1.1 503"),
            "everybody may read slowly for a while: {answer}"
        );
        sleep(Duration::from_secs(15)).await;
        // The first who comes has the long answer seen, if nobody came before.
        let answer = ask(&mut listening.connect(), REQUEST).await;
        assert_eq!(answer.contains("pong"), !keeps_its_place, "{path}: {answer}");
        if keeps_its_place {
            dripping.abort();
        } else {
            assert!(dripping.await.unwrap() < LARGE, "it was cut off");
        }
    }
}

#[tokio::test]
async fn an_accepted_connection_is_probed_and_does_not_fill_the_systems_buffer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = Listener::Tcp(listener);
    let (_client, accepted) = tokio::join!(TcpStream::connect(address), accept(&listener));
    let Accepted::Tcp(stream, _) = accepted.unwrap() else { panic!("it came by TCP") };
    let socket = SockRef::from(&stream);
    assert!(socket.keepalive().unwrap() && socket.tcp_nodelay().unwrap());
    assert_eq!(socket.tcp_keepalive_time().unwrap(), PROBE_AFTER);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    assert_eq!(socket.tcp_notsent_lowat().unwrap(), UNSENT_BYTES_MAX);
}

#[test]
fn only_a_lack_of_descriptors_ends_idle_connections() {
    for (errno, expect) in [(Errno::MFILE, true), (Errno::NFILE, true), (Errno::NOMEM, false)] {
        assert_eq!(is_out_of_files(&errno.into()), expect, "{errno}");
    }
}

#[tokio::test]
async fn only_who_shows_a_key_that_counts_is_no_stranger() {
    const KEY: &str = "a-key-that-somebody-gave";
    let engine = Engine::new(Arc::new(MemStorage::new()), Seams::real());
    let start = engine.bootstrap(Some(&Secret::given(KEY))).await.unwrap();
    let operator = LocalOperator(engine.local_operator(&start));
    let described = OpenApiBuilder::new().build();
    let mut router = crate::router(engine, Router::new(), described, &HttpOptions::default());
    let mut is_stranger = async |key: Option<&str>, operator: Option<LocalOperator>| {
        let mut request = Request::get("/v1/whoami").header("host", "localhost");
        if let Some(key) = key {
            request = request.header("x-api-key", key);
        }
        let mut request = request.body(Body::empty()).unwrap();
        if let Some(operator) = operator {
            request.extensions_mut().insert(operator);
        }
        let response = router.call(request).await.unwrap();
        response.extensions().get::<Stranger>().is_some()
    };
    assert!(is_stranger(None, None).await);
    assert!(is_stranger(Some("no-key-at-all"), None).await);
    assert!(!is_stranger(Some(KEY), None).await);
    assert!(!is_stranger(None, Some(operator)).await);
}
