//! `loci knowledge`: how far the model has come that reads facts beside the rules, and taking back
//! what one read.

use super::client::Client;
use super::output::{Format, text};
use crate::exit::Failure;
use serde_json::{Value, json};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum KnowledgeCommand {
    /// How far the model has come that reads beside the rules, and what it cost today
    Status,
    /// Take back all facts that a model read
    Forget {
        /// The model, as facts name it, such as anthropic:claude-x
        #[arg(long, value_name = "NAME")]
        reader: String,
    },
}

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    command: &KnowledgeCommand,
) -> Result<(), Failure> {
    match command {
        KnowledgeCommand::Status => {
            let status = client.get("/v1/extraction").await?;
            format.show(&status, || lines(&status))
        }
        KnowledgeCommand::Forget { reader } => {
            let body = json!({"reader": reader});
            let status = client.post("/v1/extraction/forget", &body).await?;
            format.show(&status, || format!("what {reader} read is forgotten"))
        }
    }
}

fn lines(status: &Value) -> String {
    if status["reader"].is_null() {
        return "rules alone read".to_owned();
    }
    let number = |name: &str| status[name].as_u64().unwrap_or(0);
    format!(
        "{} reads beside the rules; {} stores are behind\n\
         today {} of {} requests and {} of {} tokens",
        text(status, "reader"),
        number("stores_behind"),
        number("requests_today"),
        number("requests_per_day"),
        number("tokens_today"),
        number("tokens_per_day"),
    )
}
