//! What is done in a place: small files made, read, listed and searched through, each as often as the
//! time allows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};

use crate::fill;
use crate::samples::{Rate, Samples, timed};

/// Files of one directory.
const PER_FOLDER: u64 = 100;
/// Directories that every writer spreads its files over, so that none grows without bounds.
const SPREAD: u64 = 100;

/// Makes the files that are read, listed and searched; spread over directories.
pub(super) fn plant(at: &Path, files: u64, writers: u64) -> anyhow::Result<()> {
    let root = at.join("planted");
    fs::create_dir(&root)?;
    for folder in 0..files.div_ceil(PER_FOLDER) {
        fs::create_dir(root.join(folder.to_string()))?;
    }
    together(writers, |writer| {
        for n in (writer..files).step_by(usize::try_from(writers)?) {
            fs::write(planted(at, n), fill::text(n))?;
        }
        Ok(Samples::default())
    })?;
    Ok(())
}

fn planted(at: &Path, n: u64) -> PathBuf {
    at.join(format!("planted/{}/{n}.md", n / PER_FOLDER))
}

/// Creates small files: create, write, close.
pub(super) fn create(at: &Path, run: &str, writers: u64, seconds: f64) -> anyhow::Result<Rate> {
    let root = at.join(run);
    fs::create_dir(&root)?;
    for folder in 0..SPREAD {
        fs::create_dir(root.join(folder.to_string()))?;
    }
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let began = Instant::now();
    let mut samples = together(writers, |writer| {
        let mut samples = Samples::default();
        for n in 0u64.. {
            let start = Instant::now();
            if start >= end {
                break;
            }
            let path = root.join(format!("{}/{writer}-{n}.md", n % SPREAD));
            fs::write(path, fill::text(writer * 1_000_003 + n))?;
            samples.push(start.elapsed());
        }
        Ok(samples)
    })?;
    samples.took(began.elapsed());
    samples.rate()
}

/// Reads planted files in no order: open, read, close.
pub(super) fn read(at: &Path, files: u64, seconds: f64) -> anyhow::Result<Rate> {
    let mut samples = Samples::default();
    let began = Instant::now();
    for n in 0u64.. {
        if began.elapsed().as_secs_f64() >= seconds && n >= files {
            break;
        }
        // A step without a common factor visits each once before any twice.
        let path = planted(at, n.wrapping_mul(7_919) % files);
        let found = samples.time(|| fs::read(path))?;
        ensure!(!found.is_empty(), "a planted file is empty");
    }
    samples.rate()
}

/// Lists every planted directory with what `ls -l` asks of each file.
pub(super) fn list(at: &Path, files: u64, seconds: f64) -> anyhow::Result<Rate> {
    let mut samples = timed(seconds, 1, |_| {
        let mut seen = 0;
        for folder in fs::read_dir(at.join("planted"))? {
            for file in fs::read_dir(folder?.path())? {
                ensure!(file?.metadata()?.len() > 0, "a planted file is empty");
                seen += 1;
            }
        }
        ensure!(seen == files, "{seen} of {files} are listed");
        Ok(())
    })?;
    per_file(&mut samples, files)
}

/// `grep -r` through everything planted.
pub(super) fn grep(at: &Path, files: u64, seconds: f64) -> anyhow::Result<Rate> {
    let mut samples = timed(seconds, 1, |_| {
        let found =
            Command::new("grep").args(["-r", "-c", "note 17:"]).arg(at.join("planted")).output()?;
        let told = found.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        ensure!(told.count() as u64 == files, "grep does not tell of every file");
        Ok(())
    })?;
    per_file(&mut samples, files)
}

/// A rate of files where each sample was of all of them.
fn per_file(samples: &mut Samples, files: u64) -> anyhow::Result<Rate> {
    let rate = std::mem::take(samples).rate()?;
    Ok(Rate { per_second: rate.per_second * files as f64, ..rate })
}

/// The same work by several threads; all their samples.
fn together(
    writers: u64,
    work: impl Fn(u64) -> anyhow::Result<Samples> + Sync,
) -> anyhow::Result<Samples> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..writers).map(|writer| scope.spawn(move || work(writer))).collect();
        let mut all = Samples::default();
        for thread in threads {
            all.extend(thread.join().map_err(|_| anyhow!("a writer panicked"))??);
        }
        Ok(all)
    })
}
