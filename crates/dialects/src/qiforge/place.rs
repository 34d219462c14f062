//! Where things are kept: one store for each user, oracle and room, owned by the user; one store for
//! each oracle, owned by the oracle.
//!
//! Addresses are digests of all that names a place, each part marked with its length, so no choice of
//! names leads to the place of others.

use loci_engine::Place;
use loci_model::store::OnRemove;
use loci_model::{Address, Content, Invalid, StorePolicy, limit};
use std::fmt::Write as _;

/// How long what was taken away can still be brought back by the operator.
const ERASE_AFTER_SECS: u32 = 24 * 60 * 60;

/// What all addresses here begin with.
pub(super) const ADDRESSES: &str = "qiforge:";

/// The place of a user.
pub(super) fn of_user(
    user: &str,
    oracle: Option<&str>,
    room: Option<&str>,
) -> Result<Place, Invalid> {
    let name = match (oracle, room) {
        (Some(oracle), Some(room)) => format!("qiforge {room} with {oracle}"),
        (Some(oracle), None) => format!("qiforge with {oracle}"),
        (None, Some(room)) => format!("qiforge {room}"),
        (None, None) => "qiforge".to_owned(),
    };
    place("user", &[Some(user), oracle, room], name)
}

/// The place of what an oracle knows.
pub(super) fn of_oracle(entity: &str) -> Result<Place, Invalid> {
    place("oracle", &[Some(entity)], "qiforge knowledge".to_owned())
}

fn place(kind: &str, parts: &[Option<&str>], name: String) -> Result<Place, Invalid> {
    let mut whole = String::new();
    for part in parts {
        // What is left out differs from what is empty.
        let _ = match part {
            Some(part) => write!(whole, "{}:{part};", part.len()),
            None => write!(whole, "-;"),
        };
    }
    let address = Address::parse(&format!("{ADDRESSES}{kind}:{}", Content::Text(whole).digest()))?;
    let policy = StorePolicy {
        content_bytes_max: limit::CONTENT_BYTES_MAX as u64,
        on_remove: OnRemove::EraseAfter { secs: ERASE_AFTER_SECS },
        ..StorePolicy::default()
    };
    Ok(Place { shared: address.clone(), own: address, name, policy })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_names_lead_to_one_place() {
        let mut seen = HashSet::new();
        for user in ["did:x:a", "did:x:ab", "did:x:a;-", "-"] {
            for oracle in [None, Some(""), Some("-"), Some("did:x:a"), Some("did:x:b")] {
                for room in [None, Some(""), Some("-;"), Some("!r:s"), Some("3:a;")] {
                    let address = of_user(user, oracle, room).unwrap().own;
                    assert!(seen.insert(address), "{user} {oracle:?} {room:?}");
                }
            }
            assert!(seen.insert(of_oracle(user).unwrap().own), "{user}");
        }
        assert_eq!(of_user("a", None, None).unwrap().own, of_user("a", None, None).unwrap().own);
    }
}
