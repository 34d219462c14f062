//! Promises of the listener, over real sockets: keep-alive, the cap, probes in a crowd, an orderly
//! stop, and the operator's socket.

use crate::common::{ADMIN, Server};
use axum::Router;
use axum::routing::get;
use loci_http::{HttpOptions, Listener, serve};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

/// How long to wait for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);

struct Running {
    addr: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

async fn run(options: HttpOptions, doors: Router) -> Running {
    let server = Server::with(&options, doors).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(async move {
        let shutdown = async { drop(stopped.await) };
        serve(Listener::Tcp(listener), server.router, &options, Box::pin(shutdown)).await;
    });
    Running { addr, stop, task }
}

fn get_request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {ADMIN}\r\n\r\n")
}

/// Sends one request on a connection and reads the head and the first part of the answer.
async fn ask<S>(stream: &mut S, request: &str) -> std::io::Result<String>
where
    S: AsyncReadExt + AsyncWriteExt + Unpin,
{
    stream.write_all(request.as_bytes()).await?;
    let mut answer = vec![0; 64 * 1024];
    let read = tokio::time::timeout(PATIENCE, stream.read(&mut answer));
    let length = read.await.expect("an answer")?;
    answer.truncate(length);
    Ok(String::from_utf8(answer).unwrap())
}

#[tokio::test]
async fn a_connection_serves_many_requests_and_metrics_are_open_here() {
    let running = run(HttpOptions::default(), Router::new()).await;
    let mut stream = TcpStream::connect(running.addr).await.unwrap();
    for _ in 0..3 {
        let answer = ask(&mut stream, &get_request("/v1/stats")).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains("request-id: req_"), "{answer}");
    }
    let request = "GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let answer = ask(&mut stream, request).await.unwrap();
    assert!(answer.contains("loci_connections "), "{answer}");
}

#[tokio::test]
async fn while_all_are_busy_a_newcomer_is_told_and_probes_are_answered() {
    let (begun, end) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let options = HttpOptions { connections_max: 2, ..HttpOptions::default() };
    let running = run(options, slow(&begun, &end)).await;
    let mut busy = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(running.addr).await.unwrap();
        let asking = async move { ask(&mut stream, &get_request("/slow")).await };
        busy.push(tokio::spawn(asking));
        begun.notified().await;
    }
    let mut third = TcpStream::connect(running.addr).await.unwrap();
    let answer = ask(&mut third, &get_request("/v1/stats")).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("retry-after: 1"), "{answer}");
    assert_eq!(third.read(&mut [0; 16]).await.unwrap(), 0, "then closed");
    let mut probe = TcpStream::connect(running.addr).await.unwrap();
    let answer = ask(&mut probe, &get_request("/healthz")).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    for asking in busy {
        end.notify_one();
        assert!(asking.await.unwrap().unwrap().contains("done"), "who is busy keeps its place");
    }
    let began = Instant::now();
    loop {
        let mut fourth = TcpStream::connect(running.addr).await.unwrap();
        let answer = ask(&mut fourth, &get_request("/v1/stats")).await.unwrap();
        if answer.starts_with("HTTP/1.1 200") {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "who has left still counts: {answer}");
    }
}

#[tokio::test]
async fn who_waits_between_requests_gives_its_place_to_a_newcomer() {
    let options = HttpOptions { connections_max: 2, ..HttpOptions::default() };
    let running = run(options, Router::new()).await;
    let mut waiting = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(running.addr).await.unwrap();
        ask(&mut stream, &get_request("/v1/stats")).await.unwrap();
        waiting.push(stream);
    }
    let mut newcomer = TcpStream::connect(running.addr).await.unwrap();
    let answer = ask(&mut newcomer, &get_request("/v1/stats")).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn whoever_goes_silent_after_an_answer_is_closed() {
    let options =
        HttpOptions { idle_timeout: Duration::from_millis(200), ..HttpOptions::default() };
    let running = run(options, Router::new()).await;
    let mut silent = Vec::new();
    for _ in 0..50 {
        let mut stream = TcpStream::connect(running.addr).await.unwrap();
        let answer = ask(&mut stream, &get_request("/healthz")).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        silent.push(stream);
    }
    for mut stream in silent {
        let ended = tokio::time::timeout(PATIENCE, stream.read(&mut [0; 16])).await;
        assert_eq!(ended.expect("closed by the idle timeout").unwrap(), 0);
    }
}

/// Bytes of an answer that no buffer of the system takes whole.
const LARGE: usize = 5 * 1000 * 1000;

/// How long a client may take nothing of an answer.
const GIVES_UP_AFTER: Duration = Duration::from_secs(1);

/// A server with a large answer that soon gives up on a client which takes nothing.
async fn run_large() -> Running {
    let options = HttpOptions { body_idle_timeout: GIVES_UP_AFTER, ..HttpOptions::default() };
    let large = Router::new().route("/large", get(async || vec![b'x'; LARGE]));
    run(options, large).await
}

