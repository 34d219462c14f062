//! `loci reembed`: has all vectors made anew, and watches it being done.
//!
//! The work belongs to whoever holds the data directory, not to this command: ending the command
//! loses nothing, and what is left is done by the server, or by the next command that waits.

use super::client::Client;
use super::output::{Format, Progress, text};
use crate::exit::Failure;
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub(crate) struct ReembedArgs {
    /// Begin, and leave the rest to the background
    #[arg(long)]
    no_wait: bool,
}

const POLL: Duration = Duration::from_millis(200);

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &ReembedArgs,
) -> Result<(), Failure> {
    let begun = client.post("/v1/embedding/reembed", &json!({})).await?;
    if args.no_wait {
        return format.show(&begun, || {
            format!("vectors are being made anew, {} changes to follow", behind(&begun))
        });
    }
    let done = tokio::select! {
        done = watch(client, &begun) => done?,
        _ = tokio::signal::ctrl_c() => {
            let message = "interrupted; what is made is kept, and the rest is made in the background";
            return Err(Failure::failed(message));
        }
    };
    format.show(&done, || {
        let generation = done["generation"].as_u64().unwrap_or(0);
        format!("all vectors are made by {} (generation {generation})", text(&done, "model"))
    })
}

/// Asks until no store is behind.
async fn watch(client: &mut Client, begun: &Value) -> Result<Value, Failure> {
    let mut progress = Progress::start("making vectors");
    let mut whole = behind(begun);
    loop {
        let status = client.get("/v1/embedding").await?;
        if status["model"].is_null() {
            return Err(Failure::failed("there is no embedder, so there are no vectors to make"));
        }
        if status["stores_behind"].as_u64() == Some(0) {
            return Ok(status);
        }
        let left = behind(&status);
        // Others go on writing.
        whole = whole.max(left);
        progress.say(|| format!("{} %, {left} changes to follow", percent(whole, left)));
        tokio::time::sleep(POLL).await;
    }
}

fn behind(status: &Value) -> u64 {
    status["changes_behind"].as_u64().unwrap_or(0)
}

/// How much is done, never 100 while something is left.
pub(super) fn percent(whole: u64, left: u64) -> u64 {
    match whole {
        0 => 0,
        whole => whole.saturating_sub(left).saturating_mul(100) / whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_rounded_down() {
        assert_eq!((percent(0, 0), percent(1000, 1), percent(3, 2)), (0, 99, 33));
        assert_eq!(percent(10, 20), 0);
    }
}
