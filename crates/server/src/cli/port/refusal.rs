//! What a refusal of the HTTP API means to a mount: by the stable code of the error, and where
//! something in between answered, by the status alone.

use super::super::client::Refused;
use hyper::StatusCode;
use loci_model::MemoryPath;
use loci_mount::port::Refusal;

/// What a server says of a store that the caller may not know of, or not any more.
const STORE_NOT_FOUND: &str = "memory store not found";

/// The refusal of an answer that is no success.
pub(crate) fn refusal(refused: &Refused) -> Refusal {
    let (status, body) = match refused {
        Refused::Answer { status, body } => (status, body),
        Refused::Failed(failure) => return Refusal::Unreachable(failure.message.clone()),
    };
    let why = || match body["error"]["message"].as_str() {
        Some(message) => message.replace('\n', " "),
        None => format!("the server answered {status}"),
    };
    match refused.code() {
        // A store that is hidden is no news about the memory that was asked for.
        Some("not_found") if refused.detail("message") == Some(STORE_NOT_FOUND) => Refusal::Denied,
        Some("not_found") => Refusal::NotFound,
        Some("expect_failed") => Refusal::ExpectFailed,
        Some("path_taken") => taken(refused),
        Some("archived" | "replica") => Refusal::ReadOnly,
        Some("denied" | "unauthenticated") => Refusal::Denied,
        Some("too_large") => Refusal::TooLarge,
        Some("over_quota" | "disk_full") => Refusal::Full,
        Some("invalid" | "sealed" | "repeat" | "idempotency_key_reused") => Refusal::Invalid(why()),
        _ => match *status {
            StatusCode::NOT_FOUND => Refusal::NotFound,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Refusal::Denied,
            StatusCode::CONFLICT if refused.detail("conflicting_path").is_some() => taken(refused),
            StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => Refusal::ExpectFailed,
            StatusCode::PAYLOAD_TOO_LARGE => Refusal::TooLarge,
            StatusCode::MISDIRECTED_REQUEST => Refusal::ReadOnly,
            StatusCode::INSUFFICIENT_STORAGE => Refusal::Full,
            StatusCode::BAD_REQUEST => Refusal::Invalid(why()),
            _ => Refusal::Unreachable(why()),
        },
    }
}

fn taken(refused: &Refused) -> Refusal {
    Refusal::Taken {
        path: refused.detail("conflicting_path").and_then(|path| MemoryPath::parse(path).ok()),
        memory: refused.detail("conflicting_memory_id").and_then(|id| id.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Failure;
    use serde_json::{Value, json};

    fn answer(status: u16, error: &Value) -> Refusal {
        let status = StatusCode::from_u16(status).unwrap();
        refusal(&Refused::Answer { status, body: json!({"type": "error", "error": error}) })
    }

    #[test]
    fn codes_decide() {
        let coded = |status, code: &str| answer(status, &json!({"code": code, "message": "no"}));
        for (status, code, expect) in [
            (404, "not_found", Refusal::NotFound),
            (409, "expect_failed", Refusal::ExpectFailed),
            (400, "archived", Refusal::ReadOnly),
            (421, "replica", Refusal::ReadOnly),
            (403, "denied", Refusal::Denied),
            (401, "unauthenticated", Refusal::Denied),
            (400, "too_large", Refusal::TooLarge),
            (400, "over_quota", Refusal::Full),
            (507, "disk_full", Refusal::Full),
            (400, "invalid", Refusal::Invalid("no".into())),
            (400, "sealed", Refusal::Invalid("no".into())),
            (409, "repeat", Refusal::Invalid("no".into())),
            (503, "unavailable", Refusal::Unreachable("no".into())),
            (500, "internal", Refusal::Unreachable("no".into())),
        ] {
            assert_eq!(coded(status, code), expect, "{code}");
        }
        let hidden = json!({"code": "not_found", "message": "memory store not found"});
        assert_eq!(answer(404, &hidden), Refusal::Denied);
        let memory = "mem_011111111111111111111111";
        let taken = json!({"code": "path_taken", "conflicting_path": "/a",
            "conflicting_memory_id": memory});
        let Refusal::Taken { path, .. } = answer(409, &taken) else { panic!("not taken") };
        assert_eq!(path.unwrap().as_str(), "/a");
    }

    #[test]
    fn without_a_code_the_status_decides() {
        for (status, expect) in [
            (404, Refusal::NotFound),
            (403, Refusal::Denied),
            (413, Refusal::TooLarge),
            (502, Refusal::Unreachable("the server answered 502 Bad Gateway".into())),
        ] {
            assert_eq!(answer(status, &Value::Null), expect, "{status}");
        }
        let gone = Refused::Failed(Failure::failed("cannot reach it"));
        assert_eq!(refusal(&gone), Refusal::Unreachable("cannot reach it".into()));
    }
}
