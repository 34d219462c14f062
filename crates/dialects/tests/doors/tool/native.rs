//! One test for each row of the documented strings of `memory_20250818`.

use crate::tool::world::{World, path, view};
use loci_dialects::tool::{OnExisting, ToolOptions};
use loci_model::{AttributesPatch, Content, Edit, EditOp, Patch, StorePolicy, Visibility, limit};
use serde_json::{Value, json};

const ME: &str = "a";

fn str_replace(path: &str, old: &str, new: &str) -> Value {
    json!({ "command": "str_replace", "path": path, "old_str": old, "new_str": new })
}

fn insert(path: &str, line: i64, text: &str) -> Value {
    json!({ "command": "insert", "path": path, "insert_line": line, "insert_text": text })
}

fn delete(path: &str) -> Value {
    json!({ "command": "delete", "path": path })
}

fn rename(old: &str, new: &str) -> Value {
    json!({ "command": "rename", "old_path": old, "new_path": new })
}

async fn with_files(files: &[(&str, &str)]) -> World {
    let world = World::new().await;
    for (path, text) in files {
        let done = format!("File created successfully at: {path}");
        world.done(ME, crate::tool::world::create(path, text), done).await;
    }
    world
}

fn listing(path: &str, lines: &[&str]) -> String {
    let header = format!(
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items \
         and node_modules:"
    );
    [&[header.as_str()], lines].concat().join("\n")
}

#[tokio::test]
async fn view_of_an_empty_root_is_no_error() {
    let world = World::new().await;
    let empty = listing("/memories", &["0B\t/memories"]);
    world.done(ME, view("/memories"), empty.clone()).await;
    world.done(ME, view("/memories/"), empty).await;
}

#[tokio::test]
async fn view_of_a_directory() {
    let kilobyte_and_a_half = "x".repeat(1536);
    let world = with_files(&[
        ("/memories/b.md", "12"),
        ("/memories/a/z", &kilobyte_and_a_half),
        ("/memories/a/deep/er/est", "1234"),
        ("/memories/a.txt", ""),
        ("/memories/.hidden/x", "1"),
        ("/memories/a/.secret", "1"),
        ("/memories/node_modules/y", "1"),
        ("/memories/B", "1"),
    ])
    .await;
    let expected = listing(
        "/memories",
        &[
            "1.5K\t/memories",
            "1B\t/memories/B",
            "1.5K\t/memories/a/",
            "4B\t/memories/a/deep/",
            "1.5K\t/memories/a/z",
            "0B\t/memories/a.txt",
            "2B\t/memories/b.md",
        ],
    );
    world.done(ME, view("/memories"), expected).await;
    let expected = listing(
        "/memories/a",
        &[
            "1.5K\t/memories/a",
            "4B\t/memories/a/deep/",
            "4B\t/memories/a/deep/er/",
            "1.5K\t/memories/a/z",
        ],
    );
    world.done(ME, view("/memories/a/"), expected).await;
    let hidden =
        listing("/memories/.hidden", &["1B\t/memories/.hidden", "1B\t/memories/.hidden/x"]);
    world.done(ME, view("/memories/.hidden"), hidden).await;
}

#[tokio::test]
async fn view_of_a_file() {
    let world =
        with_files(&[("/memories/f", "one\r\ntwo\n\nfour\n"), ("/memories/empty", "")]).await;
    let header = "Here's the content of /memories/f with line numbers:\n";
    let whole = "     1\tone\r\n     2\ttwo\n     3\t\n     4\tfour\n     5\t";
    world.done(ME, view("/memories/f"), format!("{header}{whole}")).await;
    let empty = "Here's the content of /memories/empty with line numbers:\n     1\t";
    world.done(ME, view("/memories/empty"), empty).await;
    for (range, lines) in [
        (json!([1, 2]), "     1\tone\r\n     2\ttwo"),
        (json!([4, -1]), "     4\tfour\n     5\t"),
        (json!([0, 1]), "     1\tone\r"),
        (json!([2, 2.0]), "     2\ttwo"),
        (json!([5, 99]), "     5\t"),
        (json!([6, 9]), ""),
        (json!([3, 2]), ""),
        (Value::Null, whole),
    ] {
        let body = json!({ "command": "view", "path": "/memories/f", "view_range": range });
        world.done(ME, body, format!("{header}{lines}")).await;
    }
    for range in [json!([1]), json!([1, 2, 3]), json!("1-2"), json!(["1", "2"]), json!([1.5, 2])] {
        let body = json!({ "command": "view", "path": "/memories/f", "view_range": range });
        world.refused(ME, body, "view_range must be two integers: [start, end]").await;
    }
}

