//! Which crate may depend on which, read from `cargo metadata`.
//!
//! The doors (`http`, `dialects`) do not know each other nor any backend; only the binary wires
//! them together. A new crate or arrow is a decision: it has to be written into this table.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo;

/// What a crate's shipped code may use. Development code is looser, see [`FORBIDDEN_EVERYWHERE`].
const ARROWS: [(&str, &[&str]); 14] = [
    ("loci-model", &[]),
    ("loci-storage", &["loci-model"]),
    ("loci-storage-sqlite", &["loci-model", "loci-storage"]),
    ("loci-storage-postgres", &["loci-model", "loci-storage"]),
    ("loci-search", &["loci-model"]),
    ("loci-knowledge", &["loci-model"]),
    ("loci-ucan", &[]),
    ("loci-console", &[]),
    ("loci-engine", &["loci-model", "loci-storage", "loci-search", "loci-knowledge"]),
    ("loci-mcp", &["loci-model", "loci-engine"]),
    ("loci-mount", &["loci-model"]),
    ("loci-http", &["loci-model", "loci-engine", "loci-ucan"]),
    ("loci-dialects", &["loci-model", "loci-engine"]),
    (
        "loci",
        &[
            "loci-model",
            "loci-storage",
            "loci-storage-sqlite",
            "loci-storage-postgres",
            "loci-engine",
            "loci-http",
            "loci-console",
            "loci-dialects",
            "loci-knowledge",
            "loci-mcp",
            "loci-mount",
            "loci-ucan",
        ],
    ),
];

/// Crates that are development code themselves and are never shipped.
const DEVELOPMENT: [&str; 10] = [
    "xtask",
    "loci-it",
    "loci-mount-memory",
    "loci-storage-contract",
    "loci-storage-memory",
    "loci-test-kit",
    "loci-test-mount",
    "loci-test-postgres",
    "loci-test-postgres-server",
    "loci-bench",
];

/// Not even tests of the one may know the other.
const FORBIDDEN_EVERYWHERE: [(&str, &str); 2] =
    [("loci-http", "loci-dialects"), ("loci-dialects", "loci-http")];

/// One dependency inside the workspace.
struct Arrow {
    from: String,
    to: String,
    for_tests: bool,
}

pub(super) fn breaches(root: &Path) -> Result<Vec<String>> {
    let flags = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
    let output = cargo(root).args(flags).output().context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata = serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")?;
    judge(&metadata)
}

fn judge(metadata: &Value) -> Result<Vec<String>> {
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let mut breaches = Vec::new();
    for package in packages {
        let from = package["name"].as_str().context("a package has no name")?;
        let known = DEVELOPMENT.contains(&from) || ARROWS.iter().any(|(name, _)| *name == from);
        if !known {
            breaches.push(format!("{from}: a crate that xtask/src/tidy/arrows.rs does not list"));
        }
    }
    breaches.extend(arrows(packages)?.iter().filter_map(breach));
    Ok(breaches)
}

fn arrows(packages: &[Value]) -> Result<Vec<Arrow>> {
    let mut arrows = Vec::new();
    for package in packages {
        let from = package["name"].as_str().context("a package has no name")?;
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().context("a dependency has no name")?;
            // Only a dependency inside the workspace has a path.
            if dependency["path"].is_string() {
                let for_tests = dependency["kind"] == "dev";
                arrows.push(Arrow { from: from.to_owned(), to: to.to_owned(), for_tests });
            }
        }
    }
    Ok(arrows)
}

fn breach(arrow: &Arrow) -> Option<String> {
    let Arrow { from, to, for_tests } = arrow;
    if FORBIDDEN_EVERYWHERE.contains(&(from, to)) {
        return Some(format!("{from} → {to}: these two must not know each other, even in tests"));
    }
    // Tests may use any backend and any lower crate; cargo itself refuses real cycles.
    if *for_tests || DEVELOPMENT.contains(&from.as_str()) {
        return None;
    }
    let allowed = ARROWS.iter().find(|(name, _)| name == from).map_or(&[][..], |(_, to)| *to);
    (!allowed.contains(&to.as_str()))
        .then(|| format!("{from} → {to}: an arrow that xtask/src/tidy/arrows.rs does not allow"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(from: &str, to: &str, kind: Option<&str>, breaches: usize) {
        let metadata = json!({"packages": [{
            "name": from,
            "dependencies": [{"name": to, "path": "/x", "kind": kind}, {"name": "serde"}],
        }]});
        assert_eq!(judge(&metadata).unwrap().len(), breaches, "{from} → {to} ({kind:?})");
    }

    #[test]
    fn arrows_point_down_only() {
        check("loci-storage", "loci-model", None, 0);
        check("loci-model", "loci-storage", None, 1);
        check("loci-http", "loci-storage-sqlite", None, 1);
        check("loci-http", "loci-storage-sqlite", Some("dev"), 0);
        check("loci-engine", "loci-storage-sqlite", Some("dev"), 0);
        check("loci", "loci-storage-sqlite", None, 0);
        check("loci", "loci-storage-postgres", None, 0);
        check("loci-engine", "loci-storage-postgres", None, 1);
    }

    #[test]
    fn the_doors_do_not_know_each_other_even_in_tests() {
        check("loci-http", "loci-dialects", Some("dev"), 1);
        check("loci-dialects", "loci-http", None, 1);
    }

    #[test]
    fn a_new_crate_must_be_listed() {
        check("loci-surprise", "loci-model", Some("dev"), 1);
        check("xtask", "loci-model", None, 0);
    }
}
