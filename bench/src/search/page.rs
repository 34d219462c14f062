//! The figures of search as a page: tables, what was aimed at, and a plot.

use super::cost::Cost;
use super::{Loading, SearchFigures, SizeFigures, StoreFigures, growth};
use crate::freshness::FreshnessFigures;
use crate::measure::{Figures, Plan};
use crate::report;
use std::fmt::Write as _;
use std::path::Path;

/// At so many memories, so many milliseconds beyond embedding the question.
const HYBRID_TARGETS: [(u64, f64); 2] = [(100_000, 6.0), (1_000_000, 40.0)];
const LEXICAL_TARGET: (u64, f64) = (1_000_000, 30.0);
const LAG_TARGET_MS: f64 = 1_000.0;

/// Writes the page, and next to it the plot.
pub(crate) fn write(figures: &Figures, plan: &Plan, file: &Path) -> anyhow::Result<()> {
    let plot = file.with_extension("svg");
    let mut page = format!("# Search\n\n{}\n\n{}", introduction(plan), tables(figures));
    if let Some(search) = &figures.search {
        growth::draw(search, &plot)?;
        let name = plot.file_name().unwrap_or_default().to_string_lossy();
        let _ =
            writeln!(page, "\n## Growth\n\nMedians, both axes logarithmic.\n\n![growth]({name})");
    }
    std::fs::write(file, page)?;
    Ok(())
}

/// All tables.
pub(crate) fn tables(figures: &Figures) -> String {
    let search = figures.search.as_ref().map_or(String::new(), search_tables);
    let freshness = figures.freshness.as_ref().map_or(String::new(), freshness_tables);
    [targets(figures), search, freshness].concat()
}

/// One size in a few lines, for whoever waits.
pub(crate) fn in_short(size: &SizeFigures) -> String {
    let line = |layout: &StoreFigures| {
        format!(
            "  {} stores: lexical {}, semantic {}, hybrid {}, embedding alone {} ms",
            layout.stores,
            both(layout.lexical),
            both(layout.semantic),
            both(layout.hybrid),
            both(layout.embedding)
        )
    };
    format!(
        "{}\n{}\n  raw: FTS5 {}, scan {} ms",
        line(&size.one_store),
        line(&size.many_stores),
        both(size.raw.fts),
        both(size.raw.scan)
    )
}

fn introduction(plan: &Plan) -> String {
    format!(
        "Made by `cargo xtask bench -- --only search,freshness --full --report docs/benchmarks/search.md` \
         on {}. Client and server share them, so compare columns of one row rather than these figures \
         with another machine's.\n\n\
         Memories have 12 to 31 words, from 60,000 that come as often as words do; three in ten are turns \
         of chats, the rest notes. A question has four words: one that is in some hundredths of all \
         memories, one in about two of a thousand, two in about one of ten thousand; ten results are \
         asked for. One client asks the server over HTTP, which embeds the question with the built-in \
         model each time. Vectors of memories are mixtures of two real ones and noise, because a million \
         real ones take hours. In the same {} rounds, one block after the other: words alone; meaning \
         alone; each question embedded by the model alone and right after asked as a hybrid search; FTS5 \
         (`unicode61`, a store column, bm25, any of the words) on the same texts; a scan of the same \
         vectors as bytes. Neither of the last two knows rights, neighbours, authors or what was written \
         a moment ago. Times are p50 / p99 in milliseconds.",
        machine(),
        plan.rounds
    )
}

/// What it ran on: cores, memory and the widest instructions.
pub(crate) fn machine() -> String {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    let (processor, memory) = (read("/proc/cpuinfo"), read("/proc/meminfo"));
    let has = |flag: &str| processor.split_whitespace().any(|word| word == flag);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kib = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = kib.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    let gib = kib.unwrap_or_default() / f64::from(1 << 20);
    let kind = if has("hypervisor") { "a virtual machine" } else { "a machine" };
    let widest =
        [("avx512bw", "AVX-512"), ("avx2", "AVX2")].into_iter().find(|(flag, _)| has(flag));
    let widest = widest.map_or("no wide instructions", |(_, name)| name);
    format!("{cores} cores of {kind} with {gib:.0} GiB and {widest}")
}

