//! `cargo xtask bench`: builds the binary of the packages (profile `dist`) and measures it with the `loci-bench` crate.
//!
//! Anything after `--` goes to the measurement, for example `-- --large 100000 --seconds 1`, or
//! `-- --only search,freshness --full --report docs/benchmarks/search.md`, or `-- --only postgres`, or
//! `-- --only append`; or `mount`, with its own options behind it, for mounted stores.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cargo;
use crate::command;
use crate::postgres::Programs;

/// Writes the pages and plots of what is measured to `docs/benchmarks`; that of search only on demand.
pub(crate) fn run(root: &Path, options: &[String]) -> Result<()> {
    command::run(cargo(root).args(["build", "--profile", "dist", "--package", "loci"]))?;
    let mut measure = cargo(root);
    if let Some(("mount", more)) = options.split_first().map(|(first, more)| (first.as_str(), more))
    {
        measure.args(["run", "--release", "--package", "loci-bench", "--", "mount", "--loci"]);
        measure.arg(binary(root));
        measure.arg("--report").arg(root.join("docs/benchmarks/mount.md"));
        command::run(measure.args(more))?;
        return Ok(());
    }
    measure.args(["run", "--release", "--package", "loci-bench", "--", "run", "--loci"]);
    measure.arg(binary(root)).arg("--out").arg(root.join("docs/benchmarks"));
    // The measurement starts durable servers of its own; it only has to know where they are.
    let programs = Programs::prepare(root)?;
    command::run(programs.announce(measure.args(options)))?;
    Ok(())
}

/// Where cargo put the binary of the packages: near this program, wherever the target folder is.
fn binary(root: &Path) -> PathBuf {
    let own = std::env::current_exe().ok();
    let target = own.as_deref().and_then(Path::parent).and_then(Path::parent);
    target.map_or_else(|| root.join("target"), Path::to_owned).join("dist/loci")
}
