//! Saves that come too late: both texts are kept, the store has the winner's, and the loser hears it
//! by a number that the kernel does not answer by trying again.

use crate::begun::{Begun, PATIENCE, attribute, code, shell, try_shell, within};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

const ACCES: i32 = 13;
const BUSY: i32 = 16;
const EXIST: i32 = 17;
const STALE: i32 = 116;

fn save(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// A file that this process has read and others have changed.
fn outdated(begun: &Begun, name: &str) {
    fs::write(begun.at(name), "base").unwrap();
    assert_eq!(fs::read_to_string(begun.at(name)).unwrap(), "base");
    begun.port.write(0, &format!("/{name}"), "theirs").unwrap();
    begun.hear();
}

fn check_both(begun: &Begun, name: &str, mine: &str) {
    assert_eq!(begun.port.text_at(0, &format!("/{name}")).unwrap(), "theirs");
    assert_eq!(begun.port.text_at(0, &format!("/{name}.conflict")).unwrap(), mine);
    assert_eq!(fs::read_to_string(begun.at(name)).unwrap(), "theirs");
}

#[test]
fn a_rename_that_comes_too_late_is_refused_once() {
    let begun = Begun::new();
    outdated(&begun, "f");
    fs::write(begun.at("f.tmp"), "mine").unwrap();
    assert_eq!(code(fs::rename(begun.at("f.tmp"), begun.at("f"))), BUSY);
    check_both(&begun, "f", "mine");
    assert_eq!(fs::read_to_string(begun.at("f.tmp")).unwrap(), "mine");
    // Who has heard of it decides.
    fs::rename(begun.at("f.tmp"), begun.at("f")).unwrap();
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "mine");
}

#[test]
fn a_rename_that_is_overtaken_is_refused_too() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "base").unwrap();
    fs::write(begun.at("f.tmp"), "mine").unwrap();
    begun.port.hold();
    let (from, to) = (begun.at("f.tmp"), begun.at("f"));
    let mine = std::thread::spawn(move || code(fs::rename(from, to)));
    within(PATIENCE, "the rename", || begun.port.held() == 1);
    begun.port.write(0, "/f", "theirs").unwrap();
    begun.port.release();
    assert_eq!(mine.join().unwrap(), BUSY);
    begun.hear();
    check_both(&begun, "f", "mine");
}

#[test]
fn a_file_written_after_others_changed_what_was_read_conflicts() {
    let begun = Begun::new();
    outdated(&begun, "f");
    assert_eq!(code(save(&begun.at("f"), "mine")), STALE);
    check_both(&begun, "f", "mine");
    save(&begun.at("f"), "mine again").unwrap();
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "mine again");
    // The same after it was read again.
    begun.port.write(0, "/f", "theirs again").unwrap();
    begun.hear();
    assert_eq!(fs::read_to_string(begun.at("f")).unwrap(), "theirs again");
    save(&begun.at("f"), "mine at last").unwrap();
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "mine at last");
}

#[test]
fn the_successor_of_a_file_that_was_read_conflicts_too() {
    let begun = Begun::new();
    outdated(&begun, "f");
    // As Vim does it.
    fs::rename(begun.at("f"), begun.at("f~")).unwrap();
    assert_eq!(code(save(&begun.at("f"), "mine")), STALE);
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "theirs");
    assert_eq!(begun.port.text_at(0, "/f.conflict").unwrap(), "mine");
}

#[test]
fn who_has_not_read_a_file_replaces_it() {
    let begun = Begun::new();
    outdated(&begun, "f");
    shell(&begun, "echo blind > f");
    assert_eq!(begun.port.text_at(0, "/f").unwrap(), "blind\n");
    assert_eq!(begun.port.paths(0), ["/f"]);
}

#[test]
fn what_this_mount_saved_meanwhile_is_replaced_as_on_any_file_system() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "base").unwrap();
    assert_eq!(fs::read_to_string(begun.at("f")).unwrap(), "base");
    for script in ["echo two > f", "echo three > f.tmp; mv f.tmp f", "sed -i s/three/four/ f"] {
        shell(&begun, script);
        save(&begun.at("f"), script).unwrap();
        assert_eq!(begun.port.text_at(0, "/f").unwrap(), script);
    }
    assert_eq!(begun.port.paths(0), ["/f"]);
}

