//! Sealed content: bytes that a client encrypted and only a client can open. They come in as base64
//! and go out raw, because nothing here may take them for text.
//!
//! The other routes for memories never show these bytes; this one never shows text.

use super::Native;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, InStore, JsonBody, Params};
use crate::wire::given;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::header::{CONTENT_TYPE, ETAG};
use http::{HeaderValue, StatusCode};
use loci_model::{
    At, AttributesPatch, Content, Digest, Edit, EditOp, Expect, Memory, MemoryId, MemoryPath,
    OnSame, StoreId, VersionId, View,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// What must hold for sealed content to be written.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum SealedPrecondition {
    /// The content now there has this digest.
    ContentSha256 {
        /// 64 hex digits.
        content_sha256: String,
    },
    /// Nothing is there.
    Absent {},
}

/// Sealed content and where to put it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SealedRequest {
    /// Where to put it; what is there is replaced.
    #[schema(min_length = 2, max_length = 1024)]
    path: String,
    /// The sealed bytes, in standard base64 with padding.
    #[schema(content_encoding = "base64", min_length = 1)]
    sealed_base64: String,
    /// What the bytes are, such as `application/vnd.age`; absent keeps, `null` clears.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 1024)]
    media_type: Option<Option<String>>,
    /// What must hold for it to be written.
    precondition: Option<SealedPrecondition>,
}

/// A sealed memory, without its bytes.
#[derive(Serialize, ToSchema)]
pub(crate) struct SealedView {
    /// The memory.
    id: String,
    /// Always `memory`.
    #[serde(rename = "type")]
    object: &'static str,
    /// Its store.
    memory_store_id: String,
    /// Its newest version.
    memory_version_id: String,
    /// Where it is.
    path: String,
    /// Always true.
    is_sealed: bool,
    /// How many sealed bytes there are.
    content_size_bytes: u64,
    /// Of the sealed bytes, 64 lower-case hex digits.
    content_sha256: String,
    /// When the memory was created.
    #[schema(format = DateTime)]
    created_at: String,
    /// When it last changed.
    #[schema(format = DateTime)]
    updated_at: String,
}

/// Which sealed bytes of a memory.
#[derive(Deserialize)]
pub(crate) struct SealedParams {
    version: Option<String>,
}

impl SealedView {
    fn of(memory: &Memory) -> Self {
        Self {
            id: memory.id.to_string(),
            object: "memory",
            memory_store_id: memory.store.to_string(),
            memory_version_id: memory.head.to_string(),
            path: memory.path.to_string(),
            is_sealed: memory.is_sealed,
            content_size_bytes: memory.size_bytes,
            content_sha256: memory.digest.to_string(),
            created_at: memory.created_at.to_string(),
            updated_at: memory.updated_at.to_string(),
        }
    }
}

impl SealedRequest {
    fn into_edit(self) -> Result<Edit> {
        let path = MemoryPath::parse(&self.path)?;
        let expect = match self.precondition {
            None => Expect::Anything,
            Some(SealedPrecondition::Absent {}) => Expect::Absent,
            Some(SealedPrecondition::ContentSha256 { content_sha256 }) => {
                let digest = content_sha256.parse();
                Expect::Digest(digest.map_err(|_| {
                    Failure::invalid("precondition.content_sha256: expected 64 hex digits")
                })?)
            }
        };
        let bytes = BASE64.decode(self.sealed_base64).map_err(|_| {
            Failure::invalid("sealed_base64: expected standard base64 with padding")
        })?;
        if bytes.is_empty() {
            return Err(Failure::invalid("sealed_base64: must not be empty"));
        }
        Ok(Edit {
            at: At::Path(None, path),
            expect,
            on_same: OnSame::Skip,
            op: EditOp::Put {
                content: Some(Content::Sealed(bytes)),
                to: None,
                attributes: AttributesPatch {
                    media_type: self.media_type.into(),
                    ..AttributesPatch::default()
                },
            },
        })
    }
}

/// Writes sealed content to a path, making or replacing the memory there. The server cannot open
/// it: it is not indexed, embedded, shown as text or edited in place.
#[utoipa::path(post, path = "/v1/memory_stores/{memory_store_id}/sealed",
    tag = "sealed", operation_id = "sealed_put", request_body = SealedRequest,
    params(("memory_store_id" = String, Path)),
    responses((status = 200, body = SealedView)))]
pub(crate) async fn put(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    JsonBody(wanted): JsonBody<SealedRequest>,
) -> Result<Json<SealedView>> {
    let edit = wanted.into_edit()?;
    let outcome = native.engine.commit_one(&context, store, edit, "api").await?;
    Ok(Json(SealedView::of(&outcome.memory)))
}

/// The sealed bytes of a memory, exactly as they were written. Their SHA-256 is the `etag`.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/memories/{memory_id}/sealed",
    tag = "sealed", operation_id = "sealed_retrieve",
    params(
        ("memory_store_id" = String, Path),
        ("memory_id" = String, Path),
        ("version" = Option<String>, Query,
            description = "The bytes of this version (`memver_…`) instead of the newest."),
    ),
    responses((status = 200, body = [u8], content_type = "application/octet-stream")))]
pub(crate) async fn fetch(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    InStore(store, memory): InStore<MemoryId>,
    Params(params): Params<SealedParams>,
) -> Result<Response> {
    let engine = &native.engine;
    let content = match params.version {
        None => engine.get(&context, store, &At::Id(memory), View::Full).await?.content,
        Some(version) => {
            let unknown = || Failure::not_found("memory version");
            let version: VersionId = version.parse().map_err(|_| unknown())?;
            let version = engine.version(&context, store, version, View::Full).await?;
            if version.memory != memory {
                return Err(unknown());
            }
            version.content
        }
    };
    let Some(content) = content else {
        let why = "memory version has no content: it is redacted or a deletion";
        return Err(Failure::new(StatusCode::NOT_FOUND, why));
    };
    let digest = content.digest();
    match content {
        Content::Sealed(bytes) => Ok(raw(bytes, digest)),
        Content::Text(_) => {
            Err(Failure::invalid("content is text, not sealed; read the memory itself"))
        }
    }
}

fn raw(bytes: Vec<u8>, digest: Digest) -> Response {
    let tag = HeaderValue::try_from(format!("\"{digest}\""));
    let tag = tag.expect("hex digits in quotes can stand in a header");
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(ETAG, tag);
    response
}
