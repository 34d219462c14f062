//! Many at once: threads on two mounts of one store and others by the API, in few names so that they
//! meet. In the end all see the same, and it is what the store has.

use crate::begun::{Begun, PATIENCE};
use loci_model::{Expect, MemoryPath};
use loci_mount::port::{Act, At, Edit};
use loci_test_kit::{Dice, amount, seed_or};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const NAMES: [&str; 6] = ["a", "b", "d/c", "d/e", "d/f/g", "h.tmp"];
const DIRECTORIES: [&str; 3] = ["d", "d/f", "i"];

/// Everything may fail here; nothing may hang, and nothing may be half.
fn act(begun: &Begun, dice: &mut Dice, n: usize) {
    let (one, two) = (begun.at(dice.pick(&NAMES)), begun.at(dice.pick(&NAMES)));
    let text = format!("text {n} of {}\n", dice.roll()).repeat(1 + dice.below(40));
    match dice.below(10) {
        0..3 => drop(fs::write(one, text)),
        3 | 4 => {
            let _ = OpenOptions::new().append(true).create(true).open(one).map(|mut file| {
                let _ = file.write_all(text.as_bytes());
                let _ = file.sync_all();
            });
        }
        5 => drop(fs::remove_file(one)),
        6 | 7 => drop(fs::rename(one, two)),
        8 => {
            let directory = |dice: &mut Dice| DIRECTORIES[dice.below(DIRECTORIES.len())];
            let (from, to) = (directory(dice), directory(dice));
            drop(fs::rename(begun.at(from), begun.at(to)));
            drop(fs::create_dir_all(begun.at("d/f")));
        }
        _ => drop(fs::read(one)),
    }
}

fn act_by_api(begun: &Begun, dice: &mut Dice, n: usize) {
    let path = MemoryPath::parse(&format!("/{}", dice.pick(&NAMES))).unwrap();
    let to = MemoryPath::parse(&format!("/{}", dice.pick(&NAMES))).unwrap();
    let act = match dice.below(4) {
        0 => Act::Remove,
        1 => Act::Append { text: format!("line {n}\n"), is_own_line: false },
        2 => Act::Put { text: None, to: Some(to), attributes: Box::default() },
        _ => Act::Put { text: Some(format!("api {n}\n")), to: None, attributes: Box::default() },
    };
    let edit = Edit { at: At::Path(path), expect: Expect::Anything, act };
    // Taken, gone or in the way: that is what happens in a crowd.
    let _ = begun.port.apply(begun.port.store(0), &[edit]);
}

/// All files below a directory.
fn gather(root: &Path, below: &str, found: &mut BTreeMap<String, String>) {
    for line in fs::read_dir(root.join(below.trim_start_matches('/'))).unwrap() {
        let line = line.unwrap();
        let path = format!("{below}/{}", line.file_name().into_string().unwrap());
        if line.file_type().unwrap().is_dir() {
            gather(root, &path, found);
        } else {
            let text = String::from_utf8(fs::read(line.path()).unwrap_or_default()).unwrap();
            found.insert(path, text);
        }
    }
}

#[test]
fn two_mounts_and_the_api_agree_in_the_end() {
    let one = Begun::new();
    let two = Begun::over(one.port.clone(), |_| ());
    for begun in [&one, &two] {
        fs::create_dir_all(begun.at("d/f")).unwrap();
        fs::create_dir_all(begun.at("i")).unwrap();
    }
    let seed = seed_or("crowd", || 5);
    let end = Instant::now() + Duration::from_millis(amount("crowd_millis"));
    std::thread::scope(|scope| {
        for (thread, begun) in [&one, &two, &one, &two].into_iter().enumerate() {
            scope.spawn(move || {
                let mut dice = Dice::seeded(seed.wrapping_add(thread as u64 * 77));
                for n in 0..1_000_000 {
                    if Instant::now() > end {
                        break;
                    }
                    act(begun, &mut dice, n);
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        }
        scope.spawn(|| {
            let mut dice = Dice::seeded(seed.wrapping_add(4706));
            for n in 0..1_000_000 {
                if Instant::now() > end {
                    break;
                }
                act_by_api(&one, &mut dice, n);
                std::thread::sleep(Duration::from_millis(3));
            }
        });
    });
    let stored = || {
        let paths = one.port.paths(0).into_iter();
        paths.filter_map(|path| Some((path.clone(), one.port.text_at(0, &path)?))).collect()
    };
    let seen = |begun: &Begun| {
        let mut found = BTreeMap::new();
        gather(&begun.at(""), "", &mut found);
        found
    };
    let is_same = || {
        let stored: BTreeMap<String, String> = stored();
        seen(&one) == stored && seen(&two) == stored
    };
    let begun = Instant::now();
    while !is_same() && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(100));
    }
    let stored: BTreeMap<String, String> = stored();
    for begun in [&one, &two] {
        let seen = seen(begun);
        let more: Vec<_> = seen.iter().filter(|it| stored.get(it.0) != Some(it.1)).collect();
        let less: Vec<_> = stored.iter().filter(|it| seen.get(it.0) != Some(it.1)).collect();
        let about = |path: &String| {
            let at = begun.at(path.trim_start_matches('/'));
            let words = ["id", "revision", "unsaved"].map(|name| {
                let mut value = [0; 200];
                let length = rustix::fs::getxattr(&at, format!("user.loci.{name}"), &mut value[..]);
                String::from_utf8_lossy(&value[..length.unwrap_or(0)]).into_owned()
            });
            let size = fs::metadata(&at).map_or(0, |it| it.len());
            let entry =
                one.port.entry_at(0, path).map(|it| (it.memory, it.revision, it.size_bytes));
            format!("{path}: here {words:?}, {size} bytes; there {entry:?}\n")
        };
        let more: String = more.iter().map(|it| about(it.0)).collect();
        let less: String = less.iter().map(|it| about(it.0)).collect();
        let unsaved = begun.unsaved();
        assert!(more.is_empty() && less.is_empty(), "seen: {more}\nstored: {less}\n{unsaved:?}");
    }
    assert!(one.port.versions_written(0) > 100);
}
