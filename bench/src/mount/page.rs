//! The page about mounts: what was measured, and which bound held.

use std::fmt::Write as _;
use std::path::Path;

use super::sequential::{self, Sequential};
use super::{Line, MountPlan};
use crate::samples::Rate;

pub(super) fn write(
    lines: &[Line],
    sequential: &[Sequential],
    plan: &MountPlan,
    file: &Path,
) -> anyhow::Result<()> {
    let page = format!(
        "# Mounted stores\n\n\
         Made by `cargo xtask bench -- mount`. {} files of about 300 bytes in directories of 100; {} \
         alternations of {} s, of which the one with the median share is shown. Only shares mean \
         something on a shared machine. The *disk* is a directory of the same file system as the data; \
         *in memory* is a FUSE file system of ours that keeps bytes in a table and nothing else, with \
         the same number of threads; *mounted* is `loci mount` by the data directory of a server that \
         makes no vectors. A file that is created is durable when it is closed only where it is mounted.\n\n\
         {}\n{}\n{}",
        plan.files,
        plan.rounds,
        plan.seconds,
        table(lines),
        bounds(lines),
        sequential::table(sequential),
    );
    std::fs::write(file, page)?;
    Ok(())
}

pub(super) fn table(lines: &[Line]) -> String {
    let mut table = String::from(
        "| work | disk /s | in memory /s | mounted /s | p50 ms | p99 ms | of the disk | of in memory | rows alone /s |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for line in lines {
        let Line { work, disk, memory, mounted, rows, at_least } = line;
        let share = line.share();
        let target = match at_least {
            Some(least) if share >= *least => format!(" (≥ {least} met)"),
            Some(least) => format!(" (≥ {least} not met)"),
            None => String::new(),
        };
        let rows = rows.map_or_else(|| "–".to_owned(), |rows| format!("{:.0}", rows.per_second));
        let Rate { per_second, p50_ms, p99_ms, .. } = mounted;
        writeln!(
            table,
            "| {work} | {:.0} | {:.0} | {per_second:.0} | {p50_ms:.2} | {p99_ms:.2} | {:.2} | {share:.2}{target} | {rows} |",
            disk.per_second,
            memory.per_second,
            per_second / disk.per_second,
        )
        .expect("a text takes more text");
    }
    table
}

/// Says of everything that is written which bound is the nearer one.
fn bounds(lines: &[Line]) -> String {
    let mut told = String::new();
    for line in lines {
        let Some(rows) = line.rows else { continue };
        let (disk, fuse) = (rows.per_second, line.memory.per_second);
        let (name, bound) = if disk < fuse {
            ("the durable commit of the rows", disk)
        } else {
            ("FUSE itself", fuse)
        };
        let share = line.mounted.per_second / bound;
        writeln!(
            told,
            "*{}*: bounded by {name} ({bound:.0} /s), of which the mount reaches {share:.2}.",
            line.work
        )
        .expect("a text takes more text");
    }
    told
}
