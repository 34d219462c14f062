//! The server transcripts are played against: the doors' routers over the in-memory engine, a clock
//! that moves one second with every request, and dice that always fall the same way.
//!
//! It stands in for the layers around the router: it says who asks. `as:` is one of `key` (an
//! administrator's key, the default), `reader` (the same, reading only), `person` (the
//! administrator in person), `service`, `stranger` (somebody else's key), `session <id>` (a key
//! bound to that session), `agent <name>` and `model <name>` (an agent's key, for its program or for
//! its model), `platform` (a key that acts for agents), `wrong` (a key that is not ours) and `nobody`.
//!
//! What doors cannot say is said with methods of the world's own, answered with an empty 200:
//! `JOIN agent|user NAME CHAT`, `LEAVE NAME CHAT`, `OFF memory|own|groups|users NAME`, `ON NAME`,
//! `FILL NAME COUNT` (so many memories in an agent's home) and `WAIT SECONDS`.

use crate::golden::transcript::Request;
use axum::Router;
use axum::body::Body;
use http_body_util::BodyExt;
use loci_engine::seam::Seams;
use loci_engine::{
    Context, Engine, FirstStart, HomeLimits, IdempotencyKey, Identified, NewKey, NewPrincipal,
};
use loci_model::{
    Actor, Audience, Caller, Content, Edit, KeyScope, Level, MemoryPath, MemorySwitches, Power,
    PrincipalKind, RequestId,
};
use loci_storage_memory::MemStorage;
use loci_test_kit::{HandClock, counting_bytes};
use std::sync::Arc;
use tower::ServiceExt;

const BETA: (&str, &str) = ("anthropic-beta", "agent-memory-2026-07-22");
const START: &str = "2026-01-01T00:00:00Z";

/// Memories of one home.
const MEMORIES_MAX: u64 = 1200;

pub(crate) struct World {
    engine: Engine,
    router: Router,
    clock: Arc<HandClock>,
    start: FirstStart,
    requests: u128,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl World {
    pub(crate) async fn new() -> Self {
        let clock = Arc::new(HandClock::at(START));
        let seams = Seams::new(clock.clone(), Arc::new(counting_bytes(0)));
        let homes = HomeLimits { memories_max: MEMORIES_MAX, ..HomeLimits::default() };
        let engine = Engine::new(Arc::new(MemStorage::new()), seams).with_homes(homes);
        let start = engine.bootstrap(None).await.unwrap();
        let router = loci_dialects::anthropic::router(engine.clone())
            .merge(loci_dialects::robutler::router(engine.clone()))
            .merge(loci_dialects::anthropic::with_agents(
                loci_dialects::mobius::router(engine.clone()),
                engine.clone(),
            ));
        Self { engine, router, clock, start, requests: 0 }
    }

    /// Sends one request, a second after the one before.
    pub(crate) async fn ask(&mut self, request: &Request) -> Answer {
        self.clock.advance_secs(1);
        self.requests += 1;
        if self.happen(&request.method, &request.url).await {
            return Answer { status: 200, headers: Vec::new(), body: String::new() };
        }
        let id = RequestId::from_u128(self.requests);
        let header = |name: &str| {
            let found = request.headers.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.as_str())
        };
        let idempotency = header("idempotency-key")
            .map(|key| IdempotencyKey { key: key.into(), fingerprint: fingerprint(request) });
        let who = header("as").unwrap_or("key");
        let identified = self
            .caller(who)
            .await
            .map(|caller| caller.map(|caller| Context { caller, request: id, idempotency }));
        let mut sent = axum::http::Request::builder()
            .method(request.method.as_str())
            .uri(&request.url)
            .extension(id);
        if let Some(identified) = identified {
            sent = sent.extension(Identified(Arc::new(identified)));
        }
        if header(BETA.0).is_none() {
            sent = sent.header(BETA.0, BETA.1);
        }
        for (name, value) in request.headers.iter().filter(|(name, _)| name != "as") {
            sent = sent.header(name, value);
        }
        let sent = sent.body(Body::from(request.body.clone())).unwrap();
        let answer = self.router.clone().oneshot(sent).await.unwrap();
        let headers = answer.headers().iter();
        let headers = headers.map(|(key, value)| (key.to_string(), value.to_str().unwrap().into()));
        Answer {
            status: answer.status().as_u16(),
            headers: headers.collect(),
            body: {
                let body = answer.into_body().collect().await.unwrap().to_bytes();
                String::from_utf8(body.to_vec()).unwrap()
            },
        }
    }

