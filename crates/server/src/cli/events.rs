//! `loci events`: the audit log, oldest first.

use super::client::Client;
use super::output::{Format, Listing, actor, text, text_or_dash};
use crate::exit::Failure;

/// Events asked for at once.
const PART: u64 = 1000;

#[derive(Debug, clap::Args)]
pub(crate) struct EventsArgs {
    /// Only what came after this number
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
    /// At most this many
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &EventsArgs,
) -> Result<(), Failure> {
    let mut listing: Option<Listing> = None;
    let (mut after, mut left) = (args.after, args.limit.unwrap_or(u64::MAX));
    while left > 0 {
        let wanted = left.min(PART);
        let part = client.get(&format!("/v1/events?after={after}&limit={wanted}")).await?;
        let listing = match &mut listing {
            Some(listing) => listing,
            // Nothing is printed before the server has agreed.
            none => none.insert(Listing::start(format, &line(&HEADING.map(str::to_owned)))?),
        };
        let mut count = 0;
        for event in part["data"].as_array().into_iter().flatten() {
            count += 1;
            listing.item(event, || {
                line(&[
                    event["seq"].to_string(),
                    text_or_dash(event, "at"),
                    text_or_dash(event, "kind"),
                    actor(&event["actor"]),
                    text_or_dash(event, "principal"),
                    text_or_dash(event, "store"),
                    text_or_dash(event, "subject"),
                    text(event, "detail").replace(char::is_control, " "),
                ])
            })?;
        }
        if count < wanted {
            break;
        }
        left -= count;
        after = part["last_seq"].as_u64().unwrap_or(u64::MAX);
    }
    match listing {
        Some(listing) => listing.end(),
        None => Listing::start(format, "")?.end(),
    }
}

const HEADING: [&str; 8] =
    ["SEQ", "AT", "KIND", "BY", "ON BEHALF OF", "STORE", "SUBJECT", "DETAIL"];

fn line(cells: &[String; 8]) -> String {
    let [seq, at, kind, by, principal, store, subject, detail] = cells;
    let line = format!(
        "{seq:>6}  {at:<27}  {kind:<17}  {by:<31}  {principal:<28}  {store:<33}  {subject:<28}  {detail}"
    );
    line.trim_end().to_owned()
}
