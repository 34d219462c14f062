//! Telling other servers that something was written, and hearing it from them.
//!
//! A hint, never a promise: whoever follows a feed looks for itself now and then, so a lost word
//! costs a little time. It is sent after the commit and not in it, because PostgreSQL lets only one
//! transaction commit at a time that notifies, which would undo what lanes are for.

use crate::address::Address;
use crate::client::Clients;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::AsyncMessage;
use tokio_postgres_rustls::MakeRustlsConnect;
use uuid::Uuid;

const CHANNEL: &str = "loci_written";
/// Words of a busy server within this time are one.
const BREATH: Duration = Duration::from_millis(20);
/// How long until a lost connection is sought again.
const AGAIN: Duration = Duration::from_secs(1);
/// How long making a connection may take.
const CONNECTING_MAX: Duration = Duration::from_secs(5);

/// Says to others that something was written here.
#[derive(Clone)]
pub(crate) struct Announcer(Arc<Notify>);

impl Announcer {
    pub(crate) fn announce(&self) {
        self.0.notify_one();
    }
}

/// The two tasks behind it; they end with it.
pub(crate) struct Gossip {
    announcer: Announcer,
    heard: Arc<Notify>,
    tasks: [JoinHandle<()>; 2],
}

impl Gossip {
    pub(crate) fn start(
        clients: &Clients,
        address: Address,
        tls: MakeRustlsConnect,
        own: Uuid,
    ) -> Self {
        let announcer = Announcer(Arc::new(Notify::new()));
        let heard = Arc::new(Notify::new());
        let tasks = [
            tokio::spawn(tell(clients.clone(), Arc::clone(&announcer.0), own)),
            tokio::spawn(hear(address, tls, Arc::clone(&heard), own)),
        ];
        Self { announcer, heard, tasks }
    }

    pub(crate) fn announcer(&self) -> &Announcer {
        &self.announcer
    }

    /// Waits until another server says that it wrote, or may have while nobody listened here.
    pub(crate) async fn heard(&self) {
        self.heard.notified().await;
    }
}

impl Drop for Gossip {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn tell(clients: Clients, written: Arc<Notify>, own: Uuid) {
    let said = own.to_string();
    loop {
        written.notified().await;
        if let Ok(client) = clients.pool.get().await {
            let sql = "select pg_notify($1, $2)";
            // Nobody hears it now; they will look by themselves.
            if let Ok(statement) = client.prepare_cached(sql).await {
                let _ =
                    timeout(clients.patience, client.query(&statement, &[&CHANNEL, &said])).await;
            }
        }
        sleep(BREATH).await;
    }
}

async fn hear(address: Address, tls: MakeRustlsConnect, heard: Arc<Notify>, own: Uuid) {
    let own = own.to_string();
    loop {
        let connecting = timeout(CONNECTING_MAX, address.config.connect(tls.clone())).await;
        if let Ok(Ok((client, mut connection))) = connecting {
            let listening = async { client.batch_execute(&format!("listen {CHANNEL}")).await };
            let messages = async {
                loop {
                    match poll_fn(|cx| connection.poll_message(cx)).await {
                        Some(Ok(AsyncMessage::Notification(said))) if said.payload() != own => {
                            heard.notify_one();
                        }
                        Some(Ok(_)) => {}
                        Some(Err(_)) | None => break,
                    }
                }
            };
            // What was said before we listened, or while the connection was away.
            let greeting = async {
                if listening.await.is_ok() {
                    heard.notify_one();
                }
            };
            tokio::join!(greeting, messages);
            drop(client);
        }
        sleep(AGAIN).await;
    }
}
