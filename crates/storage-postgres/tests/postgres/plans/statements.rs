//! Every statement keeps its index conditions under row security: no condition that is an index
//! condition for the owner of the tables is a filter for a server. And whatever a minor release makes
//! of it, no condition of a server computes anything: conditions compare columns with values that the
//! caller computed.

use super::{fill, fill_others, owner};
use loci_storage_contract::fixture::World;
use loci_storage_postgres::{PostgresOptions, PostgresStorage};
use loci_test_kit::amount;
use loci_test_postgres::{Build, Database};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::{Client, SimpleQueryMessage};
use uuid::Uuid;

/// Tables that grow with a store or a workspace; the others are too small to be planned for.
const TABLES: [&str; 16] = [
    "api_key",
    "attachment",
    "event",
    "grant_",
    "idempotency",
    "membership",
    "memory",
    "payload",
    "principal",
    "reading",
    "redaction",
    "session",
    "store",
    "vector",
    "version",
    "word",
];
/// What a condition may be made of beside columns and values.
const COMPARISONS: [&str; 6] = ["=", "<>", "<", "<=", ">", ">="];
const WORDS: [&str; 9] = ["ALL", "AND", "ANY", "EXISTS", "GREATEST", "LEAST", "NOT", "OR", "ROW"];
/// Conditions that compute, and are no index conditions on purpose.
const COMPUTING: [(&str, &str); 3] = [
    // One pass over the whole store.
    ("memory/tally.sql", "left("),
    // Few stores are in reach, and many in a workspace: the index of times must not serve.
    ("store/reachable_ascending.sql", "+"),
    ("store/reachable_descending.sql", "+"),
];
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
    /// The conditions that compute, with what they compute by.
    computing: BTreeSet<Condition>,
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
                    for name in ["Index Cond", "Recheck Cond", "Filter"] {
                        let found = text(name).into_iter();
                        let found = found.flat_map(|text| Some((computes(text)?, text.to_owned())));
                        self.computing.extend(found);
                    }
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

/// What a condition computes by: an operator that is no comparison, or the name of a function with its
/// bracket.
fn computes(condition: &str) -> Option<String> {
    let is_operator = |c: char| "+-*/<>=~!@#%^&|?".contains(c);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut rest = condition;
    while let Some(first) = rest.chars().next() {
        let end = |belongs: &dyn Fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        let (token, after) = match first {
            // A value, or a name in quotation marks.
            '\'' | '"' => {
                let end = rest[1..].find(first).map_or(rest.len(), |at| at + 2);
                (rest[..end].trim_matches('"'), &rest[end..])
            }
            _ if is_operator(first) => rest.split_at(end(&is_operator)),
            _ if is_name(first) => rest.split_at(end(&is_name)),
            _ => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        if is_operator(first) && !COMPARISONS.contains(&token) {
            return Some(token.to_owned());
        }
        let is_word = WORDS.contains(&token) || token.starts_with('\'');
        if !is_operator(first) && !is_word && after.starts_with('(') {
            return Some(format!("{token}("));
        }
        rest = after;
    }
    None
}

#[test]
fn conditions_that_compute_are_noticed() {
    for plain in [
        "((store_id = $1) AND (path >= u.low) AND (path < 'a || b(c'::text))",
        "((ROW(created_at, memory_id) > ROW($2, $3)) OR (kind = ANY ($4)))",
        "((seq = LEAST($2, s.seq)) AND (workspace_id = (InitPlan 1).col1) AND NOT (SubPlan 2))",
    ] {
        assert_eq!(computes(plain), None, "{plain}");
    }
    for (condition, by) in [
        ("(path >= (u.path || '/'::text))", "||"),
        ("((created_at + 0) >= $4)", "+"),
        ("(\"left\"(path, length($4)) <> $4)", "left("),
        ("((a = b) AND (name ~~ 'x%'::text))", "~~"),
    ] {
        assert_eq!(computes(condition).as_deref(), Some(by), "{condition}");
    }
}

#[test]
fn conditions_are_taken_apart() {
    assert_eq!(split("(store_id = $1)"), ["store_id = $"]);
    let both = "((path >= (u.path || '/'::text)) AND ((a IS NULL) OR ((b > $12) AND c)))";
    assert_eq!(split(both), ["path >= u.path || '/'::text", "a IS NULL OR b > $ AND c"]);
}

async fn takes_no_index_from_a_statement(build: Build) {
    let database = Database::fresh(&build.url().unwrap(), None).await.unwrap();
    let patience = Duration::from_secs(20);
    let options = PostgresOptions { patience, ..PostgresOptions::new(database.url()) };
    let world = World::new(Arc::new(PostgresStorage::open(&options, 1).await.unwrap())).await;
    let client = owner(&database.url()).await;
    fill(&client, &world, amount("plan_memories")).await;
    fill_others(&client, &world, amount("plan_memories")).await;
    let workspace = Uuid::from_bytes(world.workspace.to_bytes());
    client.batch_execute(&format!("{SETUP}; set loci.workspace to '{workspace}'")).await.unwrap();
    let (mut lost, mut indexed, mut computing) = (Vec::new(), 0, Vec::new());
    for file in statements() {
        let sql = std::fs::read_to_string(&file).unwrap();
        let owners = Conditions::of(&plan(&client, "none", &sql).await);
        let servers = Conditions::of(&plan(&client, "loci_app", &sql).await);
        indexed += servers.indexed.len();
        let conditions = owners.indexed.difference(&servers.indexed);
        let conditions = conditions.filter(|one| servers.filtered.contains(one));
        lost.extend(conditions.map(|(alias, one)| format!("{}: {alias}: {one}", file.display())));
        let is_meant =
            |by: &str| COMPUTING.iter().any(|(name, known)| file.ends_with(name) && *known == by);
        let conditions = servers.computing.iter().filter(|(by, _)| !is_meant(by));
        computing.extend(conditions.map(|(by, one)| format!("{}: {by}: {one}", file.display())));
    }
    assert!(indexed > 150, "{indexed} conditions are no plans of all statements");
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(computing.is_empty(), "let the caller compute: {computing:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_security_takes_no_index_from_a_statement() {
    takes_no_index_from_a_statement(Build::Floor).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn row_security_takes_no_index_from_a_statement_on_the_current_build() {
    takes_no_index_from_a_statement(Build::Current).await;
}
