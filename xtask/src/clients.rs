//! Runs one suite of a client or of the console against the real binary.
//!
//! A client's suite gets a fresh server through `LOCI_BASE_URL` and `LOCI_API_KEY`, so that none
//! depends on what another left behind, and the binary through `LOCI_BIN`, for the suites that start
//! and kill servers of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use loci_test_kit::{TIER_VARIABLE, Tier};

use crate::command::{self, Finished};
use crate::environments;
use crate::postgres::Servers;
use crate::server::{ADMIN_KEY, Backing, Server};
use crate::suites::{Engine, Runner, Suite};

/// Installs the packages of a suite, unless that was done before.
pub(crate) fn prepare(root: &Path, suite: &Suite) -> Result<()> {
    let folder = root.join(suite.folder);
    match suite.runner {
        Runner::Pytest(requirements) => {
            environments::python(root, &folder.join(requirements)).map(drop)
        }
        Runner::Node | Runner::Script(_) => environments::node(&folder),
    }
}

/// Runs a suite to its end.
pub(crate) fn run(
    root: &Path,
    suite: &Suite,
    binary: &Path,
    servers: &Servers,
    tier: Tier,
) -> Result<Finished> {
    let folder = root.join(suite.folder);
    let mut command = runner(root, suite, &folder)?;
    command.current_dir(&folder).env("LOCI_BIN", binary).env(TIER_VARIABLE, tier.name());
    if matches!(suite.runner, Runner::Script(_)) {
        return command::capture_suite(&mut command, tier);
    }
    let backing = match suite.engine {
        Engine::Sqlite => Backing::directory()?,
        Engine::Postgres => Backing::Database(servers.database(suite.name)?),
    };
    let server = Server::start(binary, backing, suite.settings())?;
    command.env("LOCI_BASE_URL", server.base_url()).env("LOCI_API_KEY", ADMIN_KEY);
    command::capture_suite(&mut command, tier)
}

fn runner(root: &Path, suite: &Suite, folder: &Path) -> Result<Command> {
    Ok(match suite.runner {
        Runner::Pytest(requirements) => {
            let venv: PathBuf = environments::python(root, &folder.join(requirements))?;
            let mut pytest = Command::new(venv.join("bin/python"));
            pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=10", "."]);
            pytest
                .env("PYTHONDONTWRITEBYTECODE", "1")
                .env("LOCI_SDK_RELEASE", release(requirements));
            pytest
        }
        Runner::Node => {
            let mut node = Command::new("node");
            node.args(["--test", "--test-reporter=spec"]);
            node
        }
        Runner::Script(script) => {
            let mut npm = Command::new("npm");
            npm.args(["run", script]);
            npm
        }
    })
}

/// `current` of `requirements-current.txt`: the suites leave out what their release does not have.
fn release(requirements: &str) -> &str {
    requirements.trim_start_matches("requirements").trim_start_matches('-').trim_end_matches(".txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_part_of_the_name() {
        assert_eq!(release("requirements-current.txt"), "current");
        assert_eq!(release("requirements-0.5.0.txt"), "0.5.0");
        assert_eq!(release("requirements.txt"), "");
    }
}
