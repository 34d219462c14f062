//! Holds any directory to the suites: `cargo run -p loci-test-mount --example hold -- DIRECTORY posix`.
//! The suites are `posix`, `programs`, `read-only`, and `random` with how many operations and a seed.

use std::path::Path;

use loci_test_mount::random::{self, Bytes, Plan};
use loci_test_mount::{NoWitness, posix, programs, sealed_off};

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [directory, suite, more @ ..] = &words[..] else {
        anyhow::bail!("name a directory and a suite");
    };
    let directory = Path::new(directory);
    let number = |at: usize, usual: u64| more.get(at).map_or(Ok(usual), |word| word.parse::<u64>());
    let failures = match suite.as_str() {
        "posix" => posix::failures(directory),
        "read-only" => sealed_off::failures(directory),
        "programs" => {
            let outside = tempfile::tempdir()?;
            programs::failures(directory, outside.path(), &mut NoWitness)
        }
        "random" => {
            let (operations, seed) = (usize::try_from(number(0, 20_000)?)?, number(1, 1)?);
            let of = |bytes| Plan { seed, operations, bytes, length_most: 60_000 };
            let run = |plan: Plan| {
                let name = format!("random-{:?}-{seed}", plan.bytes);
                random::run(directory, &name, &plan, &mut NoWitness)
            };
            let results = [run(of(Bytes::Text)), run(of(Bytes::Any))];
            results.into_iter().filter_map(|r| r.err().map(|error| format!("{error:#}"))).collect()
        }
        other => anyhow::bail!("no suite is called {other}"),
    };
    failures.iter().for_each(|failure| eprintln!("{failure}"));
    anyhow::ensure!(failures.is_empty(), "{} failures", failures.len());
    Ok(())
}
