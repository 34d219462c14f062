//! `loci doctor`: what an operator would look at by hand, in one report. A problem is an exit code.
//! Looking does not make a data directory where there is none, nor a schema in a database.

use super::args::DoctorArgs;
use super::client::Client;
use super::output::{Format, human_bytes, table, text};
use super::reach::Origin;
use crate::config::{Config, LISTEN_DEFAULT};
use crate::exit::Failure;
use crate::place::{DatabaseUrl, Place};
use crate::{held, holder, serve, socket};
use serde_json::{Value, json};
use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tokio::net::TcpListener;

/// Less room than this and writes are about to fail.
const SPACE_PROBLEM: u64 = 64 << 20;
const SPACE_NOTE: u64 = 1 << 30;

/// How one look turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Fine,
    /// Worth knowing.
    Note,
    /// Something will not work.
    Problem,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

#[derive(Default)]
struct Report(Vec<(&'static str, Verdict, String)>);

impl Report {
    fn add(&mut self, subject: &'static str, verdict: Verdict, found: impl Into<String>) {
        self.0.push((subject, verdict, found.into()));
    }

    fn show(&self, format: Format) -> Result<(), Failure> {
        let finding = |(subject, verdict, found): &(&str, Verdict, String)| json!({"subject": subject, "verdict": verdict.name(), "found": found});
        let findings: Vec<Value> = self.0.iter().map(finding).collect();
        let row = |(subject, verdict, found): &(&str, Verdict, String)| {
            vec![(*subject).to_owned(), verdict.name().to_owned(), found.clone()]
        };
        let rows: Vec<_> = self.0.iter().map(row).collect();
        let problems = self.0.iter().filter(|(_, verdict, _)| *verdict == Verdict::Problem).count();
        let report = json!({"type": "doctor", "ok": problems == 0, "findings": findings});
        format.show(&report, || table(&["SUBJECT", "VERDICT", "FOUND"], &rows))?;
        match problems {
            0 => Ok(()),
            count => Err(Failure::failed(format!("{count} problems found"))),
        }
    }
}

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    origin: &Origin,
    args: &DoctorArgs,
) -> Result<(), Failure> {
    let mut report = Report::default();
    report.add("version", Verdict::Fine, env!("CARGO_PKG_VERSION"));
    match origin {
        Origin::Place { place: Place::Directory(path), .. } => {
            report.add("sqlite", Verdict::Fine, loci_storage_sqlite::sqlite_version());
            let config = configuration(&mut report, args);
            directory(&mut report, path).await;
            if path.join("loci.db").exists() {
                memories(&mut report, client).await;
            }
            let is_served = socket::connect(path).await.is_ok();
            listen(&mut report, &config, is_served).await;
        }
        Origin::Place { place: Place::Database(url), .. } => {
            let config = configuration(&mut report, args);
            if database(&mut report, url).await {
                memories(&mut report, client).await;
            }
            listen(&mut report, &config, false).await;
        }
        Origin::Server { authority, .. } => {
            report.add("server", Verdict::Fine, authority.clone());
            memories(&mut report, client).await;
        }
    }
    report.show(format)
}

fn configuration(report: &mut Report, args: &DoctorArgs) -> Config {
    let Some(path) = &args.config else { return Config::default() };
    let loaded = Config::load(path).and_then(|config| {
        for key in &config.keys {
            key.secret_hash()?;
        }
        config.search.resolve()?;
        config.tokens()?;
        config.server.place()?;
        Ok(config)
    });
    match loaded {
        Ok(config) => {
            let declared = format!(
                "{}: {} principals, {} stores, {} grants, {} keys",
                path.display(),
                config.principals.len(),
                config.stores.len(),
                config.grants.len(),
                config.keys.len(),
            );
            report.add("configuration", Verdict::Fine, declared);
            config
        }
        Err(failure) => {
            report.add("configuration", Verdict::Problem, failure.message);
            Config::default()
        }
    }
}

async fn directory(report: &mut Report, path: &Path) {
    let shown = path.display();
    let Ok(metadata) = fs::metadata(path) else {
        report.add("data directory", Verdict::Note, format!("{shown} is not there yet"));
        return;
    };
    let mode = metadata.permissions().mode() & 0o777;
    match (metadata.is_dir(), mode & 0o022, mode & 0o055) {
        (false, ..) => {
            report.add("data directory", Verdict::Problem, format!("{shown} is no directory"));
            return;
        }
        (true, 0, 0) => report.add("data directory", Verdict::Fine, shown.to_string()),
        (true, 0, _) => {
            let found = format!("{shown} can be listed by other users (mode {mode:o})");
            report.add("data directory", Verdict::Note, found);
        }
        (true, ..) => {
            let found = format!("{shown} can be written by other users (mode {mode:o}): chmod 700");
            report.add("data directory", Verdict::Problem, found);
            return;
        }
    }
    match tempfile::Builder::new().prefix(".loci-doctor-").tempfile_in(path) {
        Ok(_) => report.add("writable", Verdict::Fine, "yes"),
        Err(error) => report.add("writable", Verdict::Problem, error.to_string()),
    }
    match rustix::fs::statvfs(path) {
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            let verdict = match free {
                ..SPACE_PROBLEM => Verdict::Problem,
                SPACE_PROBLEM..SPACE_NOTE => Verdict::Note,
                SPACE_NOTE.. => Verdict::Fine,
            };
            report.add("free space", verdict, human_bytes(free));
        }
        Err(error) => report.add("free space", Verdict::Note, error.to_string()),
    }
    let holder = holder::read(path);
    match (holder, socket::connect(path).await.is_ok()) {
        (Some(holder), true) => {
            let found = format!("process {} ({:?})", holder.pid, holder.kind).to_lowercase();
            report.add("held by", Verdict::Fine, found);
            report.add("socket", Verdict::Fine, socket::locate(path).display().to_string());
        }
        (None, true) => report.add("held by", Verdict::Fine, "a process that answers"),
        (_, false) => report.add("held by", Verdict::Fine, "nobody"),
    }
}

