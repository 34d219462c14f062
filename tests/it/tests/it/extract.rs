//! Promise: `loci extract` answers each line with a line, on a pipe too, opens nothing, and names the
//! line it does not understand.

use loci_it::Loci;

const USAGE: i32 = 2;

fn loci() -> (tempfile::TempDir, Loci) {
    let scratch = tempfile::tempdir().unwrap();
    let loci = Loci::on_data(&scratch.path().join("none"));
    (scratch, loci)
}

#[test]
fn lines_in_and_lines_out_from_a_pipe_and_from_a_file() {
    let (scratch, loci) = loci();
    let input = concat!(
        "{\"id\":\"a\",\"speaker\":\"Ana\",\"at\":\"2026-03-10T09:00:00Z\",\"text\":\"I use Vim.\",\"room\":4}\n",
        "{\"id\":2,\"at\":\"2026-03-10\",\"text\":\"Do you like jazz?\"}\n",
    );
    let expected = concat!(
        "{\"id\":\"a\",\"facts\":[{\"subject\":\"Ana\",\"relation\":\"Uses\",\"object\":\"Vim\",",
        "\"negated\":false,\"valid_at\":null,\"invalid_at\":null}]}\n",
        "{\"id\":2,\"facts\":[]}\n",
    );
    let args = ["extract"];
    let piped = loci.run_with_input(&args, input.as_bytes()).expect_code(0, &args);
    assert_eq!(String::from_utf8_lossy(&piped.stdout), expected);
    let file = scratch.path().join("messages.jsonl");
    std::fs::write(&file, input).unwrap();
    assert_eq!(String::from_utf8_lossy(&loci.ok(&["extract", file.to_str().unwrap()])), expected);
    assert!(!scratch.path().join("none").exists(), "no data directory was made");
}

#[test]
fn a_line_that_is_none_is_named() {
    let (_scratch, loci) = loci();
    let args = ["extract", "-"];
    let input = b"{\"id\":1,\"at\":\"2026-03-10\",\"text\":\"a\"}\n{\"id\":1}\n";
    let refused = loci.run_with_input(&args, input).expect_code(USAGE, &args);
    assert!(refused.stderr.contains("line 2"), "{refused:?}");
    assert_eq!(refused.stdout, b"{\"id\":1,\"facts\":[]}\n");
}