#[tokio::test]
async fn view_of_a_long_file_is_cut_and_says_so() {
    let text = "0123456789abcde\n".repeat(2000);
    let world = with_files(&[("/memories/f", &text)]).await;
    let shown = world.content(ME, view("/memories/f")).await;
    assert!(shown.contains("\n  1000\t0123456789abcde\n"), "{shown}");
    assert!(
        shown.ends_with(
            "\n  1001\t\n[Truncated in line 1001: 16000 of 32000 characters are shown. \
             Use view_range to see other lines.]"
        ),
        "{}",
        &shown[shown.len() - 200..]
    );
    let rest = json!({ "command": "view", "path": "/memories/f", "view_range": [1001, 2001] });
    let rest = world.content(ME, rest).await;
    assert!(rest.ends_with("\n  2001\t"), "the second half fits exactly");
}

#[tokio::test]
async fn view_of_too_many_lines() {
    let world = World::new().await;
    let policy = StorePolicy {
        content_bytes_max: limit::CONTENT_BYTES_MAX as u64,
        ..StorePolicy::default()
    };
    let new = loci_engine::NewStore { name: "large".into(), policy, ..Default::default() };
    let context = world.context(ME).await;
    let store = world.engine.create_store(&context, new).await.unwrap().id;
    for (name, lines) in [("/most", 999_998), ("/more", 999_999)] {
        world.write(ME, store, Edit::put_text(path(name), "\n".repeat(lines))).await;
    }
    let shared = |name: &str| {
        let path = format!("/memories/shared/{store}/{name}");
        let range = [999_999, -1];
        json!({ "command": "view", "path": path, "dialect": "native", "view_range": range })
    };
    let shown = world.content(ME, shared("most")).await;
    assert!(shown.ends_with("with line numbers:\n999999\t"), "{shown:.300}");
    let many =
        format!("File /memories/shared/{store}/more exceeds maximum line limit of 999,999 lines.");
    world.refused(ME, shared("more"), &many).await;
}

#[tokio::test]
async fn view_of_nothing() {
    let world = World::new().await;
    let words = "The path /memories/x does not exist. Please provide a valid path.";
    world.refused(ME, view("/memories/x"), words).await;
    world.refused(ME, json!({ "command": "view" }), "path is required for view").await;
    world.refused(ME, json!({ "command": "view", "path": 1 }), "path must be a string").await;
}

#[tokio::test]
async fn create() {
    let world = World::new().await;
    world
        .done(
            ME,
            crate::tool::world::create("/memories/d/f", "x"),
            "File created successfully at: /memories/d/f",
        )
        .await;
    let exists = "Error: File /memories/d/f already exists";
    for path in ["/memories/d/f", "/memories/d/f/", "/memories/d", "/memories/d/f/g"] {
        // The file itself, its directory, and below it as if it were one.
        world.refused(ME, crate::tool::world::create(path, "y"), exists).await;
    }
    let root = "Error: File /memories already exists";
    world.refused(ME, crate::tool::world::create("/memories/", "y"), root).await;
    let home = world.home(ME).await;
    assert_eq!(world.read(ME, home, "/d/f").await, Some(Content::Text("x".into())));
    let large = "x".repeat(limit::CONTENT_BYTES_DEFAULT + 1);
    let words = "Error: content is 102401 bytes, limit 102400";
    world.refused(ME, crate::tool::world::create("/memories/large", &large), words).await;
}

