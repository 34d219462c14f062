//! What becomes of one path, decided from three facts: what was there when both sides last agreed, what
//! the directory has, what the store has. Pure, so that every case can be read here and tried.
//!
//! Whoever changed something wins over whoever only removed it. Where both changed it, the store's
//! content stays at the name and the directory's goes beside it: nothing is lost and nothing is silent.

use loci_model::Digest;

/// What the directory has at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Local {
    Absent,
    /// A text.
    Text(Digest),
    /// Something that no memory can hold, such as bytes that are not UTF-8.
    Unfit,
}

/// Which way changes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Both,
    /// From the store to the directory only.
    Down,
}

/// What to do about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Both sides are as they were, or what differs stays as it is.
    Nothing,
    /// Both sides have the same now: remember it.
    Agree,
    /// Neither side has it any more.
    Forget,
    /// Make a memory of a new file.
    Create,
    /// Write a changed file, if the memory is still this.
    Update(Digest),
    /// Remove the memory of a file that is gone, if it is still this.
    Remove(Digest),
    /// Bring the memory to the directory.
    Fetch,
    /// Take away the file of a memory that is gone.
    Drop,
    /// Both changed: the file goes beside, and the memory comes to its place.
    SetAside,
}

/// Decides.
pub(super) fn decide(
    base: Option<Digest>,
    local: Local,
    remote: Option<Digest>,
    direction: Direction,
) -> Step {
    let step = match (base, local, remote) {
        (None, Local::Absent, None) => Step::Nothing,
        (Some(_), Local::Absent, None) => Step::Forget,
        (_, Local::Text(here), Some(there)) if here == there => match base == Some(here) {
            true => Step::Nothing,
            false => Step::Agree,
        },
        (None, Local::Text(_), None) => Step::Create,
        (Some(base), Local::Text(here), None) => match here == base {
            true => Step::Drop,
            false => Step::Create,
        },
        (Some(base), Local::Text(here), Some(there)) => match (here == base, there == base) {
            (false, true) => Step::Update(base),
            (true, _) => Step::Fetch,
            (false, false) => Step::SetAside,
        },
        (None, Local::Text(_) | Local::Unfit, Some(_)) => Step::SetAside,
        (Some(base), Local::Absent, Some(there)) if there == base => Step::Remove(base),
        (_, Local::Absent, Some(_)) => Step::Fetch,
        (Some(base), Local::Unfit, Some(there)) if there != base => Step::SetAside,
        // What cannot be stored stays where it is, and keeps its memory from being removed.
        (_, Local::Unfit, _) => Step::Nothing,
    };
    match (direction, step) {
        (Direction::Down, Step::Create | Step::Update(_)) => Step::Nothing,
        (Direction::Down, Step::Remove(_)) => Step::Fetch,
        (_, step) => step,
    }
}

/// Whether so many removals are more than an accident should do: an unmounted disk or an emptied
/// directory looks just like somebody who removed everything.
pub(super) fn is_bulk(removals: usize, known: usize, is_empty: bool) -> bool {
    removals > 0 && (is_empty || removals > 8.max(known / 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Digest = Digest::from_bytes([1; 32]);
    const B: Digest = Digest::from_bytes([2; 32]);
    const C: Digest = Digest::from_bytes([3; 32]);

    #[test]
    fn every_case_has_its_step() {
        use Local::{Absent, Text, Unfit};
        for (base, local, remote, expect) in [
            (None, Absent, None, Step::Nothing),
            (None, Absent, Some(A), Step::Fetch),
            (None, Text(A), None, Step::Create),
            (None, Text(A), Some(A), Step::Agree),
            (None, Text(A), Some(B), Step::SetAside),
            (None, Unfit, None, Step::Nothing),
            (None, Unfit, Some(A), Step::SetAside),
            (Some(A), Absent, None, Step::Forget),
            (Some(A), Absent, Some(A), Step::Remove(A)),
            (Some(A), Absent, Some(B), Step::Fetch),
            (Some(A), Text(A), None, Step::Drop),
            (Some(A), Text(A), Some(A), Step::Nothing),
            (Some(A), Text(A), Some(B), Step::Fetch),
            (Some(A), Text(B), None, Step::Create),
            (Some(A), Text(B), Some(A), Step::Update(A)),
            (Some(A), Text(B), Some(B), Step::Agree),
            (Some(A), Text(B), Some(C), Step::SetAside),
            (Some(A), Unfit, None, Step::Nothing),
            (Some(A), Unfit, Some(A), Step::Nothing),
            (Some(A), Unfit, Some(B), Step::SetAside),
        ] {
            let found = decide(base, local, remote, Direction::Both);
            assert_eq!(found, expect, "{base:?} {local:?} {remote:?}");
        }
    }

    #[test]
    fn downwards_nothing_is_written() {
        let options = [None, Some(A), Some(B), Some(C)];
        let locals = [Local::Absent, Local::Text(A), Local::Text(B), Local::Unfit];
        for base in options {
            for local in locals {
                for remote in options {
                    let step = decide(base, local, remote, Direction::Down);
                    let writes = matches!(step, Step::Create | Step::Update(_) | Step::Remove(_));
                    assert!(!writes, "{base:?} {local:?} {remote:?}");
                }
            }
        }
        let back = decide(Some(A), Local::Absent, Some(A), Direction::Down);
        assert_eq!(back, Step::Fetch, "what was removed here comes back");
    }

    #[test]
    fn an_emptied_directory_is_no_wish() {
        assert!(is_bulk(1, 1, true));
        assert!(!is_bulk(0, 0, true));
        assert!(!is_bulk(8, 9, false));
        assert!(is_bulk(9, 10, false));
        assert!(!is_bulk(25, 100, false));
        assert!(is_bulk(26, 100, false));
    }
}
