//! What a session is given beside memory stores: files and repositories. They are kept as they were
//! declared and given back, so that a client's request works as it stands; this server runs no
//! container, so nothing of them is fetched or mounted. A token for a repository is taken and not kept.

use super::agent::check_foreign_id;
use super::render::ResourceBody;
use crate::anthropic::body;
use crate::anthropic::error::Problem;
use crate::anthropic::query::refuse;
use loci_engine::Engine;
use loci_model::{Session, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Resources of a session that are no memory stores: as many files as the service takes.
pub(super) const OTHERS_MAX: usize = 999;
/// Characters of a mount path or an address.
const TEXT_CHARS_MAX: usize = 1024;
/// What ids of resources begin with.
const PREFIX: &str = "sesrsc_";

/// A file or a repository, and its place among all resources of the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Placed {
    at: usize,
    resource: OtherBody,
}

/// A resource that is no memory store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = SessionOtherResource)]
pub(in crate::anthropic) enum OtherBody {
    /// An uploaded file; it is named and never looked at.
    File { id: String, created_at: String, file_id: String, mount_path: String, updated_at: String },
    /// A repository; it is named and never fetched.
    GithubRepository {
        id: String,
        checkout: Option<Checkout>,
        created_at: String,
        mount_path: String,
        updated_at: String,
        url: String,
    },
}

/// What of a repository is meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::anthropic) enum Checkout {
    Branch { name: String },
    Commit { sha: String },
}

/// A file as a request names it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct FileResource {
    /// Always `file`.
    #[serde(rename = "type")]
    #[schema(example = "file", pattern = "^file$")]
    _type: String,
    #[schema(min_length = 1, max_length = 255)]
    file_id: String,
    /// `/mnt/session/uploads/{file_id}` when not given.
    #[schema(max_length = 1024, pattern = "^/")]
    mount_path: Option<String>,
}

/// A repository as a request names it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct GithubRepositoryResource {
    /// Always `github_repository`.
    #[serde(rename = "type")]
    #[schema(example = "github_repository", pattern = "^github_repository$")]
    _type: String,
    #[schema(min_length = 1, max_length = 1024)]
    url: String,
    /// Taken and not kept.
    #[serde(rename = "authorization_token")]
    _authorization_token: Option<String>,
    checkout: Option<Checkout>,
    /// `/workspace/{repository}` when not given.
    #[schema(max_length = 1024, pattern = "^/")]
    mount_path: Option<String>,
}

/// A new token for a repository.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = UpdateSessionResource)]
pub(in crate::anthropic) struct UpdateResource {
    /// Taken and not kept.
    #[serde(rename = "authorization_token")]
    _authorization_token: String,
}

/// A resource of a request that is no memory store.
pub(super) enum Declared {
    File(FileResource),
    Repository(GithubRepositoryResource),
}

impl Declared {
    /// Reads a resource of one of these types; `None` for any other.
    pub(super) fn read(resource: &Value) -> Result<Option<Self>, Problem> {
        let read = match resource.get("type").and_then(Value::as_str) {
            Some("file") => Self::File(body::read_value("resources", resource.clone())?),
            Some("github_repository") => {
                Self::Repository(body::read_value("resources", resource.clone())?)
            }
            _ => return Ok(None),
        };
        Ok(Some(read))
    }

    /// The resource with an id of its own, at a place among all of them.
    pub(super) fn placed(self, engine: &Engine, at: usize) -> Result<Placed, Problem> {
        let now = engine.seams().now();
        let id = fresh_id(engine, PREFIX, now);
        let (created_at, updated_at) = (now.to_string(), now.to_string());
        let resource = match self {
            Self::File(FileResource { file_id, mount_path, .. }) => {
                check_foreign_id("file_id", &file_id)?;
                let mount_path =
                    mount_path.unwrap_or_else(|| format!("/mnt/session/uploads/{file_id}"));
                check_mount_path(&mount_path)?;
                OtherBody::File { id, created_at, file_id, mount_path, updated_at }
            }
            Self::Repository(GithubRepositoryResource { url, checkout, mount_path, .. }) => {
                check_text("url", &url)?;
                if let Some(Checkout::Branch { name: text } | Checkout::Commit { sha: text }) =
                    &checkout
                {
                    check_text("checkout", text)?;
                }
                let mount_path = mount_path.unwrap_or_else(|| format!("/workspace/{}", name(&url)));
                check_mount_path(&mount_path)?;
                OtherBody::GithubRepository {
                    id,
                    checkout,
                    created_at,
                    mount_path,
                    updated_at,
                    url,
                }
            }
        };
        Ok(Placed { at, resource })
    }
}

