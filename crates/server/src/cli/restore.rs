//! `loci restore`: an old version's content becomes the newest version. History only grows. What is
//! sealed is written back as it is; nobody has to open it.

use super::args::RestoreArgs;
use super::client::Client;
use super::output::{Format, text};
use super::{find, put, seal};
use crate::exit::Failure;

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &RestoreArgs,
) -> Result<(), Failure> {
    let path = find::path(&args.path)?;
    let store = find::store(client, &args.store).await?;
    let version = find::version(client, &store, &args.version).await?;
    let gone = |why: &str| Failure::not_found(format!("version {} {why}", args.version));
    let memory = match (version["content"].as_str(), text(&version, "operation")) {
        _ if !version["redacted_at"].is_null() => return Err(gone("is redacted")),
        (None, "deleted") => return Err(gone("is a deletion and has no content")),
        (Some(content), _) => put::write(client, &store, &path, content).await?,
        (None, _) => {
            let (memory, id) = (text(&version, "memory_id"), text(&version, "id"));
            let sealed = seal::fetch(client, &store, memory, id).await?;
            seal::write(client, &store, &path, &sealed, None).await?
        }
    };
    put::show(format, &memory)
}
