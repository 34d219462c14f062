//! `loci salvage`: whatever can still be read of a damaged place, in a new one. Works on the places
//! themselves: a damaged directory may be one that no server starts on. The directory is only read;
//! its rows pass through a private copy beside the destination, which is removed in the end.

use super::args::SalvageArgs;
use super::move_all::{is_same, open, require_used};
use super::output::Format;
use crate::config;
use crate::exit::{Exit, Failure};
use crate::place::Place;
use loci_engine::transfer::{Loss, Salvage, SalvageReport, TransferError};
use loci_storage::Storage;
use loci_storage_sqlite::{OpenError, Salvaged, SqliteOptions, SqliteStorage};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

pub(super) async fn run(format: Format, args: SalvageArgs) -> Result<(), Failure> {
    let from = named(args.from, "FROM", "LOCI_SALVAGE_FROM")?;
    let to = named(args.to, "TO", "LOCI_SALVAGE_TO")?;
    if is_same(&from, &to) {
        return Err(Failure::usage("FROM and TO name the same place"));
    }
    require_used(&from).await?;
    if let Place::Directory(path) = &to
        && fs::read_dir(path).is_ok_and(|mut found| found.next().is_some())
    {
        let why = format!("{to} is not empty; what is salvaged goes to a new place");
        return Err(Failure::new(Exit::Conflict, why));
    }
    let (report, found) = match &from {
        Place::Directory(path) => {
            let staging = staging(&to)?;
            let (storage, found) = read(path.clone(), &staging).await?;
            let report = bring(storage.clone(), &to).await;
            close(storage).await;
            (report?, Some(found))
        }
        Place::Database(_) => {
            let source = open(&from).await?;
            let report = bring(source.storage(), &to).await;
            source.close().await;
            (report?, None)
        }
    };
    show(format, &report, found.as_ref())
}

/// What an argument says, else the environment.
fn named(given: Option<Place>, which: &str, variable: &str) -> Result<Place, Failure> {
    let place = given.or_else(|| config::env(variable).map(Place::from));
    place.ok_or_else(|| Failure::usage(format!("salvage takes {which}, or {variable}")))
}

/// A private directory beside the destination, which has the room.
fn staging(to: &Place) -> Result<TempDir, Failure> {
    let beside = match to {
        Place::Directory(path) => path.parent().filter(|parent| *parent != Path::new("")),
        Place::Database(_) => None,
    };
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(".loci-salvage-");
    let made = match (beside, to) {
        (Some(beside), _) => builder.tempdir_in(beside),
        (None, Place::Directory(_)) => builder.tempdir_in("."),
        (None, Place::Database(_)) => builder.tempdir(),
    };
    made.map_err(|error| Failure::io("cannot make a temporary directory", &error))
}

/// The rows of a damaged directory, in a directory that is whole.
async fn read(from: PathBuf, staging: &TempDir) -> Result<(Arc<SqliteStorage>, Salvaged), Failure> {
    let into = staging.path().join("data");
    let shown = from.display().to_string();
    let read = tokio::task::spawn_blocking(move || {
        let found = loci_storage_sqlite::salvage(&from, &into)?;
        let options = SqliteOptions { ballast_bytes: 0, ..SqliteOptions::default() };
        SqliteStorage::open(&into, options).map(|storage| (Arc::new(storage), found))
    });
    let read = read.await.map_err(|error| Failure::failed(format!("reading failed: {error}")))?;
    read.map_err(|error| match error {
        OpenError::Locked => Failure::failed(format!(
            "{shown} is in use by another loci; stop it before anything is salvaged"
        )),
        error => Failure::failed(format!("{shown}: {error}")),
    })
}

async fn close(storage: Arc<SqliteStorage>) {
    let closed = tokio::task::spawn_blocking(move || drop(storage));
    if let Err(error) = closed.await {
        tracing::error!(%error, "closing the copy failed");
    }
}

async fn bring(from: Arc<dyn Storage>, to: &Place) -> Result<SalvageReport, Failure> {
    let destination = open(to).await?;
    let done = Salvage::new(from, destination.storage()).run().await;
    destination.close().await;
    done.map_err(|error| {
        let exit = match &error {
            TransferError::Storage { .. } | TransferError::Different(_) => Exit::Failure,
            TransferError::Nothing => Exit::NotFound,
            TransferError::Foreign(_) => Exit::Conflict,
        };
        Failure::new(exit, format!("{error}; begin again with a new destination"))
    })
}

/// Says what came over and names what did not; fails when something did not, as `loci export` does.
fn show(format: Format, report: &SalvageReport, found: Option<&Salvaged>) -> Result<(), Failure> {
    let is_whole = report.is_whole() && found.is_none_or(Salvaged::is_whole);
    let loss = |loss: &Loss| {
        json!({
            "memory_store_id": loss.store.to_string(),
            "memory_id": loss.memory.to_string(),
            "memory_version_id": loss.version.map(|version| version.to_string()),
            "path": loss.path,
            "lost": loss.what,
        })
    };
    let mut document = json!({
        "type": "salvage",
        "whole": is_whole,
        "taken": report.taken,
        "left": report.left,
        "lost": report.losses.iter().map(loss).collect::<Vec<_>>(),
        "more_lost": report.more_losses,
    });
    if let Some(found) = found {
        let stores = found.lost_stores.iter().map(ToString::to_string);
        document["read"] = json!({
            "pages": found.pages,
            "unreadable_pages": found.unreadable_pages,
            "broken_cells": found.broken_cells,
            "rows": found.rows,
            "dropped_rows": found.dropped,
        });
        document["stores_made_again"] = stores.map(Value::from).collect();
    }
    format.show(&document, || {
        let mut text = String::new();
        for (what, count) in &report.taken {
            let _ = writeln!(text, "{what:<12}  {count}");
        }
        for (what, count) in &report.left {
            let _ = writeln!(text, "not taken: {what}: {count} or more");
        }
        for store in found.iter().flat_map(|found| &found.lost_stores) {
            let _ = writeln!(text, "made again, with other settings: {store}");
        }
        for one in &report.losses {
            let path = one.path.as_deref().unwrap_or("?");
            let version = one.version.map(|version| format!(" {version}")).unwrap_or_default();
            let _ =
                writeln!(text, "lost: {} {}{version} {path}: {}", one.store, one.memory, one.what);
        }
        if report.more_losses > 0 {
            let _ = writeln!(text, "and {} more", report.more_losses);
        }
        text.push_str(if is_whole {
            "everything was salvaged\n"
        } else {
            "the rest was salvaged\n"
        });
        text
    })?;
    match is_whole {
        true => Ok(()),
        false => Err(Failure::failed("not everything could be salvaged")),
    }
}
