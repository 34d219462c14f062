//! Promise: a store of many pages is mounted before all of it is known, and is whole to whoever looks.

use std::fs;

use loci_it::{ADMIN_KEY, Api, Loci, Mounted, Setup};
use rustix::io::Errno;
use serde_json::{Value, json};

const DIRECTORIES: usize = 40;
const FILES: usize = 100;

#[test]
fn a_store_of_many_pages_is_whole_from_the_first_look_on() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "notes");
    // Names that sort before and after the slash of their neighbours.
    let directory = |at: usize| format!("d{at:02}{}", ["", ".x", "-y", "é"][at % 4]);
    let edits: Vec<Value> = (0..DIRECTORIES * FILES)
        .map(|at| {
            let path = format!("/{}/in/f{:03}.md", directory(at / FILES), at % FILES);
            json!({"op": "put", "path": path, "content": format!("text {at}")})
        })
        .collect();
    api.client.post(&api.path("/edits"), &json!({"edits": edits})).ok();

    let loci = Loci::on_url(&server.url(), ADMIN_KEY);
    let point = setup.scratch().join("mount");
    let mount = Mounted::start(&loci, &point, &["--flat", "--store", &api.store]);
    let at = |path: &str| mount.at().join(path);
    let last = directory(DIRECTORIES - 1);
    let text = fs::read_to_string(at(&format!("{last}/in/f099.md"))).unwrap();
    assert_eq!(text, format!("text {}", DIRECTORIES * FILES - 1));
    let count = |path: &str| fs::read_dir(at(path)).unwrap().count();
    assert_eq!(count(""), DIRECTORIES);
    for n in (0..DIRECTORIES).rev() {
        assert_eq!((count(&directory(n)), count(&format!("{}/in", directory(n)))), (1, FILES));
    }
    let refused = fs::remove_dir(at(&last)).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(Errno::NOTEMPTY.raw_os_error()));
    fs::rename(at(&directory(20)), at("renamed")).unwrap();
    assert_eq!((count(""), count("renamed/in")), (DIRECTORIES, FILES));
    let room = rustix::fs::statvfs(mount.at()).unwrap();
    assert_eq!(room.f_files - room.f_ffree, (DIRECTORIES * FILES) as u64);
    mount.stop();
}
