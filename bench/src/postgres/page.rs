//! The figures of PostgreSQL as a page: what each setup does, where the time goes, and what a memory
//! takes on disk.

use super::bed::Disk;
use super::reasons::Reason;
use super::works::CONTENT_BYTES;
use super::{PostgresFigures, WorkFigures, plot};
use crate::measure::Plan;
use crate::samples::Rate;
use crate::search::page::machine;
use std::fmt::Write as _;
use std::path::Path;

/// Writes `postgres.md` and `postgres.svg`.
pub(crate) fn write(figures: &PostgresFigures, plan: &Plan, out: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(out)?;
    plot::draw(figures, &out.join("postgres.svg"))?;
    let page = format!(
        "# PostgreSQL\n\n{}\n\n{}\n![rates as shares of SQLite's](postgres.svg)\n",
        introduction(figures, plan),
        tables(figures)
    );
    std::fs::write(out.join("postgres.md"), page)?;
    Ok(())
}

/// All tables, with what has to be known to read them.
pub(crate) fn tables(figures: &PostgresFigures) -> String {
    let rates = rates(&figures.works);
    [rates, asks(&figures.reasons), syncs(&figures.reasons), processors(&figures.reasons)]
        .into_iter()
        .chain([waits(&figures.reasons), disk(&figures.disk)])
        .collect::<Vec<_>>()
        .join("\n")
}

fn introduction(figures: &PostgresFigures, plan: &Plan) -> String {
    format!(
        "Made by `cargo xtask bench -- --only postgres` on {machine}. Clients, servers and PostgreSQL {version} \
         share the cores, so a second server adds no processor here, and only ratios mean something: each is \
         taken within a round of measurements of {seconds} s, one setup right after the other, and is the \
         median of {rounds} rounds. Rates and latencies are those of the round with the median rate.\n\n\
         A create is one durable write of {CONTENT_BYTES} bytes through HTTP. PostgreSQL has its own durability \
         settings and checksums on, with 64 MB of shared buffers; SQLite syncs every commit. pgbench is the \
         ceiling: one row of the same size with an index on a random id, in a transaction of its own, prepared, \
         2 threads, no HTTP, no history, no rights. Writes and gets are measured without a model, searches with \
         the built-in one on {filled} memories in one store, ten results, the same data on both (`loci move`). \
         In place means that a newer PostgreSQL with pgvector picks the candidates and servers hold no index, as with \
         stores of more than `index_memories_max`; SQLite beside it holds its index. \
         Clients are spread evenly over the servers.",
        machine = machine(),
        version = figures.version,
        seconds = plan.seconds,
        rounds = plan.rounds,
        filled = plan.filled,
    )
}

fn rates(works: &[WorkFigures]) -> String {
    let mut text = String::from(
        "## What each setup does\n\n\
         | what | on | per second | p50 ms | p99 ms | of SQLite | of pgbench |\n\
         |---|---|---:|---:|---:|---:|---:|\n",
    );
    for work in works {
        let mut what = work.name.as_str();
        if let Some(ceiling) = work.ceiling {
            let _ = writeln!(text, "| {what} | pgbench insert | {} | | |", shown(ceiling));
            what = "";
        }
        for setup in &work.setups {
            let to_ceiling = setup.to_ceiling.map_or(String::new(), |ratio| format!("{ratio:.2}"));
            let _ = writeln!(
                text,
                "| {what} | {} | {} | {:.2} | {to_ceiling} |",
                setup.setup.name(),
                shown(setup.rate),
                setup.to_sqlite,
            );
            what = "";
        }
    }
    text
}

fn shown(rate: Rate) -> String {
    format!("{:.0} | {:.2} | {:.2}", rate.per_second, rate.p50_ms, rate.p99_ms)
}

fn case(reason: &Reason) -> String {
    let servers = if reason.servers == 1 { "server" } else { "servers" };
    format!("{} {servers}, {}", reason.servers, reason.stores.name())
}

