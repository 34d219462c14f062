//! `loci mcp install`: shows what a program's configuration needs, or puts it there.
//!
//! A file is only changed when it was understood, beside a copy of what it was, and in one step; all
//! else in it stays. What is not understood is left alone, and the user is told what to add.

mod clients;
mod json;
mod toml_text;

use super::McpArgs;
use crate::cli::args::Common;
use crate::cli::output::Format;
use crate::config;
use crate::exit::Failure;
use crate::place::Place;
use clients::{Client, Entry, Form};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Bytes of a configuration that anybody wrote.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// Which program
    #[arg(value_enum)]
    client: Client,
    /// Change the program's configuration; without it, what to add is printed
    #[arg(long)]
    write: bool,
    /// What the program calls the memory
    #[arg(long, value_name = "NAME", default_value = "loci")]
    name: String,
    /// Tools to offer; can be given several times [default: default]
    #[arg(long = "profile", value_name = "PROFILE", value_enum, value_delimiter = ',')]
    profiles: Vec<crate::mcp::Profile>,
}

/// Shows or writes the configuration of a program.
pub(crate) fn run(format: Format, common: &Common, args: &InstallArgs) -> Result<(), Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if args.name.is_empty() || args.name.len() > 64 || !args.name.chars().all(is_plain) {
        let why = "--name takes 1 to 64 letters, digits, hyphens and underscores";
        return Err(Failure::usage(why));
    }
    let entry = entry(common, args)?;
    let file = args.client.file(&home()?);
    let snippet = args.client.snippet(&args.name, &entry);
    let told = match args.write {
        false => format!("Add this to {}:\n\n{snippet}", file.display()),
        true => write(args.client, &file, &args.name, &entry)?,
    };
    let shown = json!({
        "client": args.client.name(),
        "file": file.to_string_lossy(),
        "configuration": snippet,
        "written": args.write,
    });
    format.show(&shown, || told)
}

/// How this memory is started, with what the command line says about where it is.
fn entry(common: &Common, args: &InstallArgs) -> Result<Entry, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::io("cannot tell where this program is", &error))?;
    let mut arguments = vec!["mcp".to_owned()];
    let mut take = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
    if let Some(url) = &common.url {
        take("--url", url.clone());
    } else if let Some(database) = &common.database {
        if database.has_password() {
            let why = "a password does not belong into a program's configuration; use --url and a \
                       key, or put LOCI_DATABASE into the program's environment";
            return Err(Failure::usage(why));
        }
        take("--database", database.to_string());
    } else if let Some(Place::Directory(data)) = Place::given(common.data.clone(), None)? {
        let data = std::path::absolute(&data)
            .map_err(|error| Failure::io("cannot tell where the data directory is", &error))?;
        take("--data", data.to_string_lossy().into_owned());
    }
    for profile in &args.profiles {
        take("--profile", profile.name().to_owned());
    }
    let key = common.key.clone().map(|key| ("LOCI_KEY".to_owned(), key));
    Ok(Entry { program: program.to_string_lossy().into_owned(), arguments, environment: key })
}

fn home() -> Result<PathBuf, Failure> {
    let home = config::env("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    home.ok_or_else(|| Failure::failed("HOME is not set; there is nowhere to look"))
}

/// Merges the entry into a file.
fn write(client: Client, file: &Path, name: &str, entry: &Entry) -> Result<String, Failure> {
    let old = read(file)?;
    let merged = match client.form() {
        Form::Json(section) => json::merge(old.as_deref(), section, name, &client.value(entry)),
        Form::Toml => toml_text::merge(old.as_deref(), name, entry),
    };
    let merged = merged.map_err(|why| {
        let snippet = client.snippet(name, entry);
        let file = file.display();
        Failure::failed(format!("{file} is left as it is: {why}. Add this by hand:\n\n{snippet}"))
    })?;
    let Some(merged) = merged else {
        return Ok(format!("{} has it already", file.display()));
    };
    let backup = replace(file, old.as_deref(), &merged)
        .map_err(|error| Failure::io(format_args!("cannot write {}", file.display()), &error))?;
    let kept = backup.map(|backup| format!(" (before: {})", backup.display()));
    Ok(format!("Written to {}{}", file.display(), kept.unwrap_or_default()))
}

fn read(file: &Path) -> Result<Option<String>, Failure> {
    match fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Ok(found) if found.len() > FILE_BYTES_MAX => {
            return Err(Failure::failed(format!("{} is too large", file.display())));
        }
        _ => {}
    }
    let text = fs::read_to_string(file);
    let text =
        text.map_err(|error| Failure::io(format_args!("cannot read {}", file.display()), &error))?;
    Ok(Some(text))
}

/// Puts a text in the place of a file, in one step, and keeps a copy of what it was.
fn replace(file: &Path, old: Option<&str>, text: &str) -> std::io::Result<Option<PathBuf>> {
    // Some keep their configuration elsewhere and link to it.
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
    fresh.write_all(text.as_bytes())?;
    let backup = match old {
        None => None,
        Some(_) => {
            fresh.as_file().set_permissions(fs::metadata(&file)?.permissions())?;
            let mut name = file.file_name().unwrap_or_default().to_owned();
            name.push(".before-loci");
            let backup = file.with_file_name(name);
            fs::copy(&file, &backup)?;
            Some(backup)
        }
    };
    fresh.as_file().sync_all()?;
    fresh.persist(&file).map_err(|failed| failed.error)?;
    Ok(backup)
}

/// The entry as most programs take it.
fn plain(entry: &Entry) -> Value {
    let mut value = json!({ "command": entry.program, "args": entry.arguments });
    if let Some((name, secret)) = &entry.environment {
        value["env"] = json!({ name: secret });
    }
    value
}

impl McpArgs {
    /// What to install, if that is what was asked for.
    pub(crate) fn install(&self) -> Option<&InstallArgs> {
        self.command.as_ref().map(|super::McpCommand::Install(args)| args)
    }
}
