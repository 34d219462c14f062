//! The policy matrix: every standing against every verb, written out by hand as the specification
//! and compared with what the functions say.

use super::*;
use crate::{GrantId, KeyScope, Principal, SessionId, StorePolicy};
use std::collections::BTreeMap;

const NOW: Timestamp = Timestamp::from_micros(1_000_000);
const OWNER: PrincipalId = PrincipalId::from_u128(1);
const OTHER: PrincipalId = PrincipalId::from_u128(2);
const HOME: WorkspaceId = WorkspaceId::from_u128(1);

fn facts() -> Facts {
    let store = Store {
        id: StoreId::from_u128(9),
        workspace: HOME,
        owner: OWNER,
        address: None,
        name: "notes".into(),
        description: String::new(),
        metadata: BTreeMap::new(),
        policy: StorePolicy::default(),
        created_at: NOW,
        updated_at: NOW,
        archived_at: None,
    };
    Facts { store, grants: vec![], home_of: None, relation: None, attachment: None }
}

fn caller(principal: PrincipalId) -> Caller {
    Caller {
        workspace: HOME,
        principal,
        is_admin: false,
        actor: Actor::User(principal),
        session: None,
        session_user: SessionUser::Unsaid,
        audience: Audience::Host,
        acts_for_agents: false,
        memory: MemorySwitches::default(),
        scope: KeyScope::FULL,
        expires_at: None,
    }
}

fn grant(grantee: Grantee, level: Level, expires_at: Option<Timestamp>) -> Grant {
    Grant {
        id: GrantId::from_u128(1),
        store: StoreId::from_u128(9),
        grantee,
        level,
        given_by: OWNER,
        expires_at,
        created_at: NOW,
    }
}

/// The home of a group or a user, for somebody who is near to it.
fn beside(relation: Relation) -> Facts {
    let kind = match relation {
        Relation::Member => PrincipalKind::Group,
        Relation::Companion => PrincipalKind::User,
    };
    let store = Store { address: Some(crate::Address::home(OWNER)), ..facts().store };
    Facts { store, home_of: Some(kind), relation: Some(relation), ..facts() }
}

/// `s`earch, `r`ead, `w`rite, `h` share, `m`anage; then `?` when the store's existence is hidden.
fn verbs(caller: &Caller, facts: &Facts) -> String {
    let mut allowed = String::new();
    let mut note = |letter, yes: bool| {
        if yes {
            allowed.push(letter);
        }
    };
    note('s', !search(caller, std::slice::from_ref(facts), NOW).stores().is_empty());
    note('r', read(caller, facts, NOW).is_ok());
    note('w', write(caller, facts, NOW).is_ok());
    note('h', share(caller, facts, NOW).is_ok());
    note('m', manage(caller, facts, NOW).is_ok());
    let hidden = manage(caller, facts, NOW).is_err_and(|denied| !denied.may_know);
    note('?', hidden);
    allowed
}

