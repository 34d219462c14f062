//! On what somebody's right to give grants of a store stands, when they are neither its owner nor an
//! administrator nor related to the owner any more.

use loci_model::{Grant, GrantId, Grantee, Level, PrincipalId, Timestamp};

/// Takes a grant out of a store's grants, and through its grantee every grant that stood on it. The
/// owner's own grants stand by themselves.
pub fn take_back(grants: &mut Vec<Grant>, id: GrantId, owner: PrincipalId) -> Vec<Grant> {
    let mut taken = Vec::new();
    let mut due = vec![id];
    while let Some(id) = due.pop() {
        let Some(position) = grants.iter().position(|grant| grant.id == id) else { continue };
        let grant = grants.remove(position);
        if let Grantee::Principal(grantee) = grant.grantee
            && grantee != owner
        {
            let given_on = grants.iter().filter(|grant| grant.given_by == grantee);
            due.extend(given_on.map(|grant| grant.id));
        }
        taken.push(grant);
    }
    taken
}

/// What somebody gave on that goes beyond what they hold themselves, now that it was changed: a
/// higher level, or a later end. Nothing, if they need no grant to give it: then somebody else's
/// word about them takes nothing back.
pub fn beyond(
    grants: &[Grant],
    held: &Grant,
    needs_none: impl Fn(PrincipalId) -> bool,
) -> Vec<GrantId> {
    let Grantee::Principal(holder) = held.grantee else { return Vec::new() };
    if needs_none(holder) {
        return Vec::new();
    }
    let outlives = |grant: &Grant| match (held.expires_at, grant.expires_at) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(latest), Some(end)) => end > latest,
    };
    let is_beyond = |grant: &&Grant| grant.level > held.level || outlives(grant);
    let given = grants.iter().filter(|grant| grant.given_by == holder);
    given.filter(is_beyond).map(|grant| grant.id).collect()
}

/// Whether somebody holds a grant to share by, one that does not stand on what they gave themselves. Lines
/// of givers are followed up to one who needs no grant, or who holds none; two who only gave to each
/// other hold each other up no longer than either of them stands.
pub fn holds_grant(
    grants: &[Grant],
    who: PrincipalId,
    now: Timestamp,
    needs_none: impl Fn(PrincipalId) -> bool,
) -> bool {
    let mut line = vec![who];
    let mut next = 0;
    while let Some(holder) = line.get(next).copied() {
        next += 1;
        let mut holds_any = false;
        let is_enough = |grant: &&Grant| grant.is_valid_at(now) && grant.level == Level::ReadWrite;
        for grant in grants.iter().filter(is_enough) {
            let is_held = match grant.grantee {
                Grantee::Principal(grantee) => grantee == holder,
                Grantee::Everyone => true,
            };
            if !is_held || grant.given_by == holder {
                continue;
            }
            holds_any = true;
            if !line.contains(&grant.given_by) {
                if needs_none(grant.given_by) {
                    return true;
                }
                line.push(grant.given_by);
            }
        }
        if holder != who && !holds_any {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::StoreId;

    const NOW: Timestamp = Timestamp::from_micros(10);

    fn id(number: u128) -> PrincipalId {
        PrincipalId::from_u128(number)
    }

    fn grant(by: u128, to: u128) -> Grant {
        let to = if to == 0 { Grantee::Everyone } else { Grantee::Principal(id(to)) };
        Grant {
            id: GrantId::from_u128(1),
            store: StoreId::from_u128(1),
            grantee: to,
            level: Level::ReadWrite,
            given_by: id(by),
            expires_at: None,
            created_at: NOW,
        }
    }

    fn holds(grants: &[Grant], who: u128) -> bool {
        holds_grant(grants, id(who), NOW, |giver| giver == id(1))
    }

    #[test]
    fn a_line_of_givers_leads_to_one_who_needs_no_grant() {
        assert!(holds(&[grant(1, 2)], 2));
        assert!(holds(&[grant(1, 2), grant(2, 3), grant(3, 4)], 4));
        assert!(holds(&[grant(1, 0)], 4), "everyone is one of them");
        assert!(!holds(&[grant(1, 2)], 3));
        assert!(holds(&[grant(9, 2)], 2), "who holds nothing did not get it from here");
    }

    #[test]
    fn nobody_stands_on_what_they_gave() {
        assert!(!holds(&[grant(2, 2)], 2));
        assert!(!holds(&[grant(2, 3), grant(3, 2)], 2));
        assert!(!holds(&[grant(2, 3), grant(3, 4), grant(4, 2)], 2));
        assert!(!holds(&[grant(2, 0), grant(3, 2)], 2), "everyone has it from them");
        assert!(holds(&[grant(2, 3), grant(3, 2), grant(1, 0)], 2));
        assert!(holds(&[grant(2, 1), grant(1, 2)], 2));
    }

    #[test]
    fn an_expired_grant_is_none_and_reading_is_not_sharing() {
        let expired = Grant { expires_at: Some(NOW), ..grant(1, 2) };
        assert!(!holds(&[expired], 2));
        let reading = Grant { level: Level::Read, ..grant(1, 2) };
        assert!(!holds(&[reading], 2));
    }
}
