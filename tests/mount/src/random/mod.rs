//! Random reads, writes, lengths and mappings of one file, compared with bytes in memory after each.
//!
//! A run is its seed: the same seed does the same to any file system. What differs is told with the
//! seed and the last operations. With text the file can be saved at every close, and a witness is
//! asked whether it was; with any bytes a store refuses them, and the file must still be whole.

mod operation;

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use rustix::fs::FallocateFlags;
use vm_memory::{FileOffset, MmapRegion, VolatileMemory};

use crate::Witness;
use loci_test_kit::Dice;
use operation::{Operation, bytes_of};

/// How many operations are told when something differs.
const TOLD: usize = 20;
/// Of so many times that a file was closed, the witness is asked once.
const ASK_EVERY: usize = 4;

/// What the file may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// Letters, and the zeros of holes.
    Text,
    Any,
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub operations: usize,
    pub bytes: Bytes,
    /// The file never gets longer.
    pub length_most: usize,
}

/// Does what the plan says to the file of this name in a directory.
pub fn run(directory: &Path, name: &str, plan: &Plan, witness: &mut dyn Witness) -> Result<()> {
    let path = directory.join(name);
    fs::write(&path, "")?;
    let file = opened(&path)?;
    let mut run = Run { path, file, model: Vec::new(), closed: 0, bytes: plan.bytes };
    let mut dice = Dice::seeded(plan.seed);
    let mut told = VecDeque::with_capacity(TOLD);
    for number in 0..plan.operations {
        let operation = Operation::choose(&mut dice, plan, run.model.len());
        if told.len() == TOLD {
            told.pop_front();
        }
        told.push_back(format!("{number}: {operation} (of {})", run.model.len()));
        let done = run.step(operation, plan).and_then(|closed| match closed {
            true => run.ask(name, witness),
            false => Ok(()),
        });
        done.map_err(|error| story(plan, &told, &error))?;
    }
    run.compare().map_err(|error| story(plan, &told, &error))?;
    let Run { path, file, model, .. } = run;
    drop(file);
    ensure!(fs::read(&path)? == model, "seed {}: other bytes after the last close", plan.seed);
    Ok(())
}

fn story(plan: &Plan, told: &VecDeque<String>, error: &anyhow::Error) -> anyhow::Error {
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    anyhow!("seed {} ({:?}): {error:#}\n{}", plan.seed, plan.bytes, told.join("\n"))
}

fn opened(path: &Path) -> Result<File> {
    OpenOptions::new().read(true).write(true).open(path).context("cannot open")
}

struct Run {
    path: PathBuf,
    file: File,
    /// What the file must hold.
    model: Vec<u8>,
    closed: usize,
    bytes: Bytes,
}

impl Run {
    /// Does one operation; whether the file was closed by it.
    fn step(&mut self, operation: Operation, plan: &Plan) -> Result<bool> {
        match operation {
            Operation::Read { at, bytes } => self.read(at, bytes)?,
            Operation::Write { at, bytes, seed } => {
                let made = bytes_of(seed, bytes, plan.bytes);
                self.file.write_all_at(&made, at as u64).context("write")?;
                self.put(at, &made);
            }
            Operation::Append { bytes, seed } => {
                let made = bytes_of(seed, bytes, plan.bytes);
                let at = self.model.len();
                self.file.write_all_at(&made, at as u64).context("append")?;
                self.put(at, &made);
            }
            Operation::Cut { length } => {
                self.file.set_len(length as u64).context("ftruncate")?;
                self.model.resize(length, 0);
                self.measure()?;
            }
            Operation::CutByPath { length } => {
                let cut = nix::unistd::truncate(&self.path, i64::try_from(length)?);
                self.saving(cut.map_err(std::io::Error::from)).context("truncate")?;
                self.model.resize(length, 0);
                self.measure()?;
            }
            Operation::Allocate { at, bytes } => {
                let mode = FallocateFlags::empty();
                rustix::fs::fallocate(&self.file, mode, at as u64, bytes as u64)?;
                self.model.resize(self.model.len().max(at + bytes), 0);
                self.measure()?;
            }
            Operation::MapRead { at, bytes } => {
                let mut found = vec![0; bytes];
                self.mapped()?.get_slice(at, bytes)?.copy_to(&mut found);
                differs("mapped", at, &found, &self.model[at..at + bytes])?;
            }
            Operation::MapWrite { at, bytes, seed } => {
                let made = bytes_of(seed, bytes, plan.bytes);
                self.mapped()?.get_slice(at, bytes)?.copy_from(&made);
                self.put(at, &made);
            }
            Operation::Sync => {
                let synced = self.file.sync_all();
                self.saving(synced).context("fsync")?;
            }
            Operation::Reopen => {
                self.reopen(false)?;
                self.compare()?;
                return Ok(true);
            }
            Operation::Empty => {
                self.reopen(true)?;
                self.model.clear();
                self.measure()?;
            }
            Operation::Measure => self.measure()?,
        }
        Ok(false)
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        let end = at + bytes.len();
        if self.model.len() < end {
            self.model.resize(end, 0);
        }
        self.model[at..end].copy_from_slice(bytes);
    }

