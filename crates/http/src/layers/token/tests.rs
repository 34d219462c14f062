//! Every way a token is taken, and every way it is refused. The two examples of RFC 7515 were signed
//! by others; the rest is signed here, with keys that open nothing.

use super::*;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair, RsaPublicKeyComponents};
use serde_json::json;
use std::fs;
use std::time::Duration;

const SECRET: &[u8] = b"a shared secret of thirty-two bytes or more";
const NOW: i64 = 1_800_000_000;

fn now() -> Timestamp {
    Timestamp::from_micros(NOW * 1_000_000)
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn claims() -> Value {
    json!({"sub": "agent-a", "exp": NOW + 60})
}

fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn hs256(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let signed = format!("{}.{}", part(header), part(claims));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&key, signed.as_bytes()));
    format!("{signed}.{signature}")
}

fn shared(claims: &Value) -> String {
    hs256(&json!({"alg": "HS256", "typ": "JWT"}), claims, SECRET)
}

fn key_pair(text: &str) -> RsaKeyPair {
    let bytes = STANDARD.decode(text.replace('\n', "")).unwrap();
    RsaKeyPair::from_pkcs8(&bytes).unwrap()
}

fn one() -> RsaKeyPair {
    key_pair(include_str!("fixtures/one.pk8.b64"))
}

fn two() -> RsaKeyPair {
    key_pair(include_str!("fixtures/two.pk8.b64"))
}

