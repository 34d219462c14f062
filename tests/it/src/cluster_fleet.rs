//! Servers that are killed and come back while clients use them, each at a place of its own. A server
//! that comes back listens on another port, so clients ask here where a place is answered now.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::cluster::Cluster;
use crate::server::{Server, Setup};

/// How long a server may take to come back while its database comes and goes.
const BACK_WITHIN: Duration = Duration::from_secs(60);
const RESTART_PAUSE: Duration = Duration::from_millis(50);

/// Servers of one setup, by place.
pub struct Fleet<'a> {
    setup: &'a Setup,
    places: Vec<Place>,
}

struct Place {
    server: Mutex<Option<Server>>,
    /// Apart from the server, because it is asked for while that one starts.
    address: Mutex<Option<SocketAddr>>,
}

impl<'a> Fleet<'a> {
    /// As many servers, started at the same moment.
    #[track_caller]
    pub fn start(cluster: &'a Cluster, count: usize) -> Self {
        let place = |server: Server| Place {
            address: Mutex::new(Some(server.addr())),
            server: Mutex::new(Some(server)),
        };
        let places = cluster.start_together(count).into_iter().map(place).collect();
        Self { setup: cluster.setup(), places }
    }

    /// How many places there are.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Where a place is answered, if it is.
    pub fn address(&self, place: usize) -> Option<SocketAddr> {
        *self.places[place].address.lock().expect("nobody panics with an address")
    }

    /// SIGKILL to the server at a place, and after a while another one in its stead.
    #[track_caller]
    pub fn replace(&self, place: usize, after: Duration) {
        let Place { server, address } = &self.places[place];
        let mut server = server.lock().expect("whoever panicked with it has ended the test");
        if let Some(server) = server.take() {
            server.kill();
        }
        *address.lock().expect("nobody panics with an address") = None;
        thread::sleep(after);
        let next = self.start_again();
        *address.lock().expect("nobody panics with an address") = Some(next.addr());
        *server = Some(next);
    }

    /// As a supervisor does it: a server that finds no database may give up, and is started again.
    #[track_caller]
    fn start_again(&self) -> Server {
        let began = Instant::now();
        loop {
            match self.setup.try_start() {
                Ok(server) => return server,
                Err(status) if began.elapsed() >= BACK_WITHIN => {
                    panic!("it still ends with {status}:\n{}", self.setup.printed());
                }
                Err(_) => thread::sleep(RESTART_PAUSE),
            }
        }
    }
}
