//! Mounts an empty store that lives in this process, to try or measure the mount without a server:
//! `cargo run -p loci-mount-memory --example in_memory -- DIRECTORY [keep-refused]`. Ends with the mount, or
//! with its standard input.

use loci_model::time::Clock;
use loci_model::{Access, Timestamp};
use loci_mount::{Mount, Options};
use loci_mount_memory::MemoryPort;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::io::AsyncReadExt;

struct Now;

impl Clock for Now {
    #[expect(clippy::disallowed_methods, reason = "an example has no other clock")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(0))
    }
}

#[tokio::main]
async fn main() {
    let mut words = std::env::args().skip(1);
    let mut options = Options::new(words.next().expect("name the directory to mount at"));
    options.is_flat = true;
    options.keeps_refused = words.next().is_some_and(|word| word == "keep-refused");
    let port = MemoryPort::new(Arc::new(Now), &[("store", Access::ReadWrite)]);
    let mount = match Mount::start(options, Arc::new(port), Arc::new(Now)).await {
        Ok(mount) => mount,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    };
    let mut end = [0];
    let ended = async {
        let mut input = tokio::io::stdin();
        while input.read(&mut end).await.is_ok_and(|count| count > 0) {}
    };
    tokio::select! {
        () = mount.ended() => {}
        () = ended => {}
    }
    for unsaved in mount.stop().await {
        eprintln!("not saved: {}: {}", unsaved.path, unsaved.why);
    }
    // A runtime that reads standard input waits for it.
    std::process::exit(0);
}