/// A connection with small buffers on our side, that has asked for the large answer.
async fn ask_large(addr: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 * 1024).unwrap();
    let mut stream = socket.connect(addr).await.unwrap();
    stream.write_all(get_request("/large").as_bytes()).await.unwrap();
    stream
}

/// Reads the large answer slowly: how much of it came, and the longest pause between two reads.
async fn read_slowly(addr: SocketAddr) -> (usize, Duration) {
    let mut stream = ask_large(addr).await;
    let (mut taken, mut chunk) = (0, vec![0; 25_000]);
    let (mut last, mut pause) = (Instant::now(), Duration::ZERO);
    // Half a megabyte a second: a third of what the system would buffer takes two seconds.
    let mut steps = tokio::time::interval(Duration::from_millis(50));
    while taken < LARGE {
        steps.tick().await;
        let read = stream.read(&mut chunk).await.unwrap_or(0);
        pause = pause.max(last.elapsed());
        last = Instant::now();
        if read == 0 {
            break;
        }
        taken += read;
    }
    (taken, pause)
}

#[tokio::test]
async fn a_slow_but_steady_reader_gets_all_of_a_large_answer() {
    let running = run_large().await;
    for _ in 0..5 {
        let (taken, pause) = read_slowly(running.addr).await;
        if taken >= LARGE {
            return;
        }
        // A machine that stood still made this reader an unsteady one, which shows nothing.
        assert!(pause > GIVES_UP_AFTER / 2, "cut off after {taken} of {LARGE} bytes");
    }
    panic!("the machine stood still five times");
}

#[tokio::test]
async fn a_reader_that_stops_is_cut_off() {
    let running = run_large().await;
    let mut stream = ask_large(running.addr).await;
    stream.read_exact(&mut [0; 10_000]).await.unwrap();
    // Reading would make it go on; writing fails when the server has given up.
    let began = Instant::now();
    loop {
        if stream.write_all(b"x").await.is_err() {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "still being sent to");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(rest.len() < LARGE - 10_000, "it was sent all the same");
}

#[tokio::test]
async fn a_stop_finishes_what_is_under_way_and_nothing_else() {
    let (begun, end) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    // Nobody but the one that is under way may hold the stop up.
    let options = HttpOptions { drain_timeout: PATIENCE * 10, ..HttpOptions::default() };
    let running = run(options, slow(&begun, &end)).await;
    let mut silent = TcpStream::connect(running.addr).await.unwrap();
    let mut idle = TcpStream::connect(running.addr).await.unwrap();
    ask(&mut idle, &get_request("/healthz")).await.unwrap();
    let mut busy = TcpStream::connect(running.addr).await.unwrap();
    let mut asking = tokio::spawn(async move { ask(&mut busy, &get_request("/slow")).await });
    begun.notified().await;

    running.stop.send(()).unwrap();
    assert_eq!(idle.read(&mut [0; 16]).await.unwrap(), 0);
    assert!(!matches!(silent.read(&mut [0; 16]).await, Ok(1..)));
    assert!(TcpStream::connect(running.addr).await.is_err());
    // Nothing tells that a server goes on waiting. Whoever cuts off is seen within this time, and a
    // slow machine makes nobody fail.
    let early = tokio::time::timeout(Duration::from_millis(300), &mut asking).await;
    assert!(early.is_err() && !running.task.is_finished(), "it waits for who is busy");
    end.notify_one();
    assert!(asking.await.unwrap().unwrap().contains("done"));
    let ended = tokio::time::timeout(PATIENCE, running.task).await;
    ended.expect("ends with the last request").unwrap();
}

/// A door that says when somebody has come, and answers when it is told to.
fn slow(begun: &Arc<Notify>, end: &Arc<Notify>) -> Router {
    let (begun, end) = (Arc::clone(begun), Arc::clone(end));
    let answer = async move || {
        begun.notify_one();
        end.notified().await;
        "done"
    };
    Router::new().route("/slow", get(answer))
}

#[tokio::test]
async fn a_stop_does_not_wait_for_ever() {
    let (begun, end) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let options =
        HttpOptions { drain_timeout: Duration::from_millis(200), ..HttpOptions::default() };
    let running = run(options, slow(&begun, &end)).await;
    let mut stuck = TcpStream::connect(running.addr).await.unwrap();
    stuck.write_all(get_request("/slow").as_bytes()).await.unwrap();
    begun.notified().await;
    running.stop.send(()).unwrap();
    // Well before the request itself would run out of time.
    let ended = tokio::time::timeout(Duration::from_secs(30), running.task).await;
    ended.expect("ends after the drain timeout").unwrap();
}

#[tokio::test]
async fn too_many_headers_are_refused_and_slow_ones_cut() {
    let options =
        HttpOptions { header_timeout: Duration::from_millis(200), ..HttpOptions::default() };
    let running = run(options, Router::new()).await;
    let many: String = (0..200).map(|number| format!("x-{number}: y\r\n")).collect();
    for head in [many, format!("x-wide: {}\r\n", "y".repeat(200 * 1024))] {
        let mut stream = TcpStream::connect(running.addr).await.unwrap();
        let request = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{head}\r\n");
        let answer = ask(&mut stream, &request).await;
        // The close may overtake the answer while we are still writing.
        assert!(
            answer.as_ref().is_err_and(|error| error.kind() != ErrorKind::TimedOut)
                || answer.as_ref().is_ok_and(|answer| answer.starts_with("HTTP/1.1 431")),
            "{answer:?}"
        );
    }
    let mut slow = TcpStream::connect(running.addr).await.unwrap();
    slow.write_all(b"GET /healthz HTTP/1.1\r\n").await.unwrap();
    let ended = tokio::time::timeout(PATIENCE, slow.read(&mut [0; 16])).await;
    assert!(!matches!(ended.expect("cut on time"), Ok(1..)));
}

const MIB: usize = 1024 * 1024;

/// Sends a head, then pieces of a body in a task of its own, while the answer is read to its end.
/// Gives the answer, and whether all of the body could be sent.
async fn upload(
    addr: SocketAddr,
    head: &str,
    piece: &'static [u8],
    pieces: usize,
) -> (String, bool) {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut read, mut write) = stream.into_split();
    let sending = tokio::spawn(async move {
        for _ in 0..pieces {
            if write.write_all(piece).await.is_err() {
                return None;
            }
        }
        // Dropping it would end our side, and a request that is given up gets no answer.
        Some(write)
    });
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(PATIENCE, read.read_to_end(&mut answer)).await;
    ended.expect("the server closes").expect("with an end, not a reset");
    (String::from_utf8(answer).unwrap(), sending.await.unwrap().is_some())
}