impl Placed {
    /// Gives it another place.
    pub(super) fn put_at(&mut self, at: usize) {
        self.at = at;
    }

    /// Gives it the place it has once another is gone.
    pub(super) fn close_up(&mut self, gone: &Self) {
        self.at -= usize::from(self.at > gone.at);
    }

    /// Notes a new token, which a repository alone can have. The token is not kept; the time is.
    pub(super) fn rotate(&mut self, now: Timestamp) -> Result<(), Problem> {
        match &mut self.resource {
            OtherBody::GithubRepository { updated_at, .. } => *updated_at = now.to_string(),
            OtherBody::File { .. } => {
                return Err(refuse("authorization_token", "only repositories have one"));
            }
        }
        Ok(())
    }

    /// The resource itself.
    pub(super) fn resource(&self) -> &OtherBody {
        &self.resource
    }
}

impl OtherBody {
    /// Its id.
    pub(super) fn id(&self) -> &str {
        match self {
            Self::File { id, .. } | Self::GithubRepository { id, .. } => id,
        }
    }

    /// Whether both were declared alike.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::File { file_id, mount_path, .. },
                Self::File { file_id: other_id, mount_path: other_path, .. },
            ) => (file_id, mount_path) == (other_id, other_path),
            (
                Self::GithubRepository { url, mount_path, checkout, .. },
                Self::GithubRepository {
                    url: other_url,
                    mount_path: other_path,
                    checkout: other_checkout,
                    ..
                },
            ) => (url, mount_path, checkout) == (other_url, other_path, other_checkout),
            _ => false,
        }
    }
}

/// Any resource, as it is shown.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = SessionResource)]
pub(in crate::anthropic) enum AnyResource<'a> {
    Store(ResourceBody<'a>),
    Other(OtherBody),
}

/// All resources of a session, in the order in which they were given.
pub(super) fn all<'a>(session: &'a Session, others: &[Placed]) -> Vec<AnyResource<'a>> {
    let stores = session.attachments.iter().map(ResourceBody::of);
    let mut all: Vec<AnyResource<'a>> = stores.map(AnyResource::Store).collect();
    for placed in others {
        let at = placed.at.min(all.len());
        all.insert(at, AnyResource::Other(placed.resource.clone()));
    }
    all
}

/// An id for something that the core does not know.
pub(in crate::anthropic) fn fresh_id(engine: &Engine, prefix: &str, now: Timestamp) -> String {
    engine.seams().principal_id(now).with_prefix(prefix)
}

fn check_text(field: &'static str, text: &str) -> Result<(), Problem> {
    let chars = text.chars().count();
    if chars == 0 || chars > TEXT_CHARS_MAX || text.chars().any(char::is_control) {
        let why = format!("takes 1 to {TEXT_CHARS_MAX} characters, no control characters");
        return Err(refuse(field, why));
    }
    Ok(())
}

fn check_mount_path(path: &str) -> Result<(), Problem> {
    check_text("mount_path", path)?;
    match path.starts_with('/') {
        true => Ok(()),
        false => Err(refuse("mount_path", "must begin with /")),
    }
}

/// What a repository is called.
fn name(url: &str) -> &str {
    let last = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = last.strip_suffix(".git").unwrap_or(last);
    if name.is_empty() { "repository" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_called_by_the_end_of_their_address() {
        assert_eq!(name("https://github.com/example/tools"), "tools");
        assert_eq!(name("https://github.com/example/tools.git/"), "tools");
        assert_eq!(name("/"), "repository");
    }

    #[test]
    fn what_is_no_declaration_is_refused() {
        for bad in [
            serde_json::json!({"type": "file"}),
            serde_json::json!({"type": "file", "file_id": 5}),
            serde_json::json!({"type": "file", "file_id": "f", "colour": "red"}),
            serde_json::json!({"type": "github_repository"}),
            serde_json::json!({"type": "github_repository", "url": "u", "checkout": {"type": "tag", "name": "v"}}),
        ] {
            assert!(Declared::read(&bad).is_err(), "{bad}");
        }
        assert!(Declared::read(&serde_json::json!({"type": "memory_store"})).unwrap().is_none());
    }
}
