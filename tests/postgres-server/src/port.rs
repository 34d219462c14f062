//! A free port that stays free while the server is down.
//!
//! The kernel hands out ports of its ephemeral range to every outgoing connection, also to those
//! that knock at a stopped server, so a server that must come back on its port stands below it.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Result, bail};

const LOWEST: u16 = 12_000;
/// Where Linux lets the ephemeral range begin unless told otherwise.
const USUAL_EPHEMERAL: u16 = 32_768;
const TRIES: usize = 200;

/// A port nobody listens on just now. Somebody may take it before the caller does.
pub(crate) fn free() -> Result<u16> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let span = span(&range);
    for _ in 0..TRIES {
        let dice = getrandom::u32().expect("the kernel gives random numbers");
        let offset = u16::try_from(dice % u32::from(span)).expect("less than a u16");
        let port = LOWEST + offset;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no free port between {LOWEST} and {} in {TRIES} tries", LOWEST + span - 1)
}

/// How many ports lie between [`LOWEST`] and the ephemeral range.
fn span(range: &str) -> u16 {
    let first = range.split_whitespace().next().and_then(|word| word.parse().ok());
    let first: u16 = first.unwrap_or(USUAL_EPHEMERAL);
    // A machine that made everything ephemeral has no quiet ports; the usual ones are as good.
    let end = if first > LOWEST + 1_000 { first } else { USUAL_EPHEMERAL };
    end - LOWEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_lie_below_the_ephemeral_range() {
        assert_eq!(span("32768\t60999\n"), 32_768 - LOWEST);
        assert_eq!(span("20000 65535"), 20_000 - LOWEST);
        assert_eq!(span("1024 65535"), USUAL_EPHEMERAL - LOWEST);
        assert_eq!(span(""), USUAL_EPHEMERAL - LOWEST);
        assert!((LOWEST..USUAL_EPHEMERAL).contains(&free().unwrap()));
    }
}
