//! Many callers at once share transactions; each still gets its own answer.

use super::{open, world};
use loci_storage::StorageError;
use loci_storage_contract::fixture::{put, remove, rename};
use std::sync::Arc;
use std::time::Instant;

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_callers_share_commits() {
    const TASKS: usize = 64;
    const EACH: usize = 25;
    let (world, dir) = world().await;
    let world = Arc::new(world);
    let started = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                for n in 0..EACH {
                    let text = format!("task {task} wrote number {n} into the store");
                    let at = format!("/task{task}/{n}");
                    let memory = world.edit(put(&at, &text)).await.unwrap().memory;
                    assert_eq!(memory.revision, 1);
                    assert_eq!(world.text_at(&at).await.unwrap(), text, "read after write");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let took = started.elapsed();
    println!("{} creates in {took:?}", TASKS * EACH);
    let stats = world.storage.stats(&world.read_pass()).await.unwrap();
    assert_eq!((stats.memories, stats.last_seq), (1600, 1600));
    world.assert_sound().await;
    let pass = world.read_pass();
    drop(world);
    let stats = open(dir.path()).stats(&pass).await.unwrap();
    assert_eq!((stats.memories, stats.versions), (1600, 1600));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_job_leaves_its_neighbours_alone() {
    let (world, _dir) = world().await;
    let world = Arc::new(world);
    let taken = world.put("/taken", "x").await;
    world.put("/fixed", "x").await;
    let tasks: Vec<_> = (0..60)
        .map(|n| {
            let (world, id) = (Arc::clone(&world), taken.id);
            tokio::spawn(async move {
                let refused = match n % 3 {
                    0 => return drop(world.put(&format!("/fine/{n}"), "y").await),
                    // The second edit fails after the first was written.
                    1 => {
                        let edits = vec![put(&format!("/half/{n}"), "z"), put("/taken/below", "z")];
                        world.commit(edits).await.map(|_| ())
                    }
                    _ => world.edit(rename(id, "/fixed")).await.map(|_| ()),
                };
                assert!(matches!(refused, Err(StorageError::PathTaken { .. })), "{refused:?}");
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let paths = world.paths().await;
    assert_eq!(paths.len(), 22, "twenty fine ones and the first two: {paths:?}");
    world.assert_sound().await;
}

#[tokio::test]
async fn a_batch_is_whole_or_nothing() {
    let (world, _dir) = world().await;
    let kept = world.put("/kept", "x").await;
    let before = world.storage.stats(&world.read_pass()).await.unwrap();
    let edits = vec![put("/a", "1"), remove("/kept"), put("/a/b", "2")];
    assert!(matches!(world.commit(edits).await, Err(StorageError::PathTaken { .. })));
    assert_eq!(world.storage.stats(&world.read_pass()).await.unwrap(), before);
    assert_eq!(world.get("/kept").await.unwrap().head, kept.head);
    assert!(world.find(&["1"]).await.is_empty());
    world.put("/next", "y").await;
    world.assert_sound().await;
}
