//! The rule about what stands, one situation at a time.

use super::*;
use loci_model::policy::{self, System};
use loci_model::store::Who;
use loci_model::{
    Actor, Address, Audience, Caller, KeyScope, MemorySwitches, StoreId, StorePolicy, WorkspaceId,
};

const NOW: Timestamp = Timestamp::from_micros(10);
const WORKSPACE: WorkspaceId = WorkspaceId::from_u128(1);
const STORE: StoreId = StoreId::from_u128(1);
const EVERYONE: u128 = 0;
const OWNER: u128 = 1;
const ADMIN: u128 = 8;
const NEAR: u128 = 9;

fn id(number: u128) -> PrincipalId {
    PrincipalId::from_u128(number)
}

fn at(micros: i64) -> Option<Timestamp> {
    Some(Timestamp::from_micros(micros))
}

/// The grant to somebody has their number.
fn grant(by: u128, to: u128, level: Level, end: Option<Timestamp>) -> Grant {
    Grant {
        id: GrantId::from_u128(100 + to),
        store: STORE,
        grantee: if to == EVERYONE { Grantee::Everyone } else { Grantee::Principal(id(to)) },
        level,
        given_by: id(by),
        expires_at: end,
        created_at: NOW,
    }
}

fn full(by: u128, to: u128) -> Grant {
    grant(by, to, Level::ReadWrite, None)
}

/// The home of a group or a user, with an administrator and somebody near to its owner.
fn ledger(relation: Relation, grants: Vec<Grant>) -> Ledger {
    let home_of = Some(match relation {
        Relation::Member => PrincipalKind::Group,
        Relation::Companion => PrincipalKind::User,
    });
    let store = Store {
        id: STORE,
        workspace: WORKSPACE,
        owner: id(OWNER),
        address: Some(Address::home(id(OWNER))),
        name: "home".into(),
        description: String::new(),
        metadata: Default::default(),
        policy: StorePolicy { share: Who::Writer, ..StorePolicy::default() },
        created_at: NOW,
        updated_at: NOW,
        archived_at: None,
    };
    let people = HashMap::from([
        (id(ADMIN), Person { is_admin: true, relation: None }),
        (id(NEAR), Person { is_admin: false, relation: Some(relation) }),
    ]);
    Ledger { store, home_of, grants, people }
}

fn gone(mut ledger: Ledger) -> Vec<u128> {
    let before = ledger.grants.len();
    let taken = ledger.settle(NOW);
    assert_eq!(before, ledger.grants.len() + taken.len());
    assert!(ledger.settle(NOW).is_empty(), "once is enough");
    taken.iter().map(|grant| grant.id.as_u128() - 100).collect()
}

fn pass(ledger: &Ledger, who: u128) -> SharePass {
    let caller = Caller {
        workspace: WORKSPACE,
        principal: id(who),
        is_admin: who == ADMIN,
        actor: Actor::User(id(who)),
        session: None,
        session_user: SessionUser::Unsaid,
        audience: Audience::Host,
        acts_for_agents: false,
        memory: MemorySwitches::default(),
        scope: KeyScope::FULL,
        expires_at: None,
    };
    policy::share(&caller, &ledger.facts(id(who)), NOW).unwrap()
}

#[test]
fn a_line_of_givers_leads_to_one_who_needs_no_grant() {
    for root in [OWNER, ADMIN, NEAR] {
        let grants = vec![full(root, 2), full(2, 3), full(3, 4)];
        assert!(gone(ledger(Relation::Companion, grants)).is_empty());
    }
    let grants = vec![full(7, 2), full(2, 3), full(OWNER, 4)];
    assert_eq!(gone(ledger(Relation::Member, grants)), [2, 3], "who has nothing gives nothing");
}

#[test]
fn nobody_stands_on_what_they_gave() {
    let near = Relation::Member;
    assert_eq!(gone(ledger(near, vec![full(2, 2)])), [2]);
    assert_eq!(gone(ledger(near, vec![full(2, 3), full(3, 2)])), [2, 3]);
    assert_eq!(gone(ledger(near, vec![full(2, 3), full(3, 4), full(4, 2)])), [2, 3, 4]);
    assert_eq!(gone(ledger(near, vec![full(2, EVERYONE), full(3, 2)])), [0, 2]);
    assert_eq!(gone(ledger(near, vec![full(2, EVERYONE)])), [0]);
    assert!(gone(ledger(near, vec![full(2, 3), full(3, 2), full(OWNER, EVERYONE)])).is_empty());
}

#[test]
fn what_everyone_has_carries_what_it_covers() {
    let everyone = |level, end| grant(OWNER, EVERYONE, level, end);
    let given = || vec![full(2, 3), grant(2, 4, Level::Read, at(50))];
    let with =
        |first: Option<Grant>| ledger(Relation::Member, first.into_iter().chain(given()).collect());
    assert!(gone(with(Some(everyone(Level::ReadWrite, None)))).is_empty());
    assert_eq!(gone(with(Some(everyone(Level::ReadWrite, at(50))))), [3], "it would outlive it");
    assert_eq!(gone(with(Some(everyone(Level::Read, None)))), [3]);
    assert_eq!(gone(with(Some(everyone(Level::Search, None)))), [3, 4]);
    assert_eq!(gone(with(None)), [3, 4]);
}

