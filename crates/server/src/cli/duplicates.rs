//! `loci duplicates`: which memories of a store say the same, or nearly. Changes nothing.

use super::args::DuplicatesArgs;
use super::client::Client;
use super::find::{self, store_url};
use super::output::{Format, text};
use crate::exit::Failure;
use serde_json::Value;

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &DuplicatesArgs,
) -> Result<(), Failure> {
    let store = find::store(client, &args.store).await?;
    let mut query = Vec::new();
    if let Some(threshold) = args.threshold {
        query.push(format!("threshold={threshold}"));
    }
    if let Some(limit) = args.limit {
        query.push(format!("limit={limit}"));
    }
    let url = format!("{}/duplicates?{}", store_url(&store), query.join("&"));
    let report = client.get(&url).await?;
    format.show(&report, || shown(&report))
}

fn shown(report: &Value) -> String {
    let mut lines = String::new();
    for name in ["exact", "near"] {
        for group in report[name].as_array().into_iter().flatten() {
            match name {
                "exact" => lines.push_str("the same\n"),
                _ => {
                    let similarity = 100.0 * group["similarity"].as_f64().unwrap_or(0.0);
                    lines.push_str(&format!("{similarity:.0} % alike\n"));
                }
            }
            for memory in group["memories"].as_array().into_iter().flatten() {
                let (path, id) = (text(memory, "path"), text(memory, "id"));
                lines.push_str(&format!("  {id}  {path}\n"));
            }
        }
    }
    if report["is_truncated"].as_bool() == Some(true) {
        lines.push_str("there are more\n");
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn groups_are_listed_by_how_alike_they_are() {
        let memory = |id: &str, path: &str| json!({"id": id, "path": path});
        let report = json!({
            "exact": [{"similarity": 1.0, "memories": [memory("mem_1", "/a"), memory("mem_2", "/b")]}],
            "near": [{"similarity": 0.853, "memories": [memory("mem_3", "/c"), memory("mem_4", "/d")]}],
            "is_truncated": false,
        });
        let expect = "the same\n  mem_1  /a\n  mem_2  /b\n85 % alike\n  mem_3  /c\n  mem_4  /d\n";
        assert_eq!(shown(&report), expect);
        assert_eq!(shown(&json!({"exact": [], "near": [], "is_truncated": false})), "");
    }
}
