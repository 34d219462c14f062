//! Chains of our own making: every way to lengthen, widen, forge or break one.

#[allow(
    dead_code,
    unreachable_pub,
    reason = "it is a module of the black-box tests, which use more"
)]
#[path = "../../../../tests/it/src/ucan.rs"]
mod mint;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loci_ucan::{Did, Key, Keys, Refused, Terms, Token, Verified};
use mint::{Draft, Link, Signer};
use proptest::prelude::*;
use serde_json::json;

const NOW: i64 = 1_800_000_000;
const SERVER: &str = "did:web:memory.example.org";

fn verify_with(token: &str, keys: &Keys, accepts_star: bool) -> Result<Verified, Refused> {
    let audiences = [Did::parse(SERVER).unwrap()];
    let terms = Terms { audiences: &audiences, now: NOW, accepts_star, lifetime_max: None };
    let token = Token::parse(token)?;
    token.issuers(&terms)?;
    token.verify(&terms, keys)
}

fn verify(token: &str) -> Result<Verified, Refused> {
    verify_with(token, &Keys::new(), false)
}

#[track_caller]
fn refused(token: &str, status: u16, why: &str) {
    let refused = verify(token).unwrap_err();
    assert_eq!(refused.status, status, "{refused}");
    assert!(refused.why.contains(why), "{refused}");
}

/// A chain from a user through so many others to an oracle.
fn chain(between: u64) -> String {
    let user = Signer::new(1);
    let others: Vec<Signer> = (0..=between).map(|at| Signer::new(100 + at)).collect();
    let mut link = Draft::new(&user, &others[0].did).sign();
    for pair in others.windows(2) {
        link = Draft::new(&pair[0], &pair[1].did).by(&[&link]).sign();
    }
    Draft::new(&others[others.len() - 1], SERVER).by(&[&link]).token()
}

#[test]
fn chains_have_up_to_eight_links() {
    for between in 0..=6 {
        let verified = verify(&chain(between)).unwrap();
        assert_eq!(verified.user.as_str(), Signer::new(1).did);
        assert_eq!(verified.oracle.unwrap().as_str(), Signer::new(100 + between).did);
    }
    for between in [7, 8, 20, 50] {
        refused(&chain(between), 401, "more than 8 links");
    }
}

#[test]
fn what_is_too_large_is_refused_before_it_is_read() {
    refused(&"A".repeat(64 * 1024 + 4), 401, "longer than 64 KiB");
    let (user, oracle) = (Signer::new(1), Signer::new(2));
    let grants: Vec<Link> =
        (0..70).map(|at| Draft::new(&user, &oracle.did).until(NOW + at).sign()).collect();
    let all: Vec<&Link> = grants.iter().collect();
    refused(&Draft::new(&oracle, SERVER).by(&all).token(), 401, "more than 64 blocks");
    // Many paths to few links are walked once each.
    let mut level: Vec<Link> =
        (0..4).map(|at| Draft::new(&user, &user.did).until(NOW - at).sign()).collect();
    for _ in 0..6 {
        let all: Vec<&Link> = level.iter().collect();
        level = (0..4)
            .map(|at| Draft::new(&user, &user.did).until(NOW + 1 + at).by(&all).sign())
            .collect();
    }
    let all: Vec<&Link> = level.iter().collect();
    refused(&Draft::new(&user, SERVER).by(&all).token(), 401, "expired");
}

#[test]
fn the_user_is_never_taken_from_a_proof_that_does_not_hold() {
    let (victim, oracle, thief) = (Signer::new(1), Signer::new(2), Signer::new(3));
    // In the victim's name, signed by somebody else.
    let forged = Draft { signer: &thief, ..Draft::new(&victim, &thief.did) }.sign();
    refused(&Draft::new(&thief, SERVER).by(&[&forged]).token(), 401, "not its issuer's");
    // A good grant in the wrong hands.
    let stolen = Draft::new(&victim, &oracle.did).sign();
    refused(&Draft::new(&thief, SERVER).by(&[&stolen]).token(), 403, "somebody else");
    // A forged one first: the second counts, and the user is its own.
    let own = Draft::new(&Signer::new(4), &thief.did).sign();
    let verified = verify(&Draft::new(&thief, SERVER).by(&[&forged, &stolen, &own]).token());
    assert_eq!(verified.unwrap().user.as_str(), Signer::new(4).did);
    // An invocation that somebody else signed.
    let token = Draft { signer: &thief, ..Draft::new(&victim, SERVER) }.token();
    refused(&token, 401, "not its issuer's");
}