#[test]
fn matrix() {
    let mine = Grantee::Principal(OTHER);
    let with = |grants: Vec<Grant>| Facts { grants, ..facts() };
    let scoped = |power, stores| Caller { scope: KeyScope { power, stores }, ..caller(OWNER) };
    let in_session =
        |principal| Caller { session: Some(SessionId::from_u128(3)), ..caller(principal) };
    let attached = |access| Facts { attachment: Some(access), ..facts() };
    let related = |relation, grants| Facts { grants, ..beside(relation) };
    // What the owner has beside its home: a store it made and named, its notes about callers.
    let made = |relation| Facts { relation: Some(relation), ..facts() };
    let at_home = || {
        let address = Some(crate::Address::home(OWNER));
        let home_of = Some(PrincipalKind::Agent);
        Facts { store: Store { address, ..facts().store }, home_of, ..facts() }
    };
    let switched = |principal, switch: fn(&mut MemorySwitches)| {
        let mut caller = caller(principal);
        switch(&mut caller.memory);
        caller
    };
    let about = |session_user| Caller { session_user, ..caller(OTHER) };
    let admin = Caller { is_admin: true, ..caller(OTHER) };
    let foreign_admin = Caller { workspace: WorkspaceId::from_u128(2), ..admin.clone() };
    let model = Caller { audience: Audience::Model, ..caller(OWNER) };
    let past = Some(Timestamp::from_micros(999_999));
    let this = Some(vec![StoreId::from_u128(9)]);
    let others = Some(vec![StoreId::from_u128(8)]);
    let up_to = Power::UpTo;
    let table = [
        ("owner", caller(OWNER), facts(), "srwhm"),
        ("stranger", caller(OTHER), facts(), "?"),
        ("administrator", admin, facts(), "srwhm"),
        ("administrator elsewhere", foreign_admin, facts(), "?"),
        ("search grant", caller(OTHER), with(vec![grant(mine, Level::Search, None)]), "s"),
        ("read grant", caller(OTHER), with(vec![grant(mine, Level::Read, None)]), "sr"),
        ("write grant", caller(OTHER), with(vec![grant(mine, Level::ReadWrite, None)]), "srwh"),
        ("expired grant", caller(OTHER), with(vec![grant(mine, Level::Read, past)]), "?"),
        ("everyone", caller(OTHER), with(vec![grant(Grantee::Everyone, Level::Read, None)]), "sr"),
        (
            "own grant lowers everyone's",
            caller(OTHER),
            with(vec![
                grant(Grantee::Everyone, Level::ReadWrite, None),
                grant(mine, Level::Search, None),
            ]),
            "s",
        ),
        ("in the group", caller(OTHER), related(Relation::Member, vec![]), "srwh"),
        ("in a group with the user", caller(OTHER), related(Relation::Companion, vec![]), "srwh"),
        (
            "about that user",
            about(SessionUser::Is(OWNER)),
            related(Relation::Companion, vec![]),
            "srwh",
        ),
        (
            "about another user",
            about(SessionUser::Is(OTHER)),
            related(Relation::Companion, vec![]),
            "?",
        ),
        (
            "about a user that is not known",
            about(SessionUser::Unknown),
            related(Relation::Companion, vec![]),
            "?",
        ),
        (
            "about another user, granted",
            about(SessionUser::Unknown),
            related(Relation::Companion, vec![grant(mine, Level::Read, None)]),
            "sr",
        ),
        (
            "about another user, granted to everyone",
            about(SessionUser::Unknown),
            related(Relation::Companion, vec![grant(Grantee::Everyone, Level::Read, None)]),
            "sr",
        ),
        (
            "about another user, in the group",
            about(SessionUser::Unknown),
            related(Relation::Member, vec![]),
            "srwh",
        ),
        (
            "owner, about another user",
            Caller { session_user: SessionUser::Unknown, ..caller(OWNER) },
            beside(Relation::Companion),
            "srwhm",
        ),
        ("in a group with the user, another store", caller(OTHER), made(Relation::Companion), "?"),
        ("in the group, a store that is no home", caller(OTHER), made(Relation::Member), "?"),
        (
            "own grant lowers a member",
            caller(OTHER),
            related(Relation::Member, vec![grant(mine, Level::Search, None)]),
            "s",
        ),
        (
            "an expired grant lowers nobody",
            caller(OTHER),
            related(Relation::Member, vec![grant(mine, Level::Search, past)]),
            "srwh",
        ),
        (
            "what everyone gets lowers nobody",
            caller(OTHER),
            related(Relation::Companion, vec![grant(Grantee::Everyone, Level::Read, None)]),
            "srwh",
        ),
        ("memory off", switched(OWNER, |memory| memory.is_on = false), facts(), ""),
        ("memory off, stranger", switched(OTHER, |memory| memory.is_on = false), facts(), "?"),
        ("own off", switched(OWNER, |memory| memory.own = false), at_home(), ""),
        ("own off, a named store", switched(OWNER, |memory| memory.own = false), facts(), "srwhm"),
        (
            "groups off",
            switched(OTHER, |memory| memory.groups = false),
            related(Relation::Member, vec![]),
            "",
        ),
        (
            "groups off, granted",
            switched(OTHER, |memory| memory.groups = false),
            related(Relation::Member, vec![grant(mine, Level::Read, None)]),
            "",
        ),
        (
            "groups off, granted a store of its own",
            switched(OTHER, |memory| memory.groups = false),
            with(vec![grant(mine, Level::Read, None)]),
            "sr",
        ),
        (
            "users off, granted to a stranger",
            switched(OTHER, |memory| memory.users = false),
            Facts {
                relation: None,
                ..related(Relation::Companion, vec![grant(mine, Level::Read, None)])
            },
            "",
        ),
        (
            "users off, open to everyone",
            switched(OTHER, |memory| memory.users = false),
            Facts {
                relation: None,
                ..related(Relation::Companion, vec![grant(Grantee::Everyone, Level::Read, None)])
            },
            "",
        ),
        (
            "users off",
            switched(OTHER, |memory| memory.users = false),
            related(Relation::Companion, vec![]),
            "",
        ),
        ("owner, search key", scoped(up_to(Level::Search), None), facts(), "s"),
        ("owner, read key", scoped(up_to(Level::Read), None), facts(), "sr"),
        ("owner, write key", scoped(up_to(Level::ReadWrite), None), facts(), "srwh"),
        ("owner, key for this store", scoped(Power::Full, this), facts(), "srwhm"),
        ("owner, key for another store", scoped(Power::Full, others), facts(), "?"),
        ("session without the store", in_session(OWNER), facts(), "?"),
        ("session, read only", in_session(OWNER), attached(Access::ReadOnly), "sr"),
        ("session, read and write", in_session(OWNER), attached(Access::ReadWrite), "srw"),
        ("owner's model", model, facts(), "srw"),
        ("session of a stranger", in_session(OTHER), attached(Access::ReadWrite), "?"),
    ];
    for (name, caller, facts, expected) in table {
        assert_eq!(verbs(&caller, &facts), expected, "{name}");
    }
}

