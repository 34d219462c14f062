//! Every suite and its tier: the list that decides what `check`, `test` and `test --deep` run.
//!
//! A test compares the list with the sources, so that no test program, no release of a client and no
//! script of the console is forgotten. The seconds are about what a suite takes on two cores; they
//! decide nothing but the order, the longest first.

use loci_test_kit::Tier::{self, Check, Deep, Test};

use self::Engine::{Postgres, Sqlite};
use self::Runner::{Node, Pytest, Script};

/// A Rust test program, by its place in the workspace.
pub(crate) struct Program {
    pub(crate) place: &'static str,
    pub(crate) tier: Tier,
    pub(crate) secs: u32,
    /// How many of its tests run at once, where that is not the number of cores.
    pub(crate) threads: Option<u32>,
}

const fn program(place: &'static str, tier: Tier, secs: u32) -> Program {
    Program { place, tier, secs, threads: None }
}

/// The Rust test programs.
pub(crate) const PROGRAMS: &[Program] = &[
    program("bench", Check, 1),
    program("crates/console", Check, 1),
    program("crates/console/tests/assets", Check, 1),
    program("crates/dialects", Check, 2),
    program("crates/dialects/tests/doors", Check, 25),
    program("crates/engine", Check, 2),
    program("crates/engine/tests/engine", Check, 40),
    program("crates/http", Check, 3),
    program("crates/http/tests/routes", Check, 10),
    program("crates/knowledge", Check, 1),
    program("crates/knowledge/tests/knowledge", Check, 5),
    program("crates/mcp", Check, 1),
    program("crates/model", Check, 2),
    program("crates/mount", Check, 2),
    program("crates/mount/tests/mounted", Test, 45),
    program("crates/search", Check, 5),
    program("crates/search/tests/embed", Check, 10),
    program("crates/server", Check, 5),
    program("crates/server/tests/search", Check, 10),
    program("crates/storage", Check, 1),
    program("crates/storage-contract", Check, 1),
    program("crates/storage-contract/tests/memory", Check, 5),
    // Some of its unit tests ask a server.
    program("crates/storage-postgres", Test, 1),
    program("crates/storage-postgres/tests/postgres", Test, 100),
    program("crates/storage-sqlite", Check, 1),
    program("crates/storage-sqlite/tests/sqlite", Check, 30),
    program("crates/ucan", Check, 1),
    program("crates/ucan/tests/ucan", Check, 2),
    // Most black-box tests wait most of the time: for a server to start, for an outage to be over.
    Program { place: "tests/it/tests/it", tier: Test, secs: 300, threads: Some(4) },
    program("tests/kit", Check, 1),
    program("tests/mount/tests/plain", Test, 10),
    program("tests/postgres", Check, 1),
    program("tests/postgres-server", Check, 1),
    program("tests/postgres/tests/servers", Test, 15),
    program("xtask", Check, 2),
];

/// Where the server of a suite keeps its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

/// What runs a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    /// pytest with the packages of this file of requirements.
    Pytest(&'static str),
    /// The test runner of Node, with the packages of the folder's lock file.
    Node,
    /// A script of the folder's `package.json`; it starts servers of its own.
    Script(&'static str),
}

/// A suite of a real client against the real binary.
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    pub(crate) folder: &'static str,
    pub(crate) runner: Runner,
    pub(crate) engine: Engine,
    pub(crate) tier: Tier,
    pub(crate) secs: u32,
}

impl Suite {
    /// The configuration of its server, where it needs one.
    pub(crate) fn settings(&self) -> &'static str {
        // A door that is closed by default.
        if self.folder == QIFORGE { "[qiforge]\n" } else { "" }
    }
}

const fn suite(
    name: &'static str,
    folder: &'static str,
    runner: Runner,
    engine: Engine,
    tier: Tier,
    secs: u32,
) -> Suite {
    Suite { name, folder, runner, engine, tier, secs }
}

const CURRENT: Runner = Pytest("requirements-current.txt");
const LEGACY: Runner = Pytest("requirements-legacy.txt");
const FIRST: Runner = Pytest("requirements-first.txt");
const ONLY: Runner = Pytest("requirements.txt");
const WIRE_A: Runner = Pytest("requirements-0.0.61.txt");
const WIRE_B: Runner = Pytest("requirements-0.5.0.txt");
const ANTHROPIC: &str = "tests/sdk/python";
const ANTHROPIC_TS: &str = "tests/sdk/typescript";
const WEBAGENTS: &str = "tests/sdk/webagents";
const MOBIUS: &str = "tests/sdk/mobius-python";
const MOBIUS_TS: &str = "tests/sdk/mobius-typescript";
const MCP: &str = "tests/sdk/mcp-python";
const MCP_TS: &str = "tests/sdk/mcp-typescript";
const CONFORMANCE: &str = "tests/sdk/mcp-conformance";
const QIFORGE: &str = "tests/sdk/qiforge";
const CONSOLE: &str = "console";

