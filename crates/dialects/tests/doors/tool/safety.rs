//! The path-safety list, through every native command and every argument that takes a path.

use crate::tool::world::{World, create, view};
use serde_json::{Value, json};

const ME: &str = "a";

fn calls(path: &str) -> Vec<Value> {
    vec![
        view(path),
        create(path, "x"),
        json!({ "command": "str_replace", "path": path, "old_str": "a", "new_str": "b" }),
        json!({ "command": "insert", "path": path, "insert_line": 0, "insert_text": "x" }),
        json!({ "command": "delete", "path": path }),
        json!({ "command": "rename", "old_path": path, "new_path": "/memories/y" }),
        json!({ "command": "rename", "old_path": "/memories/keep", "new_path": path }),
    ]
}

#[tokio::test]
async fn no_path_leads_out() {
    let world = World::new().await;
    world.call(ME, create("/memories/keep", "kept")).await;
    for path in ["/memoriesX", "/memoriesX/f", "/memories.md", "/etc/passwd", "memories/f", "/"] {
        let words = format!("Path must start with /memories, got: {path}");
        for call in calls(path) {
            world.refused(ME, call, &words).await;
        }
    }
    for path in [
        "/memories/..",
        "/memories/../etc/passwd",
        "/memories/a/../../etc",
        "/memories/a/..",
        "/memories/..\\etc",
        "/memories/a\\..\\..\\etc",
        "/memories/%2e%2e%2fetc",
        "/memories/%2E%2E/etc",
        "/memories/..%2fetc",
        "/memories/%252e%252e%252fetc",
        "/memories/%25252e%25252e%25252fetc",
        "/memories/%2e%2e%5cetc",
        "/memories/%c0%ae%c0%ae/etc",
        "/memories/a\u{0}.md",
        "/memories/a%00.md",
        "/memories/a\tb",
        "/memories//etc",
        "/memories/./a",
        "/memories/shared/../a",
        "/memories/shared/x/../a",
    ] {
        let words = format!("Path {path} would escape /memories directory");
        for mut call in calls(path) {
            call["dialect"] = json!("native");
            world.refused(ME, call, &words).await;
        }
    }
    let kept = "Here's the content of /memories/keep with line numbers:\n     1\tkept";
    world.done(ME, view("/memories/keep"), kept).await;
}

#[tokio::test]
async fn what_looks_like_a_link_is_a_name() {
    let world = World::new().await;
    for path in ["/memories/link -> etc", "/memories/a%2Fb", "/memories/...", "/memories/~root"] {
        let done = format!("File created successfully at: {path}");
        world.done(ME, create(path, "x"), done).await;
        let shown = format!("Here's the content of {path} with line numbers:\n     1\tx");
        world.done(ME, view(path), shown).await;
    }
}

#[tokio::test]
async fn arguments_are_bounded() {
    let world = World::new().await;
    let long = format!("/memories/{}", "x".repeat(5000));
    world.refused(ME, view(&long), "path takes up to 4096 characters").await;
    let long = format!("/memories/{}", "x".repeat(1024));
    let answer = world.content(ME, view(&long)).await;
    assert!(
        answer.starts_with("Invalid path: ") && answer.ends_with("1025 bytes, limit 1024"),
        "{answer}"
    );
    let deep = format!("/memories{}", "/a".repeat(21));
    assert!(world.content(ME, view(&deep)).await.starts_with("Invalid path: "));
}
