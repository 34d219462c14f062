//! The figures as a page and a plot.

use crate::measure::{Figure, Figures, Plan};
use crate::plot;
use std::fmt::Write as _;
use std::path::Path;

/// Writes `README.md` and `ratios.svg`.
pub(crate) fn write(figures: &Figures, plan: &Plan, out: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(out)?;
    let page = format!(
        "# Benchmarks\n\n\
         Made by `cargo xtask bench`. Client and server share two cores of a virtual machine, so only the \
         ratios mean something: each compares two measurements of {} s taken in alternation, {} times, \
         and is the median. A create is one durable write through HTTP: on disk and found by word \
         by the very next search. The raw ceiling puts the same rows into SQLite with the same pragmas, \
         by one thread that commits whatever has queued. Search has [its own page](search.md), and so have [PostgreSQL](postgres.md), \
         [large stores on it](scale.md), \
         [texts that grow](append.md), [mounted stores](mount.md), [what an oracle waits for](knowledge.md) \
         and [the console](console.md).\n\n{}\n\
         ![ratios](ratios.svg)\n",
        plan.seconds,
        plan.rounds,
        table(figures)
    );
    std::fs::write(out.join("README.md"), page)?;
    plot::ratios(figures, &out.join("ratios.svg"))
}

/// The figures as a Markdown table.
pub(crate) fn table(figures: &Figures) -> String {
    let mut text = lines(&figures.lines);
    let mib = figures.idle_bytes as f64 / f64::from(1 << 20);
    let verdict = if mib <= 60.0 { "met" } else { "missed" };
    let _ = writeln!(text, "| resident memory, idle | {mib:.1} MiB | | | | ≤ 60 MiB {verdict} |");
    text
}

/// Some lines as a Markdown table.
pub(crate) fn lines(lines: &[Figure]) -> String {
    let mut text = String::from(
        "| what | per second | p50 ms | p99 ms | ratio | target |\n|---|---:|---:|---:|---:|---:|\n",
    );
    for line in lines {
        let rate = line.rate;
        let (ratio, target) = match &line.ratio {
            None => (String::new(), String::new()),
            Some(ratio) => (
                format!("{:.2} of {}", ratio.value, ratio.to),
                ratio.at_least.map_or(String::new(), |least| {
                    let verdict = if ratio.value >= least { "met" } else { "missed" };
                    format!("≥ {least:.2} {verdict}")
                }),
            ),
        };
        let _ = writeln!(
            text,
            "| {} | {:.0} | {:.2} | {:.2} | {ratio} | {target} |",
            line.name, rate.per_second, rate.p50_ms, rate.p99_ms
        );
    }
    text
}