#[tokio::test]
async fn create_overwrites_where_the_operator_says_so() {
    let options = ToolOptions { on_existing: OnExisting::Overwrite, ..ToolOptions::default() };
    let world = World::with(options).await;
    for text in ["one", "two"] {
        let done = "File created successfully at: /memories/f";
        world.done(ME, crate::tool::world::create("/memories/f", text), done).await;
    }
    let home = world.home(ME).await;
    assert_eq!(world.read(ME, home, "/f").await, Some(Content::Text("two".into())));
    let clash = "Error: File /memories/f already exists";
    world.refused(ME, crate::tool::world::create("/memories/f/g", "x"), clash).await;
}

#[tokio::test]
async fn str_replaces() {
    let world =
        with_files(&[("/memories/f", "1\n2\n3\n4\n5\n6\n7\n"), ("/memories/d/x", "")]).await;
    let edited = "The memory file has been edited. Here is the snippet showing the change (with \
                  line numbers):\n";
    let snippet = "     2\t2\n     3\t3\n     4\tfour\n     5\t5\n     6\t6";
    world.done(ME, str_replace("/memories/f", "4", "four"), format!("{edited}{snippet}")).await;
    let without_new = json!({ "command": "str_replace", "path": "/memories/f", "old_str": "1\n" });
    let snippet = "     1\t2\n     2\t3\n     3\tfour";
    world.done(ME, without_new, format!("{edited}{snippet}")).await;
    let home = world.home(ME).await;
    let text = Content::Text("2\n3\nfour\n5\n6\n7\n".into());
    assert_eq!(world.read(ME, home, "/f").await, Some(text));

    let missing = "Error: The path {} does not exist. Please provide a valid path.";
    for path in ["/memories/x", "/memories/d", "/memories"] {
        let words = missing.replace("{}", path);
        world.refused(ME, str_replace(path, "a", "b"), &words).await;
    }
    let absent =
        "No replacement was performed, old_str `x` did not appear verbatim in /memories/f.";
    world.refused(ME, str_replace("/memories/f", "x", "y"), absent).await;
    world.refused(ME, str_replace("/memories/f", "", "y"), &absent.replace("`x`", "``")).await;
    let needed = "old_str is required for str_replace";
    world.refused(ME, json!({ "command": "str_replace", "path": "/memories/f" }), needed).await;
}

#[tokio::test]
async fn str_replace_of_what_is_not_unique() {
    let world = with_files(&[("/memories/f", "aa\nb\na\nb\na")]).await;
    for (old, lines) in [("b\na", "2, 4"), ("a", "1, 1, 3, 5"), ("b", "2, 4"), ("a\nb", "1, 3")] {
        let words = format!(
            "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: \
             {lines}. Please ensure it is unique"
        );
        world.refused(ME, str_replace("/memories/f", old, "x"), &words).await;
    }
}

#[tokio::test]
async fn inserts() {
    let world = with_files(&[("/memories/f", "1\n2\n"), ("/memories/d/x", "")]).await;
    let edited = "The file /memories/f has been edited.";
    world.done(ME, insert("/memories/f", 0, "top"), edited).await;
    world.done(ME, insert("/memories/f", 3, "end\n"), edited).await;
    world.done(ME, insert("/memories/f", 1, "a\nb"), edited).await;
    let home = world.home(ME).await;
    let text = Content::Text("top\na\nb\n1\n2\nend\n".into());
    assert_eq!(world.read(ME, home, "/f").await, Some(text));
    for path in ["/memories/x", "/memories/d", "/memories"] {
        let words = format!("Error: The path {path} does not exist");
        world.refused(ME, insert(path, 0, "x"), &words).await;
    }
    for line in [-1, 7] {
        let words = format!(
            "Error: Invalid `insert_line` parameter: {line}. It should be within the range of \
             lines of the file: [0, 6]"
        );
        world.refused(ME, insert("/memories/f", line, "x"), &words).await;
    }
    let mut without_line = insert("/memories/f", 0, "x");
    without_line["insert_line"] = json!("0");
    world.refused(ME, without_line, "insert_line must be an integer").await;
    let without_text = json!({ "command": "insert", "path": "/memories/f", "insert_line": 0 });
    world.refused(ME, without_text, "insert_text is required for insert").await;
}

