//! Which crate may depend on which, read from `cargo metadata`.
//!
//! The doors (`http`, `dialects`) do not know each other nor any backend; only the binary wires
//! them together. A new crate or arrow is a decision: it has to be written into this table.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::check::cargo;

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
    "loci-open-policy",
    "loci-mount-memory",
    "loci-storage-contract",
    "loci-storage-memory",
    "loci-test-kit",
    "loci-test-mount",
    "loci-test-postgres",
    "loci-bench",
];

/// The feature that takes the first lock off, and the only ones that may speak of it: whoever has
/// it, and whoever tests the second lock, by a feature of its own that is not on by itself.
const OPEN: &str = "open-policy";
const MAY_OPEN: [&str; 2] = ["loci-model", "loci-open-policy"];

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
        if opens_policy(package, from) {
            breaches.push(format!("{from}: turns on {OPEN}, which only the tests of the lock may"));
        }
    }
    breaches.extend(arrows(packages)?.iter().filter_map(breach));
    Ok(breaches)
}

/// Whether building this crate as usual could build policy open.
fn opens_policy(package: &Value, name: &str) -> bool {
    let names = |value: &Value| {
        let words = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let opens = |words: &[String]| words.iter().any(|word| word.contains(OPEN));
    let by_dependency = package["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|one| opens(&names(&one["features"])));
    let features = package["features"].as_object();
    let by_feature = features.into_iter().flatten().any(|(_, turned_on)| opens(&names(turned_on)));
    let by_default = features
        .is_some_and(|all| all.get("default").is_some_and(|on| on != &Value::Array(Vec::new())));
    match MAY_OPEN.contains(&name) {
        true => by_dependency || by_default,
        false => by_dependency || by_feature,
    }
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
    fn the_first_lock_is_taken_off_nowhere_else() {
        let check = |name: &str, features: Value, wanted: Value, breaches: usize| {
            let dependencies = json!([{"name": "loci-model", "features": wanted}]);
            let metadata = json!({"packages": [
                {"name": name, "features": features, "dependencies": dependencies},
            ]});
            assert_eq!(judge(&metadata).unwrap().len(), breaches, "{metadata}");
        };
        let open = json!(["loci-model/open-policy"]);
        check("loci-open-policy", json!({"default": [], "open": open}), json!([]), 0);
        check("loci-open-policy", json!({"default": ["open"], "open": open}), json!([]), 1);
        check("loci-open-policy", json!({}), json!(["open-policy"]), 1);
        check("loci", json!({"default": []}), json!([]), 0);
        check("loci", json!({"debug": open}), json!([]), 1);
        check("loci-engine", json!({}), json!(["open-policy"]), 1);
        check("loci-model", json!({"default": ["open-policy"], "open-policy": []}), json!(null), 1);
    }

    #[test]
    fn a_new_crate_must_be_listed() {
        check("loci-surprise", "loci-model", Some("dev"), 1);
        check("xtask", "loci-model", None, 0);
    }
}
