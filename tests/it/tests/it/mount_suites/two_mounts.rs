//! Promise: two mounts of one store and the API beside them never show something older than they
//! showed before. Whoever reads in the moment of a change may get its text cut, as from any file that
//! is being replaced, and gets all of it a moment later.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{Dice, amount, budget};
use serde_json::json;

use super::scene::{Scene, Store};

/// Files that are written side by side.
const FILES: u64 = 4;
const LATEST: Duration = Duration::from_secs(10);

/// A text that says which turn it is, of a length that differs from turn to turn.
fn text(turn: u64) -> String {
    let size = usize::try_from(turn * 37 % 3000).expect("a small number");
    format!("{turn}:{}:{turn}", "x".repeat(size))
}

/// The turn that a text is of; none if it is no whole text.
fn turn_of(found: &str) -> Option<u64> {
    let turn = found.split(':').next()?.parse().ok()?;
    (found == text(turn)).then_some(turn)
}

/// Somebody who reads one file over and over.
struct Reader {
    path: PathBuf,
    seen: u64,
    /// How often a text was cut.
    cut: u64,
}

impl Reader {
    /// Reads until a turn is seen; how long that took, or what was wrong.
    fn await_turn(&mut self, wanted: u64) -> Result<Duration, String> {
        let began = Instant::now();
        loop {
            let found = fs::read_to_string(&self.path).map_err(|error| error.to_string())?;
            let Some(turn) = turn_of(&found) else {
                if began.elapsed() > budget(LATEST) {
                    return Err(format!("a mixture that stays: {:.60} ({})", found, found.len()));
                }
                self.cut += 1;
                thread::sleep(Duration::from_micros(500));
                continue;
            };
            if turn < self.seen {
                return Err(format!("turn {turn} after turn {}", self.seen));
            }
            self.seen = turn;
            if turn == wanted {
                return Ok(began.elapsed());
            }
            if began.elapsed() > budget(LATEST) {
                return Err(format!("turn {turn} instead of {wanted} after {:?}", began.elapsed()));
            }
            thread::sleep(Duration::from_micros(500));
        }
    }
}

/// What a mount says of saves that it could not make.
fn beside(at: &Path) -> String {
    let names = fs::read_dir(at).into_iter().flatten().flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    format!("beside it {names:?}")
}

/// Writes one file from three sides in turns; each side first waits for what the other wrote.
fn play(
    at: [&Path; 2],
    mut store: Store,
    file: u64,
    turns: u64,
    dice: &mut Dice,
) -> Result<Vec<Duration>, String> {
    let name = format!("file{file}.md");
    let memory = store.api.put(&format!("/{name}"), &text(0));
    let mut readers = at.map(|at| Reader { path: at.join(&name), seen: 0, cut: 0 });
    let began = Instant::now();
    while !readers.iter().all(|reader| reader.path.exists()) {
        (began.elapsed() < budget(LATEST)).then_some(()).ok_or("the file does not appear")?;
        thread::sleep(Duration::from_millis(1));
    }
    let mut times = Vec::new();
    for turn in 1..=turns {
        match dice.below(3) {
            2 => drop(store.api.update(&memory.id, &json!({"content": text(turn)}))),
            side => {
                times.push(readers[side].await_turn(turn - 1)?);
                let written = fs::write(&readers[side].path, text(turn));
                written.map_err(|error| format!("turn {turn}: {error}"))?;
                readers[side].seen = turn;
                let kept = store.api.content(&memory.id);
                if kept != text(turn) {
                    let found = kept.split_whitespace().next();
                    return Err(format!(
                        "turn {turn}: the API has {found:?}, {}",
                        beside(at[side])
                    ));
                }
            }
        }
    }
    for reader in &mut readers {
        times.push(reader.await_turn(turns)?);
        // Rare, or it is no matter of moments.
        (reader.cut <= turns / 10).then_some(()).ok_or("texts are cut too often")?;
    }
    Ok(times)
}

#[test]
fn no_read_is_stale_in_two_mounts_and_the_api() {
    let scene = Scene::new();
    let other = scene.mount_again("other", &["--flat", "--store", &scene.api.store]);
    let turns = amount("interleavings") / FILES;
    let mut dice = Dice::new("two mounts");
    let results: Vec<_> = thread::scope(|scope| {
        let (scene, other) = (&scene, &other);
        let players: Vec<_> = (0..FILES)
            .map(|file| {
                let mut dice = dice.split();
                let at = [scene.mount.at(), other.at()];
                scope.spawn(move || play(at, scene.witness(), file, turns, &mut dice))
            })
            .collect();
        players.into_iter().map(|player| player.join().unwrap()).collect()
    });
    let mut times = Vec::new();
    for result in results {
        times.extend(result.unwrap());
    }
    times.sort();
    let (half, most) = (times[times.len() / 2], times[times.len() - 1]);
    eprintln!("{} turns, seen after {half:?} (median), {most:?} (most)", turns * FILES);
}
