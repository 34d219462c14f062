//! The declared subset of POSIX, all of it, on mounts of every sort.

use loci_it::{Loci, Mounted, Setup};
use loci_test_mount::posix;
use loci_test_postgres::{Build, Database};

use super::scene::Scene;

#[track_caller]
fn hold(scene: &Scene) {
    let failures = posix::failures(scene.mount.at());
    let (failed, all) = (failures.len(), posix::cases().count());
    assert!(failures.is_empty(), "{failed} of {all} cases:\n{}", failures.join("\n"));
}

#[test]
fn a_mount_through_a_server_keeps_the_declared_posix() {
    hold(&Scene::new());
}

#[test]
fn a_mount_of_a_store_on_postgres_keeps_the_declared_posix() {
    let database = Database::fresh_blocking(&Build::Floor.url().unwrap(), None).unwrap();
    hold(&Scene::on(Setup::new().on_database(&database.url())));
}

#[test]
fn a_mount_of_a_data_directory_keeps_the_declared_posix() {
    let setup = Setup::new();
    let loci = Loci::on_data(setup.data());
    loci.ok(&["put", "notes", "/first.md", "--create-store", "--text", "text"]);
    let options = ["--flat", "--store", "notes", "--allow-other"];
    let mount = Mounted::start(&loci, &setup.scratch().join("mount"), &options);
    let failures = posix::failures(mount.at());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(std::fs::read_to_string(mount.at().join("first.md")).unwrap(), "text");
    mount.stop();
    // The process is gone, so the directory can be opened by another, and is whole.
    loci.ok(&["check"]);
}
