//! Borrowed eyes: an administrator asks what somebody else would get. Only questions can be asked so;
//! whatever changes something is refused, whoever asks.

use super::auth::Found;
use http::{HeaderMap, HeaderName, Method};
use loci_engine::{Engine, Error};
use loci_model::Caller;

const VIEW_AS: HeaderName = HeaderName::from_static("loci-view-as");
/// Characters of the longest name.
const NAME_BYTES_MAX: usize = 1024;

/// Left on a request that is looked at with somebody else's eyes: who looks.
#[derive(Debug, Clone)]
pub(crate) struct Viewer(pub(crate) Caller);

/// Whose eyes a request asks for.
pub(super) fn wanted(
    method: &Method,
    route: &str,
    headers: &HeaderMap,
) -> Result<Option<String>, Error> {
    let Some(value) = headers.get(&VIEW_AS) else { return Ok(None) };
    let is_question = matches!(
        route,
        "/v1/search" | "/v1/knowledge" | "/v1/memory_stores/{memory_store_id}/search"
    );
    if !matches!(*method, Method::GET | Method::HEAD) && !is_question {
        return Err(Error::Denied("nothing can be changed with somebody else's eyes"));
    }
    match value.to_str() {
        Ok(name) if (1..=NAME_BYTES_MAX).contains(&name.len()) => Ok(Some(name.to_owned())),
        _ => Err(Error::NotFound("principal")),
    }
}

/// The same finding, seen with these eyes; and who looks, if they may.
pub(super) async fn borrow(engine: &Engine, found: Found, whose: &str) -> (Found, Option<Viewer>) {
    let (viewer, fingerprint) = match found {
        Found::Known(caller, fingerprint, _) => (caller, Some(fingerprint)),
        Found::Operator(caller) => (caller, None),
        Found::Visitor(..) => {
            let refused = Error::Denied("visitors have their own eyes only");
            return (Found::Refused(refused), None);
        }
        Found::Nobody | Found::Refused(_) => return (found, None),
    };
    match engine.view_as(&viewer, whose).await {
        Err(error) => (Found::Refused(error), None),
        Ok(caller) => {
            let seen = match fingerprint {
                Some(fingerprint) => Found::Known(caller, fingerprint, None),
                None => Found::Operator(caller),
            };
            (seen, Some(Viewer(viewer)))
        }
    }
}
