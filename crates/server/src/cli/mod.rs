//! The command line: parses, chooses where the memories are, runs one command, ends with a code.
//!
//! Commands only speak the HTTP API, so they can do nothing a remote client could not, and behave
//! the same on a directory and on a server.

mod agent;
mod args;
mod backup;
mod chat;
mod check;
mod client;
mod compact;
mod console;
mod doctor;
mod duplicates;
mod eval;
mod events;
mod extract;
mod find;
mod get;
mod grant;
mod history;
mod import;
mod ingest;
mod key;
mod knowledge;
mod list;
mod mcp;
mod mount;
mod move_all;
mod move_progress;
mod output;
mod port;
mod put;
mod reach;
mod redact;
mod reembed;
mod restore;
mod salvage;
mod seal;
mod search;
mod session;
mod store;
mod sync;
mod way;

pub(crate) use args::{Args, Command};
pub(crate) use output::say;

use crate::config;
use crate::exit::Failure;
use crate::place::Place;
use crate::serve::{ServeRequest, serve};
use agent::AgentCommand;
use args::{Common, StoreCommand};
use chat::ChatCommand;
use clap::CommandFactory;
use client::Client;
use loci_model::Content;
use output::Format;
use reach::Origin;
use way::{Upkeep, Way};

/// Runs what the command line says.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let Args { common, command } = args;
    let command = match command {
        Command::Serve(serve_args) => {
            if common.url.is_some() || common.key.is_some() {
                return Err(Failure::usage("serve takes neither --url nor --key"));
            }
            let place = Place::given(common.data, common.database)?;
            let (listen, config) = (serve_args.listen, serve_args.config);
            let is_replica = serve_args.replica;
            return Box::pin(serve(ServeRequest { listen, place, config, is_replica })).await;
        }
        other => other,
    };
    let format = if common.json { Format::Json } else { Format::Human };
    if let Command::Eval(args) = &command {
        return eval::run(format, args, common.database).await;
    }
    let is_given = common.data.is_some()
        || common.database.is_some()
        || common.url.is_some()
        || common.key.is_some();
    if let Command::Move(args) = command {
        if is_given {
            let why = "move takes --from and --to, and none of --data, --database, --url, --key";
            return Err(Failure::usage(why));
        }
        return move_all::run(format, args).await;
    }
    if let Command::Salvage(args) = command {
        if is_given {
            let why = "salvage takes FROM and TO, and none of --data, --database, --url, --key";
            return Err(Failure::usage(why));
        }
        return salvage::run(format, args).await;
    }
    if let Command::Extract(args) = &command {
        return extract::run(&args.file);
    }
    if let Command::ReadPdf = &command {
        return ingest::pdf::serve();
    }
    if let Command::Seal(command) = &command {
        return seal::run(format, command);
    }
    if let Command::Umount(args) = &command {
        return mount::umount(format, args).await;
    }
    let content = match &command {
        Command::Put(args) => put::content(args)?,
        _ => Content::Text(String::new()),
    };
    if let Command::Mcp(args) = &command
        && let Some(install) = args.install()
    {
        return mcp::install(format, &common, install);
    }
    let (origin, key) = origin(&common, &command)?;
    if let Command::Mount(args) = &command
        && args.starts_background()
    {
        return mount::start_in_background(format, args);
    }
    if let Command::Mcp(args) = &command {
        return mcp::run(origin, key, args).await;
    }
    let mut client = Client::over(Way::new(origin.clone(), upkeep(&command)), key);
    let done = match &command {
        Command::Console => console::run(&mut client, format, &origin).await,
        Command::Put(args) => put::run(&mut client, format, args, &content).await,
        Command::Ingest(args) => ingest::run(&mut client, format, args).await,
        Command::Get(args) => get::run(&mut client, format, args).await,
        Command::List(args) => list::run(&mut client, format, args).await,
        Command::Search(args) => search::run(&mut client, format, args).await,
        Command::Duplicates(args) => duplicates::run(&mut client, format, args).await,
        Command::Compact(args) => compact::run(&mut client, format, args).await,
        Command::History(args) => history::run(&mut client, format, args).await,
        Command::Restore(args) => restore::run(&mut client, format, args).await,
        Command::Redact(args) => redact::run(&mut client, format, args).await,
        Command::Store(command) => store::run(&mut client, format, command).await,
        Command::Key(command) => key::run(&mut client, format, command).await,
        Command::Grant(args) => grant::give(&mut client, format, args).await,
        Command::Grants(args) => grant::list(&mut client, format, args).await,
        Command::Revoke(args) => grant::take_back(&mut client, format, args).await,
        Command::Chat(command) => chat::run(&mut client, format, command).await,
        Command::Agent(command) => agent::run(&mut client, format, command).await,
        Command::Events(args) => events::run(&mut client, format, args).await,
        Command::Session(command) => session::run(&mut client, format, command).await,
        Command::Mount(args) => mount::run(&client, format, args).await,
        Command::Sync(args) => sync::run(&client, format, args).await,
        Command::Check(args) => check::run(&mut client, format, args.audit_end.as_deref()).await,
        Command::Reembed(args) => reembed::run(&mut client, format, args).await,
        Command::Knowledge(command) => knowledge::run(&mut client, format, command).await,
        Command::Backup(args) => backup::backup(&mut client, format, &args.file).await,
        Command::Export(args) => backup::export(&mut client, format, &args.file).await,
        Command::Import(args) => import::run(&mut client, format, &args.file).await,
        Command::Doctor(args) => doctor::run(&mut client, format, &origin, args).await,
        Command::Serve(_)
        | Command::Mcp(_)
        | Command::Eval(_)
        | Command::Move(_)
        | Command::Salvage(_)
        | Command::Extract(_)
        | Command::ReadPdf
        | Command::Seal(_)
        | Command::Umount(_) => Ok(()),
    };
    client.close().await;
    done
}