    /// Makes something happen that doors have no words for.
    async fn happen(&self, what: &str, about: &str) -> bool {
        let caller = self.engine.local_operator(&self.start);
        let context = Context { caller, request: RequestId::from_u128(0), idempotency: None };
        let words: Vec<&str> = about.split(' ').collect();
        let on = MemorySwitches::default();
        let (of, switches) = match (what, &words[..]) {
            ("JOIN", [kind, name, chat]) => {
                let is_user = *kind == "user";
                let kind = if is_user { PrincipalKind::User } else { PrincipalKind::Agent };
                self.engine.add_member(&context, chat, name, kind).await.unwrap();
                return true;
            }
            ("LEAVE", [name, chat]) => {
                self.engine.remove_member(&context, chat, name).await.unwrap();
                return true;
            }
            ("FILL", [name, count]) => {
                self.fill(name, count.parse().unwrap()).await;
                return true;
            }
            ("WAIT", [seconds]) => {
                self.clock.advance_secs(seconds.parse().unwrap());
                return true;
            }
            ("ON", [name]) => (name, on),
            ("OFF", ["memory", name]) => (name, MemorySwitches { is_on: false, ..on }),
            ("OFF", ["own", name]) => (name, MemorySwitches { own: false, ..on }),
            ("OFF", ["groups", name]) => (name, MemorySwitches { groups: false, ..on }),
            ("OFF", ["users", name]) => (name, MemorySwitches { users: false, ..on }),
            _ => return false,
        };
        let of = self.engine.named(&context, of).await.unwrap().unwrap().id;
        self.engine.switch_memory(&context, of, switches).await.unwrap();
        true
    }

    async fn fill(&self, name: &str, count: usize) {
        let caller = self.engine.authenticate_agent(name, Audience::Host, None).await.unwrap();
        let context = Context { caller, request: RequestId::from_u128(0), idempotency: None };
        let home = self
            .engine
            .store_named(&context, name, loci_engine::Purpose::Write)
            .await
            .unwrap()
            .unwrap();
        let path = |number| MemoryPath::parse(&format!("/fill-{number:05}")).unwrap();
        let edits = (0..count).map(|number| Edit::put_text(path(number), "full"));
        self.engine.commit_tree(&context, home, edits.collect(), "fill").await.unwrap();
    }

    /// Who asks: a caller, a refusal, or nobody at all.
    async fn caller(&self, who: &str) -> Option<loci_engine::Result<Caller>> {
        let admin_key = self.start.admin_key.as_ref().unwrap();
        let key = self.engine.authenticate(admin_key.reveal()).await;
        let person = self.engine.local_operator(&self.start);
        let (who, of) = who.split_once(' ').unwrap_or((who, ""));
        Some(match who {
            "nobody" => return None,
            "wrong" => self.engine.authenticate("sk-wrong").await,
            "key" => key,
            "person" => Ok(person),
            "reader" => Ok(Caller {
                scope: KeyScope { power: Power::UpTo(Level::Read), stores: None },
                ..key.unwrap()
            }),
            "service" => Ok(Caller { actor: Actor::Service(person.principal), ..person }),
            "stranger" => {
                let kind = PrincipalKind::Agent;
                let new = NewPrincipal { kind, name: "stranger".into(), is_admin: false };
                let stranger = self.engine.declare_principal(self.start.workspace, new).await;
                let principal = stranger.unwrap().id;
                Ok(Caller { principal, is_admin: false, actor: Actor::User(principal), ..person })
            }
            "agent" => self.engine.authenticate_agent(of, Audience::Host, None).await,
            "model" => self.engine.authenticate_agent(of, Audience::Model, None).await,
            "platform" => {
                let kind = PrincipalKind::Service;
                let new = NewPrincipal { kind, name: "platform".into(), is_admin: false };
                let platform = self.engine.declare_principal(self.start.workspace, new).await;
                Ok(Caller {
                    principal: platform.unwrap().id,
                    is_admin: false,
                    acts_for_agents: true,
                    scope: KeyScope { power: Power::UpTo(Level::ReadWrite), stores: None },
                    ..person
                })
            }
            "session" => self.session_key(person, of).await,
            other => panic!("nobody is called {other}"),
        })
    }

    async fn session_key(&self, owner: Caller, session: &str) -> loci_engine::Result<Caller> {
        let request = RequestId::from_u128(0);
        let context = Context { caller: owner, request, idempotency: None };
        let new = NewKey {
            name: "of a session".into(),
            principal: None,
            power: Power::UpTo(Level::ReadWrite),
            stores: None,
            session: Some(session.parse().unwrap()),
            acts_for_agents: false,
            audience: Audience::Model,
            expires_at: None,
        };
        let (_, secret) = self.engine.create_key(&context, new).await?;
        self.engine.authenticate(secret.expect("a first request").reveal()).await
    }
}

/// Stands in for the digest of the whole request.
fn fingerprint(request: &Request) -> [u8; 32] {
    let whole = format!("{} {} {}", request.method, request.url, request.body);
    *Content::Text(whole).digest().as_bytes()
}
