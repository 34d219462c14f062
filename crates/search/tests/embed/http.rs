//! The HTTP embedder against a real socket whose other end answers from a script.

use loci_search::embed::{EmbedError, Embedder, EndpointKey, HttpConfig, HttpEmbedder, Purpose};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

const KEY: &str = "sk-very-secret";

/// What the server does with one connection.
enum Reply {
    Answer(&'static str, String),
    /// Accepts the question and says nothing.
    Silence,
    /// Hangs up without an answer.
    HangUp,
}

fn ok(body: &str) -> Reply {
    Reply::Answer("200 OK", body.into())
}

fn status(line: &'static str) -> Reply {
    // An endpoint that quotes the key must not bring it into our errors.
    Reply::Answer(line, format!(r#"{{"error":"bad key {KEY}"}}"#))
}

/// A server that gives these replies, one a connection, and tells what it was asked.
fn serve(replies: Vec<Reply>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (asked, questions) = channel();
    thread::spawn(move || {
        let mut kept_open = Vec::new();
        for reply in replies {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = asked.send(read_request(&stream));
            match reply {
                Reply::Answer(status, body) => {
                    let length = body.len();
                    let head = format!(
                        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                    );
                    let _ = stream.write_all((head + &body).as_bytes());
                }
                Reply::Silence => kept_open.push(stream),
                Reply::HangUp => drop(stream),
            }
        }
    });
    (url, questions)
}

fn read_request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).unwrap();
    }
    let length = head
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

fn config(url: &str) -> HttpConfig {
    HttpConfig {
        url: url.into(),
        model: "small".into(),
        api_key: Some(EndpointKey::new(KEY)),
        dims: 2,
        timeout: Duration::from_secs(5),
        retries: 0,
        batch_max: 8,
    }
}

/// Embeds two texts with an endpoint that gives one reply.
fn embed_two(reply: Reply) -> Result<Vec<Vec<f32>>, EmbedError> {
    let (url, _questions) = serve(vec![reply]);
    HttpEmbedder::new(config(&url)).unwrap().embed(&["one", "two"], Purpose::Passage)
}

fn assert_bad(body: &str) {
    let found = embed_two(ok(body));
    assert!(matches!(found, Err(EmbedError::Bad(_))), "{body}: {found:?}");
}

const TWO: &str = r#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}"#;

#[test]
fn vectors_come_in_the_order_of_the_texts_and_of_unit_length() {
    let (url, questions) = serve(vec![ok(TWO)]);
    let embedder = HttpEmbedder::new(config(&url)).unwrap();
    assert_eq!(embedder.model(), "http/small/2");
    let vectors = embedder.embed(&["one", "two"], Purpose::Query).unwrap();
    assert_eq!(vectors, [[0.6, 0.8], [0.0, 1.0]]);
    let question = questions.recv().unwrap();
    assert!(question.starts_with("POST /v1/embeddings HTTP/1.1\r\n"));
    assert!(question.contains(&format!("authorization: Bearer {KEY}\r\n")));
    assert!(
        question.ends_with(r#"{"encoding_format":"float","input":["one","two"],"model":"small"}"#)
    );
}

#[test]
fn texts_are_sent_in_batches_and_none_sends_nothing() {
    let one = r#"{"data":[{"embedding":[1,0]}]}"#;
    let (url, questions) = serve(vec![ok(one), ok(one), ok(one)]);
    let embedder = HttpEmbedder::new(HttpConfig { batch_max: 1, ..config(&url) }).unwrap();
    assert_eq!(embedder.embed(&[], Purpose::Passage), Ok(vec![]));
    assert_eq!(embedder.embed(&["a", "b", "c"], Purpose::Passage).unwrap().len(), 3);
    assert!(questions.recv().unwrap().contains(r#"["a"]"#));
    assert!(questions.recv().unwrap().contains(r#"["b"]"#));
}

#[test]
fn an_answer_that_is_not_two_vectors_is_bad() {
    let vectors = |second: &str| {
        format!(
            r#"{{"data":[{{"index":0,"embedding":[1,0]}},{{"index":1,"embedding":{second}}}]}}"#
        )
    };
    for second in [
        "[1,0,0]",
        "[1]",
        "[]",
        "[0,0]",
        "[null,1]",
        r#"["NaN",1]"#,
        "[NaN,1]",
        "[1e999,1]",
        "[1e39,1]",
        "null",
        r#""AACAPwAAAAA=""#,
    ] {
        assert_bad(&vectors(second));
    }
    assert_bad(r#"{"data":[{"index":0,"embedding":[1,0]}]}"#);
    assert_bad(r#"{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[1,0]}]}"#);
    assert_bad(r#"{"data":[{"index":0,"embedding":[1,0]},{"index":2,"embedding":[1,0]}]}"#);
    assert_bad(r#"{"error":"no"}"#);
    assert_bad("<html>");
    assert_bad("");
    assert_bad(&format!("{}{}", " ".repeat(200_000), vectors("[1,0]")));
}

#[test]
fn what_may_pass_is_tried_again() {
    for failure in [
        status("500 Internal Server Error"),
        status("429 Too Many Requests\r\nretry-after: 0"),
        Reply::HangUp,
        Reply::Silence,
    ] {
        let (url, _questions) = serve(vec![failure, ok(TWO)]);
        let timeout = Duration::from_millis(1500);
        let config = HttpConfig { retries: 1, timeout, ..config(&url) };
        let vectors = HttpEmbedder::new(config).unwrap().embed(&["one", "two"], Purpose::Passage);
        assert_eq!(vectors.unwrap().len(), 2);
    }
}

#[test]
fn and_given_up_in_the_end() {
    let (url, questions) = serve(vec![status("503 Busy"), status("503 Busy"), ok(TWO)]);
    let config = HttpConfig { retries: 1, ..config(&url) };
    let found = HttpEmbedder::new(config).unwrap().embed(&["one", "two"], Purpose::Passage);
    assert_eq!(found, Err(EmbedError::Unavailable("status 503".into())));
    assert_eq!(questions.try_iter().count(), 2);
}

#[test]
fn what_will_not_pass_is_not_tried_again() {
    for line in ["400 Bad", "401 Unauthorized", "404 Not Found", "302 Found\r\nlocation: /x"] {
        let (url, questions) = serve(vec![status(line), ok(TWO)]);
        let config = HttpConfig { retries: 3, ..config(&url) };
        let found = HttpEmbedder::new(config).unwrap().embed(&["one", "two"], Purpose::Passage);
        let Err(EmbedError::Refused(why)) = found else { panic!("{line}: {found:?}") };
        assert_eq!(why, format!("status {}", &line[..3]));
        assert_eq!(questions.try_iter().count(), 1);
    }
}

#[test]
fn a_query_does_not_wait_longer_than_its_timeout() {
    let timeout = Duration::from_millis(300);
    for reply in [Reply::Silence, status("429 Slow down\r\nretry-after: 20")] {
        let (url, _questions) = serve(vec![reply]);
        let config = HttpConfig { timeout, retries: 5, ..config(&url) };
        let started = Instant::now();
        let found = HttpEmbedder::new(config).unwrap().embed(&["one", "two"], Purpose::Query);
        assert!(matches!(found, Err(EmbedError::Unavailable(_))), "{found:?}");
        assert!(started.elapsed() < Duration::from_secs(20), "it waited as long as it was told");
    }
}

#[test]
fn nobody_there_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let found = HttpEmbedder::new(config(&url)).unwrap().embed(&["one"], Purpose::Passage);
    assert!(matches!(found, Err(EmbedError::Unavailable(_))), "{found:?}");
}

#[test]
fn the_key_shows_nowhere() {
    assert!(!format!("{:?}", config("http://localhost")).contains(KEY));
    for reply in [status("401 Unauthorized"), status("500 Oops"), ok(KEY)] {
        let error = embed_two(reply).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(KEY));
    }
    let with_line_break = Some(EndpointKey::new(format!("{KEY}\r\nx: y")));
    let config = HttpConfig { api_key: with_line_break, ..config("http://localhost") };
    let error = HttpEmbedder::new(config).err().unwrap();
    assert!(!format!("{error} {error:?}").contains(KEY));
}

#[test]
fn a_configuration_that_cannot_work_is_refused_at_once() {
    let user = format!("http://user:{KEY}@localhost/v1");
    for url in ["", "localhost", "ftp://localhost", "http://", "not a url", &user] {
        assert!(matches!(HttpEmbedder::new(config(url)), Err(EmbedError::Refused(_))), "{url}");
    }
    let good = config("https://localhost/v1/embeddings?version=2");
    assert!(HttpEmbedder::new(good.clone()).is_ok());
    for bad in [
        HttpConfig { dims: 0, ..good.clone() },
        HttpConfig { dims: 100_000, ..good.clone() },
        HttpConfig { batch_max: 0, ..good.clone() },
        HttpConfig { timeout: Duration::ZERO, ..good.clone() },
        HttpConfig { model: String::new(), ..good },
    ] {
        assert!(matches!(HttpEmbedder::new(bad), Err(EmbedError::Refused(_))));
    }
}
