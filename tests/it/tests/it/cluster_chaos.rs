//! Promise: several servers on one database keep what they acknowledged, once and in order, while
//! servers are killed and PostgreSQL itself is restarted or killed under them.
//!
//! Every seed is one run on stores of its own: three servers, 32 clients that create, compare and
//! set, overwrite, remove and read, on memories of their own and on a few dozen they share, each
//! write with an idempotency key that is repeated at another server until there is an answer. The
//! history checker then holds what clients were told against the feed.
//!
//! `LOCI_CHAOS_SEEDS` and `LOCI_CHAOS_MILLIS` make it longer, for example 200 and 30000;
//! `LOCI_SEED` begins with another seed than 1.

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{
    ADMIN_KEY, Api, Call, Caller, Client, Cluster, Dice, Fleet, Told, amount, faults, seed_or,
};
use loci_test_postgres::{Build, Postgres, Settings};

use crate::cluster_load::{Board, Progress, Visitor};
use crate::cluster_read::{entries, verify_end};

const SERVERS: usize = 3;
const CLIENTS: usize = 32;
const STORES: usize = 2;
/// Memories that everybody changes, in each store.
const SHARED: usize = 16;
/// Acknowledged writes without which a run shows nothing.
const ACKNOWLEDGED_MIN: usize = 50;
/// How much longer than planned the load may go on until there are so many.
const LATE_MAX: Duration = Duration::from_secs(60);
/// Every so many runs PostgreSQL is killed instead of restarted.
const KILLED_EVERY: u64 = 4;

/// What the runs did together, so that a test that does nothing is noticed.
#[derive(Debug, Default)]
struct Tally {
    acknowledged: usize,
    refused: usize,
    reads: usize,
    repeated: usize,
    kills: usize,
}

#[test]
fn nothing_is_lost_doubled_or_reordered_when_servers_and_database_die() {
    let seeds = amount("chaos_seeds");
    let first = seed_or("chaos", || 1);
    let load = Duration::from_millis(amount("chaos_millis"));

    let mut postgres = Postgres::start_with(Build::Floor, &Settings::durable()).unwrap();
    let cluster = Cluster::on(&postgres);
    // Vectors are no part of this, and cost more than all the rest.
    let cluster =
        cluster.with(|setup| setup.config("[search]\nembedder = 'none'\n").env("LOCI_LOG", "warn"));
    let fleet = Fleet::start(&cluster, SERVERS);
    let mut tally = Tally::default();
    for seed in first..first + seeds {
        run(seed, load, &fleet, &mut postgres, &mut tally);
    }
    cluster.check();
    eprintln!("chaos: {seeds} seeds: {tally:?}");
    let runs = usize::try_from(seeds).unwrap();
    assert!(tally.acknowledged >= ACKNOWLEDGED_MIN * runs, "hardly a test: {tally:?}");
    assert!(tally.refused > 5 * runs && tally.repeated > 5 * runs, "hardly a test: {tally:?}");
    assert!(tally.kills >= 2 * runs, "hardly a test: {tally:?}");
}

fn run(seed: u64, load: Duration, fleet: &Fleet<'_>, postgres: &mut Postgres, tally: &mut Tally) {
    eprintln!("chaos: LOCI_SEED={seed} LOCI_CHAOS_SEEDS=1");
    let mut dice = Dice::seeded(seed);
    let began = Instant::now();
    let stores: Vec<String> = (0..STORES).map(|number| create_store(fleet, seed, number)).collect();
    let board: Vec<Mutex<Board>> = (0..STORES).map(|_| Mutex::new(Board::new(SHARED))).collect();
    let progress = Progress::default();
    let clock = Instant::now();

    let (calls, kills) = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let caller = Caller::new(fleet, clock, dice.split());
                let store = number % STORES;
                let visitor = Visitor::new(caller, number, seed, &stores[store], &board[store]);
                let progress = &progress;
                scope.spawn(move || (store, visitor.work(progress)))
            })
            .collect();
        let killers: Vec<_> = (0..SERVERS)
            .map(|place| {
                let dice = dice.split();
                scope.spawn(move || kill_servers(fleet, place, dice, load))
            })
            .collect();
        mistreat(postgres, seed, load, &mut dice);
        thread::sleep(load.saturating_sub(clock.elapsed()));
        // On a busy machine the planned time is too short for a load worth checking.
        while progress.acknowledged.load(Ordering::Relaxed) < ACKNOWLEDGED_MIN
            && clock.elapsed() < load + LATE_MAX
        {
            thread::sleep(Duration::from_millis(5));
        }
        progress.is_over.store(true, Ordering::Release);
        let kills: usize = killers.into_iter().map(|killer| killer.join().unwrap()).sum();
        let calls: Vec<(usize, Vec<Call>)> =
            clients.into_iter().map(|client| client.join().unwrap()).collect();
        (calls, kills)
    });

    let loaded = began.elapsed();
    for (number, store) in stores.iter().enumerate() {
        let address = fleet.address(number % SERVERS).expect("everybody is back");
        let mut api = Api::open(Client::new(address, Some(ADMIN_KEY)), store);
        let feed = entries(&mut api);
        let here = calls.iter().filter(|(store, _)| *store == number);
        let calls: Vec<Call> = here.flat_map(|(_, calls)| calls).cloned().collect();
        let faults = faults(&calls, &feed);
        assert!(faults.is_empty(), "seed {seed}, store {number}:\n{}", faults.join("\n"));
        verify_end(&mut api, &feed);
        count(&calls, tally);
    }
    tally.kills += kills;
    eprintln!("seed {seed}: {loaded:?}, checked after {:?}; {tally:?}", began.elapsed());
}

fn create_store(fleet: &Fleet<'_>, seed: u64, number: usize) -> String {
    let address = fleet.address(number % SERVERS).expect("everybody is there");
    let client = Client::new(address, Some(ADMIN_KEY));
    Api::create(client, &format!("chaos {seed} {number}")).store
}

/// Kills one place's server at random for the planned time.
fn kill_servers(fleet: &Fleet<'_>, place: usize, mut dice: Dice, load: Duration) -> usize {
    let millis = u64::try_from(load.as_millis()).unwrap();
    let began = Instant::now();
    let mut kills = 0;
    loop {
        let pause = dice.millis(millis / 8, millis);
        let left = load.saturating_sub(began.elapsed());
        thread::sleep(pause.min(left));
        if pause >= left {
            return kills;
        }
        fleet.replace(place, dice.millis(0, 100));
        kills += 1;
    }
}

/// The one restart of PostgreSQL in a run: as an operator does it, or as a power cut would.
fn mistreat(postgres: &mut Postgres, seed: u64, load: Duration, dice: &mut Dice) {
    let millis = u64::try_from(load.as_millis()).unwrap();
    thread::sleep(dice.millis(millis / 4, millis * 3 / 4));
    if seed.is_multiple_of(KILLED_EVERY) {
        postgres.kill();
    } else {
        postgres.stop().unwrap();
    }
    thread::sleep(dice.millis(0, 100));
    postgres.start_again().unwrap();
}

fn count(calls: &[Call], tally: &mut Tally) {
    for call in calls {
        match call.told {
            Told::Done { .. } => tally.acknowledged += 1,
            Told::Saw { .. } => tally.reads += 1,
            Told::Taken { .. } | Told::Differs | Told::Missing => tally.refused += 1,
            Told::Nothing => {}
        }
        tally.repeated += usize::from(call.is_repeated);
    }
}
