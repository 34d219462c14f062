//! `loci move`: everything from one place to another, compared at the end. Works on the places
//! themselves and not over a server's API, which knows neither secrets' hashes nor vectors.

use super::args::MoveArgs;
use super::move_progress::Shown;
use super::output::Format;
use crate::config;
use crate::exit::{Exit, Failure};
use crate::held::{self, Held, Refusal};
use crate::holder::Kind;
use crate::patience::Patience;
use crate::place::Place;
use loci_engine::transfer::{Progress, Tally, Transfer, TransferError, Watch};
use serde_json::{Value, json};
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) async fn run(format: Format, args: MoveArgs) -> Result<(), Failure> {
    let MoveArgs { from, to, verify_only } = args;
    let from = named(from, "--from", "LOCI_MOVE_FROM")?;
    let to = named(to, "--to", "LOCI_MOVE_TO")?;
    if is_same(&from, &to) {
        return Err(Failure::usage("--from and --to name the same place"));
    }
    require_used(&from).await?;
    if verify_only {
        require_used(&to).await?;
    }
    let source = open(&from).await?;
    let destination = match open(&to).await {
        Ok(destination) => destination,
        Err(failure) => {
            source.close().await;
            return Err(failure);
        }
    };
    let transfer = Transfer::new(source.storage(), destination.storage());
    let shown = Shown::default();
    let watch = |progress| shown.say(progress);
    let done = patiently(&transfer, verify_only, &watch).await;
    drop(shown);
    drop(transfer);
    source.close().await;
    destination.close().await;
    show(format, verify_only, &done?)
}

/// What a flag says, else the environment.
fn named(given: Option<Place>, flag: &str, variable: &str) -> Result<Place, Failure> {
    let place = given.or_else(|| config::env(variable).map(Place::from));
    place.ok_or_else(|| Failure::usage(format!("move takes {flag} PLACE, or {variable}")))
}

pub(super) fn is_same(from: &Place, to: &Place) -> bool {
    match (from, to) {
        (Place::Directory(a), Place::Directory(b)) => {
            let real = |path| fs::canonicalize(path).ok();
            a == b || (real(a).is_some() && real(a) == real(b))
        }
        _ => from == to,
    }
}

/// Refuses a place where nothing is yet, before opening it would make something there.
pub(super) async fn require_used(place: &Place) -> Result<(), Failure> {
    let is_used = match place {
        Place::Directory(path) => path.join("loci.db").exists(),
        Place::Database(url) => held::look(url).await?.format.is_some(),
    };
    match is_used {
        true => Ok(()),
        false => Err(Failure::not_found(format!("there are no memories in {place}"))),
    }
}

/// Opens a place; a database that is away may be starting, or have a moment's trouble.
pub(super) async fn open(place: &Place) -> Result<Held, Failure> {
    let mut patience = Patience::new();
    loop {
        match Held::open(place, Kind::Command).await {
            Err(Refusal::Away(failure)) => patience.wait(failure).await?,
            opened => return opened.map_err(|refusal| refusal.failure(place)),
        }
    }
}

/// Moves or compares, and goes on by itself where a database was away for a moment: hours of work
/// should not end at a failover. Every bit of progress earns the whole patience again.
async fn patiently(
    transfer: &Transfer,
    verify_only: bool,
    watch: Watch<'_>,
) -> Result<Tally, Failure> {
    let seen = AtomicU64::new(0);
    let noting = |progress: Progress| {
        seen.fetch_add(1, Ordering::Relaxed);
        watch(progress);
    };
    let mut patience = Patience::new();
    let mut seen_before = 0;
    loop {
        let done = match verify_only {
            false => Box::pin(transfer.run(&noting)).await,
            true => Box::pin(transfer.verify(&noting)).await,
        };
        match done {
            Ok(tally) => return Ok(tally),
            Err(error) if error.may_pass() => {
                let now = seen.load(Ordering::Relaxed);
                if now > seen_before {
                    patience = Patience::new();
                }
                seen_before = now;
                patience.wait(failure(&error)).await?;
            }
            Err(error) => return Err(failure(&error)),
        }
    }
}

fn failure(error: &TransferError) -> Failure {
    let exit = match error {
        TransferError::Storage { .. } | TransferError::Different(_) => Exit::Failure,
        TransferError::Nothing => Exit::NotFound,
        TransferError::Foreign(_) => Exit::Conflict,
    };
    let hint = match error {
        TransferError::Storage { .. } => "; run the same command again to go on",
        _ => "",
    };
    Failure::new(exit, format!("{error}{hint}"))
}

fn show(format: Format, verify_only: bool, tally: &Tally) -> Result<(), Failure> {
    let counts = [
        ("workspaces", tally.workspaces),
        ("principals", tally.principals),
        ("keys", tally.keys),
        ("sessions", tally.sessions),
        ("requests", tally.requests),
        ("stores", tally.stores),
        ("grants", tally.grants),
        ("memories", tally.memories),
        ("changes", tally.entries),
        ("vectors", tally.vectors),
        ("readings", tally.readings),
    ];
    let mut document = json!({"type": "move", "equal": true, "moved": !verify_only});
    for (name, count) in counts {
        document[name] = Value::from(count);
    }
    document["stores_left_behind"] = Value::from(tally.left_behind);
    format.show(&document, || {
        let mut text: String =
            counts.iter().map(|(name, count)| format!("{name:<10}  {count}\n")).collect();
        if tally.left_behind > 0 {
            let count = tally.left_behind;
            text.push_str(&format!(
                "left behind: removed stores that are not purged yet: {count}\n"
            ));
        }
        text.push_str(if verify_only { "both are equal\n" } else { "moved, and both are equal\n" });
        text
    })
}
