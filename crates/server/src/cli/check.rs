//! `loci check`: looks at everything that is kept; damage is an exit code, not only a line.

use super::client::Client;
use super::find::encode;
use super::output::{Format, Progress};
use crate::exit::Failure;
use serde_json::json;

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    audit_end: Option<&str>,
) -> Result<(), Failure> {
    let progress = Progress::start("checking");
    let kept = audit_end.map(|end| format!("?audit_end={}", encode(end))).unwrap_or_default();
    let report = client.post(&format!("/v1/check{kept}"), &json!({})).await?;
    drop(progress);
    let problems: Vec<&str> = report["problems"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|problem| problem.as_str())
        .collect();
    let is_ok = report["ok"].as_bool() == Some(true);
    format.show(&report, || {
        let mut text: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
        for name in ["stores", "memories", "versions", "changes", "vectors", "readings"] {
            let number = report[name].as_u64().unwrap_or(0);
            text.push_str(&format!("{name:<10}  {number}\n"));
        }
        text.push_str(&format!(
            "audit_end   {}\n",
            report["audit_end"].as_str().unwrap_or_default()
        ));
        text.push_str(if is_ok { "no damage found\n" } else { "" });
        text
    })?;
    match is_ok {
        true => Ok(()),
        false => Err(Failure::failed(format!("{} problems found", problems.len()))),
    }
}