#[tokio::test]
async fn deletes() {
    let files = [
        ("/memories/f", "1"),
        ("/memories/d/x", "1"),
        ("/memories/d/e/y", "1"),
        ("/memories/dd", ""),
    ];
    let world = with_files(&files).await;
    world.done(ME, delete("/memories/f"), "Successfully deleted /memories/f").await;
    world.done(ME, delete("/memories/d/"), "Successfully deleted /memories/d").await;
    let left = listing("/memories", &["0B\t/memories", "0B\t/memories/dd"]);
    world.done(ME, view("/memories"), left).await;
    for path in ["/memories/f", "/memories/d"] {
        let words = format!("Error: The path {path} does not exist");
        world.refused(ME, delete(path), &words).await;
    }
    for root in ["/memories", "/memories/"] {
        world.refused(ME, delete(root), "Cannot delete the /memories directory itself").await;
    }
}

#[tokio::test]
async fn renames() {
    let world = with_files(&[
        ("/memories/f", "1"),
        ("/memories/d/x", "12"),
        ("/memories/d/e/y", "123"),
        ("/memories/dd", ""),
    ])
    .await;
    for (old, new) in [("/memories/f", "/memories/new/g"), ("/memories/d", "/memories/new/d")] {
        let done = format!("Successfully renamed {old} to {new}");
        world.done(ME, rename(old, new), done).await;
    }
    let tree = listing(
        "/memories",
        &[
            "6B\t/memories",
            "0B\t/memories/dd",
            "6B\t/memories/new/",
            "5B\t/memories/new/d/",
            "1B\t/memories/new/g",
        ],
    );
    world.done(ME, view("/memories"), tree.clone()).await;
    for gone in ["/memories/f", "/memories/d"] {
        let words = format!("Error: The path {gone} does not exist");
        world.refused(ME, rename(gone, "/memories/z"), &words).await;
    }
    for (old, new, named) in [
        ("/memories/dd", "/memories/new/g", "/memories/new/g"),
        ("/memories/dd", "/memories/new", "/memories/new"),
        ("/memories/dd", "/memories/new/g/h", "/memories/new/g"),
        ("/memories/dd", "/memories/dd", "/memories/dd"),
        ("/memories/dd", "/memories", "/memories"),
        ("/memories/new/d", "/memories/new", "/memories/new"),
    ] {
        let words = format!("Error: The destination {named} already exists");
        world.refused(ME, rename(old, new), &words).await;
    }
    let root = "Cannot rename the /memories directory itself";
    world.refused(ME, rename("/memories", "/memories/x"), root).await;
    let inside =
        "Error: Cannot rename /memories/new to /memories/new/in: it lies inside /memories/new";
    world.refused(ME, rename("/memories/new", "/memories/new/in"), inside).await;
    let needed = json!({ "command": "rename", "old_path": "/memories/dd" });
    world.refused(ME, needed, "new_path is required for rename").await;
    let elsewhere = "Error: Cannot rename /memories/dd to /memories/shared/b/dd: they are in \
                     different stores";
    world.refused(ME, rename("/memories/dd", "/memories/shared/b/dd"), elsewhere).await;
    world.done(ME, view("/memories"), tree).await;
}

