//! What is done to a file, chosen by dice: where, how much, and which bytes.

use std::fmt;

use super::{Bytes, Plan};
use loci_test_kit::Dice;

/// The longest piece of one operation.
const PIECE_MOST: usize = 8 * 1024;

/// One step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Read {
        at: usize,
        bytes: usize,
    },
    Write {
        at: usize,
        bytes: usize,
        seed: u64,
    },
    /// At the end.
    Append {
        bytes: usize,
        seed: u64,
    },
    /// ftruncate.
    Cut {
        length: usize,
    },
    /// truncate, by path.
    CutByPath {
        length: usize,
    },
    Allocate {
        at: usize,
        bytes: usize,
    },
    MapRead {
        at: usize,
        bytes: usize,
    },
    MapWrite {
        at: usize,
        bytes: usize,
        seed: u64,
    },
    Sync,
    /// Close and open again.
    Reopen,
    /// Open again with O_TRUNC.
    Empty,
    /// Only looked at: stat.
    Measure,
}

impl fmt::Display for Operation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { at, bytes } => write!(out, "read {bytes} bytes at {at}"),
            Self::Write { at, bytes, .. } => write!(out, "write {bytes} bytes at {at}"),
            Self::Append { bytes, .. } => write!(out, "append {bytes} bytes"),
            Self::Cut { length } => write!(out, "ftruncate to {length}"),
            Self::CutByPath { length } => write!(out, "truncate to {length}"),
            Self::Allocate { at, bytes } => write!(out, "fallocate {bytes} bytes at {at}"),
            Self::MapRead { at, bytes } => write!(out, "read {bytes} mapped bytes at {at}"),
            Self::MapWrite { at, bytes, .. } => write!(out, "write {bytes} mapped bytes at {at}"),
            Self::Sync => write!(out, "fsync"),
            Self::Reopen => write!(out, "close and open"),
            Self::Empty => write!(out, "close and open with O_TRUNC"),
            Self::Measure => write!(out, "stat"),
        }
    }
}

impl Operation {
    /// The next step on a file of this length.
    pub(super) fn choose(dice: &mut Dice, plan: &Plan, length: usize) -> Self {
        let most = plan.length_most;
        let piece = |dice: &mut Dice, room: usize| 1 + dice.below(room.clamp(1, PIECE_MOST));
        match dice.below(1000) {
            // What makes a file durable costs a disk, so it is rare.
            0..8 => Self::Sync,
            8..16 => Self::Reopen,
            16..18 => Self::Empty,
            18..22 => Self::CutByPath { length: dice.below(most) },
            22..82 => Self::Cut { length: dice.below(most) },
            82..122 => {
                let at = dice.below(most);
                Self::Allocate { at, bytes: piece(dice, most - at) }
            }
            122..180 => Self::Measure,
            180..230 => {
                let room = most.saturating_sub(length);
                if room == 0 {
                    return Self::Cut { length: most / 2 };
                }
                Self::Append { bytes: piece(dice, room).min(room), seed: dice.roll() }
            }
            230..530 => {
                let at = dice.below(most);
                let bytes = piece(dice, most - at).min(most - at);
                Self::Write { at, bytes, seed: dice.roll() }
            }
            530..780 => Self::Read { at: dice.below(most), bytes: 1 + dice.below(PIECE_MOST) },
            _ if length == 0 => Self::Measure,
            780..900 => {
                let at = dice.below(length);
                Self::MapRead { at, bytes: piece(dice, length - at).min(length - at) }
            }
            _ => {
                let at = dice.below(length);
                let bytes = piece(dice, length - at).min(length - at);
                Self::MapWrite { at, bytes, seed: dice.roll() }
            }
        }
    }
}

/// Bytes that say by themselves where they came from.
pub(super) fn bytes_of(seed: u64, bytes: usize, kind: Bytes) -> Vec<u8> {
    let mut dice = Dice::seeded(seed);
    let mut made = Vec::with_capacity(bytes + 8);
    while made.len() < bytes {
        made.extend_from_slice(&dice.roll().to_le_bytes());
    }
    made.truncate(bytes);
    if kind == Bytes::Text {
        made.iter_mut().for_each(|byte| *byte = b'a' + *byte % 26);
    }
    made
}
