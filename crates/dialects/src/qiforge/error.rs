//! Refusals as answers: `{"detail": "401 …"}`. The status stands first in the text, because that is
//! all that some clients of this door show.

use super::access::Refusal;
use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use loci_model::RequestId;
use serde::Serialize;
use utoipa::ToSchema;

/// A refusal.
#[derive(Serialize, ToSchema)]
#[schema(as = QiforgeRefusal)]
pub(super) struct RefusalBody<'a> {
    /// The status, then what is wrong.
    detail: &'a str,
}

impl Refusal {
    pub(super) fn render(&self, request: Option<RequestId>) -> Response<Body> {
        if let Some(why) = &self.hidden {
            let request = request.map(|id| id.to_string());
            tracing::error!(request, why, "internal error");
        }
        let mut response = json(&RefusalBody { detail: &self.text });
        let status = StatusCode::from_u16(self.status);
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        if let Some(secs) = self.retry_after_secs {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(secs));
        }
        if self.status == 405 {
            headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
        }
        response
    }
}

/// An answer in JSON.
pub(super) fn json(body: &impl Serialize) -> Response<Body> {
    let bytes = serde_json::to_vec(body).expect("strings and numbers become JSON");
    let mut response = Response::new(Body::from(bytes));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
