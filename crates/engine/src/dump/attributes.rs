//! The attributes of a version in an export, as `format` has them: fields are only ever added, with
//! defaults.

use super::format::time;
use loci_model::{Attributes, Invalid, Visibility};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(super) struct AttributesFields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    importance: Option<u8>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    visibility: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    /// A JSON object, as text: kept byte for byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<String>,
}

impl From<&Attributes> for AttributesFields {
    fn from(attributes: &Attributes) -> Self {
        Self {
            kind: attributes.kind.clone(),
            tags: attributes.tags.clone(),
            importance: attributes.importance,
            pinned: attributes.pinned,
            visibility: match attributes.visibility {
                Visibility::Context => None,
                Visibility::Internal => Some("internal".into()),
                Visibility::Quarantine => Some("quarantine".into()),
            },
            expires_at: attributes.expires_at.map(|at| at.to_string()),
            source: attributes.source.clone(),
            scope: attributes.scope.clone(),
            summary: attributes.summary.clone(),
            media_type: attributes.media_type.clone(),
            metadata: attributes.metadata.clone(),
        }
    }
}

impl TryFrom<AttributesFields> for Attributes {
    type Error = Invalid;

    fn try_from(fields: AttributesFields) -> Result<Self, Invalid> {
        let attributes = Self {
            kind: fields.kind,
            tags: fields.tags,
            importance: fields.importance,
            pinned: fields.pinned,
            visibility: match fields.visibility.as_deref() {
                None => Visibility::Context,
                Some("internal") => Visibility::Internal,
                Some("quarantine") => Visibility::Quarantine,
                Some(_) => return Err(Invalid::new("line", "has an unknown visibility")),
            },
            expires_at: time(fields.expires_at.as_deref())?,
            source: fields.source,
            scope: fields.scope,
            summary: fields.summary,
            media_type: fields.media_type,
            metadata: fields.metadata,
        };
        attributes.validate()?;
        Ok(attributes)
    }
}