fn rs256(header: &Value, claims: &Value, pair: &RsaKeyPair) -> String {
    let signed = format!("{}.{}", part(header), part(claims));
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn jwk(name: Option<&str>, pair: &RsaKeyPair) -> Value {
    let public = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
    let (n, e) = (URL_SAFE_NO_PAD.encode(public.n), URL_SAFE_NO_PAD.encode(public.e));
    let mut jwk = json!({"kty": "RSA", "use": "sig", "alg": "RS256", "n": n, "e": e});
    if let Some(name) = name {
        jwk["kid"] = json!(name);
    }
    jwk
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(content: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write(content);
        folder
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("jwks.json")
    }

    fn write(&self, content: &str) {
        fs::write(self.path(), content).unwrap();
    }
}

fn set(keys: &[Value]) -> String {
    json!({ "keys": keys }).to_string()
}

fn by_secret() -> Tokens {
    Tokens::new(TokenOptions { secret: Some(SECRET.to_vec()), ..Default::default() }).unwrap()
}

fn by_keys(folder: &Folder) -> Tokens {
    Tokens::new(TokenOptions { jwks_file: Some(folder.path()), ..Default::default() }).unwrap()
}

#[track_caller]
fn said(outcome: Result<Named, Error>) -> String {
    match outcome {
        Err(Error::Unauthenticated(why)) => why.to_owned(),
        other => panic!("{other:?}"),
    }
}

async fn refusal(tokens: &Tokens, token: &str) -> String {
    said(tokens.verify(token, now()).await)
}

#[tokio::test]
async fn the_examples_of_the_standard_are_taken() {
    let claims = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let then = Timestamp::from_micros(1_300_819_000 * 1_000_000);
    let joe = Named { agent: "joe".into(), expires_at: then.plus_secs(380 + 30) };

    let secret =
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
    let tokens = Tokens::new(TokenOptions {
        secret: Some(URL_SAFE_NO_PAD.decode(secret).unwrap()),
        agent_claim: Some("iss".into()),
        ..Default::default()
    });
    let header = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9";
    let token = format!("{header}.{claims}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
    assert_eq!(tokens.unwrap().verify(&token, then).await.unwrap(), joe);

    let n = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
    let folder = Folder::with(&set(&[json!({"kty": "RSA", "n": n, "e": "AQAB"})]));
    let tokens = Tokens::new(TokenOptions {
        jwks_file: Some(folder.path()),
        agent_claim: Some("iss".into()),
        ..Default::default()
    });
    let signature = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    let token = format!("eyJhbGciOiJSUzI1NiJ9.{claims}.{signature}");
    assert_eq!(tokens.unwrap().verify(&token, then).await.unwrap(), joe);
}

#[tokio::test]
async fn the_agent_is_the_first_claim_that_names_one() {
    let tokens = by_secret();
    let named = tokens.verify(&shared(&claims()), now()).await.unwrap();
    assert_eq!(named, Named { agent: "agent-a".into(), expires_at: now().plus_secs(90) });
    let both = with("agentId", json!("agent-b"));
    assert_eq!(tokens.verify(&shared(&both), now()).await.unwrap().agent, "agent-b");
    let mut all = both;
    all["agent_id"] = json!("agent-c");
    assert_eq!(tokens.verify(&shared(&all), now()).await.unwrap().agent, "agent-c");

    let only = Tokens::new(TokenOptions {
        secret: Some(SECRET.to_vec()),
        agent_claim: Some("bot".into()),
        ..Default::default()
    });
    let only = only.unwrap();
    assert_eq!(refusal(&only, &shared(&all)).await, "the token names no agent");
    let named = only.verify(&shared(&with("bot", json!("agent-d"))), now()).await.unwrap();
    assert_eq!(named.agent, "agent-d");

    for wrong in [json!(7), json!(null), json!(""), json!("a\nb"), json!("x".repeat(256))] {
        let token = shared(&with("sub", wrong.clone()));
        assert_eq!(refusal(&tokens, &token).await, "the token names no agent", "{wrong}");
    }
}

#[tokio::test]
async fn time_is_checked_with_half_a_minute_of_leeway() {
    let tokens = by_secret();
    for (claim, value, expected) in [
        ("exp", json!(NOW - 29), Ok(())),
        ("exp", json!(NOW - 30), Err("the token has expired")),
        ("exp", json!(NOW as f64 + 0.5), Ok(())),
        ("exp", json!(0), Err("the token has expired")),
        ("exp", json!("soon"), Err("invalid token")),
        ("exp", json!(null), Err("invalid token")),
        ("exp", json!(-1), Err("invalid token")),
        ("exp", json!(1e300), Err("invalid token")),
        ("exp", json!(u64::MAX), Err("invalid token")),
        ("nbf", json!(NOW + 30), Ok(())),
        ("nbf", json!(NOW + 31), Err("the token is not valid yet")),
        ("nbf", json!("later"), Err("invalid token")),
    ] {
        let found = tokens.verify(&shared(&with(claim, value.clone())), now()).await;
        let found = found.map(drop).map_err(|error| said(Err(error)));
        assert_eq!(found, expected.map_err(str::to_owned), "{claim} {value}");
    }
    let endless = shared(&json!({"sub": "agent-a"}));
    assert_eq!(refusal(&tokens, &endless).await, "the token has no end");
}

#[tokio::test]
async fn issuer_and_audience_are_those_that_were_said() {
    let tokens = Tokens::new(TokenOptions {
        secret: Some(SECRET.to_vec()),
        issuer: Some("us".into()),
        audience: Some("loci".into()),
        ..Default::default()
    });
    let tokens = tokens.unwrap();
    let said = |issuer: Value, audience: Value| {
        shared(&json!({"sub": "a", "exp": NOW + 60, "iss": issuer, "aud": audience}))
    };
    for audience in [json!("loci"), json!(["other", "loci"])] {
        assert!(tokens.verify(&said(json!("us"), audience), now()).await.is_ok());
    }
    for issuer in [json!("them"), json!(null), json!(["us"]), json!("us ")] {
        let token = said(issuer.clone(), json!("loci"));
        assert_eq!(refusal(&tokens, &token).await, "the token is of another issuer", "{issuer}");
    }
    for audience in [json!("other"), json!(["other"]), json!([]), json!(null), json!({"loci": 1})] {
        let token = said(json!("us"), audience.clone());
        let why = refusal(&tokens, &token).await;
        assert_eq!(why, "the token is for another audience", "{audience}");
    }
    let silent = shared(&with("iss", json!("us")));
    assert_eq!(refusal(&tokens, &silent).await, "the token is for another audience");
    let foreign = shared(&with("aud", json!("somebody")));
    assert_eq!(refusal(&by_secret(), &foreign).await, "the token is for another audience");
}

#[tokio::test]
async fn a_token_cannot_choose_how_it_is_verified() {
    let folder = Folder::with(&set(&[jwk(Some("one"), &one())]));
    let by_keys = by_keys(&folder);
    let header = json!({"alg": "RS256", "kid": "one"});
    let genuine = rs256(&header, &claims(), &one());
    assert!(by_keys.verify(&genuine, now()).await.is_ok());

    // The public key as a shared secret, in every form it comes in.
    let public = RsaPublicKeyComponents::<Vec<u8>>::from(one().public());
    let whole = set(&[jwk(Some("one"), &one())]);
    let forms =
        [public.n.as_slice(), one().public().as_ref(), whole.as_bytes()].map(<[u8]>::to_vec);
    for secret in forms {
        for alg in ["HS256", "RS256"] {
            let forged = hs256(&json!({"alg": alg, "kid": "one"}), &claims(), &secret);
            assert_eq!(refusal(&by_keys, &forged).await, "invalid token", "{alg}");
        }
    }
    assert_eq!(refusal(&by_secret(), &genuine).await, "invalid token");

    let both = Tokens::new(TokenOptions {
        secret: Some(SECRET.to_vec()),
        jwks_file: Some(folder.path()),
        ..Default::default()
    });
    let both = both.unwrap();
    assert!(both.verify(&genuine, now()).await.is_ok());
    assert!(both.verify(&shared(&claims()), now()).await.is_ok());
    for alg in ["none", "None", "NONE", "", "hs256", "HS384", "HS512", "PS256", "ES256", "RS256"] {
        let token = hs256(&json!({"alg": alg, "kid": "one"}), &claims(), SECRET);
        assert_eq!(refusal(&both, &token).await, "invalid token", "{alg}");
    }
    for header in [json!({}), json!({"alg": null}), json!({"alg": ["HS256"]})] {
        let token = hs256(&header, &claims(), SECRET);
        assert_eq!(refusal(&both, &token).await, "invalid token", "{header}");
    }
    let critical = json!({"alg": "HS256", "crit": ["b64"], "b64": false});
    assert_eq!(refusal(&both, &hs256(&critical, &claims(), SECRET)).await, "invalid token");
}

#[tokio::test]
async fn what_was_changed_or_cut_is_refused() {
    let tokens = by_secret();
    let token = shared(&claims());
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (header, body) = signed.split_once('.').unwrap();
    let other = part(&with("sub", json!("agent-b")));
    let mut flipped = URL_SAFE_NO_PAD.decode(signature).unwrap();
    flipped[0] ^= 1;
    let flipped = URL_SAFE_NO_PAD.encode(flipped);
    for broken in [
        format!("{header}.{other}.{signature}"),
        format!("{header}.{body}.{flipped}"),
        format!("{header}.{body}."),
        format!("{header}.{body}"),
        format!("{header}.{body}.{signature}."),
        format!("{header}.{body}.{signature}="),
        format!("{header}..{signature}"),
        format!(".{body}.{signature}"),
        format!("{header}.{body}.{}", &signature[..10]),
        hs256(&json!({"alg": "HS256"}), &claims(), b"another secret of thirty-two bytes or more"),
        hs256(&json!({"alg": "HS256"}), &json!(["not", "an", "object"]), SECRET),
        String::new(),
        "..".to_owned(),
        "é.é.é".to_owned(),
    ] {
        assert_eq!(refusal(&tokens, &broken).await, "invalid token", "{broken}");
    }
    let long = shared(&with("more", json!("x".repeat(TOKEN_BYTES_MAX))));
    assert_eq!(refusal(&tokens, &long).await, "the token is longer than 8 KiB");
}

#[tokio::test]
async fn keys_are_found_by_their_names() {
    let folder = Folder::with(&set(&[
        json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "curve"}),
        json!({"kty": "oct", "k": "c2VjcmV0", "kid": "shared"}),
        jwk(Some("one"), &one()),
        jwk(Some("two"), &two()),
    ]));
    let tokens = by_keys(&folder);
    let named = |name: &str| json!({"alg": "RS256", "kid": name});
    assert!(tokens.verify(&rs256(&named("one"), &claims(), &one()), now()).await.is_ok());
    assert!(tokens.verify(&rs256(&named("two"), &claims(), &two()), now()).await.is_ok());
    for (header, pair) in [
        (named("one"), two()),
        (named("three"), one()),
        (named("curve"), one()),
        (json!({"alg": "RS256"}), one()),
    ] {
        let token = rs256(&header, &claims(), &pair);
        assert_eq!(refusal(&tokens, &token).await, "invalid token", "{header}");
    }
    // The shared secret of another format's key is no secret here.
    let forged = hs256(&json!({"alg": "HS256", "kid": "shared"}), &claims(), b"secret");
    assert_eq!(refusal(&tokens, &forged).await, "invalid token");

    let folder = Folder::with(&set(&[jwk(None, &one())]));
    let tokens = by_keys(&folder);
    let unnamed = rs256(&json!({"alg": "RS256"}), &claims(), &one());
    assert!(tokens.verify(&unnamed, now()).await.is_ok(), "the only key needs no name");
}

