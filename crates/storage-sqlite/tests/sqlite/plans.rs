//! Listings walk an index from where the last page ended: no statement that serves a page may scan
//! a table or sort what it found. Within one path, memories of several partitions may be sorted.

use super::world;

const PAGES: [(&str, &str); 23] = [
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
    ("texts of the past", include_str!("../../queries/text/past.sql")),
    ("changed texts", include_str!("../../queries/change/touched.sql")),
    ("vectors", include_str!("../../queries/vector/shown.sql")),
    ("the same vectors", include_str!("../../queries/vector/same.sql")),
    ("repeated", include_str!("../../queries/memory/repeated.sql")),
];

#[tokio::test]
async fn pages_are_walks_along_an_index() {
    let (_world, dir) = world().await;
    let conn = rusqlite::Connection::open(dir.path().join("loci.db")).unwrap();
    for (name, sql) in PAGES {
        let mut statement = conn.prepare(&format!("explain query plan {sql}")).unwrap();
        let mut rows = statement.raw_query();
        let mut plan: Vec<String> = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            plan.push(row.get(3).unwrap());
        }
        let is_walk = plan.iter().all(|step| {
            let sorts = step.contains("TEMP B-TREE") && !step.contains("LAST TERM");
            !step.starts_with("SCAN") && !sorts
        });
        assert!(is_walk, "{name}: {plan:?}");
    }
}
