//! Random operations on files of a mount, compared with memory.

use std::thread;

use loci_it::{Dice, count};
use loci_test_mount::random::{self, Bytes, Plan};

use super::scene::Scene;

/// A store takes a little more than this in one memory.
const TEXT_MOST: usize = 60_000;

#[test]
fn random_operations_end_as_in_memory() {
    let scene = Scene::new();
    let mut dice = Dice::new("random operations");
    let kinds = [Bytes::Text, Bytes::Any, Bytes::Text, Bytes::Any];
    let operations = count("fsx_operations") / kinds.len();
    let plans =
        kinds.map(|bytes| Plan { seed: dice.roll(), operations, bytes, length_most: TEXT_MOST });
    let failures: Vec<String> = thread::scope(|scope| {
        let runs: Vec<_> = plans
            .iter()
            .enumerate()
            .map(|(number, plan)| {
                let (at, mut witness) = (scene.mount.at(), scene.witness());
                scope.spawn(move || random::run(at, &format!("{number}.md"), plan, &mut witness))
            })
            .collect();
        let results = runs.into_iter().map(|run| run.join().unwrap());
        results.filter_map(|result| result.err().map(|error| format!("{error:#}"))).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