    fn read(&self, at: usize, bytes: usize) -> Result<()> {
        let mut found = vec![0; bytes];
        let mut count = 0;
        while count < bytes {
            match self.file.read_at(&mut found[count..], (at + count) as u64).context("read")? {
                0 => break,
                more => count += more,
            }
        }
        let end = self.model.len().min(at + bytes);
        let wanted = self.model.get(at..end).unwrap_or_default();
        differs("read", at, &found[..count], wanted)
    }

    fn measure(&self) -> Result<()> {
        let (found, wanted) = (self.file.metadata()?.len(), self.model.len() as u64);
        ensure!(found == wanted, "the length is {found}, not {wanted}");
        Ok(())
    }

    fn compare(&self) -> Result<()> {
        self.measure()?;
        self.read(0, self.model.len() + 1)
    }

    /// What saves may fail where the bytes are no text: a store says so, and keeps the file.
    fn saving(&self, result: std::io::Result<()>) -> Result<()> {
        match result {
            Err(error) if self.bytes == Bytes::Any && is_refusal(&error) => Ok(()),
            other => Ok(other?),
        }
    }

    /// A mapping of the whole file, shared with it.
    fn mapped(&self) -> Result<MmapRegion> {
        let file = FileOffset::new(self.file.try_clone()?, 0);
        MmapRegion::from_file(file, self.model.len()).context("mmap")
    }

    fn reopen(&mut self, emptied: bool) -> Result<()> {
        // Nothing has it open in between; a refusal to save is told to close(2) only.
        self.file = File::open("/dev/null")?;
        self.file = match emptied {
            false => opened(&self.path)?,
            true => OpenOptions::new().read(true).write(true).truncate(true).open(&self.path)?,
        };
        Ok(())
    }

    /// Closed a file means saved: the witness must know these bytes.
    fn ask(&mut self, name: &str, witness: &mut dyn Witness) -> Result<()> {
        self.closed += 1;
        if self.bytes == Bytes::Any || !self.closed.is_multiple_of(ASK_EVERY) {
            return Ok(());
        }
        match witness.content(&format!("/{name}"))? {
            Some(kept) => differs("kept", 0, &kept, &self.model),
            None => Ok(()),
        }
    }
}

fn is_refusal(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::ILSEQ.raw_os_error())
}

fn differs(what: &str, at: usize, found: &[u8], wanted: &[u8]) -> Result<()> {
    let (counted, due) = (found.len(), wanted.len());
    ensure!(counted == due, "{what} {counted} bytes at {at}, not {due}");
    match found.iter().zip(wanted).position(|(a, b)| a != b) {
        Some(off) => {
            let (a, b) = (found[off], wanted[off]);
            Err(anyhow!("{what} {a:#04x} at {}, not {b:#04x} (from {at})", at + off))
        }
        None => Ok(()),
    }
}