#[tokio::test(start_paused = true)]
async fn a_changed_file_is_read_again_and_a_bad_one_is_not_believed() {
    let folder = Folder::with(&set(&[jwk(Some("one"), &one())]));
    let tokens = by_keys(&folder);
    let old = rs256(&json!({"alg": "RS256", "kid": "one"}), &claims(), &one());
    let new = rs256(&json!({"alg": "RS256", "kid": "two"}), &claims(), &two());
    assert!(tokens.verify(&old, now()).await.is_ok());
    folder.write(&set(&[jwk(Some("one"), &one()), jwk(Some("two"), &two())]));
    assert!(tokens.verify(&new, now()).await.is_err(), "looked at less than a second ago");
    tokio::time::advance(Duration::from_millis(1001)).await;
    assert!(tokens.verify(&new, now()).await.is_ok());
    assert!(tokens.verify(&old, now()).await.is_ok());

    for bad in
        ["", "{", "[]", "{\"keys\": []}", "{\"keys\": [{\"kty\": \"RSA\", \"n\": \"AQAB\"}]}"]
    {
        folder.write(bad);
        tokio::time::advance(Duration::from_millis(1001)).await;
        assert!(tokens.verify(&new, now()).await.is_ok(), "{bad}");
    }
    fs::remove_file(folder.path()).unwrap();
    tokio::time::advance(Duration::from_millis(1001)).await;
    assert!(tokens.verify(&new, now()).await.is_ok());

    folder.write(&set(&[jwk(Some("two"), &two())]));
    tokio::time::advance(Duration::from_millis(1001)).await;
    assert!(tokens.verify(&new, now()).await.is_ok());
    assert_eq!(refusal(&tokens, &old).await, "invalid token", "the old key is gone");
}

