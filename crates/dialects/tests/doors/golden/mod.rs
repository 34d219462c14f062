//! Golden transcripts: every `.http` file of a system's directory is played against its router, and
//! every answer must match byte for byte, keys and their order included.
//!
//! `transcript` reads the files (its header describes their form), `pattern` compares answers and
//! remembers what placeholders stood for, `world` is the server they are played against.

mod pattern;
mod transcript;
mod world;

use self::pattern::Bindings;
use self::transcript::Step;
use self::world::World;
use std::path::{Path, PathBuf};

#[tokio::test]
async fn anthropic() {
    let steps = play_all("anthropic").await;
    assert!(steps >= 40, "only {steps} steps were found");
}

#[tokio::test]
async fn robutler() {
    let steps = play_all("robutler").await;
    assert!(steps >= 150, "only {steps} steps were found");
}

async fn play_all(system: &str) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(system);
    let files = std::fs::read_dir(&folder).expect("the transcripts are beside this test");
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut steps = 0;
    let mut failures = Vec::new();
    for file in files {
        assert_eq!(file.extension().unwrap(), "http", "{}", file.display());
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy();
        steps += play(&name, &text, &mut failures).await;
    }
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n\n"));
    steps
}

/// Plays one file against a world of its own. Stops at the first failure: what follows builds on it.
async fn play(name: &str, text: &str, failures: &mut Vec<String>) -> usize {
    let mut world = World::new().await;
    let mut known = Bindings::default();
    let steps = transcript::read(text);
    for Step { title, request, expected } in &steps {
        let answer = world.ask(&known.fill_in(request)).await;
        let wrong = if answer.status != expected.status {
            Some(format!("expected status {}", expected.status))
        } else if let Some(missing) = expected.headers.iter().find(|h| !answer.headers.contains(h))
        {
            Some(format!("expected header {missing:?}, got {:?}", answer.headers))
        } else {
            known.compare(&expected.body, &answer.body).err()
        };
        if let Some(why) = wrong {
            let said = format!("{} {}", answer.status, answer.body);
            failures.push(format!("{name}: {title}\n{why}\n{said}"));
            break;
        }
    }
    steps.len()
}