#[test]
fn sharing_never_gives_more_than_one_has() {
    let end = Timestamp::from_micros(5_000_000);
    let mine = grant(Grantee::Principal(OTHER), Level::ReadWrite, Some(end));
    let facts = Facts { grants: vec![mine], ..facts() };
    let pass = share(&caller(OTHER), &facts, NOW).unwrap();
    assert!(pass.may_give(Level::ReadWrite, Some(end)) && !pass.may_give(Level::Search, None));
    let owners = grant(Grantee::Everyone, Level::Read, None);
    assert!(!pass.may_revoke(&owners));
    assert!(pass.may_revoke(&Grant { given_by: OTHER, ..owners.clone() }));
    let pass = share(&caller(OWNER), &facts, NOW).unwrap();
    assert!(pass.may_give(Level::ReadWrite, None) && pass.may_revoke(&owners));
    let foreign = Grant { given_by: OTHER, ..owners };
    let narrow = KeyScope { power: Power::UpTo(Level::ReadWrite), stores: None };
    let writing = Caller { scope: narrow, ..caller(OWNER) };
    assert!(share(&writing, &facts, NOW).unwrap().may_revoke(&foreign), "also with a writer's key");
    let over = Grant { expires_at: Some(NOW), ..foreign };
    let guest = share(&caller(OTHER), &facts, NOW).unwrap();
    let over = Grant { given_by: OWNER, ..over };
    assert!(guest.may_replace(&over) && !guest.may_revoke(&over), "what is over blocks nobody");
}

#[test]
fn creating_and_administering_need_a_whole_credential() {
    let admin = Caller { is_admin: true, ..caller(OWNER) };
    assert!(administer(&admin, NOW).is_ok());
    assert!(administer(&caller(OWNER), NOW).is_err());
    let narrowed = [
        Caller {
            scope: KeyScope { power: Power::UpTo(Level::Read), stores: None },
            ..admin.clone()
        },
        Caller { scope: KeyScope { power: Power::Full, stores: Some(vec![]) }, ..admin.clone() },
        Caller { session: Some(SessionId::from_u128(1)), ..admin.clone() },
    ];
    for caller in narrowed {
        assert!(administer(&caller, NOW).is_err());
        assert!(create(&caller).is_err());
    }
    let writer =
        Caller { scope: KeyScope { power: Power::UpTo(Level::ReadWrite), stores: None }, ..admin };
    assert!(create(&writer).is_ok() && administer(&writer, NOW).is_err());
}