#[tokio::test]
async fn a_directory_goes_whole_or_not_at_all() {
    let world = World::new().await;
    let home = world.home(ME).await;
    for chunk in 0..3u32 {
        let edits = (0..100).map(|n| {
            let path = path(&format!("/many/{chunk}/{n}"));
            Edit::put_text(path, "x")
        });
        let context = world.context(ME).await;
        world.engine.commit(&context, home, edits.collect(), "api").await.unwrap();
    }
    let done = "Successfully renamed /memories/many to /memories/all";
    world.done(ME, rename("/memories/many", "/memories/all"), done).await;
    assert!(world.content(ME, view("/memories")).await.starts_with(&listing(
        "/memories",
        &["300B\t/memories", "300B\t/memories/all/", "100B\t/memories/all/0/"]
    )));
    // One path in it would have too many segments: nothing moves.
    let deep = format!("/memories{}", "/d".repeat(18));
    let refused = world.call(ME, rename("/memories/all", &deep)).await;
    assert_eq!(refused["is_error"], false, "18 and 2 more are just enough");
    let deeper = format!("/memories{}", "/e".repeat(19));
    let refused = world.content(ME, rename(&deep, &deeper)).await;
    assert!(refused.starts_with("Error: Cannot rename: a path in it would be too long"));
    world.done(ME, delete("/memories/d"), "Successfully deleted /memories/d").await;
    world.done(ME, view("/memories"), listing("/memories", &["0B\t/memories"])).await;
}

#[tokio::test]
async fn what_is_internal_is_not_there_and_what_is_sealed_is_not_shown() {
    let world = World::new().await;
    let home = world.home(ME).await;
    let put = |name: &str, content: Content, visibility: Visibility| {
        let attributes =
            AttributesPatch { visibility: Patch::Set(visibility), ..AttributesPatch::default() };
        let op = EditOp::Put { content: Some(content), to: None, attributes };
        Edit { op, ..Edit::put_text(path(name), "") }
    };
    let internal = put("/internal", Content::Text("secret".into()), Visibility::Internal);
    world.write(ME, home, internal).await;
    let sealed = put("/sealed", Content::Sealed(b"ciphertext".to_vec()), Visibility::Context);
    world.write(ME, home, sealed).await;

    let below = put("/vault/plan", Content::Sealed(b"ciphertext".to_vec()), Visibility::Context);
    world.write(ME, home, below).await;
    world.write(ME, home, Edit::put_text(path("/open"), "text")).await;
    let tree = listing("/memories", &["4B\t/memories", "4B\t/memories/open"]);
    world.done(ME, view("/memories"), tree).await;
    let gone = "The path /memories/vault does not exist. Please provide a valid path.";
    world.refused(ME, view("/memories/vault"), gone).await;
    let taken = "Error: File /memories/vault already exists";
    world.refused(ME, create_at("/memories/vault"), taken).await;
    let taken = "Error: The destination /memories/vault already exists";
    world.refused(ME, rename("/memories/open", "/memories/vault"), taken).await;
    let gone = "The path /memories/internal does not exist. Please provide a valid path.";
    world.refused(ME, view("/memories/internal"), gone).await;
    let taken = "Error: File /memories/internal already exists";
    world.refused(ME, create_at("/memories/internal"), taken).await;
    let words = "Error: The path /memories/internal does not exist";
    world.refused(ME, delete("/memories/internal"), words).await;
    world.refused(ME, insert("/memories/internal", 0, "x"), words).await;

    let closed = "The file /memories/sealed is sealed: only the program that wrote it can open it.";
    world.done(ME, view("/memories/sealed"), closed).await;
    let cannot = format!("Error: {closed}");
    world.refused(ME, str_replace("/memories/sealed", "c", "d"), &cannot).await;
    world.refused(ME, insert("/memories/sealed", 0, "x"), &cannot).await;
    let moved = "Successfully renamed /memories/sealed to /memories/s2";
    world.done(ME, rename("/memories/sealed", "/memories/s2"), moved).await;
    let kept = Some(Content::Sealed(b"ciphertext".to_vec()));
    assert_eq!(world.read(ME, home, "/s2").await, kept);
}

fn create_at(path: &str) -> Value {
    crate::tool::world::create(path, "x")
}
