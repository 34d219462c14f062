//! Promises of the listener, over real sockets: keep-alive, the cap, probes in a crowd, an orderly
//! stop, and the operator's socket.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should fail")]

mod common;

use axum::Router;
use axum::routing::get;
use common::{ADMIN, Server};
use loci_http::{HttpOptions, Listener, serve};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

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
        serve(Listener::Tcp(listener), server.router, &options, shutdown).await;
    });
    Running { addr, stop, task }
}

fn get_request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: loci\r\nx-api-key: {ADMIN}\r\n\r\n")
}

/// Sends one request on a connection and reads the head and the first part of the answer.
async fn ask<S>(stream: &mut S, request: &str) -> std::io::Result<String>
where
    S: AsyncReadExt + AsyncWriteExt + Unpin,
{
    stream.write_all(request.as_bytes()).await?;
    let mut answer = vec![0; 64 * 1024];
    let read = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut answer));
    let length = read.await.expect("an answer within five seconds")?;
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
    let request = "GET /metrics HTTP/1.1\r\nhost: loci\r\n\r\n";
    let answer = ask(&mut stream, request).await.unwrap();
    assert!(answer.contains("loci_connections "), "{answer}");
}

#[tokio::test]
async fn over_the_cap_one_is_told_and_probes_are_answered() {
    let options = HttpOptions { connections_max: 2, ..HttpOptions::default() };
    let running = run(options, Router::new()).await;
    let mut first = TcpStream::connect(running.addr).await.unwrap();
    ask(&mut first, &get_request("/v1/stats")).await.unwrap();
    let second = TcpStream::connect(running.addr).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;

    let mut third = TcpStream::connect(running.addr).await.unwrap();
    let answer = ask(&mut third, &get_request("/v1/stats")).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("retry-after: 1"), "{answer}");
    assert_eq!(third.read(&mut [0; 16]).await.unwrap(), 0, "then closed");
    let mut probe = TcpStream::connect(running.addr).await.unwrap();
    let answer = ask(&mut probe, &get_request("/healthz")).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let answer = ask(&mut first, &get_request("/v1/stats")).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "who is in stays: {answer}");

    drop(second);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut fourth = TcpStream::connect(running.addr).await.unwrap();
    let answer = ask(&mut fourth, &get_request("/v1/stats")).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn a_stop_finishes_what_is_under_way_and_nothing_else() {
    let slow = async || {
        tokio::time::sleep(Duration::from_millis(500)).await;
        "done"
    };
    let doors = Router::new().route("/slow", get(slow));
    let running = run(HttpOptions::default(), doors).await;
    let mut silent = TcpStream::connect(running.addr).await.unwrap();
    let mut idle = TcpStream::connect(running.addr).await.unwrap();
    ask(&mut idle, &get_request("/healthz")).await.unwrap();
    let mut busy = TcpStream::connect(running.addr).await.unwrap();
    let asking = tokio::spawn(async move { ask(&mut busy, &get_request("/slow")).await });
    tokio::time::sleep(Duration::from_millis(100)).await;

    let began = Instant::now();
    running.stop.send(()).unwrap();
    running.task.await.unwrap();
    let took = began.elapsed();
    assert!(took < Duration::from_secs(2), "took {took:?}");
    assert!(asking.await.unwrap().unwrap().contains("done"));
    assert_eq!(idle.read(&mut [0; 16]).await.unwrap(), 0);
    assert!(!matches!(silent.read(&mut [0; 16]).await, Ok(1..)));
    assert!(TcpStream::connect(running.addr).await.is_err());
}

#[tokio::test]
async fn a_stop_does_not_wait_for_ever() {
    let doors = Router::new().route("/stuck", get(std::future::pending::<()>));
    let options =
        HttpOptions { drain_timeout: Duration::from_millis(200), ..HttpOptions::default() };
    let running = run(options, doors).await;
    let mut stuck = TcpStream::connect(running.addr).await.unwrap();
    stuck.write_all(get_request("/stuck").as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    running.stop.send(()).unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(2), running.task).await;
    ended.expect("ends soon after the drain timeout").unwrap();
}

#[tokio::test]
async fn too_many_headers_are_refused_and_slow_ones_cut() {
    let options =
        HttpOptions { header_timeout: Duration::from_millis(200), ..HttpOptions::default() };
    let running = run(options, Router::new()).await;
    let many: String = (0..200).map(|number| format!("x-{number}: y\r\n")).collect();
    for head in [many, format!("x-wide: {}\r\n", "y".repeat(200 * 1024))] {
        let mut stream = TcpStream::connect(running.addr).await.unwrap();
        let request = format!("GET /healthz HTTP/1.1\r\nhost: loci\r\n{head}\r\n");
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
    let ended = tokio::time::timeout(Duration::from_secs(2), slow.read(&mut [0; 16])).await;
    assert!(!matches!(ended.expect("cut on time"), Ok(1..)));
}

#[tokio::test]
async fn on_its_socket_the_operator_needs_no_key() {
    let server = Server::new().await;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("loci.sock");
    let listener = Listener::Unix(UnixListener::bind(&path).unwrap(), server.operator());
    let options = HttpOptions::default();
    let router = server.router.clone();
    tokio::spawn(async move { serve(listener, router, &options, std::future::pending()).await });
    let mut stream = UnixStream::connect(&path).await.unwrap();
    let request = "GET /v1/api_keys HTTP/1.1\r\nhost: loci\r\n\r\n";
    let answer = ask(&mut stream, request).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