#[test]
fn a_credential_that_cannot_read_lists_nothing() {
    let power = Power::UpTo(Level::Search);
    let searching = Caller { scope: KeyScope { power, stores: None }, ..caller(OWNER) };
    assert_eq!(browse(&searching, NOW).only(), Some(vec![]));
    assert_eq!(browse(&caller(OWNER), NOW).only(), None);
}

#[test]
fn removal_rights_follow_ownership() {
    let facts =
        Facts { grants: vec![grant(Grantee::Principal(OTHER), Level::ReadWrite, None)], ..facts() };
    assert_eq!(write(&caller(OWNER), &facts, NOW).unwrap().remover(), None);
    assert_eq!(write(&caller(OTHER), &facts, NOW).unwrap().remover(), Some(OTHER));
}

#[test]
fn a_group_takes_back_together_and_a_companion_only_what_it_gave() {
    let owners = grant(Grantee::Everyone, Level::Read, None);
    let may = |relation| share(&caller(OTHER), &beside(relation), NOW).unwrap().may_revoke(&owners);
    assert!(may(Relation::Member) && !may(Relation::Companion));
}

#[test]
fn search_only_is_guarded() {
    let mine = Grantee::Principal(OTHER);
    let with = |level| Facts { grants: vec![grant(mine, level, None)], ..facts() };
    let guarded = |level| search(&caller(OTHER), &[with(level)], NOW).guarded().len();
    assert_eq!((guarded(Level::Search), guarded(Level::Read)), (1, 0));
    let other = |id| Facts {
        store: Store { id: StoreId::from_u128(id), ..facts().store },
        ..with(Level::Search)
    };
    let all = [other(1), with(Level::Read), other(2), other(3)];
    let (pass, left_out) = search(&caller(OTHER), &all, NOW).with_guarded(1);
    let stores: Vec<u128> = pass.stores().iter().map(|store| store.as_u128()).collect();
    assert_eq!((stores, pass.guarded().len(), left_out), (vec![1, 9], 1, 2), "what is read stays");
}

#[test]
fn whoever_shares_a_lot_crowds_nobody_out() {
    let given = |id: u128, by: u128, to: Grantee| Facts {
        store: Store { id: StoreId::from_u128(id), ..facts().store },
        grants: vec![Grant {
            given_by: PrincipalId::from_u128(by),
            ..grant(to, Level::Search, None)
        }],
        ..facts()
    };
    let mine = Grantee::Principal(OTHER);
    let all = [
        given(1, 5, mine),
        given(2, 5, mine),
        given(3, 5, Grantee::Everyone),
        given(4, 6, mine),
        given(5, 7, mine),
        given(6, 6, mine),
    ];
    let pass = search(&caller(OTHER), &all, NOW);
    let ids = |stores: &[StoreId]| stores.iter().map(|id| id.as_u128()).collect::<Vec<_>>();
    assert_eq!(ids(pass.guarded()), [1, 4, 5, 2, 6, 3]);
    let (few, left_out) = pass.clone().with_guarded(3);
    assert_eq!((ids(few.stores()), left_out), (vec![1, 4, 5], 3));
    let (few, left_out) = pass.with_at_most(4);
    assert_eq!(
        (ids(few.stores()), ids(few.guarded()), left_out),
        (vec![1, 2, 4, 5], vec![1, 4, 5, 2], 2)
    );
    let read =
        |id: u128| Facts { grants: vec![grant(mine, Level::Read, None)], ..given(id, 5, mine) };
    let (few, left_out) =
        search(&caller(OTHER), &[given(1, 5, mine), read(2), read(3)], NOW).with_at_most(1);
    assert_eq!((ids(few.stores()), few.guarded().len(), left_out), (vec![2], 0, 2));
    assert_eq!(few.with_at_most(9).1, 0);
}

