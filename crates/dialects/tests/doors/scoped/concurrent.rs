//! Several writers at once: nothing is lost, nothing is skipped, and a note and its tombstone are
//! never both there.

use crate::scoped::world::{ADA, World, day, delete_line, put_line};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::watch;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn paging_over_1100_keys_with_writers_skips_nothing() {
    let world = Arc::new(World::new().await);
    let lines: Vec<_> = (0..1100).map(|n| put_line(&format!("n{n:04}"), &day(1), "0")).collect();
    assert_eq!(world.notes(ADA).await.push("owner", &lines).await, 1100);
    // Says when a writer has done something, and ends with the last of them.
    let (wrote, mut written) = watch::channel(());
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (world, wrote) = (Arc::clone(&world), wrote.clone());
            tokio::spawn(async move {
                let notes = world.notes(ADA).await;
                for round in 1..30u32 {
                    let key = |n: u32| format!("n{:04}", (round * 37 + writer * 271 + n) % 1100);
                    notes.put("owner", &key(0), &round.to_string(), json!({})).await;
                    notes.forget("owner", &key(500)).await;
                    notes.put("owner", &format!("new-{writer}-{round}"), "x", json!({})).await;
                    let line = put_line(&key(900), "2026-04-01T00:00:00.000Z", "pushed");
                    notes.push("owner", &[line]).await;
                    wrote.send_replace(());
                }
            })
        })
        .collect();
    drop(wrote);
    // A device that pulls all the while, as clients do: the later line about a key counts.
    let (notes, mut device, mut since) = (world.notes(ADA).await, BTreeMap::new(), None::<String>);
    for pages in 1.. {
        let are_done = written.changed().await.is_err();
        let page = notes.pull("owner", since.as_deref()).await;
        assert!(page.lines.len() <= 500);
        for line in &page.lines {
            let key = line["key"].as_str().unwrap().to_owned();
            device.insert(key, line.get("content").map(|text| text.as_str().unwrap().to_owned()));
        }
        since = page.cursor;
        if !page.more && are_done {
            break;
        }
        assert!(pages < 10_000, "the pages do not end");
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let device: BTreeMap<_, _> =
        device.into_iter().filter_map(|(key, content)| Some((key, content?))).collect();
    let answer = notes.ask("GET", &[("action", "list"), ("limit", "10000")], None).await;
    let server: BTreeMap<_, _> = answer["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            (
                entry["key"].as_str().unwrap().to_owned(),
                entry["content"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    assert!(server.len() > 1000);
    assert_eq!(device, server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_key_is_either_there_or_forgotten() {
    let world = Arc::new(World::new().await);
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                let notes = world.notes(ADA).await;
                let mut forgotten = 0;
                for round in 0..40 {
                    let key = format!("k{}", round % 5);
                    if writer % 2 == 0 {
                        notes.put("owner", &key, "x", json!({})).await;
                    } else {
                        forgotten += notes.forget("owner", &key).await;
                    }
                }
                forgotten
            })
        })
        .collect();
    let mut forgotten = 0;
    for writer in writers {
        forgotten += writer.await.unwrap();
    }
    let notes = world.notes(ADA).await;
    let pulled = notes.pull("owner", None).await;
    let mut ops: HashMap<String, usize> = HashMap::new();
    for line in &pulled.lines {
        *ops.entry(line["key"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert!(ops.values().all(|count| *count == 1), "{:?}", pulled.outline());
    assert_eq!(ops.len(), 5);
    assert!(forgotten <= 160, "no more than were put");
}

/// Content and moment of a note are those of one line, however pushes interleave.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pushes_of_many_devices_do_not_mix() {
    let world = Arc::new(World::new().await);
    let devices: Vec<_> = (0..6u32)
        .map(|device| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                let notes = world.notes(ADA).await;
                let mut applied = 0;
                for round in 0..10 {
                    let at = |key: u32| day(1 + (device * 5 + round * 7 + key) % 28);
                    let lines: Vec<_> = (0..40)
                        .map(|key| match (device + round + key) % 4 {
                            0 => delete_line(&format!("k{key}"), &at(key)),
                            _ => put_line(&format!("k{key}"), &at(key), &at(key)),
                        })
                        .collect();
                    applied += notes.push("owner", &lines).await;
                }
                applied
            })
        })
        .collect();
    for device in devices {
        assert!(device.await.unwrap() <= 400);
    }
    let notes = world.notes(ADA).await;
    let pulled = notes.pull("owner", None).await;
    let mut seen = BTreeMap::new();
    for line in &pulled.lines {
        if line["op"] == "put" {
            assert_eq!(line["content"], line["at"], "content and moment of one line");
        }
        assert!(seen.insert(line["key"].to_string(), line["at"].to_string()).is_none());
    }
    for (key, latest) in seen {
        let (key, latest) = (key.trim_matches('"'), latest.trim_matches('"'));
        assert_eq!(notes.push("owner", &[put_line(key, latest, "no later")]).await, 0);
    }
}
