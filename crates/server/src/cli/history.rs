//! `loci history`: the versions of one memory, newest first. A memory that was removed is found by
//! the path it had.

use super::args::HistoryArgs;
use super::client::Client;
use super::find::{self, Extent, store_url};
use super::get::not_there;
use super::output::{Format, Listing, actor, number_or_dash, text, text_or_dash};
use crate::exit::Failure;
use std::ops::ControlFlow;

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &HistoryArgs,
) -> Result<(), Failure> {
    let path = find::path(&args.path)?;
    let store = find::store(client, &args.store).await?;
    let versions = format!("{}/memory_versions", store_url(&store));
    let mut memory = find::find_memory(client, &store, &path, Extent::WithoutContent)
        .await?
        .map(|memory| text(&memory, "id").to_owned());
    if memory.is_none() {
        find::each(client, &versions, &[("operation", "deleted")], |version| {
            if text(version, "path") != path.as_str() {
                return Ok(ControlFlow::Continue(()));
            }
            memory = Some(text(version, "memory_id").to_owned());
            Ok(ControlFlow::Break(()))
        })
        .await?;
    }
    let memory = memory.ok_or_else(|| not_there(&path))?;
    let heading = format!(
        "{:<31}  {:<9}  {:<27}  {:>9}  {:<31}  PATH",
        "VERSION", "OPERATION", "CREATED", "BYTES", "BY"
    );
    let mut listing = Listing::start(format, &heading)?;
    find::each(client, &versions, &[("memory_id", &memory)], |version| {
        listing.item(version, || {
            let size = match version["redacted_at"].is_null() {
                true => number_or_dash(version, "content_size_bytes"),
                false => "redacted".to_owned(),
            };
            format!(
                "{:<31}  {:<9}  {:<27}  {size:>9}  {:<31}  {}",
                text(version, "id"),
                text(version, "operation"),
                text(version, "created_at"),
                actor(&version["created_by"]),
                text_or_dash(version, "path"),
            )
        })?;
        Ok(ControlFlow::Continue(()))
    })
    .await?;
    listing.end()
}