#[test]
fn an_own_grant_lowers_also_who_is_near() {
    let lowered = vec![grant(OWNER, NEAR, Level::Read, None), full(NEAR, 2)];
    assert_eq!(gone(ledger(Relation::Member, lowered)), [2]);
    let over = vec![grant(OWNER, NEAR, Level::Read, at(5)), full(NEAR, 2)];
    assert!(gone(ledger(Relation::Member, over)).is_empty(), "it has ended");
    let ending = vec![grant(OWNER, NEAR, Level::ReadWrite, at(50)), full(NEAR, 2)];
    assert!(gone(ledger(Relation::Member, ending)).is_empty(), "being near goes on behind it");
    let grants = vec![grant(7, NEAR, Level::Read, None), grant(NEAR, 2, Level::Read, None)];
    assert_eq!(gone(ledger(Relation::Member, grants)), [NEAR], "what lowered them is gone");
}

#[test]
fn what_ended_together_is_left_alone() {
    let grants = vec![
        grant(OWNER, 2, Level::ReadWrite, at(5)),
        grant(2, 3, Level::Read, at(5)),
        full(OWNER, 4),
    ];
    assert!(gone(ledger(Relation::Member, grants)).is_empty());
}

#[test]
fn giving_and_taking_back_takes_nothing_from_those_who_need_no_grant() {
    for (root, relation) in [
        (OWNER, Relation::Member),
        (ADMIN, Relation::Member),
        (NEAR, Relation::Member),
        (NEAR, Relation::Companion),
    ] {
        let mut ledger = ledger(relation, vec![full(OWNER, 2), full(root, 3)]);
        let guest = pass(&ledger, 2);
        let short = grant(2, root, Level::ReadWrite, at(20));
        let (given, taken) = ledger.share(&guest, &short).unwrap();
        assert!(taken.is_empty(), "{root}");
        let taken = ledger.revoke(&guest, given.id).unwrap();
        assert_eq!(taken.len(), 1, "{root}");
        assert_eq!(ledger.grants.len(), 2);
    }
}

#[test]
fn only_those_who_have_all_of_a_store_lower_others() {
    for relation in [Relation::Member, Relation::Companion] {
        let lower = |who: u128, to: u128| {
            let grants = vec![full(OWNER, 2), grant(OWNER, EVERYONE, Level::Read, None)];
            let mut ledger = ledger(relation, grants);
            let other = Person { is_admin: false, relation: Some(relation) };
            ledger.people.insert(id(6), other);
            let pass = pass(&ledger, who);
            ledger.share(&pass, &grant(who, to, Level::Search, None)).is_ok()
        };
        assert!(!lower(2, 6), "a guest takes nothing from who is near");
        assert!(!lower(2, 5), "nor from what everyone has");
        assert!(lower(OWNER, 6) && lower(ADMIN, 6));
        assert_eq!(lower(NEAR, 6), relation == Relation::Member);
    }
}

#[test]
fn a_giver_is_looked_at_when_it_is_written() {
    let mut ledger = ledger(Relation::Member, vec![full(OWNER, 2)]);
    let (guest, member, admin) = (pass(&ledger, 2), pass(&ledger, NEAR), pass(&ledger, ADMIN));
    ledger.people.clear();
    assert!(matches!(ledger.share(&admin, &full(ADMIN, 3)), Err(StorageError::NotFound(_))));
    assert!(matches!(ledger.share(&member, &full(NEAR, 3)), Err(StorageError::NotFound(_))));
    let other = GrantId::from_u128(102);
    assert!(matches!(ledger.revoke(&member, other), Err(StorageError::NotFound(_))));
    ledger.share(&guest, &full(2, 3)).unwrap();
    ledger.grants[0].level = Level::Read;
    assert!(matches!(ledger.share(&guest, &full(2, 4)), Err(StorageError::ExceedsGiver)));
    ledger.grants.clear();
    assert!(matches!(ledger.share(&guest, &full(2, 4)), Err(StorageError::NotFound(_))));
    let system = System::because("a test").share(WORKSPACE, STORE, id(OWNER), NOW);
    assert!(ledger.share(&system, &full(OWNER, 4)).is_ok());
}

#[test]
fn the_log_is_told_of_each_grant_once() {
    let happening = Happening {
        workspace: WORKSPACE,
        at: NOW,
        actor: Actor::System,
        principal: id(OWNER),
        kind: kind::GRANT_REVOKED,
        store: Some(STORE),
        subject: Some(GrantId::from_u128(102).to_string()),
        detail: None,
    };
    let told = told(&happening, &[full(OWNER, 2), full(2, 3), full(3, EVERYONE)]);
    let details: Vec<String> = told.iter().filter_map(|one| one.detail.clone()).collect();
    assert_eq!(details, [id(3).to_string(), "everyone".to_owned()]);
    assert!(told.iter().all(|one| one.kind == kind::GRANT_REVOKED && one.store == Some(STORE)));
}