fn targets(figures: &Figures) -> String {
    let mut rows = Vec::new();
    let sizes = figures.search.iter().flat_map(|search| &search.sizes);
    for size in sizes {
        let one = &size.one_store;
        for (_, most) in HYBRID_TARGETS.iter().filter(|(at, _)| *at == size.memories) {
            let name = format!("hybrid p50 beyond embedding, {} in one store", size.memories);
            rows.push((name, one.beyond_embedding_ms(), *most));
        }
        if LEXICAL_TARGET.0 == size.memories {
            let name = format!("lexical p99, {} in one store", size.memories);
            rows.push((name, one.lexical.p99_ms, LEXICAL_TARGET.1));
        }
    }
    if let Some(freshness) = &figures.freshness {
        rows.push(("found by meaning, p99".to_owned(), freshness.lag.p99_ms, LAG_TARGET_MS));
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut text = String::from("| target | ms | at most | |\n|---|---:|---:|---|\n");
    for (name, ms, most) in rows {
        let verdict = if ms <= most { "met" } else { "missed" };
        let _ = writeln!(text, "| {name} | {ms:.1} | {most:.0} | {verdict} |");
    }
    text
}

fn search_tables(figures: &SearchFigures) -> String {
    let mut text = String::from(
        "\n## In one store\n\n\
         | memories | lexical | semantic | hybrid | embedding alone | hybrid beyond it | raw FTS5 | \
         lexical / FTS5 | raw scan | beyond / scan |\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for size in &figures.sizes {
        let (one, raw) = (&size.one_store, &size.raw);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {:.1} | {} | {:.2} | {} | {:.2} |",
            size.memories,
            both(one.lexical),
            both(one.semantic),
            both(one.hybrid),
            both(one.embedding),
            one.beyond_embedding_ms(),
            both(raw.fts),
            one.lexical.p50_ms / raw.fts.p50_ms,
            both(raw.scan),
            one.beyond_embedding_ms() / raw.scan.p50_ms
        );
    }
    text.push_str(
        "\n## Across stores\n\n\
         | memories | stores | lexical | semantic | hybrid | embedding alone | hybrid beyond it |\n\
         |---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for size in &figures.sizes {
        let many = &size.many_stores;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {:.1} |",
            size.memories,
            many.stores,
            both(many.lexical),
            both(many.semantic),
            both(many.hybrid),
            both(many.embedding),
            many.beyond_embedding_ms()
        );
    }
    text.push_str(&processor_table(figures));
    text.push_str(&loading_table(figures));
    text
}

fn processor_table(figures: &SearchFigures) -> String {
    let mut text = String::from(
        "\n## Processor time\n\n\
         Milliseconds that all cores together work for one answer, on average: steadier than the clock \
         when a machine has other things to do.\n\n\
         | memories | stores | lexical | semantic | hybrid | embedding alone | raw FTS5 | raw scan |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for size in &figures.sizes {
        for layout in [&size.one_store, &size.many_stores] {
            let _ = writeln!(
                text,
                "| {} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
                size.memories,
                layout.stores,
                layout.lexical.processor_ms,
                layout.semantic.processor_ms,
                layout.hybrid.processor_ms,
                layout.embedding.processor_ms,
                size.raw.fts.processor_ms,
                size.raw.scan.processor_ms
            );
        }
    }
    text
}

fn loading_table(figures: &SearchFigures) -> String {
    let mut text = String::from(
        "\n## Loading and memory\n\n\
         The first search after a start reads the texts and indexes them, the first by meaning reads \
         the vectors and loads the model; nothing is read before. Texts are made into vectors once, in \
         the background, when they are written.\n\n\
         | memories | stores | texts indexed per second | FTS5 takes in | first search, s | vectors read \
         per second | first by meaning, s | resident before, MiB | after | indexes | bytes per memory |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for size in &figures.sizes {
        for layout in [&size.one_store, &size.many_stores] {
            let Loading { by_word_seconds, by_meaning_seconds, .. } = layout.loading;
            let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
            let memories = size.memories as f64;
            let _ = writeln!(
                text,
                "| {} | {} | {:.0} | {:.0} | {:.2} | {:.0} | {:.2} | {:.0} | {:.0} | {:.0} | {:.0} |",
                size.memories,
                layout.stores,
                memories / by_word_seconds,
                size.raw.fts_texts_per_second,
                by_word_seconds,
                memories / by_meaning_seconds,
                by_meaning_seconds,
                mib(layout.loading.idle_bytes),
                mib(layout.loading.loaded_bytes),
                mib(layout.loading.index_bytes),
                layout.loading.index_bytes as f64 / memories
            );
        }
    }
    let _ = writeln!(
        text,
        "\nThe built-in model embeds {:.0} such texts a second in the background, on one thread.",
        figures.passages_per_second
    );
    text
}

fn freshness_tables(figures: &FreshnessFigures) -> String {
    let mut text = format!(
        "\n## Freshness\n\n\
         {:.0} memories a second are written for {:.0} s. Meanwhile somebody searches by meaning for the \
         text of the one acknowledged last, up to twenty times a second, until it is found: {} of them, from \
         the acknowledgement to the answer that holds it, p50 {:.0} ms, p99 {:.0} ms.\n\n\
         Writes do not wait for vectors: the same writes with the built-in model making vectors \
         meanwhile, and without a model.\n\n",
        figures.writes_per_second,
        figures.seconds,
        figures.found,
        figures.lag.p50_ms,
        figures.lag.p99_ms
    );
    text.push_str(&report::lines(&figures.writes));
    text
}

fn both(cost: Cost) -> String {
    let shown = |ms: f64| if ms < 10.0 { format!("{ms:.2}") } else { format!("{ms:.1}") };
    format!("{} / {}", shown(cost.p50_ms), shown(cost.p99_ms))
}