/// Whether there are memories to ask about.
async fn database(report: &mut Report, url: &DatabaseUrl) -> bool {
    let found = match held::look(url).await {
        Ok(found) => found,
        Err(failure) => {
            report.add("database", Verdict::Problem, failure.message);
            return false;
        }
    };
    report.add("database", Verdict::Fine, format!("{url}, {}", human_bytes(found.bytes)));
    report.add("postgresql", Verdict::Fine, found.server);
    match found.format {
        Some(format) => report.add("format", Verdict::Fine, format.to_string()),
        None => report.add("format", Verdict::Note, "nothing of Loci is there yet"),
    }
    match found.is_read_only {
        false => report.add("writable", Verdict::Fine, "yes"),
        true => report.add("writable", Verdict::Problem, "a replica, or set to be read only"),
    }
    match found.is_superuser {
        false => report.add("role", Verdict::Fine, "bound by row security"),
        true => report.add(
            "role",
            Verdict::Note,
            "bound by row security, but the connection is a superuser's; a member of the role \
             loci_app is enough",
        ),
    }
    match (found.is_durable, found.has_checksums) {
        (false, _) => report.add(
            "durability",
            Verdict::Problem,
            "fsync or full_page_writes is off; a power cut may lose everything",
        ),
        (true, false) => report.add(
            "durability",
            Verdict::Note,
            "data checksums are off; damage on the disk may go unnoticed (pg_checksums --enable)",
        ),
        (true, true) => report.add("durability", Verdict::Fine, "checksums are on"),
    }
    match found.vector {
        Some(version) => report.add("pgvector", Verdict::Fine, version),
        None => report.add("pgvector", Verdict::Fine, "not there; vectors are compared here"),
    }
    found.format.is_some()
}

/// Asks whoever answers: the holder, the server, or this process.
async fn memories(report: &mut Report, client: &mut Client) {
    match client.get("/readyz").await {
        Ok(ready) if ready["disk_full"] == true => {
            report.add("ready", Verdict::Problem, "the disk is full: writes are refused")
        }
        Ok(_) => report.add("ready", Verdict::Fine, "reads and writes work"),
        Err(refused) => {
            report.add("ready", Verdict::Problem, Failure::from(refused).message);
            return;
        }
    }
    if let Ok(document) = client.get("/openapi.json").await {
        report.add("server version", Verdict::Fine, text(&document["info"], "version"));
    }
    match client.get("/v1/stats").await {
        Ok(stats) => {
            let number = |name: &str| stats[name].as_u64().unwrap_or(0);
            let found = format!(
                "{} memories in {} stores, {}",
                number("memories"),
                number("stores"),
                human_bytes(number("content_bytes")),
            );
            report.add("memories", Verdict::Fine, found);
        }
        Err(refused) => report.add("memories", Verdict::Problem, Failure::from(refused).message),
    }
    // Only administrators may ask.
    if let Ok(status) = client.get("/v1/embedding").await {
        let behind = status["changes_behind"].as_u64().unwrap_or(0);
        match (status["model"].as_str(), behind) {
            (None, _) => {
                report.add("vectors", Verdict::Note, "no embedder; search is by word only")
            }
            (Some(model), 0) => {
                report.add("vectors", Verdict::Fine, format!("{model}, up to date"))
            }
            (Some(model), behind) => {
                let found = format!("{model}, {behind} changes to follow");
                report.add("vectors", Verdict::Note, found);
            }
        }
    }
}

/// Whether a server could listen. Something that listens already is most often that server.
async fn listen(report: &mut Report, config: &Config, is_served: bool) {
    let wanted = config.server.listen.as_deref().unwrap_or(LISTEN_DEFAULT);
    let address = match serve::resolve(wanted).await {
        Ok(address) => address,
        Err(failure) => return report.add("listen", Verdict::Problem, failure.message),
    };
    match TcpListener::bind(address).await {
        Ok(_) => report.add("listen", Verdict::Fine, format!("{address} is free")),
        Err(error) => {
            let by = if is_served { "; this directory is being served" } else { "" };
            report.add("listen", Verdict::Note, format!("{address}: {error}{by}"));
        }
    }
    hosts(report, config, wanted, address.ip());
}

/// By which names a server could be asked.
fn hosts(report: &mut Report, config: &Config, told: &str, listening: IpAddr) {
    match config.hosts(told, listening) {
        Err(failure) => report.add("hosts", Verdict::Problem, failure.message),
        Ok(hosts) if !listening.is_loopback() && !hosts.has_names() => report.add(
            "hosts",
            Verdict::Note,
            "asked for by IP address or as localhost only; other names go into server.allowed_hosts",
        ),
        Ok(_) => report.add("hosts", Verdict::Fine, "this machine's names, and those it was given"),
    }
}
