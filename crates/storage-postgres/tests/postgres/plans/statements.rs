//! Every statement keeps its index conditions under row security: no condition that is an index
//! condition for the owner of the tables is a filter for a server.

use super::{fill, owner};
use crate::database::Scratch;
use loci_storage_contract::fixture::World;
use loci_test_kit::amount;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_postgres::{Client, SimpleQueryMessage};
use uuid::Uuid;

/// Tables that grow with a store; the others are too small here to be planned for.
const TABLES: [&str; 6] = ["memory", "version", "payload", "vector", "word", "reading"];
/// As servers set up their connections.
const SETUP: &str = "set search_path to loci, pg_temp; set row_security to on; set jit to off;
    set plan_cache_mode to force_generic_plan; set enable_seqscan to off;
    set enable_hashjoin to off; set enable_mergejoin to off";
/// Statements that read everything by design, or nothing of a tenant.
const LEFT_OUT: [&str; 2] = ["check", "migration"];

/// The files of all statements.
fn statements() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("queries");
    let kinds = std::fs::read_dir(folder).unwrap().map(|kind| kind.unwrap().path());
    let kinds = kinds.filter(|kind| LEFT_OUT.iter().all(|name| !kind.ends_with(name)));
    kinds
        .flat_map(|kind| std::fs::read_dir(kind).unwrap())
        .map(|file| file.unwrap().path())
        .collect()
}

/// The generic plan of a statement, as it is made for a role.
async fn plan(client: &Client, role: &str, sql: &str) -> Value {
    client.batch_execute(&format!("set role {role}")).await.unwrap();
    let count = client.prepare(sql).await.unwrap().params().len();
    let params = match count {
        0 => String::new(),
        _ => format!("({})", vec!["null"; count].join(", ")),
    };
    let asked = format!(
        "prepare examined as {sql}; explain (format json) execute examined{params}; \
         deallocate examined; reset role"
    );
    let answer = client.simple_query(&asked).await.unwrap();
    let told = answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    serde_json::from_str(told.unwrap()).unwrap()
}

/// The alias of a table and a condition on it, without brackets and without the numbers of
/// parameters, which differ from plan to plan.
type Condition = (String, String);

/// The index conditions and the filters of a plan.
#[derive(Default)]
struct Conditions {
    indexed: BTreeSet<Condition>,
    filtered: BTreeSet<Condition>,
}

impl Conditions {
    fn of(plan: &Value) -> Self {
        let mut conditions = Self::default();
        conditions.add(plan);
        conditions
    }

    fn add(&mut self, step: &Value) {
        match step {
            Value::Array(steps) => steps.iter().for_each(|step| self.add(step)),
            Value::Object(fields) => {
                let text = |name| fields.get(name).and_then(Value::as_str);
                let table = text("Relation Name").filter(|name| TABLES.contains(name));
                if let (Some(_), Some(alias)) = (table, text("Alias")) {
                    for name in ["Index Cond", "Recheck Cond"] {
                        let found = text(name).into_iter().flat_map(split);
                        self.indexed.extend(found.map(|one| (alias.to_owned(), one)));
                    }
                    let found = text("Filter").into_iter().flat_map(split);
                    self.filtered.extend(found.map(|one| (alias.to_owned(), one)));
                }
                fields.values().for_each(|step| self.add(step));
            }
            _ => {}
        }
    }
}

/// The parts of a condition that all have to hold.
fn split(condition: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    let rest = condition.replace(" AND ", "\n");
    // Either `(a = b)` or `((a = b) AND (c = d))`.
    let level = if condition.starts_with("((") { 1 } else { 0 };
    for character in rest.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        match character {
            '\n' if depth == level => parts.push(String::new()),
            '\n' => parts.last_mut().unwrap().push_str(" AND "),
            '(' | ')' => {}
            digit if digit.is_ascii_digit() && parts.last().unwrap().ends_with('$') => {}
            other => parts.last_mut().unwrap().push(other),
        }
    }
    parts
}

#[test]
fn conditions_are_taken_apart() {
    assert_eq!(split("(store_id = $1)"), ["store_id = $"]);
    let both = "((path >= (u.path || '/'::text)) AND ((a IS NULL) OR ((b > $12) AND c)))";
    assert_eq!(split(both), ["path >= u.path || '/'::text", "a IS NULL OR b > $ AND c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_security_takes_no_index_from_a_statement() {
    let scratch = Scratch::new().await;
    let world = World::new(Arc::new(scratch.open().await)).await;
    let client = owner(&scratch.url()).await;
    fill(&client, &world, amount("plan_memories")).await;
    let workspace = Uuid::from_bytes(world.workspace.to_bytes());
    client.batch_execute(&format!("{SETUP}; set loci.workspace to '{workspace}'")).await.unwrap();
    let (mut lost, mut indexed) = (Vec::new(), 0);
    for file in statements() {
        let sql = std::fs::read_to_string(&file).unwrap();
        let owners = Conditions::of(&plan(&client, "none", &sql).await);
        let servers = Conditions::of(&plan(&client, "loci_app", &sql).await);
        indexed += servers.indexed.len();
        let conditions = owners.indexed.difference(&servers.indexed);
        let conditions = conditions.filter(|one| servers.filtered.contains(one));
        lost.extend(conditions.map(|(alias, one)| format!("{}: {alias}: {one}", file.display())));
    }
    assert!(indexed > 100, "{indexed} conditions are no plans of all statements");
    assert!(lost.is_empty(), "{lost:#?}");
}
