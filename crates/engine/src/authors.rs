//! Who wrote what stands in a store, for those who read it in a prompt: what somebody else put into a
//! shared store must be told apart from what its owner wrote.
//!
//! The author is who wrote the newest version, whatever credential they used. Words of whose store it
//! is go without a name, and so do those of stores that may only be searched.

use crate::{Context, Engine, Error, Result};
use loci_model::policy::{self, ReadPass, System};
use loci_model::{Actor, KeyId, Memory, PrincipalId, StoreId, View};
use std::collections::HashMap;

/// What Loci itself wrote, such as a summary.
const ITSELF: &str = "loci";

/// Asks who wrote memories, each name and key once.
pub struct Authors<'a> {
    engine: &'a Engine,
    context: &'a Context,
    stores: HashMap<StoreId, Option<(ReadPass, PrincipalId)>>,
    keys: Option<HashMap<KeyId, PrincipalId>>,
    names: HashMap<PrincipalId, Option<String>>,
}

impl Engine {
    /// Whoever wrote what a caller reads.
    pub fn authors<'a>(&'a self, context: &'a Context) -> Authors<'a> {
        Authors { engine: self, context, stores: HashMap::new(), keys: None, names: HashMap::new() }
    }
}

impl Authors<'_> {
    /// The name of who wrote a memory as it stands, unless it is whose store it is.
    pub async fn of(&mut self, memory: &Memory) -> Result<Option<String>> {
        let Some((pass, owner)) = self.store(memory.store).await? else { return Ok(None) };
        let version = self.engine.storage.version(&pass, memory.head, View::Basic).await?;
        let Some(version) = version else { return Ok(None) };
        let author = match version.actor {
            Actor::System => return Ok(Some(ITSELF.to_owned())),
            Actor::User(id) | Actor::Service(id) => Some(id),
            Actor::Key(key) => self.of_key(key).await?,
            Actor::Session(session) => {
                let workspace = self.context.caller.workspace;
                let session = self.engine.storage.session(workspace, session).await?;
                session.map(|session| session.owner)
            }
        };
        match author {
            Some(author) if author != owner => self.name(author).await,
            _ => Ok(None),
        }
    }

    async fn store(&mut self, store: StoreId) -> Result<Option<(ReadPass, PrincipalId)>> {
        if let Some(known) = self.stores.get(&store) {
            return Ok(known.clone());
        }
        let found = match self.engine.facts(self.context, store).await {
            Ok(facts) => {
                let now = self.engine.seams.now();
                let pass = policy::read(&self.context.caller, &facts, now).ok();
                pass.map(|pass| (pass, facts.store.owner))
            }
            Err(Error::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        self.stores.insert(store, found.clone());
        Ok(found)
    }

    async fn of_key(&mut self, key: KeyId) -> Result<Option<PrincipalId>> {
        if self.keys.is_none() {
            let system = System::because("what a key wrote, whoever has it wrote");
            let pass = system.administer(self.context.caller.workspace, self.engine.seams.now());
            let keys = self.engine.storage.keys(&pass).await?;
            self.keys = Some(keys.into_iter().map(|key| (key.id, key.principal)).collect());
        }
        Ok(self.keys.as_ref().and_then(|keys| keys.get(&key).copied()))
    }

    async fn name(&mut self, who: PrincipalId) -> Result<Option<String>> {
        if let Some(known) = self.names.get(&who) {
            return Ok(known.clone());
        }
        let found = self.engine.storage.principal(self.context.caller.workspace, who).await?;
        let name = found.map(|found| found.name);
        self.names.insert(who, name.clone());
        Ok(name)
    }
}
