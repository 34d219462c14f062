//! Programs at work on a mount, and what the store made of it.

use loci_test_mount::programs;

use super::scene::Scene;

#[test]
fn programs_work_and_every_save_is_one_version() {
    let scene = Scene::new();
    let outside = scene.setup.scratch().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let failures = programs::failures(scene.mount.at(), &outside, &mut scene.witness());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