#[test]
fn what_cannot_work_is_refused_at_the_start() {
    let why = |options: TokenOptions| Tokens::new(options).unwrap_err();
    assert!(why(TokenOptions::default()).contains("needs a secret or a file"));
    let short = TokenOptions { secret: Some(vec![b'x'; 31]), ..Default::default() };
    assert!(why(short).contains("at least 32 bytes"));
    let n = |bytes: usize| URL_SAFE_NO_PAD.encode(vec![0xff; bytes]);
    let rsa = |n: String| json!({"kty": "RSA", "n": n, "e": "AQAB"});
    let many: Vec<Value> = (0..101).map(|_| json!({"kty": "oct"})).collect();
    for (content, expected) in [
        ("{".to_owned(), "is not a JSON Web Key Set"),
        (set(&[json!(7)]), "key 1 is not a JSON Web Key"),
        (set(&[]), "no RSA key"),
        (set(&[json!({"kty": "RSA", "use": "enc", "n": n(256), "e": "AQAB"})]), "no RSA key"),
        (set(&[json!({"kty": "RSA"})]), "key 1 has no readable n"),
        (set(&[rsa("?".into())]), "key 1 has no readable n"),
        (set(&[rsa(n(128))]), "has 1024 bits"),
        (set(&[rsa(n(2048))]), "has 16384 bits"),
        (set(&[rsa(n(256)), rsa(n(256))]), "key 2 has the name of another"),
        (set(&many), "more than 100 keys"),
        (" ".repeat(1024 * 1024 + 1), "is larger than"),
    ] {
        let folder = Folder::with(&content);
        let options = TokenOptions { jwks_file: Some(folder.path()), ..Default::default() };
        let said = why(options);
        assert!(said.contains(expected) && said.contains("jwks.json"), "{said}");
    }
    let nowhere = PathBuf::from("/nowhere/jwks.json");
    let options = TokenOptions { jwks_file: Some(nowhere), ..Default::default() };
    assert!(why(options).contains("cannot be read"));
}

