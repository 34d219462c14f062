//! How many files this process may have open: as many as the system allows without asking anybody, and
//! never more connections than fit beside the files that the work itself needs.
//!
//! Systems allow few files by default and many on request (the soft and the hard limit). A server that
//! runs out of them cannot accept the connection of whoever has something to ask, so it is bounded
//! before that by its own limit, at which idle connections give way.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files kept for everything but the connections that are served: the database, connections over the
/// limit that are told so, the local socket.
const RESERVE_MAX: usize = 512;

/// Raises the limit to what may be had.
pub(crate) fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // Where it cannot be had, connections are bounded by what there is.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// As many of the wanted connections as fit.
pub(crate) fn connections(wanted: usize) -> usize {
    let Some(limit) = getrlimit(Resource::Nofile).current else { return wanted };
    let fitting = fitting(usize::try_from(limit).unwrap_or(usize::MAX));
    if fitting < wanted {
        tracing::warn!(
            wanted,
            fitting,
            limit,
            "the limit of open files allows fewer connections than configured; raise it (LimitNOFILE=, \
             ulimit -n)"
        );
    }
    fitting.min(wanted)
}

fn fitting(limit: usize) -> usize {
    (limit - RESERVE_MAX.min(limit / 2)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_work_needs_is_kept_free() {
        for (limit, expect) in [(0, 1), (1, 1), (256, 128), (1_024, 512), (20_000, 19_488)] {
            assert_eq!(fitting(limit), expect, "{limit}");
        }
    }

    #[test]
    fn the_limit_is_raised_to_what_may_be_had() {
        raise_limit();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
        assert_eq!(connections(1), 1);
    }
}
