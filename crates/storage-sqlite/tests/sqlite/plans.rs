//! Listings walk an index from where the last page ended: no statement that serves a page may scan
//! a table or sort what it found. Within one path, memories of several partitions may be sorted.

use super::world;
use rusqlite::Connection;

const PAGES: [(&str, &str); 38] = [
    ("path up", include_str!("../../queries/memory/list_path_ascending.sql")),
    ("path down", include_str!("../../queries/memory/list_path_descending.sql")),
    ("created up", include_str!("../../queries/memory/list_created_ascending.sql")),
    ("created down", include_str!("../../queries/memory/list_created_descending.sql")),
    ("updated up", include_str!("../../queries/memory/list_updated_ascending.sql")),
    ("updated down", include_str!("../../queries/memory/list_updated_descending.sql")),
    ("stores up", include_str!("../../queries/store/list_ascending.sql")),
    ("stores down", include_str!("../../queries/store/list_descending.sql")),
    ("sessions up", include_str!("../../queries/session/list_ascending.sql")),
    ("sessions down", include_str!("../../queries/session/list_descending.sql")),
    ("versions", include_str!("../../queries/version/newest.sql")),
    ("versions of one", include_str!("../../queries/version/of_memory.sql")),
    ("changes", include_str!("../../queries/change/list.sql")),
    ("log", include_str!("../../queries/change/log.sql")),
    ("below", include_str!("../../queries/memory/below.sql")),
    ("expired", include_str!("../../queries/memory/expired.sql")),
    ("texts", include_str!("../../queries/text/page.sql")),
    ("text", include_str!("../../queries/text/of_memory.sql")),
    ("a piece", include_str!("../../queries/payload/get.sql")),
    ("what goes on from a piece", include_str!("../../queries/payload/going_on.sql")),
    ("texts of the past", include_str!("../../queries/text/past.sql")),
    ("changed texts", include_str!("../../queries/change/touched.sql")),
    ("vectors", include_str!("../../queries/vector/shown.sql")),
    ("the same vectors", include_str!("../../queries/vector/same.sql")),
    ("what was read in a memory", include_str!("../../queries/reading/of_memory.sql")),
    ("what was read since", include_str!("../../queries/reading/after.sql")),
    ("whether it was read", include_str!("../../queries/reading/is_read.sql")),
    ("repeated", include_str!("../../queries/memory/repeated.sql")),
    ("a store at an address", include_str!("../../queries/store/at_address.sql")),
    ("relation", include_str!("../../queries/membership/relation.sql")),
    ("groups of somebody", include_str!("../../queries/membership/groups.sql")),
    ("memberships", include_str!("../../queries/membership/page.sql")),
    ("a membership", include_str!("../../queries/membership/get.sql")),
    ("members counted", include_str!("../../queries/membership/count.sql")),
    ("events", include_str!("../../queries/event/after.sql")),
    ("the last event", include_str!("../../queries/event/end.sql")),
    ("grants to somebody", include_str!("../../queries/grant/by_grantee.sql")),
    ("a principal by name", include_str!("../../queries/principal/by_name.sql")),
];

/// These may sort what they found, for it is as much as somebody's groups, stores or grants.
const SORTED: [(&str, &str); 6] = [
    ("stores in reach", include_str!("../../queries/store/reachable.sql")),
    ("users near somebody", include_str!("../../queries/membership/users.sql")),
    ("members", include_str!("../../queries/membership/of_group.sql")),
    ("grants of a member", include_str!("../../queries/grant/by_member.sql")),
    ("stores of a giver", include_str!("../../queries/grant/stores_of_giver.sql")),
    ("the newest of a path", include_str!("../../queries/memory/newest.sql")),
];

fn plan(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(&format!("explain query plan {sql}")).unwrap();
    let mut rows = statement.raw_query();
    let mut plan: Vec<String> = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        plan.push(row.get(3).unwrap());
    }
    plan
}

/// Whether a step goes through a whole table; a subquery is bounded by what it found.
fn is_scan(step: &str) -> bool {
    step.starts_with("SCAN") && step != "SCAN CONSTANT ROW" && step != "SCAN near"
}

#[tokio::test]
async fn pages_are_walks_along_an_index() {
    let (_world, dir) = world().await;
    let conn = Connection::open(dir.path().join("loci.db")).unwrap();
    for (name, sql) in PAGES {
        let plan = plan(&conn, sql);
        let is_walk = plan.iter().all(|step| {
            let sorts = step.contains("TEMP B-TREE") && !step.contains("LAST TERM");
            !is_scan(step) && !sorts
        });
        assert!(is_walk, "{name}: {plan:?}");
    }
}

/// What visitors keep is counted before each of their writes.
#[tokio::test]
async fn what_is_kept_is_counted_along_an_index_of_those_stores() {
    let (_world, dir) = world().await;
    let conn = Connection::open(dir.path().join("loci.db")).unwrap();
    let of_all = plan(&conn, include_str!("../../queries/store/kept.sql"));
    let bounds = "store_address_unique (workspace_id=? AND address>? AND address<?)";
    assert!(of_all.len() == 1 && of_all[0].ends_with(bounds), "{of_all:?}");
    let of_one = plan(&conn, include_str!("../../queries/store/kept_by.sql"));
    assert!(of_one.len() == 1 && of_one[0].ends_with("store_by_owner (owner=?)"), "{of_one:?}");
}

#[tokio::test]
async fn what_groups_ask_for_scans_no_table() {
    let (_world, dir) = world().await;
    let conn = Connection::open(dir.path().join("loci.db")).unwrap();
    for (name, sql) in SORTED {
        let plan = plan(&conn, sql);
        assert!(plan.iter().all(|step| !is_scan(step)), "{name}: {plan:?}");
    }
}
