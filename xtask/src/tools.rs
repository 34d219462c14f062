//! The programs the suites need beside cargo: Python with venv and Node with npm for the SDKs, `ip`
//! for the test that takes the network away, editors and copiers that work on mounted stores, a browser for
//! the console.
//!
//! As root on a Debian machine they are installed; otherwise they are named and the step fails.
//! Nothing is ever skipped because a tool is missing.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::command;

/// A program from outside, and how to get it.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// A command that succeeds exactly when the tool is usable.
    pub(crate) probe: &'static [&'static str],
    pub(crate) packages: &'static [&'static str],
}

impl Tool {
    pub(crate) fn works(&self) -> bool {
        works(self.probe)
    }
}

pub(crate) const PYTHON: [Tool; 2] = [
    Tool { name: "Python 3", probe: &["python3", "--version"], packages: &["python3"] },
    Tool {
        name: "Python's venv module",
        probe: &["python3", "-c", "import venv, ensurepip"],
        packages: &["python3-venv"],
    },
];

const SUITES: [Tool; 12] = [
    Tool { name: "Node.js", probe: &["node", "--version"], packages: &["nodejs"] },
    Tool { name: "npm", probe: &["npm", "--version"], packages: &["npm"] },
    Tool { name: "ip", probe: &["ip", "-Version"], packages: &["iproute2"] },
    Tool { name: "git", probe: &["git", "--version"], packages: &["git"] },
    Tool { name: "vim", probe: &["vim", "--version"], packages: &["vim"] },
    Tool { name: "rsync", probe: &["rsync", "--version"], packages: &["rsync"] },
    Tool { name: "nano", probe: &["nano", "--version"], packages: &["nano"] },
    Tool { name: "ed", probe: &["ed", "--version"], packages: &["ed"] },
    Tool { name: "patch", probe: &["patch", "--version"], packages: &["patch"] },
    Tool { name: "perl", probe: &["perl", "--version"], packages: &["perl"] },
    Tool {
        name: "Chromium",
        probe: &["chromium", "--version"],
        // Without a font the page has no text to look at.
        packages: &["chromium", "fonts-dejavu-core"],
    },
    Tool { name: "fusermount3", probe: &["fusermount3", "--version"], packages: &["fuse3"] },
];

/// Makes every tool of the suites usable.
pub(crate) fn prepare() -> Result<()> {
    make_usable(&PYTHON)?;
    make_usable(&SUITES)
}

/// Makes these tools usable, or says which Debian packages a person has to install.
pub(crate) fn make_usable(tools: &[Tool]) -> Result<()> {
    let missing: Vec<&Tool> = tools.iter().filter(|tool| !tool.works()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().flat_map(|tool| tool.packages).copied().collect();
    println!("missing: {}", names(&missing));
    if !can_install() {
        bail!("{} needed; on Debian: apt-get install {}", names(&missing), packages.join(" "));
    }
    install(&packages)?;
    let still: Vec<&Tool> = missing.into_iter().filter(|tool| !tool.works()).collect();
    if !still.is_empty() {
        bail!("{} still not usable after installing {}", names(&still), packages.join(" "));
    }
    Ok(())
}

/// What the package sources offer of an installed package.
#[derive(Debug, PartialEq)]
pub(crate) struct Offered {
    pub(crate) package: String,
    pub(crate) installed: String,
    pub(crate) candidate: String,
}

impl Offered {
    pub(crate) fn is_newest(&self) -> bool {
        self.installed == self.candidate
    }
}

/// Asks the package sources what they have.
pub(crate) fn update() -> Result<()> {
    command::run_quietly(Command::new("apt-get").args(["update", "--quiet"])).map(drop)
}

/// What the package sources offer of these packages, of those that are installed from them.
pub(crate) fn offered(packages: &[&str]) -> Result<Vec<Offered>> {
    if !works(&["apt-cache", "--version"]) {
        return Ok(Vec::new());
    }
    let mut policy = Command::new("apt-cache");
    let told = command::run_quietly(policy.arg("policy").args(packages).env("LC_ALL", "C"))?;
    Ok(read_offers(&told))
}

/// A line with the name, then `Installed: 15.18-0+deb12u1` and `Candidate: 15.20-0+deb12u1`.
fn read_offers(policy: &str) -> Vec<Offered> {
    let (mut offers, mut package, mut installed) = (Vec::new(), "", "");
    for line in policy.lines() {
        if let Some(name) = line.strip_suffix(':').filter(|name| !name.starts_with(' ')) {
            package = name;
        } else if let Some(version) = line.trim().strip_prefix("Installed: ") {
            installed = version;
        } else if let Some(candidate) = line.trim().strip_prefix("Candidate: ")
            && installed != "(none)"
            && candidate != "(none)"
        {
            let [package, installed, candidate] =
                [package, installed, candidate].map(str::to_owned);
            offers.push(Offered { package, installed, candidate });
        }
    }
    offers
}

/// Installs the newest that the package sources offer, in place of older ones.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    update()?;
    command::run(
        Command::new("apt-get")
            .args(["install", "--yes", "--quiet", "--no-install-recommends"])
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )?;
    Ok(())
}

/// Whether this process may install packages, and knows how.
pub(crate) fn can_install() -> bool {
    is_root() && works(&["apt-get", "--version"])
}

fn names(tools: &[&Tool]) -> String {
    tools.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
}

fn works(probe: &[&str]) -> bool {
    Command::new(probe[0])
        .args(&probe[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_package_is_noticed() {
        let told = "postgresql-15:\n  Installed: 15.18-0+deb12u1\n  Candidate: 15.20-0+deb12u1\n  \
                    Version table:\n     15.20-0+deb12u1 500\npsql:\n  Installed: 2\n  \
                    Candidate: 2\nother:\n  Installed: (none)\n  Candidate: 3\n";
        let offers = read_offers(told);
        let names: Vec<_> = offers.iter().map(|it| (&it.package[..], it.is_newest())).collect();
        assert_eq!(names, [("postgresql-15", false), ("psql", true)]);
        assert_eq!(offers[0].candidate, "15.20-0+deb12u1");
    }

    #[test]
    fn a_probe_tells_usable_from_missing() {
        assert!(works(&["sh", "-c", "exit 0"]));
        assert!(!works(&["sh", "-c", "exit 1"]));
        assert!(!works(&["/nonexistent/tool"]));
    }
}
