//! Principals by name and by id, for lines that name them.

use loci_model::{Actor, Invalid, Principal, PrincipalId};
use std::collections::HashMap;

/// The principals of a workspace.
pub(super) struct Names {
    by_id: HashMap<PrincipalId, String>,
    by_name: HashMap<String, PrincipalId>,
}

impl Names {
    pub(super) fn new(principals: &[Principal]) -> Self {
        let mut names = Self { by_id: HashMap::new(), by_name: HashMap::new() };
        for principal in principals {
            names.add(principal);
        }
        names
    }

    pub(super) fn add(&mut self, principal: &Principal) {
        self.by_id.insert(principal.id, principal.name.clone());
        self.by_name.insert(principal.name.clone(), principal.id);
    }

    /// A name, or the id itself for a principal of elsewhere.
    pub(super) fn name(&self, id: PrincipalId) -> String {
        self.by_id.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    pub(super) fn id(&self, name: &str) -> Result<PrincipalId, Invalid> {
        self.by_name
            .get(name)
            .copied()
            .or_else(|| name.parse().ok())
            .ok_or_else(|| Invalid::new("line", "names a principal that no line before it defines"))
    }

    /// An actor as `kind:id`.
    pub(super) fn actor(&self, actor: Actor) -> String {
        match actor {
            Actor::Session(id) => format!("session:{id}"),
            Actor::Key(id) => format!("key:{id}"),
            Actor::User(id) => format!("user:{}", self.name(id)),
            Actor::Service(id) => format!("service:{}", self.name(id)),
            Actor::System => "system".into(),
        }
    }

    pub(super) fn parse_actor(&self, text: &str) -> Result<Actor, Invalid> {
        let bad = |_| Invalid::new("line", "has an actor that is not one");
        match text.split_once(':') {
            None if text == "system" => Ok(Actor::System),
            Some(("session", id)) => id.parse().map(Actor::Session).map_err(bad),
            Some(("key", id)) => id.parse().map(Actor::Key).map_err(bad),
            Some(("user", name)) => self.id(name).map(Actor::User),
            Some(("service", name)) => self.id(name).map(Actor::Service),
            _ => Err(Invalid::new("line", "has an actor that is not one")),
        }
    }
}