#[test]
fn a_token_ends_as_soon_as_the_server_says() {
    let (user, oracle) = (Signer::new(1), Signer::new(2));
    let audiences = [Did::parse(SERVER).unwrap()];
    let terms =
        Terms { audiences: &audiences, now: NOW, accepts_star: false, lifetime_max: Some(3600) };
    let check = |expires: Option<i64>, is_taken: bool| {
        // The grant behind it may last: it is the invocation that is sent about.
        let grant = Draft::new(&user, &oracle.did).sign();
        let draft = Draft { expires, ..Draft::new(&oracle, SERVER) };
        let token = Token::parse(&draft.by(&[&grant]).token()).unwrap();
        let outcomes = [
            token.invoker(&terms).map(|_| ()),
            token.check_invoker(&terms, &Keys::new()),
            token.issuers(&terms).map(|_| ()),
            token.verify(&terms, &Keys::new()).map(|_| ()),
        ];
        for outcome in outcomes {
            assert_eq!(outcome.is_ok(), is_taken, "{expires:?}");
        }
    };
    check(Some(NOW + 1), true);
    check(Some(NOW + 3600), true);
    check(Some(NOW + 3601), false);
    check(Some(i64::MAX), false);
    check(None, false);
}

#[test]
fn the_invokers_own_signature_can_be_checked_alone() {
    let (oracle, thief) = (Signer::named("did:ixo:oracle", 2), Signer::new(3));
    let audiences = [Did::parse(SERVER).unwrap()];
    let terms = Terms { audiences: &audiences, now: NOW, accepts_star: false, lifetime_max: None };
    let strangers = Signer::named("did:web:127.0.0.1%3A22", 4);
    let proof = Draft::new(&strangers, &oracle.did).sign();
    let own = Key::from_multibase(oracle.key().strip_prefix("did:key:").unwrap()).unwrap();
    let keys = Keys::from([(Did::parse(&oracle.did).unwrap(), vec![own])]);
    let check = |signer: &Signer, keys: &Keys| {
        let draft = Draft { signer, ..Draft::new(&oracle, SERVER) };
        let token = Token::parse(&draft.by(&[&proof]).token()).unwrap();
        assert_eq!(token.invoker(&terms).unwrap().as_str(), oracle.did);
        token.check_invoker(&terms, keys).is_ok()
    };
    assert!(check(&oracle, &keys));
    assert!(!check(&thief, &keys), "somebody else signed it");
    assert!(!check(&oracle, &Keys::new()), "nobody knows the key");
}

#[test]
fn every_link_must_be_of_now() {
    let (user, middle, oracle) = (Signer::new(1), Signer::new(2), Signer::new(3));
    let through = |first: Option<i64>, second: Option<i64>, third: Option<i64>| {
        let one = Draft { expires: first, ..Draft::new(&user, &middle.did) }.sign();
        let two = Draft { expires: second, ..Draft::new(&middle, &oracle.did) }.by(&[&one]).sign();
        Draft { expires: third, ..Draft::new(&oracle, SERVER) }.by(&[&two]).token()
    };
    let good = verify(&through(Some(NOW + 9), Some(NOW + 5), None)).unwrap();
    assert_eq!(good.expires_at, Some(NOW + 5), "the earliest end counts");
    assert_eq!(verify(&through(None, None, None)).unwrap().expires_at, None);
    for over in [NOW, NOW - 1, -5] {
        refused(&through(Some(over), None, None), 401, "expired");
        refused(&through(None, Some(over), None), 401, "expired");
        refused(&through(None, None, Some(over)), 401, "expired");
    }
    let early = Draft { begins: Some(NOW), ..Draft::new(&user, SERVER) };
    refused(&early.token(), 401, "not valid yet");
    let begun = Draft { begins: Some(NOW - 1), ..Draft::new(&user, SERVER) };
    assert!(verify(&begun.token()).is_ok());
}

#[test]
fn no_link_gives_more_than_it_got() {
    let (user, middle, oracle) = (Signer::new(1), Signer::new(2), Signer::new(3));
    let through = |first: &str, second: &str, claim: &str| {
        let can = |what| vec![(what, "ixo:memory")];
        let one = Draft { can: can(first), ..Draft::new(&user, &middle.did) }.sign();
        let two = Draft { can: can(second), ..Draft::new(&middle, &oracle.did) }.by(&[&one]).sign();
        Draft { can: can(claim), ..Draft::new(&oracle, SERVER) }.by(&[&two]).token()
    };
    assert_eq!(verify(&through("*", "memory/*", "memory/x")).unwrap().ability, "memory/x");
    refused(&through("memory/search", "memory/*", "memory/*"), 403, "does not grant");
    refused(&through("memory/search", "*", "memory/add"), 403, "does not grant");
    refused(&through("memory/*", "memory/search", "memory/add"), 403, "does not grant");
    refused(&through("crm/*", "memory/*", "memory/*"), 403, "does not grant");
    for nothing in ["*", "memory", "memory/", "crm/read", ""] {
        refused(&through("*", "*", nothing), 403, "claims nothing");
    }
    let star = through("*", "*", "*");
    assert_eq!(verify_with(&star, &Keys::new(), true).unwrap().ability, "*");
    let wide = through("memory/*", "*", "*");
    assert_eq!(verify_with(&wide, &Keys::new(), true).unwrap_err().status, 403);
    // The second claim of an invocation may be the one that is granted.
    let grant = Draft { can: vec![("memory/b", "ixo:*")], ..Draft::new(&user, &oracle.did) };
    let can = vec![("memory/a", "ixo:memory"), ("memory/b", "ixo:memory")];
    let two = Draft { can, ..Draft::new(&oracle, SERVER) }.by(&[&grant.sign()]).token();
    assert_eq!(verify(&two).unwrap().ability, "memory/b");
}

