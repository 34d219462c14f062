//! `loci restore`: an old version's content becomes the newest version. History only grows.

use super::args::RestoreArgs;
use super::client::Client;
use super::output::{Format, text};
use super::{find, put};
use crate::exit::Failure;

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &RestoreArgs,
) -> Result<(), Failure> {
    let path = find::path(&args.path)?;
    let store = find::store(client, &args.store).await?;
    let version = find::version(client, &store, &args.version).await?;
    let Some(content) = version["content"].as_str() else {
        let why = match (version["redacted_at"].is_null(), text(&version, "operation")) {
            (false, _) => "is redacted",
            (true, "deleted") => "is a deletion and has no content",
            (true, _) => "is sealed",
        };
        return Err(Failure::not_found(format!("version {} {why}", args.version)));
    };
    let memory = put::write(client, &store, &path, content).await?;
    put::show(format, &memory)
}
