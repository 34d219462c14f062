//! Promise: sixteen `loci mcp` processes on one data directory, killed at random, the one that holds
//! it among them, lose no write that was acknowledged, and do none twice.

use loci_it::mcp::Mcp;
use loci_it::{Api, Dice, Setup, amount};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const PROCESSES: usize = 16;
/// Acknowledged writes and kills without which a run shows nothing.
const ACKNOWLEDGED_MIN: usize = 101;
const KILLS_MIN: usize = 11;
/// How much longer than planned it may go on until there are so many.
const LATE_MAX: Duration = Duration::from_secs(60);

/// What one writer was told, and what it does not know.
#[derive(Default)]
struct Told {
    acknowledged: Vec<String>,
    unknown: Vec<String>,
}

#[test]
fn sixteen_processes_that_die_at_random_lose_nothing() {
    let setup = Setup::new();
    let time = Duration::from_secs(amount("swarm_secs"));
    let is_over = Arc::new(AtomicBool::new(false));
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let mut kills = 0;
    // Which process each writer uses at the moment, for whoever kills them.
    let pids: Arc<Mutex<BTreeMap<usize, u32>>> = Arc::default();
    let writers: Vec<_> = (0..PROCESSES)
        .map(|number| {
            let (is_over, pids, data) = (is_over.clone(), pids.clone(), setup.data().to_owned());
            let acknowledged = acknowledged.clone();
            thread::spawn(move || {
                let (mut told, mut count) = (Told::default(), 0);
                while !is_over.load(Ordering::Relaxed) {
                    let mut mcp = Mcp::on_data(&data, &[]);
                    pids.lock().unwrap().insert(number, mcp.id());
                    while !is_over.load(Ordering::Relaxed) {
                        count += 1;
                        let line = format!("writer {number} line {count}.");
                        // Logs that all append to, and one memory for each line.
                        let (name, arguments) = match count % 2 {
                            0 => {
                                let path = format!("/log/{}.md", count / 100);
                                ("memory_edit", json!({"path": path, "append": line}))
                            }
                            _ => {
                                let path = format!("/w{number}/{count}.md");
                                ("memory_write", json!({"path": path, "content": line}))
                            }
                        };
                        match mcp.call(name, &arguments) {
                            Some(answer) if answer["result"]["isError"] == false => {
                                told.acknowledged.push(line);
                                acknowledged.fetch_add(1, Ordering::Relaxed);
                            }
                            Some(answer) => panic!("refused: {answer}"),
                            None => {
                                told.unknown.push(line);
                                break;
                            }
                        }
                    }
                }
                told
            })
        })
        .collect();

    let mut dice = Dice::new("swarm");
    let began = Instant::now();
    // On a busy machine the planned time is too short for a load worth checking.
    let is_little =
        |kills| acknowledged.load(Ordering::Relaxed) < ACKNOWLEDGED_MIN || kills < KILLS_MIN;
    while began.elapsed() < time || (is_little(kills) && began.elapsed() < time + LATE_MAX) {
        thread::sleep(Duration::from_millis(50 + dice.below(300) as u64));
        let holder = std::fs::read(setup.data().join("loci.holder")).ok();
        let holder =
            holder.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
        let holder = holder.and_then(|label| label["pid"].as_u64());
        let pids: Vec<u32> = pids.lock().unwrap().values().copied().collect();
        // Every third time it is the one that holds the directory, as far as one can tell.
        let held = pids.iter().copied().find(|pid| Some(u64::from(*pid)) == holder);
        let random = pids.get(dice.below(pids.len().max(1))).copied();
        let victim = if dice.below(3) == 0 { held.or(random) } else { random };
        if let Some(pid) = victim.and_then(|pid| rustix::process::Pid::from_raw(pid as i32)) {
            // Gone already is as good.
            let killed = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            kills += usize::from(killed.is_ok());
        }
    }
    is_over.store(true, Ordering::Relaxed);
    let told: Vec<Told> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
    let acknowledged: Vec<&String> = told.iter().flat_map(|one| &one.acknowledged).collect();
    let unknown: BTreeSet<&String> = told.iter().flat_map(|one| &one.unknown).collect();

    let server = setup.start();
    let mut client = server.client();
    let stores = client.get("/v1/memory_stores").ok();
    let home = stores["data"][0]["id"].as_str().unwrap().to_owned();
    let mut api = Api::open(server.client(), &home);
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for memory in api.memories() {
        let content = api.content(&memory.id);
        for line in content.lines() {
            *found.entry(line.to_owned()).or_default() += 1;
        }
        if !memory.path.starts_with("/log/") {
            assert_eq!(api.versions(&memory.id).len(), 1, "{} was written twice", memory.path);
        }
    }
    for line in &acknowledged {
        assert_eq!(found.get(*line), Some(&1), "{line:?}, which was acknowledged");
    }
    let known: BTreeSet<&String> = acknowledged.iter().copied().collect();
    for (line, count) in &found {
        assert_eq!(*count, 1, "{line:?} is there {count} times");
        assert!(known.contains(line) || unknown.contains(line), "{line:?} was never written");
    }
    println!("{} acknowledged, {} unknown, {kills} killed", acknowledged.len(), unknown.len());
    let is_enough = acknowledged.len() >= ACKNOWLEDGED_MIN && kills >= KILLS_MIN;
    assert!(is_enough, "too little happened");
    server.stop();
}