fn asks(reasons: &[Reason]) -> String {
    let mut text = String::from(
        "## Where the time of a create goes\n\n\
         Measured with 64 clients on a second PostgreSQL that counts statements and times syncs, which costs a \
         little; its rates are not those above.\n\n\
         A create waits for PostgreSQL three times: for the page of access, which tells whether what the server knows \
         of the key and the store still counts, asked once for all requests that come together; until the store's row is \
         locked and what is at the path is read, sent together; until everything is written and committed, sent together. \
         The last two are shared by all writes that queued up meanwhile for the same part of the server: its group. \
         Facts about a store are read when it is new to a server, or something about access has changed.\n\n\
         | with | per second | p50 ms | pages asked per create | facts per create | creates per group | statements waited \
         for per create |\n|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for reason in reasons {
        let seen = &reason.statements;
        let creates = reason.creates.max(1.0);
        let _ = writeln!(
            text,
            "| {} | {:.0} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} |",
            case(reason),
            reason.rate.per_second,
            reason.rate.p50_ms,
            seen.pages / creates,
            seen.facts / creates,
            creates / seen.groups.max(1.0),
            seen.all / creates,
        );
    }
    text
}

fn syncs(reasons: &[Reason]) -> String {
    let mut text = String::from(
        "### The disk\n\n\
         PostgreSQL writes a log and syncs it before a commit is answered; commits that come at the same time share \
         a sync. The last column is the same work while PostgreSQL was told not to sync at all, which nobody should: \
         what it gains is what waiting for the disk costs.\n\n\
         | with | syncs per second | creates per sync | ms per sync | share of the time | log bytes per create | rate \
         without syncs |\n|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for reason in reasons {
        let (log, creates) = (&reason.log, reason.creates.max(1.0));
        let _ = writeln!(
            text,
            "| {} | {:.0} | {:.1} | {:.2} | {:.0} % | {:.0} | {:.2} × |",
            case(reason),
            log.syncs / reason.seconds,
            creates / log.syncs.max(1.0),
            log.sync_ms / log.syncs.max(1.0),
            100.0 * log.sync_ms / 1e3 / reason.seconds,
            log.bytes / creates,
            reason.unsynced.per_second / reason.rate.per_second,
        );
    }
    text
}

fn processors(reasons: &[Reason]) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let mut text = String::from(
        "### The processors\n\n\
         Shares of all cores, and milliseconds of a core for one create. What is left is idle, or belongs to the \
         kernel and to whatever else the machine does.\n\n\
         | with | client | Loci | PostgreSQL | rest | Loci, ms per create | PostgreSQL, ms per create |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    for reason in reasons {
        let used = &reason.processors;
        let share = |seconds: f64| 100.0 * seconds / (cores * reason.seconds);
        let creates = reason.creates.max(1.0);
        let _ = writeln!(
            text,
            "| {} | {:.0} % | {:.0} % | {:.0} % | {:.0} % | {:.3} | {:.3} |",
            case(reason),
            share(used.client),
            share(used.loci),
            share(used.postgres),
            (100.0 - share(used.client + used.loci + used.postgres)).max(0.0),
            1e3 * used.loci / creates,
            1e3 * used.postgres / creates,
        );
    }
    text
}

fn waits(reasons: &[Reason]) -> String {
    let mut text = String::from(
        "### What connections wait for\n\n\
         Connections inside a transaction at a moment, on average over looks 20 ms apart. A store's row is held from \
         the lock to the commit; who else writes to that store waits for it. Within one server writes to a store go \
         one after the other in groups, so only several servers can meet there.\n\n\
         | with | working | waiting for a store's row | for the log | for Loci's next statement | for anything else |\n\
         |---|---:|---:|---:|---:|---:|\n",
    );
    for reason in reasons {
        let seen = &reason.waits;
        let _ = writeln!(
            text,
            "| {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
            case(reason),
            seen.working,
            seen.rows,
            seen.log,
            seen.loci,
            seen.other,
        );
    }
    text
}

fn disk(disk: &Disk) -> String {
    let mut text = format!(
        "## What a memory takes on disk\n\n\
         Bytes for each of {} memories with one version, a text of {:.0} bytes on average and one vector of the \
         built-in model. The file of SQLite has {:.0} for each.\n\n\
         | table | rows | indexes | both |\n|---|---:|---:|---:|\n",
        disk.memories, disk.text, disk.sqlite,
    );
    let sum = |of: fn(&(String, f64, f64)) -> f64| disk.tables.iter().map(of).sum::<f64>();
    let total = ("all".to_owned(), sum(|table| table.1), sum(|table| table.2));
    for (name, rows, indexes) in disk.tables.iter().chain([&total]) {
        let _ = writeln!(text, "| {name} | {rows:.0} | {indexes:.0} | {:.0} |", rows + indexes);
    }
    text
}
