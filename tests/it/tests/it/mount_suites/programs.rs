//! Programs at work on a mount, and what the store made of it.

use loci_test_mount::programs;

use super::scene::on_both;

#[test]
fn programs_work_and_every_save_is_one_version() {
    on_both(|scene, at| {
        let outside = tempfile::tempdir().unwrap();
        let failures = programs::failures(at, outside.path(), &mut scene.witness());
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        // The same names are free for the next.
        for entry in std::fs::read_dir(at).unwrap() {
            std::fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
    });
}
