//! What native routes take from a request: who asks, ids in the path, parameters, a JSON body.
//!
//! All of them fail with the envelope. Whoever is nobody is told so before anything else of the
//! request is looked at, because routes name [`Authed`] first.

use crate::error::{Failure, Result};
use crate::misread;
use crate::routes::grants::GrantName;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use bytes::Bytes;
use http::request::Parts;
use http_body_util::BodyExt;
use loci_engine::knowledge::FactId;
use loci_engine::{Context, Identified};
use loci_model::{KeyId, MemoryId, SessionId, StoreId};
use serde::de::DeserializeOwned;
use std::str::FromStr;

/// Who asks, in which request.
pub(crate) struct Authed(pub(crate) Context);

impl<S: Sync> FromRequestParts<S> for Authed {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let Some(Identified(identified)) = parts.extensions.get() else {
            return Err(Failure::internal("a route outside the gate"));
        };
        match identified.as_ref() {
            Ok(context) => Ok(Self(context.clone())),
            Err(error) => Err(error.into()),
        }
    }
}

/// An id that can stand in a path. One that is not of our form names nothing, like an unknown one.
pub(crate) trait PathId: FromStr {
    /// What it names.
    const NOUN: &'static str;
}

macro_rules! path_ids {
    ($($id:ident: $noun:literal),+ $(,)?) => {
        $(impl PathId for $id {
            const NOUN: &'static str = $noun;
        })+
    };
}

path_ids! {
    StoreId: "memory store",
    MemoryId: "memory",
    GrantName: "grant",
    KeyId: "API key",
    SessionId: "session",
    FactId: "fact",
}

fn parse<T: PathId>(text: &str) -> Result<T> {
    text.parse().map_err(|_| Failure::not_found(T::NOUN))
}

/// The one id of a path.
pub(crate) struct Id<T>(pub(crate) T);

impl<T: PathId, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let Path(id) = path.map_err(|_| Failure::not_found(T::NOUN))?;
        Ok(Self(parse(&id)?))
    }
}

/// A store and something in it.
pub(crate) struct InStore<T>(pub(crate) StoreId, pub(crate) T);

impl<T: PathId, S: Send + Sync> FromRequestParts<S> for InStore<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let path = Path::<(String, String)>::from_request_parts(parts, state).await;
        let Path((store, inner)) = path.map_err(|_| Failure::not_found(StoreId::NOUN))?;
        Ok(Self(parse(&store)?, parse(&inner)?))
    }
}

/// A principal's name, id or UUID in a path. What is not text names nobody.
pub(crate) struct Name(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let Path(name) = path.map_err(|_| Failure::not_found("principal"))?;
        Ok(Self(name))
    }
}

/// A chat and somebody, in the same way.
pub(crate) struct InChat(pub(crate) String, pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for InChat {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let path = Path::<(String, String)>::from_request_parts(parts, state).await;
        let Path((chat, member)) = path.map_err(|_| Failure::not_found("member"))?;
        Ok(Self(chat, member))
    }
}

/// Parameters of the query; unknown ones are passed over.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(params)) => Ok(Self(params)),
            Err(_) => Err(Failure::invalid("query: a parameter has a value of the wrong kind")),
        }
    }
}

/// A JSON body. The content type is not looked at.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let bytes = read(request).await?;
        // Serde would take an array for a struct, field by field.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(Failure::invalid("body: expected a JSON object"));
        }
        match serde_json::from_slice(&bytes) {
            Ok(value) => Ok(Self(value)),
            Err(error) => Err(Failure::invalid(misread::told(&bytes, &error))),
        }
    }
}

/// A JSON body that may be left out.
pub(crate) struct OptionalBody<T>(pub(crate) T);

impl<T: DeserializeOwned + Default, S: Sync> FromRequest<S> for OptionalBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let bytes = read(request).await?;
        if bytes.trim_ascii().is_empty() {
            return Ok(Self(T::default()));
        }
        let JsonBody(value) = JsonBody::from_request(Request::new(bytes.into()), state).await?;
        Ok(Self(value))
    }
}

/// No body, or an empty JSON object.
pub(crate) struct NoBody;

impl<S: Sync> FromRequest<S> for NoBody {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let bytes = read(request).await?;
        let text = bytes.trim_ascii();
        let rest = text.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}"));
        match text.is_empty() || rest.is_some_and(|rest| rest.trim_ascii().is_empty()) {
            true => Ok(Self),
            false => Err(Failure::invalid("body: expected none")),
        }
    }
}

/// The gate has read and bounded the body already; this takes it out.
async fn read(request: Request) -> Result<Bytes> {
    match request.into_body().collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(_) => Err(Failure::invalid("body: broken off")),
    }
}