fn post_head(path: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {ADMIN}\r\n{body}\r\n\r\n")
}

#[tokio::test]
async fn whoever_sends_too_much_hears_so() {
    let running = run(HttpOptions::default(), Router::new()).await;
    let mib: &[u8] = vec![b'x'; MIB].leak();
    let (addr, path) = (running.addr, "/v1/principals");
    // Announced, and read to its end.
    let head = post_head(path, &format!("content-length: {}", 33 * MIB));
    let (answer, is_sent) = upload(addr, &head, mib, 33).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
    assert!(is_sent, "33 MiB are taken");
    // Announced, and too much to be read: answered at once, and not reset.
    let head = post_head(path, &format!("content-length: {}", 1000 * MIB));
    let (answer, is_sent) = upload(addr, &head, mib, 100).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(is_sent, "the sender can finish after the answer");
    // In chunks.
    let chunk: &[u8] = format!("100000\r\n{}\r\n", "x".repeat(MIB)).into_bytes().leak();
    let head = post_head(path, "transfer-encoding: chunked");
    let (answer, is_sent) = upload(addr, &head, chunk, 100).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(is_sent, "the sender can finish after the answer");
}

#[tokio::test]
async fn whoever_asks_first_need_not_send_too_much() {
    let running = run(HttpOptions::default(), Router::new()).await;
    let body = format!("expect: 100-continue\r\ncontent-length: {}", 2 * MIB);
    let mut stream = TcpStream::connect(running.addr).await.unwrap();
    let answer = ask(&mut stream, &post_head("/v1/principals", &body)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[tokio::test]
async fn a_refused_import_says_why_while_it_is_being_sent() {
    let running = run(HttpOptions::default(), Router::new()).await;
    let line = format!("\"{}\"\n", "x".repeat(MIB));
    let chunk: &[u8] = format!("{:x}\r\n{line}\r\n", line.len()).into_bytes().leak();
    let head = post_head("/v1/import", "transfer-encoding: chunked");
    let (answer, is_sent) = upload(running.addr, &head, chunk, 100).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(is_sent, "the sender can finish after the answer");
    let stranger = head.replace(ADMIN, "wrong");
    let (answer, is_sent) = upload(running.addr, &stranger, chunk, 100).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert!(is_sent, "the sender can finish after the answer");
}

#[tokio::test]
async fn on_its_socket_the_operator_needs_no_key() {
    let server = Server::new().await;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("loci.sock");
    let listener = Listener::Unix(UnixListener::bind(&path).unwrap(), server.operator());
    let options = HttpOptions::default();
    let router = server.router.clone();
    tokio::spawn(async move {
        serve(listener, router, &options, Box::pin(std::future::pending())).await
    });
    let mut stream = UnixStream::connect(&path).await.unwrap();
    let request = "GET /v1/api_keys HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let answer = ask(&mut stream, request).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
