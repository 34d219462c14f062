//! One request on its way to an endpoint. Every endpoint is reached through [`Endpoint`], so the
//! order of refusals is the same everywhere: who asks (401), in which project (403, 404), and only
//! then the endpoint, whose refusal is rendered here.

use super::error::Problem;
use super::fields::Fields;
use super::query::Query;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::{Response, Uri};
use loci_engine::{Appended, Context, Engine, Error, Identified};
use loci_model::RequestId;
use percent_encoding::percent_decode_str;
use std::pin::Pin;

/// More than any layer around this door lets through; a bound all the same.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// What clients call the project they were told nothing about.
pub(super) const DEFAULT_PROJECT: &str = "default";
/// Characters of the handle of a project; its agents' names begin with it.
const HANDLE_CHARS_MAX: usize = 50;

/// What an endpoint returns.
pub(super) type Answer = Result<Response<Body>, Problem>;

/// The two published revisions of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Revision {
    /// Projects in the path, entries without users.
    A,
    /// No projects, entries of users beside those of everybody.
    B,
}

impl Revision {
    /// Where its agents are.
    pub(super) fn base(self) -> &'static str {
        match self {
            Self::A => "/v1/projects/{project}/agents",
            Self::B => "/v1/agents",
        }
    }

    /// How many segments of a path come before the agent.
    fn depth(self) -> usize {
        self.base().split('/').skip(1).count()
    }
}

/// A request whose sender is known.
pub(super) struct Call {
    pub(super) engine: Engine,
    /// The credential's owner.
    pub(super) context: Context,
    pub(super) revision: Revision,
    /// The handle of the project that it is about.
    pub(super) project: String,
    body: Vec<u8>,
    uri: Uri,
}

impl Call {
    pub(super) fn query(&self) -> Query<'_> {
        Query::new(self.uri.query().unwrap_or_default())
    }

    /// The body, which must be there.
    pub(super) fn fields(&self) -> Result<Fields, Problem> {
        Fields::read(&self.body)
    }

    /// The segment of the path so many places after the beginning of the agents, decoded; 0 is the
    /// agent.
    pub(super) fn segment(&self, place: usize) -> Result<String, Problem> {
        let at = self.revision.depth() + place;
        segment(&self.uri, at).ok_or_else(|| Problem::invalid("the path is not UTF-8"))
    }
}

/// A segment of a path, decoded once. A `%` that begins no escape is itself.
fn segment(uri: &Uri, at: usize) -> Option<String> {
    let raw = uri.path().split('/').nth(at + 1).unwrap_or_default();
    Some(percent_decode_str(raw).decode_utf8().ok()?.into_owned())
}

/// An endpoint as the router takes it.
#[derive(Clone, Copy)]
pub(super) struct Endpoint<F>(pub(super) Revision, pub(super) F);

impl<F, Running> Handler<(), Engine> for Endpoint<F>
where
    F: Fn(Call) -> Running + Clone + Send + Sync + 'static,
    Running: Future<Output = Answer> + Send + 'static,
{
    type Future = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

    fn call(self, request: Request, engine: Engine) -> Self::Future {
        Box::pin(async move {
            let Self(revision, endpoint) = self;
            let id = request.extensions().get::<RequestId>().copied();
            let answer = match receive(request, engine, revision).await {
                Ok(call) => endpoint(call).await,
                Err(problem) => Err(problem),
            };
            answer.unwrap_or_else(|problem| problem.render(id))
        })
    }
}

async fn receive(request: Request, engine: Engine, revision: Revision) -> Result<Call, Problem> {
    let context = match request.extensions().get::<Identified>().map(|found| &*found.0) {
        Some(Ok(context)) => context.clone(),
        Some(Err(error)) => return Err(error.into()),
        None => return Err(Error::Unauthenticated("an API key is needed").into()),
    };
    let appended = request.extensions().get::<Appended>().map(|appended| appended.0.clone());
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, BODY_BYTES_MAX).await.map_err(|_| Problem::unreadable())?;
    let project = match revision {
        Revision::A => {
            let named = segment(&parts.uri, 2).filter(|handle| is_handle(handle));
            let named = named.ok_or(Error::NotFound("project"))?;
            if appended.is_some_and(|appended| *appended != named) {
                return Err(Problem::denied("the key is for another project"));
            }
            named
        }
        Revision::B => {
            let named =
                appended.map_or_else(|| DEFAULT_PROJECT.to_owned(), |text| text.to_string());
            if !is_handle(&named) {
                return Err(Error::NotFound("project").into());
            }
            named
        }
    };
    Ok(Call { engine, context, revision, project, body: body.into(), uri: parts.uri })
}

/// Lower case words of letters and digits, joined by single hyphens.
fn is_handle(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    text.len() <= HANDLE_CHARS_MAX && text.split('-').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_decoded_once() {
        let uri: Uri = "/v1/projects/p/agents/a%2Fb/memory/entries/k%253A".parse().unwrap();
        let at = |place| segment(&uri, place).unwrap();
        assert_eq!((at(2), at(4), at(7)), ("p".into(), "a/b".into(), "k%3A".into()));
        assert_eq!(segment(&"/v1/%ff".parse().unwrap(), 1), None);
        assert_eq!((Revision::A.depth(), Revision::B.depth()), (4, 2));
    }

    #[test]
    fn handles() {
        for good in ["default", "a", "team-2", "0-0-0"] {
            assert!(is_handle(good), "{good}");
        }
        for bad in ["", "-", "a--b", "-a", "a-", "A", "a/b", "a.b", "ä", &"a".repeat(51)] {
            assert!(!is_handle(bad), "{bad}");
        }
    }
}