#[test]
fn a_truncation_by_path_that_is_overtaken_is_refused_once() {
    let begun = Begun::new();
    fs::write(begun.at("f"), "base").unwrap();
    assert_eq!(fs::read_to_string(begun.at("f")).unwrap(), "base");
    begun.port.hold();
    let cut = "import os\ntry: os.truncate('f', 2)\nexcept OSError as it: print(it.errno)";
    let said = std::thread::scope(|scope| {
        let cutting = scope.spawn(|| shell(&begun, &format!("python3 -c \"{cut}\"")));
        within(PATIENCE, "the save", || begun.port.held() == 1);
        begun.port.write(0, "/f", "theirs").unwrap();
        begun.port.release();
        cutting.join().unwrap()
    });
    assert_eq!(said.trim(), BUSY.to_string());
    begun.hear();
    check_both(&begun, "f", "ba");
}

#[test]
fn where_a_sealed_memory_is_nothing_can_be_written() {
    let begun = Begun::new();
    begun.port.write(0, "/sealed", "secret").unwrap();
    begun.port.seal(0, "/sealed");
    let begun = Begun::over(begun.port.clone(), |_| ());
    assert!(!begun.at("sealed").exists());
    assert_eq!(code(save(&begun.at("sealed"), "mine")), ACCES);
    let why = attribute(&begun.at("sealed"), "user.loci.unsaved").unwrap();
    assert_eq!(why, "a sealed memory is there");
    fs::remove_file(begun.at("sealed")).unwrap();
    fs::write(begun.at("new.tmp"), "mine").unwrap();
    assert_eq!(code(fs::rename(begun.at("new.tmp"), begun.at("sealed"))), ACCES);
    fs::write(begun.at("old"), "mine").unwrap();
    assert_eq!(code(fs::rename(begun.at("old"), begun.at("sealed"))), ACCES);
    assert_eq!(begun.port.text_at(0, "/sealed").unwrap(), "secret");
}

#[test]
fn a_text_that_a_store_keeps_once_is_refused_under_a_second_name() {
    let begun = Begun::new();
    begun.port.merge_repeats(0);
    save(&begun.at("one"), "text").unwrap();
    assert_eq!(code(save(&begun.at("two"), "text")), EXIST);
    assert_eq!(fs::read_to_string(begun.at("two")).unwrap(), "text");
    let why = attribute(&begun.at("two"), "user.loci.unsaved").unwrap();
    assert!(why.contains("/one"), "{why}");
    fs::write(begun.at("x.tmp"), "text").unwrap();
    assert_eq!(code(fs::rename(begun.at("x.tmp"), begun.at("three"))), EXIST);
    assert_eq!(begun.port.paths(0), ["/one"]);
    // Written otherwise, it is a memory of its own.
    save(&begun.at("two"), "another text").unwrap();
    assert_eq!(begun.port.paths(0), ["/one", "/two"]);
}

#[test]
fn of_two_who_make_a_lock_one_has_made_it() {
    let one = Begun::new();
    let two = Begun::over(one.port.clone(), |_| ());
    // The second hears nothing of the first before it closes.
    let make = |text: &str| {
        format!(
            "python3 -c \"import os\nfd = os.open('lock', os.O_CREAT | os.O_EXCL | os.O_WRONLY)\n\
             os.write(fd, b'{text}')\ninput()\n\
             try: os.close(fd); print('made')\nexcept OSError as it: print(it.errno)\""
        )
    };
    for texts in [["", ""], ["locked", "locked"], ["pid 1", "pid 2"], ["pid 1", ""]] {
        let both = [(&one, texts[0]), (&two, texts[1])];
        let both = both.map(|(begun, text)| try_shell(begun, &make(text)));
        within(PATIENCE, "both to have made it", || {
            [&one, &two].iter().all(|begun| begun.at("lock").exists())
        });
        let mut said = both.map(|mut child| {
            child.stdin.take().unwrap().write_all(b"\n").unwrap();
            let output = child.wait_with_output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        });
        said.sort();
        assert_eq!(said, [EXIST.to_string(), "made".into()], "{texts:?}");
        assert_eq!(one.port.history(0, "/lock"), "created");
        assert_eq!(one.port.paths(0), ["/lock"], "nothing is beside");
        one.hear();
        two.hear();
        let made = one.port.text_at(0, "/lock").unwrap();
        assert!(texts.contains(&made.as_str()), "{made}");
        for begun in [&one, &two] {
            let reads = || fs::read_to_string(begun.at("lock")).is_ok_and(|it| it == made);
            within(PATIENCE, "the one lock", reads);
        }
        fs::remove_file(one.at("lock")).unwrap();
        within(PATIENCE, "both to see it go", || !two.at("lock").exists());
    }
}
