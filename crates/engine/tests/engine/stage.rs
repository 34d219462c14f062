//! What every test here starts from: an engine, a clock that stands still until told otherwise, and
//! an administrator.

use loci_engine::seam::Seams;
use loci_engine::{
    Context, Engine, FirstStart, IdempotencyKey, NewKey, NewPrincipal, NewStore, Secret,
};
use loci_model::time::Clock;
use loci_model::{
    ApiKey, Audience, Edit, MemoryPath, Outcome, Power, PrincipalKind, Store, StoreId, Timestamp,
};
use loci_storage::mem::MemStorage;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

pub(crate) struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

pub(crate) struct Stage {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) start: FirstStart,
    pub(crate) admin: Context,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        let clock = Arc::new(HandClock(AtomicI64::new(1_800_000_000_000_000)));
        let counter = AtomicU64::new(1);
        let dice = move |buffer: &mut [u8]| {
            let mut state = counter.fetch_add(1, Ordering::SeqCst);
            for byte in buffer {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = (state >> 56) as u8;
            }
        };
        let seams = Seams::new(clock.clone(), Arc::new(dice));
        let engine = Engine::new(Arc::new(MemStorage::new()), seams);
        let start = engine.bootstrap(None).await.unwrap();
        let caller = engine.local_operator(&start);
        let request = engine.seams().request_id(clock.now());
        let admin = Context { caller, request, idempotency: None };
        Self { engine, clock, start, admin }
    }

    pub(crate) fn pass_secs(&self, secs: i64) {
        self.clock.0.fetch_add(secs * 1_000_000, Ordering::SeqCst);
    }

    pub(crate) async fn store(&self, name: &str) -> Store {
        let new = NewStore { name: name.into(), ..NewStore::default() };
        self.engine.create_store(&self.admin, new).await.unwrap()
    }

    pub(crate) async fn put(&self, store: StoreId, path: &str, text: &str) -> Outcome {
        let edit = Edit::put_text(MemoryPath::parse(path).unwrap(), text);
        self.engine.commit_one(&self.admin, store, edit, "api").await.unwrap()
    }

    /// A principal with a key of its own.
    pub(crate) async fn somebody(&self, name: &str) -> Context {
        let new = NewPrincipal { kind: PrincipalKind::Agent, name: name.into(), is_admin: false };
        let principal = self.engine.create_principal(&self.admin, new).await.unwrap();
        let key = NewKey { principal: Some(principal.id), ..full_key(name) };
        self.enter(&self.key(key).await.1).await
    }

    pub(crate) async fn key(&self, new: NewKey) -> (ApiKey, Secret) {
        let (key, secret) = self.engine.create_key(&self.admin, new).await.unwrap();
        (key, secret.expect("a first request shows the secret"))
    }

    pub(crate) async fn enter(&self, secret: &Secret) -> Context {
        let caller = self.engine.authenticate(secret.reveal()).await.unwrap();
        Context { caller, ..self.admin.clone() }
    }
}

pub(crate) fn full_key(name: &str) -> NewKey {
    NewKey {
        name: name.into(),
        principal: None,
        power: Power::Full,
        stores: None,
        session: None,
        audience: Audience::Host,
        expires_at: None,
    }
}

pub(crate) fn idempotent(context: &Context, key: &str, fingerprint: u8) -> Context {
    let given = IdempotencyKey { key: key.into(), fingerprint: [fingerprint; 32] };
    Context { idempotency: Some(given), ..context.clone() }
}