#[test]
fn names_without_a_key_in_them_need_the_keys_they_are_known_by() {
    let (user, oracle) =
        (Signer::named("did:ixo:ixo1user", 1), Signer::named("did:ixo:ixo1bot", 2));
    let token = mint::delegated(&user, &oracle, SERVER, NOW + 60);
    refused(&token, 401, "not known");
    let key = |text: &str| Key::from_multibase(text.strip_prefix("did:key:").unwrap()).unwrap();
    let did = |signer: &Signer| Did::parse(&signer.did).unwrap();
    let mut keys = Keys::from([
        (did(&user), vec![key(&oracle.key()), key(&user.key())]),
        (did(&oracle), vec![key(&oracle.key())]),
    ]);
    let verified = verify_with(&token, &keys, false).unwrap();
    assert_eq!(verified.user, did(&user));
    keys.insert(did(&user), vec![key(&oracle.key())]);
    assert_eq!(verify_with(&token, &keys, false).unwrap_err().status, 401);
    // A did:key is its own key, whatever anybody says.
    let own = Signer::new(7);
    let forged = Draft { signer: &oracle, ..Draft::new(&own, SERVER) }.token();
    let claimed = Keys::from([(did(&own), vec![key(&oracle.key())])]);
    assert_eq!(verify_with(&forged, &claimed, false).unwrap_err().status, 401);
    // A grant to the key of an oracle is not one to its other name.
    let grant = Draft::new(&own, &oracle.key()).sign();
    let token = Draft::new(&oracle, SERVER).by(&[&grant]).token();
    let known = Keys::from([(did(&oracle), vec![key(&oracle.key())])]);
    assert_eq!(verify_with(&token, &known, false).unwrap_err().status, 403);
}

#[test]
fn only_keys_that_could_matter_are_asked_for() {
    let (user, oracle) = (Signer::named("did:ixo:u", 1), Signer::named("did:web:o.example", 2));
    let (other, late) = (Signer::named("did:ixo:x", 3), Signer::named("did:ixo:late", 4));
    let good = Draft::new(&user, &oracle.did).sign();
    let elsewhere = Draft::new(&other, "did:ixo:somebody").sign();
    let over = Draft::new(&late, &oracle.did).until(NOW).sign();
    let token = Draft::new(&oracle, SERVER).by(&[&elsewhere, &over, &good]).token();
    let audiences = [Did::parse(SERVER).unwrap()];
    let terms = Terms { audiences: &audiences, now: NOW, accepts_star: false, lifetime_max: None };
    let asked = Token::parse(&token).unwrap().issuers(&terms).unwrap();
    let asked: Vec<&str> = asked.iter().map(Did::as_str).collect();
    assert_eq!(asked, [user.did.as_str(), oracle.did.as_str()]);
    // For a token that is not meant for us nobody is asked.
    let stray = Draft::new(&oracle, "did:web:other.example").token();
    assert_eq!(Token::parse(&stray).unwrap().issuers(&terms).unwrap_err().status, 401);
}

fn good_token() -> String {
    let (user, oracle) = (Signer::new(1), Signer::new(2));
    let grant = Draft { facts: vec![json!({"é": [1, null]})], ..Draft::new(&user, &oracle.did) };
    Draft::new(&oracle, SERVER).until(NOW + 60).by(&[&grant.sign()]).token()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(loci_test_kit::count("token_mutations") as u32))]

    #[test]
    fn a_changed_byte_is_refused_or_changes_nobody(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let good = verify(&good_token()).unwrap();
        let mut bytes = STANDARD.decode(good_token()).unwrap();
        *at.get_mut(&mut bytes) = to;
        if let Ok(verified) = verify(&STANDARD.encode(bytes)) {
            prop_assert_eq!(verified, good);
        }
    }

    #[test]
    fn a_token_that_is_cut_or_lengthened_is_refused_or_the_same(at in any::<prop::sample::Index>(), more in proptest::collection::vec(any::<u8>(), 0..50)) {
        let good = verify(&good_token()).unwrap();
        let mut bytes = STANDARD.decode(good_token()).unwrap();
        bytes.truncate(at.index(bytes.len()));
        bytes.extend(more);
        if let Ok(verified) = verify(&STANDARD.encode(bytes)) {
            prop_assert_eq!(verified, good);
        }
    }

    #[test]
    fn any_text_and_any_bytes_are_refused(text in ".{0,200}", bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(verify(&text).is_err());
        prop_assert!(verify(&STANDARD.encode(bytes)).is_err());
    }
}