#[test]
fn keys_are_told_from_tokens_by_their_form() {
    assert!(looks_signed(&shared(&claims())));
    assert!(looks_signed(&format!("{}.x.y", part(&json!({"alg": "none"})))));
    assert!(looks_signed(&format!("{}.x.y", "A".repeat(TOKEN_BYTES_MAX + 1))));
    let four = format!("{}.x.y.z", part(&json!({})));
    for key in ["loci_0123", "a.b.c", "..", "", "e30.x", &four, "W10.x.y"] {
        assert!(!looks_signed(key), "{key}");
    }
}

#[tokio::test]
async fn a_token_lasts_so_long_and_no_longer() {
    let day = Tokens::new(TokenOptions { secret: Some(SECRET.to_vec()), ..Default::default() });
    let (day, secret) = (day.unwrap(), Some(SECRET.to_vec()));
    let hour = TokenOptions { secret, lifetime_max: Some(3600), ..Default::default() };
    let hour = Tokens::new(hour).unwrap();
    let until = |secs: i64| shared(&with("exp", json!(NOW + secs)));
    for (tokens, secs) in [(&day, 86_400), (&hour, 3600)] {
        assert!(tokens.verify(&until(secs), now()).await.is_ok());
        // As far as clocks may differ.
        assert!(tokens.verify(&until(secs + LEEWAY_SECS), now()).await.is_ok());
        for far in [secs + LEEWAY_SECS + 1, 10 * secs, LAST_SECOND - NOW] {
            let said = refusal(tokens, &until(far)).await;
            assert!(said.contains("jwt.token_seconds"), "{said}");
        }
    }
    // Neither long ago nor later may it have been made to last longer.
    for (made, is_taken) in [(-1000, true), (-90_000, false), (1000, true)] {
        let mut claims = with("iat", json!(NOW + made));
        claims["exp"] = json!(NOW + 60);
        assert_eq!(day.verify(&shared(&claims), now()).await.is_ok(), is_taken, "{made}");
    }
    let mut later = with("iat", json!(NOW + 80_000));
    later["exp"] = json!(NOW + 160_000);
    assert!(refusal(&day, &shared(&later)).await.contains("jwt.token_seconds"));
    assert_eq!(refusal(&day, &shared(&with("iat", json!("yesterday")))).await, "invalid token");
}