/// The suites of clients and of the console.
pub(crate) const SUITES: &[Suite] = &[
    suite("Python SDK, current", ANTHROPIC, CURRENT, Sqlite, Test, 60),
    suite("Python SDK, legacy", ANTHROPIC, LEGACY, Sqlite, Deep, 60),
    suite("Python SDK, first", ANTHROPIC, FIRST, Sqlite, Deep, 60),
    suite("TypeScript SDK", ANTHROPIC_TS, Node, Sqlite, Test, 30),
    suite("webagents", WEBAGENTS, ONLY, Sqlite, Test, 60),
    suite("Mobius for Python, 0.0.61", MOBIUS, WIRE_A, Sqlite, Test, 30),
    suite("Mobius for Python, 0.5.0", MOBIUS, WIRE_B, Sqlite, Test, 30),
    suite("Mobius for TypeScript", MOBIUS_TS, Node, Sqlite, Test, 20),
    suite("MCP for Python", MCP, ONLY, Sqlite, Test, 30),
    suite("MCP for TypeScript", MCP_TS, Node, Sqlite, Test, 20),
    suite("MCP conformance", CONFORMANCE, Node, Sqlite, Test, 10),
    suite("QiForge runtime", QIFORGE, Node, Sqlite, Test, 20),
    suite("Python SDK, current, on PostgreSQL", ANTHROPIC, CURRENT, Postgres, Test, 60),
    suite("Python SDK, legacy, on PostgreSQL", ANTHROPIC, LEGACY, Postgres, Deep, 60),
    suite("Python SDK, first, on PostgreSQL", ANTHROPIC, FIRST, Postgres, Deep, 60),
    suite("TypeScript SDK, on PostgreSQL", ANTHROPIC_TS, Node, Postgres, Deep, 30),
    suite("webagents, on PostgreSQL", WEBAGENTS, ONLY, Postgres, Test, 60),
    suite("Mobius for Python, 0.0.61, on PostgreSQL", MOBIUS, WIRE_A, Postgres, Deep, 30),
    suite("Mobius for Python, 0.5.0, on PostgreSQL", MOBIUS, WIRE_B, Postgres, Test, 30),
    suite("Mobius for TypeScript, on PostgreSQL", MOBIUS_TS, Node, Postgres, Deep, 20),
    suite("QiForge runtime, on PostgreSQL", QIFORGE, Node, Postgres, Test, 20),
    suite("MCP for Python, on PostgreSQL", MCP, ONLY, Postgres, Deep, 30),
    suite("MCP for TypeScript, on PostgreSQL", MCP_TS, Node, Postgres, Deep, 20),
    suite("console, in a browser", CONSOLE, Script("test"), Sqlite, Test, 180),
    suite("console, its budgets", CONSOLE, Script("budgets"), Sqlite, Deep, 120),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::place;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};
    use std::{fs, io};

    fn root() -> PathBuf {
        crate::root()
    }

    fn files(folder: &Path) -> io::Result<Vec<String>> {
        let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().display().to_string()));
        names.collect()
    }

    #[test]
    fn every_test_program_of_the_workspace_is_listed_once() {
        let flags = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
        let output = crate::cargo(&root()).args(flags).output().unwrap();
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut found = BTreeSet::new();
        for package in metadata["packages"].as_array().unwrap() {
            let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
            for target in package["targets"].as_array().unwrap() {
                if target["test"] == true && target["kind"][0] != "custom-build" {
                    assert!(found.insert(place(&root(), folder, target)), "{target}");
                }
            }
        }
        let listed: BTreeSet<String> = PROGRAMS.iter().map(|it| it.place.to_owned()).collect();
        assert_eq!(listed.len(), PROGRAMS.len(), "a program is listed twice");
        assert_eq!(found, listed);
    }

    #[test]
    fn every_client_release_is_listed_and_runs_on_both_engines() {
        let clients = root().join("tests/sdk");
        let mut found = BTreeSet::new();
        for client in files(&clients).unwrap() {
            let folder = format!("tests/sdk/{client}");
            for file in files(&clients.join(&client)).unwrap_or_default() {
                if file.starts_with("requirements") || file == "package.json" {
                    found.insert((folder.clone(), file));
                }
            }
        }
        let of = |engine: Engine| {
            let of_engine = SUITES.iter().filter(move |suite| suite.engine == engine);
            let clients = of_engine.filter_map(|suite| match suite.runner {
                Pytest(file) => Some((suite.folder.to_owned(), file.to_owned())),
                Node => Some((suite.folder.to_owned(), "package.json".to_owned())),
                Script(_) => None,
            });
            clients.collect::<BTreeSet<_>>()
        };
        assert_eq!(of(Sqlite), found);
        // The conformance scenarios test the protocol, which no storage engine is part of.
        found.remove(&(CONFORMANCE.to_owned(), "package.json".to_owned()));
        assert_eq!(of(Postgres), found);
    }

    #[test]
    fn every_browser_script_is_listed() {
        let text = fs::read(root().join("console/package.json")).unwrap();
        let package: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let scripts = package["scripts"].as_object().unwrap();
        let with_browser = |script: &str| scripts[script].as_str().unwrap().contains("e2e/");
        let found: BTreeSet<&str> =
            scripts.keys().map(String::as_str).filter(|it| with_browser(it)).collect();
        let listed = SUITES.iter().filter_map(|suite| match suite.runner {
            Script(script) => Some(script),
            Pytest(_) | Node => None,
        });
        assert_eq!(found, listed.collect());
    }

    #[test]
    fn every_amount_is_used_by_a_test() {
        let mut sources = String::new();
        for path in crate::tidy::rust_files(&root()).unwrap() {
            let is_table = path.ends_with("tests/kit/src/amounts.rs");
            if !is_table {
                sources.push_str(&fs::read_to_string(path).unwrap());
            }
        }
        for amount in loci_test_kit::AMOUNTS {
            let asked = format!("\"{}\"", amount.name);
            assert!(sources.contains(&asked), "no test asks for {}", amount.name);
        }
    }
}
