//! Tokens recorded from the original library, good and bad: each is taken or refused as it says.

use loci_ucan::{Did, Key, Keys, Terms, Token};
use serde_json::Value;

#[test]
fn recorded_tokens_are_taken_and_refused_as_they_say() {
    let recorded: Value = serde_json::from_str(include_str!("vectors.json")).unwrap();
    let audiences = [Did::parse(recorded["audience"].as_str().unwrap()).unwrap()];
    let now = recorded["now"].as_i64().unwrap();
    let terms = Terms { audiences: &audiences, now, accepts_star: false, lifetime_max: None };
    let mut known = Keys::new();
    for (did, keys) in recorded["keys"].as_object().unwrap() {
        let key = |text: &Value| {
            let text = text.as_str().unwrap();
            Key::from_multibase(text.strip_prefix("did:key:").unwrap()).unwrap()
        };
        known.insert(Did::parse(did).unwrap(), keys.as_array().unwrap().iter().map(key).collect());
    }
    let cases = recorded["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 25);
    for case in cases {
        let (name, expected) = (&case["name"], &case["expect"]);
        let outcome = Token::parse(case["token"].as_str().unwrap()).and_then(|token| {
            // Only the keys that it asks for, so that asking for too few is noticed.
            let asked = token.issuers(&terms)?;
            let keys = known.clone().into_iter().filter(|(did, _)| asked.contains(did)).collect();
            token.verify(&terms, &keys)
        });
        match outcome {
            Ok(verified) => {
                assert_eq!(expected["ok"], true, "{name}");
                assert_eq!(expected["user"], verified.user.as_str(), "{name}");
                assert_eq!(expected["invoker"], verified.invoker.as_str(), "{name}");
            }
            Err(refused) => {
                assert_eq!(expected["ok"], false, "{name}: {refused}");
                assert_eq!(expected["status"], refused.status, "{name}: {refused}");
            }
        }
    }
}
