//! `cargo xtask bench`: builds the release binary and measures it with the `loci-bench` crate.
//!
//! Anything after `--` goes to the measurement, for example `-- --large 100000 --seconds 1`, or
//! `-- --only search,freshness --full --report docs/benchmarks/search.md`, or `-- --only postgres`, or
//! `-- --only append`; or `mount`, with its own options behind it, for mounted stores.

use std::path::Path;

use anyhow::Result;

use crate::check::cargo;
use crate::postgres::{Programs, Wanted};
use crate::step;
use crate::test::binary;

/// Writes the pages and plots of what is measured to `docs/benchmarks`; that of search only on demand.
pub(crate) fn run(root: &Path, options: &[String]) -> Result<()> {
    step::run(cargo(root).args(["build", "--release", "--package", "loci"]))?;
    let mut measure = cargo(root);
    if let Some(("mount", more)) = options.split_first().map(|(first, more)| (first.as_str(), more))
    {
        measure.args(["run", "--release", "--package", "loci-bench", "--", "mount", "--loci"]);
        measure.arg(binary(root, "release"));
        measure.arg("--report").arg(root.join("docs/benchmarks/mount.md"));
        step::run(measure.args(more))?;
        return Ok(());
    }
    measure.args(["run", "--release", "--package", "loci-bench", "--", "run", "--loci"]);
    measure.arg(binary(root, "release")).arg("--out").arg(root.join("docs/benchmarks"));
    // The measurement starts durable servers of its own; it only has to know where they are.
    let programs = Programs::prepare(root, Wanted::Both)?;
    step::run(programs.announce(measure.args(options)))?;
    Ok(())
}
