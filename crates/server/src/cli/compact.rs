//! `loci compact`: how many memories a store should hold, compaction now, and taking it back.

use super::args::CompactArgs;
use super::client::Client;
use super::find::{self, Extent, store_url};
use super::output::{Format, text};
use crate::exit::Failure;
use serde_json::{Value, json};

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &CompactArgs,
) -> Result<(), Failure> {
    let store = find::store(client, &args.store).await?;
    let url = store_url(&store);
    if let Some(summary) = &args.undo {
        let path = find::path(summary)?;
        let found = find::find_memory(client, &store, &path, Extent::WithoutContent).await?;
        let missing = || Failure::not_found(format!("there is no memory at {path}"));
        let memory = found.ok_or_else(missing)?;
        let undo = format!("{url}/memories/{}/undo_compaction", text(&memory, "id"));
        let done = client.post(&undo, &json!({})).await?;
        return format.show(&done, || lines("restored", &done["restored"]));
    }
    if let Some(cap) = &args.soft_cap {
        let cap = if cap == "none" { Value::Null } else { json!(number(cap)?) };
        let policy = client.post(&format!("{url}/policy"), &json!({"soft_cap": cap})).await?;
        return format.show(&policy, || match policy["soft_cap"].as_u64() {
            Some(cap) => format!("soft cap  {cap}\n"),
            None => "no soft cap\n".to_owned(),
        });
    }
    let wanted = json!({"max_memories": args.keep, "dry_run": args.dry_run});
    let done = client.post(&format!("{url}/compact"), &wanted).await?;
    format.show(&done, || {
        let left = done["memories_left"].as_u64().unwrap_or_default();
        let (removed, wrote) = match args.dry_run {
            true => ("would remove", "would write"),
            false => ("removed", "wrote"),
        };
        lines(wrote, &done["summaries"])
            + &lines(removed, &done["removed"])
            + &format!("{left} left\n")
    })
}

fn number(text: &str) -> Result<u64, Failure> {
    text.parse().map_err(|_| Failure::usage("--soft-cap takes a number, or none"))
}

fn lines(what: &str, paths: &Value) -> String {
    let paths = paths.as_array().into_iter().flatten().filter_map(Value::as_str);
    paths.map(|path| format!("{what}  {path}\n")).collect()
}