/// The command that a command line of this program names.
pub(crate) fn command_name(words: impl IntoIterator<Item = String>) -> Option<String> {
    let parsed = Args::command().try_get_matches_from(words).ok()?;
    parsed.subcommand_name().map(str::to_owned)
}

/// Where the memories are: what a flag says, then the environment, then the default. A key from the
/// environment goes with a server only, so that it cannot narrow what the operator does locally.
fn origin(common: &Common, command: &Command) -> Result<(Origin, Option<String>), Failure> {
    let names_place = common.data.is_some() || common.database.is_some();
    let url = match &common.url {
        Some(url) => Some(url.clone()),
        None if names_place => None,
        None => config::env("LOCI_URL"),
    };
    if let Some(url) = url {
        let key = common.key.clone().or_else(|| config::env("LOCI_KEY"));
        return Ok((Origin::server(&url)?, key));
    }
    let place = Place::given(common.data.clone(), common.database.clone())?;
    let place = place.unwrap_or_else(Place::default_directory);
    Ok((Origin::Place { place, may_create: may_create(command) }, common.key.clone()))
}

/// Whether a command stays, and has to do a server's work while it holds a directory.
fn upkeep(command: &Command) -> Upkeep {
    match command {
        Command::Mount(_) | Command::Sync(_) => Upkeep::Standing,
        _ => Upkeep::None,
    }
}

/// Whether a command makes sense where nothing is yet.
fn may_create(command: &Command) -> bool {
    match command {
        Command::Put(args) => args.create_store,
        Command::Ingest(args) => args.create_store || args.oracle.is_some(),
        Command::Store(StoreCommand::Create { .. })
        | Command::Key(key::KeyCommand::Create(_))
        | Command::Session(_)
        | Command::Mcp(_)
        | Command::Chat(ChatCommand::Add { .. })
        | Command::Agent(AgentCommand::Create { .. })
        | Command::Import(_) => true,
        _ => false,
    }
}
