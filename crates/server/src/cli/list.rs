//! `loci list`: what is in a store, in the order of paths.

use super::args::ListArgs;
use super::client::Client;
use super::find::{self, store_url};
use super::output::{Format, Listing, number_or_dash, text, text_or_dash};
use crate::exit::Failure;
use std::ops::ControlFlow;

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &ListArgs,
) -> Result<(), Failure> {
    let store = find::store(client, &args.store).await?;
    let mut prefix = args.prefix.clone().unwrap_or_default();
    if !prefix.is_empty() && !prefix.ends_with('/') {
        prefix.push('/');
    }
    let depth = args.depth.unwrap_or(0).to_string();
    let mut query = vec![("depth", depth.as_str())];
    if !prefix.is_empty() {
        query.push(("path_prefix", &prefix));
    }
    if args.depth.is_some_and(|depth| depth > 1) {
        // Deeper folding is defined for this order only.
        query.push(("order_by", "path"));
    }
    let mut listing: Option<Listing> = None;
    let heading = format!("{:>9}  {:<27}  PATH", "BYTES", "UPDATED");
    find::each(client, &format!("{}/memories", store_url(&store)), &query, |item| {
        // Nothing is printed before the server has agreed.
        let listing = match &mut listing {
            Some(listing) => listing,
            none => none.insert(Listing::start(format, &heading)?),
        };
        listing.item(item, || {
            let size = number_or_dash(item, "content_size_bytes");
            let updated = text_or_dash(item, "updated_at");
            format!("{size:>9}  {updated:<27}  {}", text(item, "path"))
        })?;
        Ok(ControlFlow::Continue(()))
    })
    .await?;
    match listing {
        Some(listing) => listing.end(),
        None if format == Format::Json => Listing::start(format, "")?.end(),
        None => Ok(()),
    }
}
