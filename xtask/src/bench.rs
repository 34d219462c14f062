//! `cargo xtask bench`: builds the binary of the packages (profile `dist`) and measures it with the
//! `loci-bench` crate, built alike, so that ceilings and Loci are compiled by the same rules.
//!
//! Anything after `--` goes to the measurement, for example `-- --large 100000 --seconds 1`, or
//! `-- --only search,freshness --full --report docs/benchmarks/search.md`, or `-- --only postgres`, or
//! `-- --only append`, or `-- --only scale`; or `mount`, with its own options behind it, for mounted stores; or `builds`, for
//! the profiles `release` and `dist` beside each other.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::cargo;
use crate::command;
use crate::postgres::Programs;

/// Writes the pages and plots of what is measured to `docs/benchmarks`; that of search only on demand.
pub(crate) fn run(root: &Path, options: &[String]) -> Result<()> {
    build(root, "dist")?;
    let mut measure = cargo(root);
    measure.args(["run", "--profile", "dist", "--package", "loci-bench", "--"]);
    match options.split_first().map(|(first, more)| (first.as_str(), more)) {
        Some(("mount", more)) => {
            measure.args(["mount", "--loci"]).arg(binary(root, "dist"));
            measure.arg("--report").arg(root.join("docs/benchmarks/mount.md"));
            command::run(measure.args(more))
        }
        Some(("builds", more)) => {
            build(root, "release")?;
            measure.args(["builds", "--own"]).arg(binary(root, "release"));
            command::run(measure.arg("--other").arg(binary(root, "dist")).args(more))
        }
        _ => {
            measure.args(["run", "--loci"]).arg(binary(root, "dist"));
            measure.arg("--out").arg(root.join("docs/benchmarks"));
            // The measurement starts durable servers of its own; it only has to know where they are.
            let programs = Programs::prepare(root)?;
            let measure: &mut Command = programs.announce(measure.args(options));
            command::run(measure)
        }
    }
}

fn build(root: &Path, profile: &str) -> Result<()> {
    command::run(cargo(root).args(["build", "--profile", profile, "--package", "loci"]))
}

/// Where cargo put the binary of a profile: near this program, wherever the target folder is.
fn binary(root: &Path, profile: &str) -> PathBuf {
    let own = std::env::current_exe().ok();
    let target = own.as_deref().and_then(Path::parent).and_then(Path::parent);
    target.map_or_else(|| root.join("target"), Path::to_owned).join(profile).join("loci")
}