#[test]
fn acting_for_an_agent_is_for_platforms_and_administrators() {
    let agent = |kind, is_admin| Principal {
        id: OTHER,
        workspace: HOME,
        kind,
        name: "agent".into(),
        is_admin,
        memory: MemorySwitches { own: false, ..MemorySwitches::default() },
        created_at: NOW,
    };
    let plain = agent(PrincipalKind::Agent, false);
    let platform = Caller { acts_for_agents: true, ..caller(OWNER) };
    let acting = act_for(&platform, &plain, NOW).unwrap();
    assert_eq!((acting.principal, acting.actor), (OTHER, Actor::Service(OTHER)));
    assert!(!acting.acts_for_agents && !acting.is_admin && !acting.memory.own);
    let admin = Caller { is_admin: true, ..caller(OWNER) };
    assert!(!act_for(&admin, &plain, NOW).unwrap().is_admin);
    assert!(act_for(&caller(OWNER), &plain, NOW).is_err());
    assert!(act_for(&platform, &agent(PrincipalKind::User, false), NOW).is_err());
    assert!(act_for(&platform, &agent(PrincipalKind::Agent, true), NOW).is_err());
    let elsewhere = Caller { workspace: WorkspaceId::from_u128(2), ..platform };
    assert!(act_for(&elsewhere, &plain, NOW).is_err());
}

#[test]
fn who_is_in_which_group_takes_a_whole_credential_of_a_host() {
    let platform = Caller { acts_for_agents: true, ..caller(OWNER) };
    let admin = Caller { is_admin: true, ..caller(OWNER) };
    assert!(convene(&admin, NOW).is_ok() && convene(&caller(OWNER), NOW).is_err());
    let up_to = |level| KeyScope { power: Power::UpTo(level), stores: None };
    let writing = Caller { scope: up_to(Level::ReadWrite), ..platform.clone() };
    assert!(convene(&platform, NOW).is_ok() && convene(&writing, NOW).is_ok());
    let few = KeyScope { power: Power::Full, stores: Some(vec![StoreId::from_u128(9)]) };
    for narrow in [
        Caller { scope: up_to(Level::Read), ..platform.clone() },
        Caller { scope: few.clone(), ..platform.clone() },
        Caller { audience: Audience::Model, ..platform.clone() },
        Caller { session: Some(SessionId::from_u128(1)), ..platform.clone() },
        Caller { audience: Audience::Model, ..admin.clone() },
        Caller { scope: few, ..admin },
    ] {
        assert!(convene(&narrow, NOW).is_err(), "{narrow:?}");
    }
    let model = Caller { audience: Audience::Model, ..platform };
    assert!(acts_for_agents(&model, NOW), "speaking for an agent is another matter");
}

#[test]
fn a_giver_gives_what_they_have_when_it_is_written() {
    let mine = |level, end| grant(Grantee::Principal(OTHER), level, end);
    let with = |grants: Vec<Grant>| Facts { grants, ..facts() };
    let before = with(vec![mine(Level::ReadWrite, None)]);
    let pass = share(&caller(OTHER), &before, NOW).unwrap();
    let renewed = |facts: &Facts| pass.renewed(false, facts);
    assert_eq!(renewed(&before), Ok(pass.clone()));
    assert!(!renewed(&with(vec![])).unwrap_err().may_know, "it was taken back");
    assert!(renewed(&with(vec![mine(Level::Read, None)])).unwrap_err().may_know, "lowered");
    let end = Some(Timestamp::from_micros(5_000_000));
    let shorter = renewed(&with(vec![mine(Level::ReadWrite, end)])).unwrap();
    assert!(shorter.may_give(Level::ReadWrite, end) && !shorter.may_give(Level::Read, None));
    assert!(renewed(&beside(Relation::Member)).unwrap().may_lower(), "joined meanwhile");
    let member = share(&caller(OTHER), &beside(Relation::Member), NOW).unwrap();
    assert!(member.may_lower());
    assert!(member.renewed(false, &Facts { relation: None, ..before.clone() }).is_ok());
    assert!(!member.renewed(false, &before).unwrap().may_lower(), "left meanwhile");
    let admin = share(&Caller { is_admin: true, ..caller(OTHER) }, &facts(), NOW).unwrap();
    assert!(admin.renewed(true, &facts()).unwrap().may_lower());
    let system = System::because("a test").share(HOME, facts().store.id, OTHER, NOW);
    assert!(system.renewed(false, &facts()).is_ok());
}

fn principal(id: PrincipalId, is_admin: bool) -> Principal {
    let (kind, name) = (PrincipalKind::Agent, "somebody".to_owned());
    let memory = MemorySwitches::default();
    Principal { id, workspace: HOME, kind, name, is_admin, memory, created_at: NOW }
}

/// The rules in the order in which they decide, and that the first of them is what policy does.
#[test]
fn an_explanation_names_every_rule_and_agrees_with_the_decision() {
    let mine = Grantee::Principal(OTHER);
    let everything = Facts {
        grants: vec![grant(Grantee::Everyone, Level::Search, None), grant(mine, Level::Read, None)],
        ..beside(Relation::Member)
    };
    let rules = |who: PrincipalId, is_admin, facts: &Facts| {
        let told = explain(&principal(who, is_admin), facts, NOW);
        let decided = reach(&Caller { is_admin, ..caller(who) }, facts, NOW);
        assert_eq!(told.reach, decided, "{told:?}");
        told.matched.into_iter().chain(told.also).map(|one| one.rule).collect::<Vec<_>>()
    };
    assert_eq!(
        rules(OTHER, true, &everything),
        [Rule::Administrator, Rule::Grant, Rule::Member, Rule::Everyone]
    );
    assert_eq!(rules(OTHER, false, &everything), [Rule::Grant, Rule::Member, Rule::Everyone]);
    assert_eq!(rules(OWNER, true, &facts()), [Rule::Owner, Rule::Administrator]);
    assert_eq!(rules(OTHER, false, &beside(Relation::Companion)), [Rule::Companion]);
    assert_eq!(rules(OTHER, false, &facts()), []);
    let ended = grant(mine, Level::Read, Some(Timestamp::from_micros(999_999)));
    assert_eq!(rules(OTHER, false, &Facts { grants: vec![ended], ..facts() }), []);
    let told = explain(&principal(OTHER, false), &everything, NOW);
    assert_eq!(told.reach, Reach::Upto(Level::Read), "a grant of one's own lowers a member");
    assert_eq!(told.matched.unwrap().grant.unwrap().grantee, mine);
}

#[test]
fn what_is_switched_off_is_told_with_the_rule_that_would_count() {
    let off = MemorySwitches { groups: false, ..MemorySwitches::default() };
    let somebody = Principal { memory: off, ..principal(OTHER, false) };
    let told = explain(&somebody, &beside(Relation::Member), NOW);
    assert_eq!((told.reach, told.is_switched_off), (Reach::None, true));
    assert_eq!(told.matched.unwrap().rule, Rule::Member);
    let nobody = explain(&somebody, &facts(), NOW);
    assert!(!nobody.is_switched_off, "there is nothing to switch off");
}

#[test]
fn eyes_are_lent_to_administrators_and_see_no_more_than_their_owner() {
    let admin = Caller { is_admin: true, ..caller(OWNER) };
    let seen = view_as(&admin, &principal(OTHER, false), NOW).unwrap();
    assert_eq!((seen.principal, seen.is_admin), (OTHER, false));
    assert_eq!(verbs(&seen, &facts()), "?");
    assert!(view_as(&caller(OWNER), &principal(OTHER, false), NOW).is_err());
    let group = Principal { kind: PrincipalKind::Group, ..principal(OTHER, false) };
    assert!(view_as(&admin, &group, NOW).is_err());
    let elsewhere = Principal { workspace: WorkspaceId::from_u128(2), ..principal(OTHER, false) };
    assert!(view_as(&admin, &elsewhere, NOW).is_err());
}
